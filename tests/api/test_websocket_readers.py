"""Fast and slow readers of the WebSocket.

See docs/contract/websocket.md#limits.
"""

import pytest

from connection import TEXT
from jobs import wait_for
from test_client_streams import sockets
from threads import add_turn, new_thread

MIB = 1024 * 1024


def receives(events, turn):
    """Reads along: the next turn event is about this turn."""
    event = events.until(lambda found: found["type"] == "turn-created")[-1]
    assert event["turn"]["id"] == turn["id"]


def test_slow_reader_is_closed_with_1013_and_slows_nobody(own_gateway):
    thread = new_thread(own_gateway)
    with own_gateway.frames(receive_buffer=4096) as slow, own_gateway.events(thread) as quick:
        for _ in range(24):
            receives(quick, add_turn(own_gateway, thread, "x" * MIB))
        assert slow.close_code() == 1013 and slow.closed()
        assert quick.ask({"type": "ping"}) == {"type": "pong"}


def test_fast_reader_gets_more_than_8_mib(own_gateway):
    thread = new_thread(own_gateway)
    with own_gateway.events(thread) as events:
        for _ in range(24):
            receives(events, add_turn(own_gateway, thread, "x" * MIB))


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
def test_one_event_over_8_mib_does_not_wait_for_ever(own_gateway):
    thread = new_thread(own_gateway)
    with own_gateway.frames(receive_buffer=4096), own_gateway.events(thread) as quick:
        receives(quick, add_turn(own_gateway, thread, "x" * (9 * MIB)))
        before = sockets(own_gateway)
        wait_for(lambda: sockets(own_gateway) < before, seconds=70)  # 30 s, and 10 s to complete the close
        assert quick.ask({"type": "ping"}) == {"type": "pong"}


def test_stalled_reader_does_not_delay_the_end(own_gateway):
    thread = new_thread(own_gateway)
    with own_gateway.frames(receive_buffer=4096):
        for _ in range(6):
            add_turn(own_gateway, thread, "x" * MIB)
        assert own_gateway.stop() == 0, own_gateway.stderr
