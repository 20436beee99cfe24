"""Readers of the WebSocket that keep up, and readers that do not (decisions, 6)."""

from connection import TEXT
from threads import add_turn, new_thread

MIB = 1024 * 1024


def is_told(events, turn):
    """Keeps up: what comes next of turns tells of this one."""
    told = events.until(lambda found: found["type"] == "turn-created")[-1]
    assert told["turn"]["id"] == turn["id"]


def test_a_reader_that_does_not_keep_up_is_closed_with_1013_and_slows_down_nobody(own):
    thread = new_thread(own)
    with own.frames(receive_buffer=4096) as slow, own.events(thread) as quick:
        for _ in range(24):
            is_told(quick, add_turn(own, thread, "x" * MIB))
        assert slow.close_code() == 1013 and slow.closed()
        assert quick.ask({"type": "ping"}) == {"type": "pong"}


def test_a_reader_that_keeps_up_gets_more_than_8_mib(own):
    thread = new_thread(own)
    with own.events(thread) as events:
        for _ in range(24):
            is_told(events, add_turn(own, thread, "x" * MIB))


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
