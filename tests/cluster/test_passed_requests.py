"""Requests that another node answers are carried out once or not at all, and whoever asks always gets an answer."""

import contextlib
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from checks import PATIENCE, accepted, refused
from nats import Listener, Wire
from stubs.provider import Reply
from test_changes import eventually
from test_events import UNREACHABLE, answering, ask, assistant_thread, log_of, resumed
from tools import turns_of

AWAY = 9  # seconds: longer than a node is thought to be there without being heard


@pytest.fixture
def listener(messages):
    with contextlib.closing(Listener(messages)) as one:
        yield one


@pytest.fixture
def wire(messages):
    with contextlib.closing(Wire(messages)) as one:
        yield one


@pytest.fixture
def wired(make_node, messages, wire):
    """Two nodes; the wire of the first to the NATS server can be cut."""
    return make_node("a", events=wire.url()).start(), make_node("b", events=messages.url()).start()


def contents(node, thread):
    return [turn["content"] for turn in turns_of(node, thread, "user")]


@contextlib.contextmanager
def turns_locked(server, database):
    """Until it ends, no turn can be stored."""
    place = ["-h", str(server.directory), "-p", str(server.port), "-U", "agw", "-d", database]
    with subprocess.Popen(["psql", "-X", "-q", "-A", "-t", *place], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as psql:
        psql.stdin.write("BEGIN; LOCK TABLE turns IN SHARE MODE; SELECT 'locked';\n")
        psql.stdin.flush()
        assert psql.stdout.readline() == "locked\n"
        yield
        psql.stdin.write("COMMIT;\n")
        psql.stdin.close()


def test_a_request_that_is_repeated_at_another_node_meanwhile_gets_the_first_answer(nodes, stub, server, database):
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


def test_a_key_is_free_again_after_a_failure_and_after_a_kill(nodes, server, database):
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


def test_recorded_messages_that_are_sent_again_do_nothing(talking, stub, listener):
    a, b = talking
    with answering(a, stub, heard_at=b) as run:
        ask(b, run.thread, "once")
        run.held.release()
        run.events.run(run.turn["id"])
        heard = len(run.events.messages)
        listener.send_again(list(listener.recorded))
        ask(b, run.thread, "then")
        run.events.until(lambda event: event["type"] == "turn-created" and event["turn"]["content"] == "then")
        again = [event for event in run.events.messages[heard:] if event.get("runId") == run.delta["runId"]]
        assert again == []
    assert contents(a, run.thread) == ["Count.", "once", "then"]


def test_a_request_is_not_carried_out_once_its_asker_has_given_up(talking, stub):
    a, b = talking
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


def test_an_answer_that_is_lost_is_not_waited_for(wired, wire, stub, server, database):
    a, b = wired
    with answering(a, stub) as run:
        eventually(lambda: [each["runId"] for each in resumed(b, run.thread)], [run.delta["runId"]])
        body = {"content": "lost", "threadId": run.thread["id"]}
        with ThreadPoolExecutor() as pool:
            with turns_locked(server, database):
                sent = pool.submit(b.http.post, "/chat", json=body, timeout=PATIENCE)
                waiting = "SELECT count(*) FROM pg_locks WHERE relation = CAST('turns' AS regclass) AND NOT granted"
                eventually(lambda: server.psql(database, waiting), [["1"]])
                wire.cut()
                eventually(lambda: "is lost: events of other nodes" in log_of(a), True)
            eventually(lambda: "lost" in contents(a, run.thread), True)
            wire.mend()
            refused(sent.result(), 503, "the node a was lost while it answered, see what became of it and try again")
    assert contents(b, run.thread) == ["Count.", "lost"]


def test_clients_catch_up_on_a_node_that_was_cut_off_for_long(wired, wire, stub):
    a, b = wired
    thread = assistant_thread(a, title="a title")
    with b.events() as there:
        there.subscribe(thread["id"], lists=True)
        accepted(a.http.patch(f"/threads/{thread['id']}", json={"title": "heard"}))
        there.until(lambda event: event["type"] == "thread-updated")
        wire.cut()
        eventually(lambda: "is lost: events of other nodes" in log_of(a), True)
        accepted(a.http.patch(f"/threads/{thread['id']}", json={"title": "missed"}))
        began = time.monotonic()
        eventually(lambda: time.monotonic() - began > AWAY, True)
        wire.mend()
        assert there.closed() == 1012
