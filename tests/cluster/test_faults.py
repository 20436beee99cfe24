"""Acknowledged messages are answered once, whatever happens to NATS and to nodes."""

import collections

from checks import accepted, refused
from stubs.provider import Reply
from test_changes import eventually
from test_events import answering, ask, assistant_thread, first_delta
from tools import turns_of


def wait_until_answered_once(node, thread, questions):
    """Waits until each question has one answer."""
    def answers():
        replies = turns_of(node, thread, "assistant")
        return collections.Counter(reply["metadata"]["in_reply_to"] for reply in replies)
    eventually(answers, collections.Counter(questions))


def test_messages_to_any_node_are_answered_once_while_nats_restarts(linked_nodes, messages, stub):
    stub.always(Reply(text="Here.", deltas=3))
    thread = assistant_thread(linked_nodes[0], title="a title")
    sent = []
    for number in range(60):
        if number % 20 == 8:
            messages.stop()
        if number % 20 == 14:
            messages.start()
        body = {"content": f"message {number}", "threadId": thread["id"]}
        response = linked_nodes[number % 2].http.post("/chat", json=body)
        assert response.status_code in (201, 503), response.text
        if response.status_code == 201:
            sent.append(response.json()["id"])
    assert len(sent) >= 30
    for node in linked_nodes:
        wait_until_answered_once(node, thread, sent)
    contents = [turn["content"] for turn in turns_of(linked_nodes[0], thread, "user")]
    assert len(contents) == len(set(contents)) == len(sent)


def test_messages_to_any_node_are_answered_once_while_nodes_are_killed(make_node, messages, stub):
    """A run that a kill interrupts counts as the answer to its question."""
    stub.always(Reply(text="Here.", deltas=3))
    nodes = [make_node(name, events=messages.url()).start() for name in ("a", "b")]
    thread = assistant_thread(nodes[0], title="a title")
    sent = []
    for number in range(30):
        victim, other = nodes[number // 10 % 2], nodes[1 - number // 10 % 2]
        if number % 10 == 5:
            wait_until_answered_once(other, thread, sent)
            stub.hold("cut ", "off")
            with other.events(thread["id"]) as events:
                sent.append(ask(victim, thread)["id"])
                first_delta(events)
            victim.kill()
            victim.start()
        sent.append(ask(nodes[number % 2], thread, f"message {number}")["id"])
    for node in nodes:
        wait_until_answered_once(node, thread, sent)


def test_turns_are_deleted_and_regenerated_at_another_node(linked_nodes, stub):
    a, b = linked_nodes
    with answering(a, stub, client_at=b, pieces=("one ", "two")) as run:
        thread, first, there = run.thread, run.turn, run.events
        waiting = ask(b, thread)
        assert b.http.delete(f"/turns/{waiting['id']}").status_code == 204
        refused(b.http.delete(f"/turns/{first['id']}"), 409, "turn is in use")
        refused(b.http.post(f"/turns/{first['id']}/regenerate"), 409, "turn is in use")
        run.held.release()
        there.run(first["id"])
        there.drain()
        stub.hold("three").release()
        regenerated = accepted(b.http.post(f"/turns/{first['id']}/regenerate"), 201)
        there.until(lambda event: event["type"] == "finish")
    assert regenerated["id"] == first["id"]
    assert [turn["content"] for turn in turns_of(a, thread)] == ["Count.", "one two", "three"]
