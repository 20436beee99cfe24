"""A node that gets SIGTERM ends what it has begun, while others get what is new; and which node is ready for requests."""

import signal

from checks import accepted, refused
from jobs import new_job
from test_changes import eventually
from test_events import answering, ask, assistant_thread
from test_status import nodes_of
from test_take_over import answers, started

STOPS = "the gateway is about to stop, try again"


def readiness(node):
    response = node.http.get("/ready")
    return "ready" if response.status_code == 200 else response.json()["reasons"]


def drains(node):
    """Has the node drain, and waits until it says so."""
    node.process.send_signal(signal.SIGTERM)
    eventually(lambda: readiness(node), ["it is about to stop"])


def test_a_node_that_drains_ends_its_answers_and_begins_none(make_node, stub):
    a, b = make_node("a", drain_seconds=600).start(), make_node("b").start()
    new_job(a, "worker")
    with answering(a, stub, pieces=("one ", "two")) as run:
        other = assistant_thread(a)
        drains(a)
        refused(a.http.post("/chat", json={"content": "Count.", "threadId": other["id"]}), 503, STOPS)
        refused(a.http.post("/run/worker"), 503, STOPS)
        assert a.http.post("/v1/chat/completions", json={}).json()["error"]["message"] == STOPS
        stub.hold("three").release()
        ask(b, other)
        eventually(lambda: answers(b, other), ["stop"])
        assert accepted(a.http.get(f"/threads/{run.thread['id']}"))["id"] == run.thread["id"]
        run.held.release()
        assert a.wait() == 0, a.stderr
    assert answers(b, run.thread) == ["stop"]


def test_the_lease_of_a_node_that_ends_is_given_up_at_once(nodes):
    a, b = nodes
    a.stop()
    assert [node["node"] for node in nodes_of(b)] == ["b"]
    eventually(lambda: [node["leads"] for node in nodes_of(b)], [True])
    assert "is lost" not in (b.data / "logs" / "gateway.log").read_text()


def test_clients_are_told_to_connect_again(make_node, stub):
    a = make_node("a", drain_seconds=600).start()
    stub.hold("one ", "two")
    socket = a.events(started(a)["id"])
    drains(a)
    assert socket.closed() == 1012
    a.process.send_signal(signal.SIGTERM)
    assert a.wait() == 0, a.stderr


def test_a_second_signal_ends_a_node_at_once(make_node, stub):
    a, b = make_node("a", drain_seconds=600).start(), make_node("b").start()
    stub.hold("one ", "two")
    thread = started(a)
    drains(a)
    a.process.send_signal(signal.SIGTERM)
    assert a.wait() == 0, a.stderr
    assert answers(b, thread) == ["stopped"]


def test_answers_that_take_too_long_are_stopped(make_node, stub):
    a, b = make_node("a", drain_seconds=1).start(), make_node("b").start()
    stub.hold("one ", "two")
    thread = started(a)
    assert a.stop() == 0, a.stderr
    assert answers(b, thread) == ["stopped"]


def test_a_node_is_ready_while_it_reaches_the_database(make_node, server):
    a = make_node("a").start()
    eventually(lambda: readiness(a), "ready")
    done = a.command("status", "--ready")
    assert (done.returncode, done.stdout) == (0, "")
    server.stop()
    try:
        eventually(lambda: readiness(a) in (["the database cannot be reached"], ["the database does not answer"]), True)
        done = a.command("status", "--ready")
        assert done.returncode == 1 and "not ready: the database" in done.stderr
        accepted(a.anonymous.get("/health"))
    finally:
        server.start()
    eventually(lambda: readiness(a), "ready")


def test_a_node_whose_lease_has_expired_is_not_ready(make_node, server, database):
    a = make_node("a").start()
    eventually(lambda: (server.psql(database, "UPDATE gateway_owner SET lease_until = now() - interval '1 hour'"),
                        readiness(a))[1], ["its lease has expired"])


def test_a_node_is_ready_while_it_hears_the_others(make_node, messages):
    a = make_node("a", events=messages.url()).start()
    eventually(lambda: readiness(a), "ready")
    messages.stop()
    eventually(lambda: readiness(a), ["the NATS server cannot be reached"])
    messages.start()
    eventually(lambda: readiness(a), "ready")


def test_a_gateway_alone_stops_without_draining(make_node, stub):
    alone = make_node(None, drain_seconds=600).start()
    eventually(lambda: readiness(alone), "ready")
    stub.hold("one ", "two")
    thread = started(alone)
    assert alone.stop() == 0, alone.stderr
    alone.start()
    assert answers(alone, thread) == ["stopped"]
