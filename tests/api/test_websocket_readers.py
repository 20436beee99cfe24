"""Fast and slow readers of the WebSocket, and those with many threads.

See docs/contract/websocket.md#limits.
"""

import contextlib
import json

import pytest

from checks import accepted
from connection import TEXT
from events import text_of
from gateway import HAS_ADDRESS_SANITIZER
from jobs import wait_for
from test_idle_memory import resident_kib
from test_client_streams import sockets
from threads import add_turn, new_thread

MIB = 1024 * 1024


def expect_turn(events, turn):
    """Reads events and asserts that the next created turn is this one."""
    event = events.until(lambda found: found["type"] == "turn-created")[-1]
    assert event["turn"]["id"] == turn["id"]


def test_slow_reader_is_closed_with_1013_and_does_not_slow_others(own_gateway):
    thread = new_thread(own_gateway)
    with own_gateway.frames(receive_buffer=4096) as slow, own_gateway.events(thread) as quick:
        for _ in range(24):
            expect_turn(quick, add_turn(own_gateway, thread, "x" * MIB))
        assert slow.close_code() == 1013 and slow.closed()
        assert quick.ask({"type": "ping"}) == {"type": "pong"}


def test_fast_reader_gets_more_than_8_mib(own_gateway):
    thread = new_thread(own_gateway)
    with own_gateway.events(thread) as events:
        for _ in range(24):
            expect_turn(events, add_turn(own_gateway, thread, "x" * MIB))


def test_one_event_over_8_mib_reaches_a_fast_reader(own_gateway):
    thread = new_thread(own_gateway)
    with own_gateway.frames() as frames:
        for number in range(2):
            sent = add_turn(own_gateway, thread, f"{number}" * (8 * MIB + 1000))
            message = frames.next_of("turn-created")
            assert message["turn"]["id"] == sent["id"] and len(message["turn"]["content"]) == 8 * MIB + 1000
        frames.frame(TEXT, '{"type": "ping"}')
        assert frames.next_of("pong") == {"type": "pong"}


def test_slow_reader_of_events_over_8_mib_is_closed_with_1013(own_gateway):
    thread = new_thread(own_gateway)
    with own_gateway.frames() as slow:
        for _ in range(4):
            add_turn(own_gateway, thread, "x" * (9 * MIB))
        assert slow.close_code() == 1013 and slow.closed()


@pytest.mark.slow
def test_unread_event_over_8_mib_closes_the_connection(own_gateway):
    thread = new_thread(own_gateway)
    with own_gateway.frames(receive_buffer=4096), own_gateway.events(thread) as quick:
        expect_turn(quick, add_turn(own_gateway, thread, "x" * (9 * MIB)))
        before = sockets(own_gateway)
        wait_for(lambda: sockets(own_gateway) < before, seconds=70)  # 30 s, and 10 s to complete the close
        assert quick.ask({"type": "ping"}) == {"type": "pong"}


@contextlib.contextmanager
def answering(talker, text):
    """A thread in the middle of an answer, once this text has arrived: the thread, its question and the paused answer."""
    thread = accepted(talker.gateway.http.post("/threads", json={"title": "a title"}), 201)
    held = talker.holds(text)
    with talker.gateway.events(thread["id"]) as events:
        turn = accepted(talker.gateway.http.post("/chat", json={"content": "a", "threadId": thread["id"]}), 201)
        received = 0
        while received < len(text):
            received += len(events.until(lambda event: event["type"] == "text-delta")[-1]["delta"])
        yield thread, turn, held
        held.release(" The end.")
        assert text_of(events.run(turn["id"])).startswith(text)


def test_resume_of_a_long_answer_is_complete_and_continues(talker):
    text = "Line \N{LEFT DOUBLE QUOTATION MARK}\N{GRINNING FACE}\"\\\n" * 200_000
    with answering(talker, text) as (thread, turn, held), talker.gateway.events() as late:
        [run] = late.subscribe(thread["id"], resume=True)["runs"]
        assert (run["text"], run["reasoning"], run["tools"], run["turnId"]) == (text, "", [], turn["id"])
        assert late.ask({"type": "ping"}) == {"type": "pong"}
        held.say(" More.")
        rest = late.until(lambda event: event["type"] == "text-delta")[-1]
        assert (rest["delta"], rest["seq"]) == (" More.", run["seq"] + 1)


@pytest.mark.skipif(HAS_ADDRESS_SANITIZER, reason="the limit is for a program without sanitizers")
def test_unread_resume_takes_no_memory(own_talker):
    gateway = own_talker.gateway
    with answering(own_talker, "x" * (8 * MIB)) as (thread, _, _), contextlib.ExitStack() as stack:
        message = json.dumps({"type": "subscribe", "threadId": thread["id"], "resume": True})
        slow = [stack.enter_context(gateway.frames(receive_buffer=4096)) for _ in range(12)]
        before = resident_kib(gateway)
        for socket in slow:
            socket.frame(TEXT, message)
        for socket in slow:
            assert socket.socket.recv(1), "the reply has begun"
        assert resident_kib(gateway) - before < 24 * 1024


def test_stalled_reader_does_not_delay_shutdown(own_gateway):
    thread = new_thread(own_gateway)
    with own_gateway.frames(receive_buffer=4096):
        for _ in range(6):
            add_turn(own_gateway, thread, "x" * MIB)
        assert own_gateway.stop() == 0, own_gateway.stderr


def threads_of(messages):
    return {message["threadId"] for message in messages if "threadId" in message}


def test_number_of_threads_is_bounded(gateway):
    refusal = {"type": "error", "error": "at most 10000 threads, with ids of at most 200 bytes"}
    thread = new_thread(gateway)

    def subscribe(*threads):
        return events.ask({"type": "subscribe", "threadIds": threads})

    with gateway.events() as events:
        ids = [f"thread-{number}" for number in range(10_001)]
        assert subscribe(*ids) == refusal
        add_turn(gateway, thread)
        assert thread in threads_of(events.drain())  # a refused message changes nothing
        assert set(subscribe(*ids[:-1])["threadIds"]) == set(ids[:-1])
        assert len(subscribe(*ids[9_000:-1])["threadIds"]) == 10_000  # known threads do not count twice
        assert subscribe(*ids[9_999:]) == refusal
        events.ask({"type": "unsubscribe", "threadId": ids[0]})
        assert subscribe("x" * 201) == refusal
        assert thread in subscribe(thread)["threadIds"]
        add_turn(gateway, thread)
        assert threads_of(events.drain()) == {thread}
