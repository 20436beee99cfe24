"""Moving the records of a data directory to PostgreSQL and back."""

import pytest

from checks import accepted
from jobs import new_job
from knowledge import fetch, page, search, slugs
from talker import configuration
from test_changes import eventually
from test_nodes import fails
from test_take_over import answers
from tools import new_agent, new_thread


@pytest.fixture
def gateway(make_node, stub):
    """A gateway on a file, with records."""
    gateway = make_node("a")
    gateway.configure(configuration(stub))
    gateway.start()
    agent = new_agent(gateway, "worker")
    new_job(gateway, "hourly", agent_id=agent["id"])
    thread = new_thread(gateway, agent, title="Zebras")
    stub.hold("striped").release()
    accepted(gateway.http.post("/chat", json={"content": "How are zebras?", "threadId": thread["id"]}), 201)
    eventually(lambda: answers(gateway, thread), ["stop"])
    page(gateway, "okapi", "Okapis live in the forest.\n", title="Okapi")
    eventually(lambda: search(gateway, "forest"), ["okapi"])
    yield gateway


@pytest.fixture
def cluster(stub, server, database):
    return configuration(stub) | {"cluster": {"database": server.url(database), "node": "a"}}


def what_is_seen(gateway):
    def asked(path, **params):
        return accepted(gateway.http.get(path, params=params))
    [thread] = [thread for thread in asked("/threads") if thread["title"] == "Zebras"]
    agent = thread["agent_id"]
    return {
        "extensions": asked("/extensions"), "thread": thread, "turns": asked(f"/threads/{thread['id']}/turns"),
        "costs": asked("/costs"), "jobs": [job["name"] for job in asked("/jobs")], "pages": slugs(fetch(gateway, "/pages")),
        "stage": asked("/agents/worker/stage"), "signals": asked("/signals"),
        "found": [turn["id"] for turn in asked("/turns/search", q="zebras", agent_id=agent)],
        "known": search(gateway, "forest"),
    }


def moved(gateway, direction, *words):
    done = gateway.command("cluster", direction)
    assert done.returncode == 0, done.stderr
    for word in words:
        assert word in done.stderr


def test_everything_is_there_after_a_move_and_after_one_back(gateway, cluster, stub):
    before = what_is_seen(gateway)
    gateway.stop()
    gateway.configure(cluster)
    fails(gateway, 2, "move them there with `agw cluster init`")
    moved(gateway, "init", "were compared", "gateway.db.moved")
    gateway.start()
    eventually(lambda: what_is_seen(gateway), before)
    stub.hold("black and white").release()
    accepted(gateway.http.post("/chat", json={"content": "And?", "threadId": before["thread"]["id"]}), 201)
    eventually(lambda: answers(gateway, before["thread"]), ["stop", "stop"])
    there = what_is_seen(gateway)
    gateway.stop()
    moved(gateway, "leave", "Remove the section cluster")
    gateway.configure(configuration(stub))
    gateway.start()
    eventually(lambda: what_is_seen(gateway), there)


def test_a_move_needs_a_gateway_that_is_stopped(gateway, cluster):
    gateway.configure(cluster)
    done = gateway.command("cluster", "init")
    assert done.returncode == 3 and "already runs on" in done.stderr


def test_a_move_back_needs_nodes_that_are_stopped(make_node, cluster):
    make_node("b").start()
    done = make_node("a").command("cluster", "leave")
    assert done.returncode == 1 and "is used by a gateway: stop all that use it" in done.stderr


def test_a_move_needs_a_database_in_the_configuration(make_node, stub):
    gateway = make_node("a")
    gateway.configure(configuration(stub))
    for direction in ("init", "leave"):
        done = gateway.command("cluster", direction)
        assert done.returncode == 1 and "cluster.database is not set" in done.stderr


def test_a_database_of_another_cluster_or_a_newer_release_is_not_filled(gateway, cluster, make_node, server, database):
    make_node("b").start().stop()
    gateway.stop()
    gateway.configure(cluster)
    done = gateway.command("cluster", "init")
    assert done.returncode == 1 and f"the database {database} at" in done.stderr
    assert "holds records of a gateway already: name an empty database" in done.stderr
    server.psql(database, "INSERT INTO schema_migrations VALUES (9999, 'newer')")
    done = gateway.command("cluster", "init")
    assert done.returncode == 1 and "was written by a newer agw" in done.stderr
