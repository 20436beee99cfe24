"""Which gateways may share a database; a node that starts does not touch the runs of others."""

import pytest

from checks import accepted
from test_changes import eventually
from tools import new_thread


def fails(node, status, *words):
    """Asserts that the node does not start, and that its message has the words."""
    failed = node.fails()
    assert failed.status == status, failed.stderr
    for word in words:
        assert word in failed.stderr, failed.stderr
    return failed


def test_two_nodes_with_one_name_are_refused(make_node, server, database):
    first = make_node("a").start()
    fails(make_node("a"), 1, f"the database {database} at 127.0.0.1:{server.port} (cluster.database) already has a node a "
          "(connected from 127.0.0.1 since 20", "give this gateway another name (cluster.node), or stop that one")
    accepted(first.http.get("/threads"))
    first.kill()
    make_node("a").start()


def test_nodes_and_a_standalone_gateway_exclude_each_other(make_node):
    standalone = make_node(None).start()
    fails(make_node("a"), 1, "is in use by a gateway without a name", "set cluster.node there too")
    standalone.stop()
    make_node("a").start()
    fails(make_node(None), 3, "is in use by another gateway", "unless each has a name (cluster.node)")


def test_a_node_needs_a_database(make_node):
    node = make_node("a")
    node.configure({"cluster": {"node": "a"}})
    fails(node, 2, "cluster.node needs cluster.database")


@pytest.mark.parametrize("name", ["a b", "", "x" * 41, "ä"])
def test_a_name_has_letters_digits_and_hyphens(make_node, server, database, name):
    node = make_node("a")
    node.configure({"cluster": {"database": server.url(database), "node": name}})
    fails(node, 2, "cluster.node")


@pytest.mark.parametrize("options, words", [("ENCODING 'SQL_ASCII' LOCALE 'C'", "does not store text as UTF-8"),
                                            ("ENCODING 'UTF8' LOCALE 'C' ALLOW_CONNECTIONS false", "cannot reach")])
def test_an_unsuitable_database_is_refused(make_node, server, options, words):
    name = f"unfit_{abs(hash(options))}"
    server.create(name, options)
    fails(make_node("a", url=server.url(name)), 1, f"database {name} at 127.0.0.1:{server.port}", words)


def test_a_database_of_a_newer_release_is_refused(make_node, server, database):
    make_node("a").start().stop()
    server.psql(database, "INSERT INTO schema_migrations VALUES (9999, 'newer')")
    fails(make_node("b"), 1, f"database {database} at", "was written by a newer agw", "install that one")


@pytest.mark.parametrize("release", ["7.3.0", "0.99.0"])
def test_a_node_far_from_the_releases_of_others_is_refused(make_node, server, database, release):
    make_node("a").start().stop()
    server.psql(database, "INSERT INTO gateway_owner (id, node, lease_until, version) "
                f"VALUES ('x', 'old', now() + interval '1 hour', '{release}')")
    fails(make_node("b"), 1, "the node old of the database", f"runs agw {release}, and this is",
          "nodes may be one release apart at most")


def test_a_database_of_another_cluster_is_refused(make_node, server, database):
    node = make_node("a").start()
    node.stop()
    server.create(f"{database}_other")
    node.configure({"cluster": {"database": server.url(f"{database}_other"), "node": "a"}})
    fails(node, 1, f"the database {database}_other at 127.0.0.1:{server.port} (cluster.database) belongs to another cluster",
          "name the database of its cluster", str(node.data / "cluster-id"))
    node.configure({"cluster": {"database": server.url(database), "node": "a"}})
    node.start()


def test_a_role_without_rights_is_refused_without_its_password(make_node, server, database):
    server.psql("postgres", f"CREATE ROLE stranger_{database} LOGIN PASSWORD 'never-shown'")
    url = f"postgresql://stranger_{database}:never-shown@127.0.0.1:{server.port}/{database}"
    failed = fails(make_node("a", url=url), 1, f"database {database} at 127.0.0.1:{server.port}", "GRANT CREATE ON SCHEMA")
    assert "never-shown" not in failed.stderr


def test_the_start_of_a_node_does_not_end_the_runs_of_others(make_node, stub):
    a = make_node("a").start()
    thread = new_thread(a, accepted(a.http.get("/extensions/assistant")))
    held = stub.hold("one ", "two")
    with a.events(thread["id"]) as events:
        turn = accepted(a.http.post("/chat", json={"content": "Count.", "threadId": thread["id"]}), 201)
        events.until(lambda event: event["type"] == "text-delta")
        make_node("b").start()
        held.release()
        assert events.run(turn["id"])[-1]["type"] == "finish"
    turns = accepted(a.http.get(f"/threads/{thread['id']}/turns"))
    assert [turn["content"] for turn in turns if turn["role"] == "assistant"] == ["one two"]


def test_a_restarted_node_ends_its_earlier_runs(make_node, stub):
    a, b = make_node("a").start(), make_node("b").start()
    thread = new_thread(a, accepted(a.http.get("/extensions/assistant")))
    stub.hold("one ", "two")
    with a.events(thread["id"]) as events:
        accepted(a.http.post("/chat", json={"content": "Count.", "threadId": thread["id"]}), 201)
        events.until(lambda event: event["type"] == "text-delta")
        a.kill()
    a.start()

    def ends():
        turns = accepted(b.http.get(f"/threads/{thread['id']}/turns"))
        return [turn["metadata"]["finish_reason"] for turn in turns if turn["role"] == "assistant"]
    eventually(ends, ["interrupted"])
