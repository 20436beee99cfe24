"""Moving the records of a data directory to PostgreSQL and back."""

import pytest

from checks import accepted
from jobs import new_job
from knowledge import fetch, page, search, slugs
from talker import configuration
from test_changes import eventually
from test_nodes import fails
from test_take_over import finish_reasons
from tools import new_agent, new_thread


@pytest.fixture
def gateway(make_node, stub):
    """A gateway with records in a database file."""
    gateway = make_node("a")
    gateway.configure(configuration(stub))
    gateway.start()
    agent = new_agent(gateway, "worker")
    new_job(gateway, "hourly", agent_id=agent["id"])
    thread = new_thread(gateway, agent, title="Zebras")
    stub.hold("striped").release()
    accepted(gateway.http.post("/chat", json={"content": "How are zebras?", "threadId": thread["id"]}), 201)
    eventually(lambda: finish_reasons(gateway, thread), ["stop"])
    page(gateway, "okapi", "Okapis live in the forest.\n", title="Okapi")
    eventually(lambda: search(gateway, "forest"), ["okapi"])
    yield gateway


@pytest.fixture
def cluster(stub, server, database):
    return configuration(stub) | {"cluster": {"database": server.url(database), "node": "a"}}


def snapshot(gateway):
    def get(path, **params):
        return accepted(gateway.http.get(path, params=params))
    [thread] = [thread for thread in get("/threads") if thread["title"] == "Zebras"]
    agent = thread["agent_id"]
    return {
        "extensions": get("/extensions"), "thread": thread, "turns": get(f"/threads/{thread['id']}/turns"),
        "costs": get("/costs"), "jobs": [job["name"] for job in get("/jobs")], "pages": slugs(fetch(gateway, "/pages")),
        "stage": get("/agents/worker/stage"), "signals": get("/signals"),
        "found": [turn["id"] for turn in get("/turns/search", q="zebras", agent_id=agent)],
        "known": search(gateway, "forest"),
    }


def move(gateway, direction, *words):
    done = gateway.command("cluster", direction)
    assert done.returncode == 0, done.stderr
    for word in words:
        assert word in done.stderr


def test_records_are_complete_after_a_move_and_a_move_back(gateway, cluster, stub):
    before = snapshot(gateway)
    gateway.stop()
    gateway.configure(cluster)
    fails(gateway, 2, "move them there with `agw cluster init`")
    move(gateway, "init", "were compared", "gateway.db.moved")
    gateway.start()
    eventually(lambda: snapshot(gateway), before)
    stub.hold("black and white").release()
    accepted(gateway.http.post("/chat", json={"content": "And?", "threadId": before["thread"]["id"]}), 201)
    eventually(lambda: finish_reasons(gateway, before["thread"]), ["stop", "stop"])
    after = snapshot(gateway)
    gateway.stop()
    move(gateway, "leave", "Remove the section cluster")
    gateway.configure(configuration(stub))
    gateway.start()
    eventually(lambda: snapshot(gateway), after)


def test_a_move_needs_a_stopped_gateway(gateway, cluster):
    gateway.configure(cluster)
    done = gateway.command("cluster", "init")
    assert done.returncode == 3 and "already runs on" in done.stderr


def test_a_move_back_needs_stopped_nodes(make_node, cluster):
    make_node("b").start()
    done = make_node("a").command("cluster", "leave")
    assert done.returncode == 1 and "is used by a gateway: stop all that use it" in done.stderr


def test_a_move_needs_a_database_in_the_configuration(make_node, stub):
    gateway = make_node("a")
    gateway.configure(configuration(stub))
    for direction in ("init", "leave"):
        done = gateway.command("cluster", direction)
        assert done.returncode == 1 and "cluster.database is not set" in done.stderr


def test_a_database_of_another_cluster_or_a_newer_release_is_refused(gateway, cluster, make_node, server, database):
    make_node("b").start().stop()
    gateway.stop()
    gateway.configure(cluster)
    done = gateway.command("cluster", "init")
    assert done.returncode == 1 and f"the database {database} at" in done.stderr
    assert "holds records of a gateway already: name an empty database" in done.stderr
    server.psql(database, "INSERT INTO schema_migrations VALUES (9999, 'newer')")
    done = gateway.command("cluster", "init")
    assert done.returncode == 1 and "was written by a newer agw" in done.stderr
