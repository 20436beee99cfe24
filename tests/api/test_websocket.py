"""The WebSocket: authentication, subscriptions, messages and their replies.

See docs/contract/websocket.md.
"""

import json
import socket

import pytest
import websockets

from checks import UNKNOWN_ID, accepted, at_once
from connection import BINARY, CLOSE, PING, PONG, TEXT, Connection
from threads import add_turn, new_thread

PATHS = ["/ws", "/", "/events"]
MIB = 1024 * 1024


def refusal(gateway, path="/ws", **options):
    """Returns the HTTP status with which a WebSocket client is refused."""
    with pytest.raises(websockets.InvalidStatusCode) as refused:
        gateway.events(path=path, **options)
    return refused.value.status_code


def chat(gateway, thread, content="hello"):
    return accepted(gateway.http.post("/chat", json={"content": content, "threadId": thread}), 201)


def threads_of(messages):
    """Returns the ids of the threads that the events belong to."""
    return {message["threadId"] for message in messages if "threadId" in message}


def upgrade(gateway, *headers, path="/ws", token=True):
    """Returns the response to an upgrade request with these additional header lines."""
    with Connection(gateway) as connection:
        connection.request(f"GET {path} HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket",
                           "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", *headers,
                           token=token)
        return connection.response()


def test_unsupported_version_is_refused_with_the_supported_one(gateway):
    for version in ("8", "14", "x"):
        with Connection(gateway) as connection:
            connection.request("GET /ws HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket",
                               f"Sec-WebSocket-Version: {version}", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
            response = connection.response()
        assert response.status == 426 and response.headers["sec-websocket-version"] == "13"


@pytest.mark.parametrize("path", ["/%77s", "/%65vents"])
def test_upgrade_path_may_be_percent_encoded(gateway, path):
    assert upgrade(gateway, path=path).status == 101
    assert upgrade(gateway, path=f"{path}?token={gateway.token}", token=False).status == 101


@pytest.mark.parametrize("framing", ["Content-Length: 4", "Transfer-Encoding: chunked"])
def test_upgrade_must_not_have_a_body(gateway, framing):
    response = upgrade(gateway, framing)
    assert (response.status, response.error) == (400, "malformed WebSocket upgrade")
    assert response.headers["connection"].lower() == "close"
    assert upgrade(gateway, "Content-Length: 0").status == 101


@pytest.mark.parametrize("duplicate", ["Sec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==", "Sec-WebSocket-Version: 13",
                                       "Sec-WebSocket-Version: 8"])
def test_upgrade_has_one_key_and_one_version(gateway, duplicate):
    response = upgrade(gateway, duplicate)
    assert (response.status, response.error) == (400, "malformed WebSocket upgrade")


@pytest.mark.parametrize("path", PATHS)
def test_nul_in_the_query_of_an_upgrade_is_refused(gateway, path):
    response = upgrade(gateway, path=path + "?x=%00")
    assert (response.status, response.error) == (400, "invalid query")
    assert upgrade(gateway, path=path + "?x=%00", token=False).status == 401


# Authentication.


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("credential", ["header", "subprotocol", "query"])
def test_token_is_accepted_three_ways_on_three_paths(gateway, path, credential):
    with gateway.events(path=path, token=credential) as events:
        assert events.ask({"type": "ping"}) == {"type": "pong"}
        assert events.subprotocol == ("bearer" if credential == "subprotocol" else None)


@pytest.mark.parametrize("path", PATHS)
def test_missing_credential_is_401_before_the_upgrade(gateway, path):
    assert refusal(gateway, path, token=None) == 401
    response = upgrade(gateway, path=path, token=False)
    assert (response.status, response.error) == (401, "unauthorized")
    assert response.headers["www-authenticate"] == 'Bearer realm="agent-gateway"'
    assert response.headers["content-type"] == "application/json; charset=utf-8"


def test_wrong_credential_is_401_even_next_to_a_right_one(gateway):
    right, wrong = gateway.token, "0" * 64
    assert refusal(gateway, token=None, headers={"Authorization": f"Bearer {wrong}"}) == 401
    assert refusal(gateway, token=None, subprotocols=["bearer", wrong]) == 401
    assert refusal(gateway, f"/ws?token={wrong}", token=None) == 401
    assert refusal(gateway, f"/ws?token={wrong}", token="header") == 401
    assert refusal(gateway, f"/ws?token={right}", token=None, headers={"Authorization": f"Bearer {wrong}"}) == 401
    assert refusal(gateway, token="header", subprotocols=["bearer", wrong]) == 401
    assert refusal(gateway, "/ws?token=", token=None) == 401
    assert refusal(gateway, token=None, subprotocols=["bearer"]) == 401


def test_empty_query_token_counts_as_missing_and_the_first_is_used(gateway):
    right, wrong = gateway.token, "0" * 64
    assert upgrade(gateway, path="/ws?token=").status == 101
    assert upgrade(gateway, path=f"/ws?token={right}&token={wrong}", token=False).status == 101
    assert upgrade(gateway, path=f"/ws?token={wrong}&token={right}", token=False).status == 401


@pytest.mark.parametrize("offered", ["bearerish", "bearer-token, chat", "BEARER, x", "chat, bearer"])
def test_unoffered_subprotocol_is_not_selected(gateway, offered):
    response = upgrade(gateway, f"Sec-WebSocket-Protocol: {offered}")
    assert response.status == 101 and "sec-websocket-protocol" not in response.headers


def test_subprotocols_may_span_headers_and_contain_tabs(gateway):
    right, wrong = gateway.token, "0" * 64
    for offered in ([f"bearer\t,\t{right}\t,\tchat"], ["bearer", right], ["bearer", right, "chat"],
                    [f"bearer,\t{right}", "chat"]):
        response = upgrade(gateway, *(f"Sec-WebSocket-Protocol: {line}" for line in offered), token=False)
        assert response.status == 101 and response.headers["sec-websocket-protocol"] == "bearer", offered
    lines = ["Sec-WebSocket-Protocol: bearer", f"Sec-WebSocket-Protocol: {wrong}"]
    assert upgrade(gateway, *lines, token=False).status == 401 and upgrade(gateway, *lines).status == 401


def test_query_token_is_for_the_upgrade_only(gateway):
    assert gateway.anonymous.get("/threads", params={"token": gateway.token}).status_code == 401


def test_foreign_origin_is_refused_and_a_missing_one_accepted(gateway):
    for origin in ("http://evil.example", "null", f"http://localhost:{gateway.port + 1}", "http://localhost",
                   f"http://127.0.0.1.evil.example:{gateway.port}"):
        assert refusal(gateway, origin=origin) == 403
    response = upgrade(gateway, "Origin: null")
    assert (response.status, response.error) == (403, "origin not allowed")
    for origin in (None, f"http://localhost:{gateway.port}", f"http://127.0.0.1:{gateway.port}"):
        with gateway.events(origin=origin) as events:
            assert events.ask({"type": "ping"}) == {"type": "pong"}


def test_foreign_origin_takes_precedence_over_a_missing_token(gateway):
    assert refusal(gateway, token=None, origin="http://evil.example") == 403


def test_handshake_follows_rfc_6455(gateway):
    response = upgrade(gateway)
    assert response.status == 101
    assert response.headers["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
    assert response.headers["upgrade"].lower() == "websocket" and "sec-websocket-extensions" not in response.headers


def test_compression_is_not_negotiated(gateway):
    assert "sec-websocket-extensions" not in upgrade(gateway, "Sec-WebSocket-Extensions: permessage-deflate").headers


def test_upgrade_of_another_path_is_an_ordinary_request(gateway):
    assert upgrade(gateway, path="/health").status == 200
    assert upgrade(gateway, path="/nothing").status == 404


def test_nothing_is_sent_on_connect(own_gateway):
    with own_gateway.events() as events:
        events.drain()
        assert events.messages == [{"type": "pong"}]


# Subscriptions. Tests share the gateway, and therefore look only at their own threads.


def test_before_the_first_subscribe_all_threads_are_received(gateway):
    first, second = new_thread(gateway), new_thread(gateway)
    with gateway.events() as events:
        add_turn(gateway, first)
        add_turn(gateway, second)
        assert {first, second} <= threads_of(events.drain())


def test_after_subscribe_only_subscribed_threads_are_received(gateway):
    first, second, third = (new_thread(gateway) for _ in range(3))
    with gateway.events() as events:
        assert events.ask({"type": "subscribe", "threadId": first}) == {"type": "subscribed", "threadIds": [first]}
        for thread in (first, second, third):
            add_turn(gateway, thread)
        assert threads_of(events.drain()) == {first}
        reply = events.ask({"type": "subscribe", "threadIds": [third, first]})
        assert reply["type"] == "subscribed" and set(reply["threadIds"]) == {first, third}
        assert len(reply["threadIds"]) == 2 and set(reply) == {"type", "threadIds"}
        for thread in (first, second, third):
            add_turn(gateway, thread)
        assert threads_of(events.drain()) == {first, third}


def test_unsubscribe_removes_threads(gateway):
    first, second = new_thread(gateway), new_thread(gateway)
    with gateway.events(first, second) as events:
        reply = events.ask({"type": "unsubscribe", "threadId": first})
        assert reply == {"type": "subscribed", "threadIds": [second]}
        add_turn(gateway, first)
        add_turn(gateway, second)
        assert threads_of(events.drain()) == {second}


def test_empty_set_receives_no_thread_events(gateway):
    thread = new_thread(gateway)
    with gateway.events(thread) as events:
        reply = events.ask({"type": "unsubscribe", "threadIds": [thread]})
        assert reply == {"type": "subscribed", "threadIds": []}
        add_turn(gateway, thread)
        assert threads_of(events.drain()) == set()


def test_unsubscribe_before_the_first_subscribe_changes_nothing(gateway):
    thread = new_thread(gateway)
    with gateway.events() as events:
        reply = events.ask({"type": "unsubscribe", "threadId": thread})
        assert reply == {"type": "subscribed", "threadIds": []}
        add_turn(gateway, thread)
        assert thread in threads_of(events.drain())


def test_subscribing_twice_equals_once(gateway):
    thread = new_thread(gateway)
    with gateway.events(thread) as events:
        reply = events.ask({"type": "subscribe", "threadIds": [thread, thread]})
        assert reply == {"type": "subscribed", "threadIds": [thread]}
        turn = add_turn(gateway, thread)
        created = [found for found in events.drain() if found["type"] == "turn-created"]
        assert [found["turn"]["id"] for found in created] == [turn["id"]]


def test_subscriptions_belong_to_their_connection(gateway):
    first, second = new_thread(gateway), new_thread(gateway)
    with gateway.events(first) as one, gateway.events(second) as other:
        add_turn(gateway, first)
        add_turn(gateway, second)
        assert threads_of(one.drain()) == {first} and threads_of(other.drain()) == {second}


def test_gateway_events_are_received_by_all(gateway, new_name):
    thread = new_thread(gateway)
    with gateway.events(thread) as events:
        body = {"type": "theme", "name": new_name("announced"), "description": "", "definition": {}}
        made = accepted(gateway.http.post("/extensions", json=body), 201)
        assert [found["id"] for found in events.drain() if found["type"] == "extension-changed"][-1:] == [made["id"]]


def test_with_lists_landmarks_of_all_threads_are_received(gateway):
    mine, other = new_thread(gateway), new_thread(gateway)
    with gateway.events() as events:
        reply = events.ask({"type": "subscribe", "threadId": mine, "lists": True})
        assert reply["threadIds"] == [mine]
        turn = chat(gateway, other)
        events.until(lambda found: found["type"] == "finish" and found["turnId"] == turn["id"])
        events.drain()
        kinds = {found["type"] for found in events.messages if found.get("threadId") == other}
    assert {"turn-created", "finish"} <= kinds <= {"turn-created", "thread-updated", "finish"}


def test_with_lists_and_no_thread_only_landmarks_are_received(gateway):
    thread = new_thread(gateway)
    with gateway.events() as events:
        assert events.subscribe(lists=True) == {"type": "subscribed", "threadIds": []}
        turn = chat(gateway, thread)
        events.until(lambda found: found["type"] == "finish" and found["turnId"] == turn["id"])
        assert "text-delta" not in {found["type"] for found in events.messages}


def test_lists_can_be_switched_off(gateway):
    mine, other = new_thread(gateway), new_thread(gateway)
    with gateway.events() as events:
        events.subscribe(mine, lists=True)
        assert events.ask({"type": "subscribe", "threadId": mine, "lists": False})["threadIds"] == [mine]
        add_turn(gateway, other)
        add_turn(gateway, mine)
        assert threads_of(events.drain()) == {mine}


def test_unsubscribe_removes_lists(gateway):
    mine, other = new_thread(gateway), new_thread(gateway)
    with gateway.events() as events:
        events.subscribe(mine, lists=True)
        assert events.ask({"type": "unsubscribe", "lists": True}) == {"type": "subscribed", "threadIds": [mine]}
        add_turn(gateway, other)
        add_turn(gateway, mine)
        assert threads_of(events.drain()) == {mine}


def test_resume_without_active_runs_sends_none(gateway):
    thread = new_thread(gateway)
    with gateway.events() as events:
        reply = events.ask({"type": "subscribe", "threadId": thread, "resume": True})
        assert reply == {"type": "subscribed", "threadIds": [thread], "runs": []}


def test_unknown_thread_can_be_subscribed_to(gateway):
    with gateway.events() as events:
        assert events.subscribe(UNKNOWN_ID) == {"type": "subscribed", "threadIds": [UNKNOWN_ID]}


# Events of records.


def test_turn_is_announced_in_full(gateway):
    thread = new_thread(gateway)
    with gateway.events(thread) as events:
        turn = add_turn(gateway, thread)
        event = events.until(lambda found: found["type"] == "turn-created")[-1]
    assert event["turn"] == turn and event["threadId"] == thread


def test_announcements_have_the_order_of_the_writes(gateway):
    thread = new_thread(gateway)
    with gateway.events(thread) as events:
        at_once(8, lambda _: [add_turn(gateway, thread) for _ in range(10)])
        created = [found["turn"]["id"] for found in events.drain() if found["type"] == "turn-created"]
    listed = accepted(gateway.http.get(f"/threads/{thread}/turns", params={"limit": 100}))
    assert created == [turn["id"] for turn in listed][::-1]


# Messages.


def test_ping_is_answered_with_pong(gateway):
    with gateway.events() as events:
        assert [events.ask({"type": "ping", "extra": 1}) for _ in range(3)] == [{"type": "pong"}] * 3


@pytest.mark.parametrize("message", [
    "", " ", "hello", "{", "[]", "null", "5", '"ping"', "{}", '{"type": 5}', '{"type": "shout"}', '{"type": null}',
    '{"Type": "ping"}', '{"type": "PING"}', '{"type": "subscribe"}', '{"type": "subscribe", "threadId": 5}',
    '{"type": "subscribe", "threadIds": "a"}', '{"type": "subscribe", "threadIds": [5]}',
    '{"type": "subscribe", "threadIds": {}}', '{"type": "unsubscribe"}', '{"type": "unsubscribe", "threadId": []}',
    '{"type": "subscribe", "threadId": 5, "lists": true}', '{"type": "unsubscribe", "threadId": "a", "lists": 1}',
    '{"type": "subscribe", "threadIds": [], "lists": "yes"}', '{"type": "subscribe", "threadIds": [], "resume": 1}',
    "[" * 100_000, '{"type": "ping"} x', "\ufeff" + '{"type": "ping"}', '{"type": "text-delta", "delta": "x"}',
])
def test_unknown_message_is_an_error_and_the_connection_stays_open(gateway, message):
    with gateway.frames() as frames:
        frames.frame(TEXT, message)
        reply = next_own(frames)
        assert set(reply) == {"type", "error"} and reply["type"] == "error" and reply["error"], reply
        frames.frame(TEXT, '{"type": "ping"}')
        assert next_own(frames) == {"type": "pong"}


def next_own(frames):
    """Returns the next message that is not caused by another test."""
    message = frames.message()
    while "threadId" in message or message["type"] == "extension-changed":
        message = frames.message()
    return message


def test_fragmented_message_is_one_message(gateway):
    with gateway.frames() as frames:
        frames.frame(TEXT, '{"type"', final=False)
        frames.frame(PING, "between")
        frames.frame(0, ': "pi', final=False).frame(0, 'ng"}')
        assert frames.receive() == (PONG, b"between")
        assert next_own(frames) == {"type": "pong"}


def test_message_may_have_many_fragments(gateway):
    with gateway.frames() as frames:
        frames.frame(TEXT, "", final=False)
        frames.send(b"\x00\x80mask" * 50_000)
        frames.frame(0, '{"type":"ping"}')
        assert next_own(frames) == {"type": "pong"}


def test_ping_frame_is_answered_with_its_payload(gateway):
    with gateway.frames() as frames:
        assert frames.frame(PING, "payload" * 17).receive() == (PONG, b"payload" * 17)
        assert frames.frame(PING).receive() == (PONG, b"")


def test_close_frame_is_answered(gateway):
    with gateway.frames() as frames:
        opcode, payload = frames.frame(CLOSE, b"\x03\xe8bye").receive()
        assert opcode == CLOSE and payload[:2] == b"\x03\xe8" and frames.closed()


# Close codes.

BROKEN = {
    "not masked": lambda frames: frames.frame(TEXT, "{}", masked=False),
    "reserved bit": lambda frames: frames.frame(TEXT, "{}", reserved=0x40),
    "unknown opcode": lambda frames: frames.frame(0x3, "{}"),
    "unknown control opcode": lambda frames: frames.frame(0xB),
    "fragmented ping": lambda frames: frames.frame(PING, final=False),
    "long ping": lambda frames: frames.frame(PING, "x" * 126),
    "continuation of nothing": lambda frames: frames.frame(0, "{}"),
    "text within a fragmented text": lambda frames: frames.frame(TEXT, "{", final=False).frame(TEXT, "}"),
    "close of one byte": lambda frames: frames.frame(CLOSE, b"\x03"),
    "close with a code that must not be sent": lambda frames: frames.frame(CLOSE, b"\x03\xed"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_malformed_frame_closes_with_1002(gateway, kind):
    with gateway.frames() as frames:
        BROKEN[kind](frames)
        assert frames.close_code() == 1002 and frames.closed()


def test_binary_message_closes_with_1003(gateway):
    with gateway.frames() as frames:
        assert frames.frame(BINARY, b'{"type": "ping"}').close_code() == 1003


@pytest.mark.parametrize("payload", [b"\xff", b'{"type": "\xc3"}', b"\xed\xa0\x80", b"\xc0\xaf"])
def test_invalid_utf8_closes_with_1007(gateway, payload):
    with gateway.frames() as frames:
        assert frames.frame(TEXT, payload).close_code() == 1007


def test_utf8_may_be_split_between_fragments(gateway):
    with gateway.frames() as frames:
        frames.frame(TEXT, b'{"type": "ping", "x": "\xc3', final=False).frame(0, b'\xa9"}')
        assert next_own(frames) == {"type": "pong"}


def test_message_has_at_most_1_mib(gateway):
    frame = '{"type": "ping", "x": "%s"}'
    text = frame % ("y" * (MIB - len(frame) + 2))
    with gateway.frames() as frames:
        assert len(text) == MIB
        frames.frame(TEXT, text)
        assert next_own(frames) == {"type": "pong"}
        assert frames.frame(TEXT, text + " ").close_code() == 1009


def test_fragmented_message_over_1_mib_closes_with_1009(gateway):
    with gateway.frames() as frames:
        frames.frame(TEXT, " " * (MIB // 2), final=False).frame(0, " " * (MIB // 2), final=False).frame(0, " " * 10)
        assert frames.close_code() == 1009


def test_announced_huge_message_closes_with_1009_early(gateway):
    with gateway.frames() as frames:
        assert frames.frame(TEXT, "x", length=2**40).close_code() == 1009


def test_vanished_client_is_harmless(gateway):
    thread = new_thread(gateway)
    with gateway.events(thread) as events:
        for _ in range(20):
            frames = gateway.frames()
            frames.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            frames.close()
        turn = add_turn(gateway, thread)
        assert [found["turn"]["id"] for found in events.drain() if found["type"] == "turn-created"] == [turn["id"]]


def test_many_requests_at_once_are_all_answered(gateway):
    threads = [f"thread-{number:020}" for number in range(5000)]
    with gateway.frames() as frames:
        frames.frame(TEXT, json.dumps({"type": "subscribe", "threadIds": threads}))
        for _ in range(80):
            frames.frame(TEXT, '{"type":"unsubscribe","threadId":"none"}')
        # Each response contains the whole set: together far more than may be queued for a slow reader.
        for _ in range(81):
            assert len(next_own(frames)["threadIds"]) == len(threads)
        frames.frame(TEXT, '{"type":"ping"}')
        assert next_own(frames) == {"type": "pong"}


def test_many_connections_receive_the_same(gateway):
    thread = new_thread(gateway)
    sockets = [gateway.events(thread) for _ in range(50)]
    turn = chat(gateway, thread)
    runs = [events.run(turn["id"]) for events in sockets]
    assert all(run == runs[0] for run in runs) and json.dumps(runs[0])
    for events in sockets:
        events.close()


@pytest.mark.slow
def test_idle_connection_is_pinged_every_30_seconds(gateway):
    with gateway.frames() as frames:
        frames.frame(TEXT, json.dumps({"type": "subscribe", "threadIds": []}))
        opcode, _ = frames.receive()
        while opcode == TEXT:
            opcode, _ = frames.receive()
        assert opcode == PING
