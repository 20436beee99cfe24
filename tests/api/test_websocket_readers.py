"""Readers of the WebSocket that keep up, and readers that do not (decisions, 6)."""

from checks import accepted
from connection import TEXT

MIB = 1024 * 1024


def new_thread(gateway):
    return accepted(gateway.http.post("/threads", json={}), 201)["id"]


def add_turn(gateway, thread, content="hello"):
    return accepted(gateway.http.post(f"/threads/{thread}/turns", json={"content": content, "role": "user"}), 201)


def next_of(frames, kind):
    message = frames.message()
    while message["type"] != kind:
        message = frames.message()
    return message


def test_a_reader_that_does_not_keep_up_is_closed_with_1013_and_slows_down_nobody(own):
    thread = new_thread(own)
    with own.frames(receive_buffer=4096) as slow, own.events(thread) as quick:
        sent = [add_turn(own, thread, "x" * MIB)["id"] for _ in range(24)]
        told = [found["turn"]["id"] for found in quick.drain() if found["type"] == "turn-created"]
        assert told == sent
        assert slow.close_code() == 1013 and slow.closed()
        assert quick.ask({"type": "ping"}) == {"type": "pong"}


def test_a_reader_that_keeps_up_gets_more_than_8_mib(own):
    thread = new_thread(own)
    with own.events(thread) as events:
        sent = [add_turn(own, thread, "x" * MIB)["id"] for _ in range(24)]
        assert [found["turn"]["id"] for found in events.drain() if found["type"] == "turn-created"] == sent


def test_one_event_over_8_mib_reaches_a_reader_that_keeps_up(own):
    thread = new_thread(own)
    with own.frames() as frames:
        for number in range(2):
            sent = add_turn(own, thread, f"{number}" * (8 * MIB + 1000))
            message = next_of(frames, "turn-created")
            assert message["turn"]["id"] == sent["id"] and len(message["turn"]["content"]) == 8 * MIB + 1000
        frames.frame(TEXT, '{"type": "ping"}')
        assert next_of(frames, "pong") == {"type": "pong"}


def test_a_reader_that_does_not_keep_up_with_events_over_8_mib_is_closed_with_1013(own):
    thread = new_thread(own)
    with own.frames() as slow:
        for _ in range(4):
            add_turn(own, thread, "x" * (9 * MIB))
        assert slow.close_code() == 1013 and slow.closed()
