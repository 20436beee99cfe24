"""Readers of the WebSocket that keep up, and readers that do not (decisions, 6)."""

from connection import TEXT
from threads import add_turn, new_thread

MIB = 1024 * 1024


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
            message = frames.next_of("turn-created")
            assert message["turn"]["id"] == sent["id"] and len(message["turn"]["content"]) == 8 * MIB + 1000
        frames.frame(TEXT, '{"type": "ping"}')
        assert frames.next_of("pong") == {"type": "pong"}


def test_a_reader_that_does_not_keep_up_with_events_over_8_mib_is_closed_with_1013(own):
    thread = new_thread(own)
    with own.frames() as slow:
        for _ in range(4):
            add_turn(own, thread, "x" * (9 * MIB))
        assert slow.close_code() == 1013 and slow.closed()


def test_a_reader_that_has_stopped_reading_does_not_keep_the_gateway_from_ending_well(own):
    thread = new_thread(own)
    with own.frames(receive_buffer=4096):
        for _ in range(6):
            add_turn(own, thread, "x" * MIB)
        assert own.stop() == 0, own.stderr
