"""Requests that another node handles are carried out at most once, and the client always gets a response."""

import contextlib
import hmac
import json
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from checks import PATIENCE, accepted, refused
from nats import Listener, Proxy
from stubs.provider import Reply
from test_changes import eventually
from test_events import UNREACHABLE, answering, ask, assistant_thread, log_of, resumed
from tools import turns_of

LONG_OUTAGE = 9  # seconds: a node that is silent for less than that already counts as lost


@pytest.fixture
def listener(messages):
    with contextlib.closing(Listener(messages)) as running:
        yield running


@pytest.fixture
def proxy(messages):
    with contextlib.closing(Proxy(messages)) as running:
        yield running


@pytest.fixture
def proxied_nodes(make_node, messages, proxy):
    """Two nodes; the connection of the first one to the NATS server can be cut."""
    return make_node("a", events=proxy.url()).start(), make_node("b", events=messages.url()).start()


def contents(node, thread):
    return [turn["content"] for turn in turns_of(node, thread, "user")]


@contextlib.contextmanager
def turns_locked(server, database):
    """Prevents turns from being stored."""
    options = ["-h", str(server.directory), "-p", str(server.port), "-U", "agw", "-d", database]
    with subprocess.Popen(["psql", "-X", "-q", "-A", "-t", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as psql:
        psql.stdin.write("BEGIN; LOCK TABLE turns IN SHARE MODE; SELECT 'locked';\n")
        psql.stdin.flush()
        assert psql.stdout.readline() == "locked\n"
        yield
        psql.stdin.write("COMMIT;\n")
        psql.stdin.close()


def test_a_concurrent_repetition_at_another_node_gets_the_same_response(nodes, stub, server, database):
    stub.always(Reply(text="Here."))
    body, key = {"content": "Count."}, {"Idempotency-Key": "the same"}
    with ThreadPoolExecutor() as pool:
        with turns_locked(server, database):
            sent = [pool.submit(node.http.post, "/chat", json=body, headers=key, timeout=PATIENCE) for node in nodes]
            eventually(lambda: server.psql(database, "SELECT count(*) FROM idempotency_claims"), [["1"]])
        first, second = [accepted(each.result(), 201) for each in sent]
    assert first == second
    assert [thread["id"] for thread in accepted(nodes[0].http.get("/threads"))] == [first["thread_id"]]
    assert server.psql(database, "SELECT count(*) FROM idempotency_claims") == [["0"]]


def test_a_key_can_be_used_again_after_a_failure_and_after_a_kill(nodes, server, database):
    a, b = nodes
    key = {"Idempotency-Key": "failing"}
    for node in (a, b):
        refused(node.http.post("/extensions", json={"type": "job"}, headers=key), 400, "name is required")
    with turns_locked(server, database), ThreadPoolExecutor() as pool:
        sent = pool.submit(a.http.post, "/chat", json={"content": "Count."}, headers=key, timeout=PATIENCE)
        eventually(lambda: server.psql(database, "SELECT node FROM idempotency_claims"), [["a"]])
        a.kill()
        assert sent.exception()
    assert b.http.post("/chat", json={"content": "Count."}, headers=key, timeout=PATIENCE).status_code == 201


def test_replayed_messages_have_no_effect(linked_nodes, stub, listener):
    a, b = linked_nodes
    with answering(a, stub, client_at=b) as run:
        ask(b, run.thread, "once")
        run.held.release()
        run.events.run(run.turn["id"])
        count = len(run.events.messages)
        listener.send_again(list(listener.recorded))
        ask(b, run.thread, "then")
        run.events.until(lambda event: event["type"] == "turn-created" and event["turn"]["content"] == "then")
        repeated = [event for event in run.events.messages[count:] if event.get("runId") == run.delta["runId"]]
        assert repeated == []
    assert contents(a, run.thread) == ["Count.", "once", "then"]


def test_a_request_is_not_carried_out_once_its_sender_has_given_up(linked_nodes, stub):
    a, b = linked_nodes
    with answering(a, stub) as run:
        thread = run.thread
        a.process.send_signal(signal.SIGSTOP)
        try:
            refused(b.http.post("/chat", json={"content": "too late", "threadId": thread["id"]}), 503, UNREACHABLE)
        finally:
            a.process.send_signal(signal.SIGCONT)

        def sent():
            return b.http.post("/chat", json={"content": "then", "threadId": thread["id"]}).status_code
        eventually(sent, 201)
        assert "too late" not in contents(a, thread)


def test_a_lost_response_is_not_waited_for(proxied_nodes, proxy, stub, server, database):
    a, b = proxied_nodes
    with answering(a, stub) as run:
        eventually(lambda: [each["runId"] for each in resumed(b, run.thread)], [run.delta["runId"]])
        body = {"content": "lost", "threadId": run.thread["id"]}
        with ThreadPoolExecutor() as pool:
            with turns_locked(server, database):
                sent = pool.submit(b.http.post, "/chat", json=body, timeout=PATIENCE)
                waiting = "SELECT count(*) FROM pg_locks WHERE relation = CAST('turns' AS regclass) AND NOT granted"
                eventually(lambda: server.psql(database, waiting), [["1"]])
                proxy.cut()
                eventually(lambda: "is lost: events of other nodes" in log_of(a), True)
            eventually(lambda: "lost" in contents(a, run.thread), True)
            proxy.restore()
            refused(sent.result(), 503, "the node a was lost while it answered, see what became of it and try again")
    assert contents(b, run.thread) == ["Count.", "lost"]


def test_clients_reconnect_after_a_node_was_disconnected_for_long(proxied_nodes, proxy, stub):
    a, b = proxied_nodes
    thread = assistant_thread(a, title="a title")
    with b.events() as there:
        there.subscribe(thread["id"], lists=True)
        accepted(a.http.patch(f"/threads/{thread['id']}", json={"title": "heard"}))
        there.until(lambda event: event["type"] == "thread-updated")
        proxy.cut()
        eventually(lambda: "is lost: events of other nodes" in log_of(a), True)
        accepted(a.http.patch(f"/threads/{thread['id']}", json={"title": "missed"}))
        began = time.monotonic()
        eventually(lambda: time.monotonic() - began > LONG_OUTAGE, True)
        proxy.restore()
        assert there.closed() == 1012


UNREADABLE = {"not JSON": b"threads", "not a list": b"{}", "deep": b"[" * 10_000}


@pytest.mark.parametrize("body", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_message_that_a_node_cannot_read_is_ignored(linked_nodes, listener, server, database, body):
    """As another release, or a node with a fault, may send."""
    [[secret]] = server.psql(database, "SELECT secret FROM cluster_secret")
    eventually(lambda: bool(listener.recorded), True)
    subject = listener.recorded[0][0].rsplit(b".", 1)[0] + b".node.a"
    head = json.dumps({"from": "c", "epoch": 1, "kind": "runs?", "id": "x"}).encode()
    sealed = subject + b"\n" + head + b"\n" + body
    listener.send_again([(subject, hmac.digest(secret.encode(), sealed, "sha256") + sealed[len(subject) + 1:])])
    node = linked_nodes[0]
    eventually(lambda: "a message of the node c is ignored" in log_of(node), True)
    assert node.running and accepted(node.http.get("/health"))["status"] == "ok"
