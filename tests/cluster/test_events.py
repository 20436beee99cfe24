"""Over NATS, clients of other nodes receive the events of a node, catch up on its runs, decide and stop."""

import contextlib
import signal
import types

import pytest

from approvals import answer, decide, pending
from certificates import make_certificate
from checks import accepted, refused
from events import text_of
from nats import nats
from steering import glob
from stubs.provider import Reply
from test_changes import eventually
from test_nodes import fails
from test_take_over import finish_reasons
from tools import calls, new_agent, new_thread, turns_of


UNREACHABLE = "the node a has to answer this and cannot be reached, try again"


def assistant_thread(node, **members):
    return new_thread(node, accepted(node.http.get("/extensions/assistant")), **members)


def ask(node, thread, content="Count.", **members):
    return accepted(node.http.post("/chat", json={"content": content, "threadId": thread["id"], **members}), 201)


def first_delta(events):
    return events.until(lambda event: event["type"] == "text-delta")[-1]


@contextlib.contextmanager
def answering(node, stub, client_at=None, *, pieces=("one ", "two ")):
    """A thread in which the node is in the middle of an answer, and a client subscribed to it there or at `client_at`."""
    thread = assistant_thread(node, title="a title")
    held = stub.hold(*pieces)
    with (client_at or node).events(thread["id"]) as events:
        turn = ask(node, thread)
        yield types.SimpleNamespace(thread=thread, held=held, turn=turn, events=events, delta=first_delta(events))


def worker_thread(a, b, **members):
    """Creates a thread of an agent that both nodes know."""
    agent = new_agent(a, "worker")
    eventually(lambda: b.http.get(f"/extensions/{agent['id']}").status_code, 200)
    return new_thread(a, agent, title="a title", **members)


def resumed(node, thread):
    """Returns the runs that a client of the node gets when it resumes the thread."""
    with node.events() as events:
        return events.subscribe(thread["id"], resume=True)["runs"]


def test_a_run_is_received_at_another_node_in_the_same_order(linked_nodes, stub):
    a, b = linked_nodes
    thread = assistant_thread(a, title="a title")
    pieces = [f"{number} " for number in range(300)]
    held = stub.hold(*pieces)
    with a.events(thread["id"]) as here, b.events(thread["id"]) as there:
        turn = ask(a, thread)
        held.release()
        assert here.run(turn["id"]) == there.run(turn["id"])
        assert text_of(there.run(turn["id"])) == "".join(pieces)
        assert [event["seq"] for event in there.run(turn["id"])] == list(range(1, len(there.run(turn["id"])) + 1))
        kinds = [event["type"] for event in here.messages if event.get("threadId") == thread["id"]]
        assert kinds == [event["type"] for event in there.messages if event.get("threadId") == thread["id"]]


def test_an_event_larger_than_a_message_may_be_is_received(linked_nodes, stub):
    a, b = linked_nodes
    thread = assistant_thread(a, title="a title")
    large = "x" * 3_000_000
    stub.hold(large).release()
    with b.events(thread["id"]) as there:
        turn = ask(a, thread)
        assert text_of(there.run(turn["id"])) == large


def test_events_of_lists_are_received_at_another_node(linked_nodes, stub):
    a, b = linked_nodes
    with b.events() as there:
        there.subscribe(lists=True)
        stub.hold("Hello.").release()
        turn = accepted(a.http.post("/chat", json={"content": "Hello."}), 201)
        received = there.until(lambda event: event["type"] == "finish")
    assert {"turn-created", "thread-updated"} <= {event["type"] for event in received}
    assert received[-1]["threadId"] == turn["thread_id"]


def test_a_client_of_another_node_catches_up(linked_nodes, stub):
    a, b = linked_nodes
    with answering(a, stub, pieces=("one ", "two ", "three")) as run:
        eventually(lambda: [each["runId"] for each in resumed(b, run.thread)], [run.delta["runId"]])
        with b.events() as there:
            [shown] = there.subscribe(run.thread["id"], resume=True)["runs"]
            run.held.release()
            rest = there.run(run.turn["id"])
            complete = run.events.run(run.turn["id"])
    assert shown["text"] + text_of(rest) == "one two three"
    assert rest == [event for event in complete if event["seq"] > shown["seq"]]
    path = f"/threads/{run.thread['id']}/events"
    assert accepted(b.http.get(path, params={"runId": run.delta["runId"], "after": 1})) == complete[1:]


def test_an_active_run_is_read_at_another_node(linked_nodes, stub):
    a, b = linked_nodes
    with answering(a, stub) as run:
        path = f"/threads/{run.thread['id']}"
        detail = accepted(b.http.get(path))
        assert detail["active_run"]["runId"] == run.delta["runId"]
        assert detail["active_run"]["text"].startswith("one ")
        assert accepted(b.http.get(f"{path}/events", params={"runId": run.delta["runId"]}))[0] == run.delta
        refused(b.http.delete(path), 409, "thread is in use")


def test_a_run_is_stopped_at_another_node(linked_nodes, stub):
    a, b = linked_nodes
    with answering(a, stub, client_at=b) as run:
        stopped = accepted(b.http.post("/chat/stop", json={"threadId": run.thread["id"]}))
        assert stopped["status"] == "stopped"
        assert run.events.run(run.turn["id"])[-1]["type"] == "stopped"


def test_messages_of_a_thread_follow_each_other_whichever_node_they_are_sent_to(linked_nodes, stub):
    a, b = linked_nodes
    with answering(a, stub, client_at=b, pieces=("one ", "two")) as run:
        stub.hold("three").release()
        second = ask(b, run.thread)
        run.held.release()
        run.events.run(run.turn["id"])
        run.events.run(second["id"])
        stub.hold("four").release()
        third = ask(b, run.thread)
        run.events.run(third["id"])
    contents = [turn["content"] for turn in turns_of(a, run.thread)]
    assert contents == ["Count.", "Count.", "one two", "three", "Count.", "four"]


def test_a_message_sent_to_another_node_joins_the_answer(linked_nodes, stub):
    a, b = linked_nodes
    thread = worker_thread(a, b)
    held = stub.hold("Let me look.", tool_calls=[glob()])
    with b.events(thread["id"]) as there:
        turn = ask(a, thread)
        first_delta(there)
        message = ask(b, thread, "Only the otters.", delivery="steer")
        stub.hold("Done.").release()
        held.release()
        run = there.run(turn["id"])
        steered = [event for event in there.messages if event["type"] == "steered"]
    assert run[-1]["type"] == "finish"
    assert [event["turnId"] for event in steered] == [message["id"]]


def test_a_repeated_message_to_another_node_is_answered_once(linked_nodes, stub):
    a, b = linked_nodes
    with answering(a, stub) as run:
        body = {"content": "And now?", "threadId": run.thread["id"]}
        sent = [accepted(node.http.post("/chat", json=body, headers={"Idempotency-Key": "k"}), 201) for node in (b, b, a)]
    assert sent[0] == sent[1] == sent[2]


def test_a_permission_is_listed_and_decided_at_another_node(linked_nodes, stub):
    a, b = linked_nodes
    agent = new_agent(a, "writer", stage="apprentice")
    eventually(lambda: b.http.get(f"/extensions/{agent['id']}").status_code, 200)
    home = a.home / "site"
    home.mkdir()
    project = accepted(a.http.post("/projects", json={"name": "site", "path": str(home)}), 201)
    thread = new_thread(a, agent, project_id=project["id"])
    stub.script(calls(("Bash", {"command": "echo hello"})), "Done.")
    with b.events() as there, a.events(thread["id"]) as here:
        here.subscribe(thread["id"], approvals=True)
        there.subscribe(thread["id"])
        turn = ask(a, thread)
        request = there.until(lambda event: event["type"] == "permission-requested")[-1]["request"]
        assert pending(b) == pending(b, thread) == pending(a) == [request]
        assert accepted(decide(b, request))["decision"] == "allow"
        assert pending(a) == pending(b) == []
        refused(decide(b, request), 409, "permission request already decided")
        run = there.run(turn["id"])
    assert [event["output"] for event in run if event["type"] == "tool-end"][0].startswith("hello\n")


def test_a_question_is_answered_by_a_person_at_another_node(linked_nodes, stub):
    """The agent asks only if its node knows that a person is there."""
    a, b = linked_nodes
    thread = worker_thread(a, b)
    with b.events() as there:
        there.subscribe(thread["id"], approvals=True)

        def start_run():
            stub.script(calls(("AskUser", {"question": "Which?", "options": ["red", "blue"]})), "Done.")
            turn = ask(a, thread)
            event = there.until(lambda event: event["type"] in ("permission-requested", "finish"))[-1]
            return turn, event
        turn, event = start_run()
        while event["type"] == "finish":  # a does not know of the person yet
            turn, event = start_run()
        accepted(answer(b, event["request"], "blue"))
        run = there.run(turn["id"])
    assert "blue" in [event["output"] for event in run if event["type"] == "tool-end"][0]


def test_clients_catch_up_once_nats_is_back(linked_nodes, stub, messages):
    a, b = linked_nodes
    thread = assistant_thread(a, title="a title")
    held = stub.hold("one ", "two ", "three")
    with a.events(thread["id"]) as here, b.events(thread["id"]) as there:
        turn = ask(a, thread)
        delta = first_delta(there)
        messages.stop()
        eventually(lambda: all("is lost: events of other nodes" in log_of(node) for node in (a, b)), True)
        held.release()
        complete = here.run(turn["id"])
        assert complete[-1]["type"] == "finish"
        # Without NATS, events are read from the database.
        assert accepted(b.http.get(f"/threads/{thread['id']}/events", params={"runId": delta["runId"]})) == complete
        messages.start()
        assert there.closed() == 1012
    ask_until_received(a, b, thread, stub)
    assert [found["content"] for found in turns_of(b, thread, "assistant")][:2] == ["one two three", "again"]


def ask_until_received(a, b, thread, stub):
    """Asks a until a client of b has received an answer. The client reconnects whenever it may have missed events."""
    stub.always(Reply(text="again", deltas=1))
    while True:
        with b.events(thread["id"]) as there:
            turn = ask(a, thread)
            with contextlib.suppress(AssertionError):
                there.until(lambda event: event["type"] == "finish" and event["turnId"] == turn["id"])
                return
            assert there.closed() == 1012


def log_of(node):
    return (node.data / "logs" / "gateway.log").read_text()


def test_a_run_of_an_unreachable_node_is_read_from_its_checkpoint(linked_nodes, stub, messages):
    a, b = linked_nodes
    with answering(a, stub) as run:
        messages.stop()
        path = f"/threads/{run.thread['id']}/events"
        eventually(lambda: accepted(b.http.get(path, params={"runId": run.delta["runId"]}))[:1], [run.delta])
        refused(b.http.post("/chat/stop", json={"threadId": run.thread["id"]}), 503, UNREACHABLE)


def test_clients_of_another_node_reconnect_after_a_kill(linked_nodes, stub):
    a, b = linked_nodes
    with answering(a, stub, client_at=b) as run:
        a.kill()
        assert run.events.closed() == 1012
    thread = run.thread
    assert resumed(b, thread) == []
    assert finish_reasons(b, thread) == ["interrupted"]
    stub.hold("again").release()
    with b.events(thread["id"]) as there:
        turn = ask(b, thread)
        assert text_of(there.run(turn["id"])) == "again"


def test_a_hung_node_does_not_block_readers(linked_nodes, stub):
    a, b = linked_nodes
    with answering(a, stub, client_at=b) as run:
        thread = run.thread
    a.process.send_signal(signal.SIGSTOP)
    try:
        assert accepted(b.http.get(f"/threads/{thread['id']}"))["id"] == thread["id"]
        refused(b.http.post("/chat/stop", json={"threadId": thread["id"]}), 503, UNREACHABLE)
    finally:
        a.process.send_signal(signal.SIGCONT)


def test_without_nats_a_thread_is_answered_at_one_node_at_a_time(nodes, stub):
    a, b = nodes
    with answering(a, stub) as run:
        thread = run.thread
        refused(b.http.post("/chat", json={"content": "And?", "threadId": thread["id"]}), 503,
                "the node a has to answer this: ask there, or set cluster.events at all nodes")
        accepted(a.http.post("/chat/stop", json={"threadId": thread["id"]}))
        run.events.run(run.turn["id"])
    stub.hold("again").release()
    with b.events(thread["id"]) as there:
        turn = ask(b, thread)
        assert text_of(there.run(turn["id"])) == "again"


# Invalid configurations.

def test_events_need_a_name_of_the_node(make_node, messages):
    node = make_node(None, events=messages.url())
    fails(node, 2, "cluster.events needs cluster.node")


@pytest.mark.parametrize("events, words", [("nats://agw:never-shown@db:4222", "use tls://db"),
                                           ("http://agw:never-shown@db", "must be like nats://"),
                                           ("nats://agw:${secret:NATS}@127.0.0.1", "NATS")])
def test_an_invalid_address_is_refused_without_its_password(make_node, events, words):
    failed = fails(make_node("a", events=events), 2, "cluster.events: ", words)
    assert "never-shown" not in failed.stderr


def test_credentials_are_checked_at_the_start(make_node):
    with nats('authorization { user: agw, password: "right-one" }') as server:
        prefix = f"the NATS server at 127.0.0.1:{server.port} (cluster.events)"
        fails(make_node("a", events=server.url()), 1, prefix, "wants a user and a password: add them")
        failed = fails(make_node("a", events=server.url("agw:never-shown")), 1, prefix, "refuses the user", "correct them")
        assert "never-shown" not in failed.stderr
        node = make_node("a", events=server.url("agw:right-one")).start()
        assert "right-one" not in log_of(node)


def test_a_node_starts_while_nats_is_down_and_connects_later(make_node, messages, stub):
    messages.stop()
    a, b = (make_node(name, events=messages.url()).start() for name in ("a", "b"))
    assert f"cannot reach the NATS server at 127.0.0.1:{messages.port} (cluster.events)" in log_of(b)
    thread = assistant_thread(a, title="a title")
    with b.events(thread["id"]) as there:
        messages.start()
        assert there.closed() == 1012
    ask_until_received(a, b, thread, stub)


def test_an_encrypted_server_must_be_trusted(make_node, stub, tmp_path):
    certificate, key = make_certificate(tmp_path)
    with nats(f'tls {{ cert_file: "{certificate}", key_file: "{key}" }}') as server:
        url = server.url(scheme="tls")
        fails(make_node("a", events=url), 1, f"the NATS server at 127.0.0.1:{server.port} (cluster.events)",
              "has a certificate that is not trusted", "SSL_CERT_FILE")
        trusting = {"SSL_CERT_FILE": str(certificate)}
        a, b = (make_node(name, events=url, environment=trusting).start() for name in ("a", "b"))
        thread = assistant_thread(a, title="a title")
        stub.hold("Hello.").release()
        with b.events(thread["id"]) as there:
            turn = ask(a, thread)
            assert text_of(there.run(turn["id"])) == "Hello."
    with nats() as server:
        fails(make_node("c", events=server.url(scheme="tls")), 1, "offers no encrypted connection")
