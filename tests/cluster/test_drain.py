"""Draining: after SIGTERM, a node completes its runs while others get new ones. Also the readiness of nodes."""

import signal

import httpx

from checks import PATIENCE, accepted, refused
from jobs import new_job
from mcp_client import Client, text_of
from stubs.provider import Reply
from talker import MODEL
from test_changes import eventually
from test_events import answering, ask, assistant_thread
from test_status import nodes_of
from test_response_socket import create, read_response
from test_take_over import finish_reasons, start_answer
from test_websocket import upgrade

STOPPING = "the gateway is about to stop, try again"


def readiness(node):
    response = node.http.get("/ready")
    return "ready" if response.status_code == 200 else response.json()["reasons"]


def drain(node):
    """Sends SIGTERM to the node, and waits until it is draining."""
    node.process.send_signal(signal.SIGTERM)
    eventually(lambda: readiness(node), ["it is about to stop"])


def test_a_draining_node_completes_its_answers_and_begins_none(make_node, stub):
    a, b = make_node("a", drain_seconds=600).start(), make_node("b").start()
    new_job(a, "worker")
    with answering(a, stub, pieces=("one ", "two")) as run:
        other = assistant_thread(a)
        drain(a)
        refused(a.http.post("/chat", json={"content": "Count.", "threadId": other["id"]}), 503, STOPPING)
        refused(a.http.post("/run/worker"), 503, STOPPING)
        assert a.http.post("/v1/chat/completions", json={}).json()["error"]["message"] == STOPPING
        stub.hold("three").release()
        ask(b, other)
        eventually(lambda: finish_reasons(b, other), ["stop"])
        assert accepted(a.http.get(f"/threads/{run.thread['id']}"))["id"] == run.thread["id"]
        run.held.release()
        assert a.wait() == 0, a.stderr
    assert finish_reasons(b, run.thread) == ["stop"]


def test_a_client_gets_the_complete_answer_from_a_draining_node(make_node, stub):
    a = make_node("a", drain_seconds=600).start()
    held = stub.hold("one ", "two")
    body = {"model": MODEL, "stream": True, "messages": [{"role": "user", "content": "Count."}]}
    options = {"json": body, "headers": a.authorization, "timeout": PATIENCE}
    with httpx.stream("POST", f"{a.url}/v1/chat/completions", **options) as response:
        lines = response.iter_lines()
        next(line for line in lines if "one " in line)
        drain(a)
        held.release()
        rest_of_lines = [line.strip() for line in lines if line.strip()]
    assert any("two" in line for line in rest_of_lines) and rest_of_lines[-1] == "data: [DONE]"
    assert a.wait() == 0, a.stderr


def test_a_response_socket_completes_its_requests_and_begins_no_more(make_node, stub):
    a = make_node("a", drain_seconds=600).start()
    stub.always(Reply("three"))
    held = stub.hold("one ", "two")
    with a.events(path="/v1/responses") as socket:
        create(socket)
        socket.until(lambda event: event["type"] == "response.output_text.delta")
        create(socket)
        drain(a)
        create(socket)
        assert read_response(socket)[-1]["error"]["message"] == STOPPING
        assert upgrade(a, path="/v1/responses").status == 503
        assert upgrade(a, path="/v1/responses", token=False).status == 401
        held.release()
        assert [read_response(socket)[-1]["type"] for _ in range(2)] == ["response.completed"] * 2
        assert a.wait() == 0, a.stderr


def test_a_draining_node_refuses_calls_of_agents_as_tools(make_node, stub):
    a = make_node("a", drain_seconds=600).start()
    stub.hold("one ", "two")
    start_answer(a)
    with Client(a) as client:
        drain(a)
        result = client.call("ask_assistant", message="Count.")
        assert result["isError"] and STOPPING in text_of(result)
    a.process.send_signal(signal.SIGTERM)
    assert a.wait() == 0, a.stderr


def test_a_stopping_node_releases_its_lease_at_once(nodes):
    a, b = nodes
    a.stop()
    assert [node["node"] for node in nodes_of(b)] == ["b"]
    eventually(lambda: [node["leads"] for node in nodes_of(b)], [True])
    assert "is lost" not in (b.data / "logs" / "gateway.log").read_text()


def test_sockets_of_a_draining_node_are_closed_with_1012(make_node, stub):
    a = make_node("a", drain_seconds=600).start()
    stub.hold("one ", "two")
    socket = a.events(start_answer(a)["id"])
    drain(a)
    assert socket.closed() == 1012
    a.process.send_signal(signal.SIGTERM)
    assert a.wait() == 0, a.stderr


def test_a_second_signal_stops_a_draining_node_at_once(make_node, stub):
    a, b = make_node("a", drain_seconds=600).start(), make_node("b").start()
    stub.hold("one ", "two")
    thread = start_answer(a)
    drain(a)
    a.process.send_signal(signal.SIGTERM)
    assert a.wait() == 0, a.stderr
    assert finish_reasons(b, thread) == ["stopped"]


def test_answers_that_take_longer_than_drain_seconds_are_stopped(make_node, stub):
    a, b = make_node("a", drain_seconds=1).start(), make_node("b").start()
    stub.hold("one ", "two")
    thread = start_answer(a)
    assert a.stop() == 0, a.stderr
    assert finish_reasons(b, thread) == ["stopped"]


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


def test_a_node_is_ready_while_it_is_connected_to_nats(make_node, messages):
    a = make_node("a", events=messages.url()).start()
    eventually(lambda: readiness(a), "ready")
    messages.stop()
    eventually(lambda: readiness(a), ["the NATS server cannot be reached"])
    messages.start()
    eventually(lambda: readiness(a), "ready")


def test_a_standalone_gateway_stops_without_draining(make_node, stub):
    standalone = make_node(None, drain_seconds=600).start()
    eventually(lambda: readiness(standalone), "ready")
    stub.hold("one ", "two")
    thread = start_answer(standalone)
    assert standalone.stop() == 0, standalone.stderr
    standalone.start()
    assert finish_reasons(standalone, thread) == ["stopped"]
