"""Framing by RFC 9112: an invalid request gets an error response, and its connection is closed.

See docs/contract/requests.md#framing.
"""

import json
import time

import pytest

from checks import PATIENCE, accepted, at_once
from connection import DELAYED_ACKNOWLEDGEMENT, Connection, seconds_of_separate_body

HEALTH = "GET /health HTTP/1.1"
SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def send_raw(gateway, text):
    """Sends the bytes and returns the response. Fills in `{host}` and `{token}`."""
    with Connection(gateway) as connection:
        return connection.send(fill_in(gateway, text)).response()


def fill_in(gateway, text):
    return text.replace("{host}", f"127.0.0.1:{gateway.port}").replace("{token}", f"Bearer {gateway.token}")


def refused(gateway, text, *statuses):
    """Checks the status and that the connection is closed after an error body."""
    with Connection(gateway) as connection:
        response = connection.send(fill_in(gateway, text)).response()
        assert response.status in statuses, response
        assert response.error and connection.closed(), "the connection must be closed"
    assert response.headers["content-type"] == "application/json; charset=utf-8"
    assert response.headers["cache-control"] == "no-store" and response.headers["x-content-type-options"] == "nosniff"


def post(*headers, body=""):
    lines = ["POST /threads HTTP/1.1", "Host: {host}", "Authorization: {token}", *headers]
    return "\r\n".join(lines) + "\r\n\r\n" + body


# Ambiguous requests.

SMUGGLING = {
    "length and chunks": post("Content-Length: 5", "Transfer-Encoding: chunked", body="0\r\n\r\n"),
    "chunks and length": post("Transfer-Encoding: chunked", "Content-Length: 5", body="0\r\n\r\n"),
    "length 0 and chunks": post("Content-Length: 0", "Transfer-Encoding: chunked", body="0\r\n\r\n"),
    "two different lengths": post("Content-Length: 2", "Content-Length: 3", body="{} "),
    "the same length twice": post("Content-Length: 2", "Content-Length: 2", body="{}"),
    "a list of lengths": post("Content-Length: 3,3", body="{} "),
    "a list of different lengths": post("Content-Length: 2, 3", body="{} "),
    "a signed length": post("Content-Length: +2", body="{}"),
    "a negative length": post("Content-Length: -2", body="{}"),
    "a hexadecimal length": post("Content-Length: 0x2", body="{}"),
    "a length with a point": post("Content-Length: 2.0", body="{}"),
    "a length in words": post("Content-Length: two", body="{}"),
    "an empty length": post("Content-Length:", body="{}"),
    "a length with a space within": post("Content-Length: 2 2", body="{}" * 11),
    "a length with a minus zero": post("Content-Length: -0"),
    "chunked twice": post("Transfer-Encoding: chunked", "Transfer-Encoding: chunked", body="0\r\n\r\n"),
    "a space before the colon": post("Content-Length : 2", body="{}"),
    "a space before the colon of chunked": post("Transfer-Encoding : chunked", body="0\r\n\r\n"),
    "a folded header": post("X-Folded: a\r\n b"),
    "a folded header with a tab": post("X-Folded: a\r\n\tb"),
    "a folded coding": post("Transfer-Encoding:\r\n chunked", body="0\r\n\r\n"),
    "a folded first line": "GET /health HTTP/1.1\r\n Host: {host}\r\n\r\n",
    "no colon": post("Just words"),
    "an empty name": post(": value"),
    "a name with a space": post("Two words: value"),
    "a name with a bracket": post("X(y): value"),
    "a name with a control character": post("X\x01: value"),
    "a NUL in a value": post("X-Nul: a\x00b"),
    "a bare CR in a value": post("X-Cr: a\rb"),
    "a control character in a value": post("X-Control: a\x0bb"),
    "bare line feeds": "GET /health HTTP/1.1\nHost: {host}\n\n",
    "a bare line feed after the first line": "GET /health HTTP/1.1\nHost: {host}\r\n\r\n",
    "a bare line feed before a header": post("X-A: b\nContent-Length: 2", body="{}"),
    "no host": "GET /health HTTP/1.1\r\n\r\n",
    "two hosts": "GET /health HTTP/1.1\r\nHost: {host}\r\nHost: {host}\r\n\r\n",
    "two different hosts": "GET /health HTTP/1.1\r\nHost: {host}\r\nHost: evil.example\r\n\r\n",
    "no version": "GET /health\r\nHost: {host}\r\n\r\n",
    "no path": "GET  HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "a space in the path": "GET /hea lth HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "a tab in the first line": "GET\t/health HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "a NUL in the path": "GET /hea\x00lth HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "a control character in the path": "GET /hea\x01lth HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "a method that is not a token": "G(T /health HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "a path without a slash": "GET health HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "no HTTP at all": "hello there\r\n\r\n",
    "TLS": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 and so on\r\n\r\n",
    "chunks in HTTP/1.0": "POST /threads HTTP/1.0\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
}


@pytest.mark.parametrize("kind", SMUGGLING)
def test_ambiguous_request_is_refused(gateway, kind):
    refused(gateway, SMUGGLING[kind], 400)


@pytest.mark.parametrize("kind", ["length and chunks", "two different lengths", "the same length twice", "two hosts"])
def test_connection_is_not_read_after_a_refused_request(gateway, kind):
    with Connection(gateway) as connection:
        connection.send(fill_in(gateway, SMUGGLING[kind]).encode() + SMUGGLED)
        assert connection.response().status == 400
        assert connection.closed()


BAD_CHUNKS = {
    "a size in letters": "xyz\r\n{}\r\n0\r\n\r\n", "an empty size": "\r\n{}\r\n0\r\n\r\n",
    "a signed size": "+2\r\n{}\r\n0\r\n\r\n",
    "a negative size": "-2\r\n{}\r\n0\r\n\r\n", "a prefixed size": "0x2\r\n{}\r\n0\r\n\r\n",
    "a size with a space before": " 2\r\n{}\r\n0\r\n\r\n", "data longer than its size": "2\r\n{}}\r\n0\r\n\r\n",
    "data shorter than its size": "3\r\n{}\r\n0\r\n\r\n",
    "a size that overflows": "10000000000000002\r\n{}\r\n0\r\n\r\n",
    "a size ended by a line feed": "2\n{}\r\n0\r\n\r\n", "data ended by a line feed": "2\r\n{}\n0\r\n\r\n",
    "every line ended by a line feed": "2\n{}\n0\n\n", "the trailer ended by line feeds": "2\r\n{}\r\n0\r\nX: y\n\n",
    "a bare CR in an extension": "2;a\rb\r\n{}\r\n0\r\n\r\n",
    "an unclosed quote in an extension": '2;a="b\r\n{}\r\n0\r\n\r\n',
    "an unclosed quote after data": '1\r\n{\r\n1;a="b\r\n',
    "an unclosed quote after the last chunk": '2\r\n{}\r\n0;a="b\r\n\r\n',
    "an extension without a name": "2; \r\n",
}


@pytest.mark.parametrize("kind", BAD_CHUNKS)
def test_malformed_chunk_is_refused(gateway, kind):
    refused(gateway, post("Transfer-Encoding: chunked", body=BAD_CHUNKS[kind]), 400)


ENDLESS = {
    "an extension": "1;a=" + "x" * 1_000_000, "a size": "0" * 1_000_000,
    "an extension after data": "1\r\n{\r\n1;a=" + "x" * 1_000_000,
    "a trailer": "0\r\nX-Trailer: " + "x" * 1_000_000, "trailers": "0\r\n" + "X-Trailer: a\r\n" * 50_000,
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_endless_chunk_lines_are_refused(gateway, kind):
    refused(gateway, post("Transfer-Encoding: chunked", body=ENDLESS[kind]), 400)


@pytest.mark.parametrize("kind", ENDLESS)
def test_endless_chunk_lines_without_a_token_are_refused(own_gateway, kind):
    refused(own_gateway, "POST /pair HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n" + ENDLESS[kind], 400)


@pytest.mark.parametrize("length", ["99999999999999999999", "18446744073709551616", "9223372036854775808"])
def test_huge_content_length_is_refused(gateway, length):
    refused(gateway, post(f"Content-Length: {length}"), 400, 413)


@pytest.mark.parametrize("coding", ["gzip", "gzip, chunked", "identity", "deflate", "xchunked", "chunked;q=1, compress",
                                    "br, chunked"])
def test_unknown_transfer_coding_is_not_implemented(gateway, coding):
    refused(gateway, post(f"Transfer-Encoding: {coding}", body="0\r\n\r\n"), 501)


@pytest.mark.parametrize("coding", ["chunked, gzip", "chunked, chunked", "\"chunked\"", "chunked,", ""])
def test_chunked_must_be_last_and_once(gateway, coding):
    refused(gateway, post(f"Transfer-Encoding: {coding}", body="0\r\n\r\n"), 400, 501)


@pytest.mark.parametrize("version", ["HTTP/2.0", "HTTP/1.2", "HTTP/0.9", "HTTP/3.0", "HTTP/9.9"])
def test_another_version_is_not_supported(gateway, version):
    refused(gateway, f"GET /health {version}\r\nHost: {{host}}\r\n\r\n", 505)


@pytest.mark.parametrize("version",
                         ["HTTP/1.10", "HTTP/11", "HTTP/1", "http/1.1", "HTTP/1.1x", "HTTP/ 1.1", "HTTPS/1.1",
                          "HTTP/-1.1"])
def test_malformed_version_is_refused(gateway, version):
    refused(gateway, f"GET /health {version}\r\nHost: {{host}}\r\n\r\n", 400, 505)


@pytest.mark.parametrize("method", ["get", "Get", "post"])
def test_lower_case_method_is_another_method(gateway, method):
    response = send_raw(gateway, f"{method} /threads HTTP/1.1\r\nHost: {{host}}\r\nAuthorization: {{token}}\r\n\r\n")
    assert response.status in (400, 405)


# Oversized heads.


def head_of(size):
    """Returns a request whose head has this many bytes, including the empty line."""
    start = "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: "
    return start + "a" * (size - len(start) - 4) + "\r\n\r\n"


def test_head_of_64_kib_is_read_and_a_longer_one_refused(gateway):
    response = send_raw(gateway, head_of(64 * 1024))
    assert response.status == 200
    refused(gateway, head_of(64 * 1024 + 1), 431)


@pytest.mark.parametrize("text", [
    "GET /" + "a" * 70_000 + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "GET /health?" + "a" * 70_000 + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n" + "X-A: b\r\n" * 10_000 + "\r\n",
    "GET /health HTTP/1.1\r\n" + "x" * 70_000, "x" * 70_000,
    "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n" + "X-A: b\r\n" * 100_000,
], ids=["path", "query", "many headers", "endless name", "endless line", "endless headers"])
def test_any_head_over_64_kib_is_431(gateway, text):
    refused(gateway, text, 431)


def test_many_small_headers_are_accepted(gateway):
    response = send_raw(gateway, "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n" + "X-A: b\r\n" * 1000 + "\r\n")
    assert response.status == 200


# Valid requests.

VALID_BODIES = {
    "a chunked body": "2\r\n{}\r\n0\r\n\r\n", "many chunks": "1\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
    "a size in capitals and with zeros": "000A\r\n{        }\r\n0\r\n\r\n",
    "an extension": "2;name=value\r\n{}\r\n0;x\r\n\r\n",
    "a quoted extension": '2;name="a;b"\r\n{}\r\n0\r\n\r\n', "a trailer": "2\r\n{}\r\n0\r\nX-Trailer: a\r\n\r\n",
}


@pytest.mark.parametrize("coding", ["chunked", "Chunked", "CHUNKED"])
@pytest.mark.parametrize("kind", VALID_BODIES)
def test_valid_chunks_are_read(gateway, kind, coding):
    response = send_raw(gateway, post(f"Transfer-Encoding: {coding}", "Connection: close", body=VALID_BODIES[kind]))
    assert response.status == 201


@pytest.mark.parametrize("head", [
    "GET /health HTTP/1.1\r\nhOsT: 127.0.0.1\r\n\r\n",
    "GET /health HTTP/1.1\r\nHost:127.0.0.1\r\n\r\n",
    "GET /health HTTP/1.1\r\nHost: \t 127.0.0.1 \t\r\n\r\n",
    "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Empty:\r\n\r\n",
    "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-High: \xe9\xff\r\n\r\n",
    "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: h2c\r\nConnection: Upgrade\r\nHTTP2-Settings: x\r\n\r\n",
    "GET http://{host}/health HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "GET http://{host}/health?x=1 HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "\r\nGET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}",
], ids=range(10))
def test_unusual_but_valid_request_is_served(gateway, head):
    response = send_raw(gateway, head.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1))
    assert response.status == 200


@pytest.mark.parametrize("named", ["evil.example", ""])
def test_host_of_an_absolute_target_applies(gateway, named):
    response = send_raw(gateway, f"GET http://{named}/health HTTP/1.1\r\nHost: {{host}}\r\nConnection: close\r\n\r\n")
    assert response.status in (400, 403)


def test_trailers_are_read_and_ignored(gateway):
    request = post("Transfer-Encoding: chunked", "Connection: close", body="2\r\n{}\r\n0\r\nIdempotency-Key: trailer\r\n\r\n")
    first, second = send_raw(gateway, request), send_raw(gateway, request)
    assert first.status == second.status == 201 and first.json()["id"] != second.json()["id"]


# Connections.


def test_connection_serves_any_number_of_requests(gateway):
    with Connection(gateway) as connection:
        for _ in range(50):
            assert connection.request(HEALTH).response().status == 200


def test_connection_survives_a_refused_request(gateway):
    with Connection(gateway) as connection:
        for line in ("GET /nothing HTTP/1.1", "PUT /health HTTP/1.1", "GET /threads?limit=x HTTP/1.1", HEALTH):
            response = connection.request(line).response()
        assert response.status == 200


def test_connection_close_closes(gateway):
    with Connection(gateway) as connection:
        response = connection.request(HEALTH, "Connection: close").response()
        assert response.status == 200 and response.headers.get("connection", "").lower() == "close" and connection.closed()


def test_http_1_0_is_served_and_closed(gateway):
    with Connection(gateway) as connection:
        response = connection.request("GET /health HTTP/1.0").response()
        assert response.status == 200 and response.json()["status"] == "ok" and connection.closed()


def test_pipelined_requests_are_answered_in_order(gateway, thread):
    path = f"/threads/{thread['id']}/turns"
    with Connection(gateway) as connection:
        for number in range(100):
            body = json.dumps({"content": str(number), "role": "user"}).encode()
            connection.request(f"POST {path} HTTP/1.1", f"Content-Length: {len(body)}", body=body)
            connection.request(HEALTH if number % 2 else "GET /nothing HTTP/1.1")
        for number in range(100):
            assert connection.response().json()["content"] == str(number)
            assert connection.response().status == (200 if number % 2 else 404)
    listed = accepted(gateway.http.get(path, params={"limit": 200}))
    assert [turn["content"] for turn in listed] == [str(number) for number in reversed(range(100))]


def test_slow_reader_gets_every_pipelined_response(gateway):
    with Connection(gateway) as connection:
        whole = connection.request("GET /schemas HTTP/1.1").response().json()
        for _ in range(400):
            connection.request("GET /schemas HTTP/1.1").request(HEALTH)
        for _ in range(400):
            assert connection.response().json() == whole
            assert connection.response().json()["status"] == "ok"


def test_pipeline_ends_at_connection_close(gateway):
    with Connection(gateway) as connection:
        connection.request(HEALTH).request(HEALTH, "Connection: close").request(HEALTH)
        assert [connection.response().status for _ in range(2)] == [200, 200] and connection.closed()


def test_request_may_arrive_byte_by_byte(gateway):
    with Connection(gateway) as connection:
        for byte in fill_in(gateway, post("Content-Length: 2", body="{}")).encode():
            connection.send(bytes([byte]))
        assert connection.response().status == 201
        assert connection.request(HEALTH).response().status == 200


def test_body_after_its_head_is_not_delayed(gateway):
    with Connection(gateway) as connection:
        assert seconds_of_separate_body(connection, "POST /threads HTTP/1.1", b"{}", 201) < DELAYED_ACKNOWLEDGEMENT / 2


def test_body_of_a_get_is_not_taken_for_a_request(gateway):
    with Connection(gateway) as connection:
        connection.request(HEALTH, f"Content-Length: {len(SMUGGLED)}", body=SMUGGLED).request(HEALTH)
        assert [connection.response().status for _ in range(2)] == [200, 200]


def test_unread_body_is_not_taken_for_a_request(gateway):
    for line, status in [("POST /nothing HTTP/1.1", 404), ("PUT /health HTTP/1.1", 405)]:
        with Connection(gateway) as connection:
            connection.request(line, f"Content-Length: {len(SMUGGLED)}", body=SMUGGLED)
            assert connection.response().status == status
            try:
                assert connection.request(HEALTH).response().status == 200
            except EOFError:
                pass  # Closing the connection is also correct.


def test_client_expecting_100_continue_gets_it(gateway):
    with Connection(gateway) as connection:
        connection.request("POST /threads HTTP/1.1", "Content-Length: 2", "Expect: 100-continue")
        assert connection.response().status == 100
        assert connection.send(b"{}").response().status == 201


def test_http_1_0_client_gets_no_interim_response(gateway):
    with Connection(gateway) as connection:
        connection.request("POST /threads HTTP/1.0", "Content-Length: 2", "Expect: 100-continue")
        assert connection.send(b"{}").response().status == 201 and connection.closed()
    with Connection(gateway) as connection:
        connection.request("POST /threads HTTP/1.0", "Content-Length: 2", "Expect: 100-continue")
        connection.socket.shutdown(1)
        assert connection.closed(), "HTTP/1.0 has no interim responses"


def test_refusal_needs_no_100_continue(gateway):
    with Connection(gateway) as connection:
        connection.request("POST /threads HTTP/1.1", "Content-Length: 99999999", "Expect: 100-continue")
        assert connection.response().status == 413
    with Connection(gateway) as connection:
        connection.request("POST /threads HTTP/1.1", "Content-Length: 2", "Expect: 100-continue", token=False)
        assert connection.response().status == 401


def test_half_closed_client_gets_its_response(gateway):
    with Connection(gateway) as connection:
        connection.request(HEALTH)
        connection.socket.shutdown(1)
        assert connection.response().status == 200 and connection.closed()


def test_truncated_request_is_not_executed(gateway, new_name):
    agent = new_name("cut")
    body = json.dumps({"agent_id": agent}).encode()
    for sent in (body, body[:-1]):
        with Connection(gateway) as connection:
            connection.request("POST /threads HTTP/1.1", f"Content-Length: {len(body) + 1}", body=sent)
            connection.socket.shutdown(1)
            try:
                assert connection.response().status == 400
            except (EOFError, ConnectionResetError):
                pass
    assert accepted(gateway.http.get("/threads", params={"agent_id": agent})) == []


def test_connections_over_the_limit_are_refused(make_gateway):
    small = make_gateway(config={"limits": {"connections": 3}}).start()
    kept = [Connection(small) for _ in range(3)]
    for connection in kept:
        assert connection.request(HEALTH).response().status == 200
    with Connection(small) as extra:
        response = extra.request(HEALTH).response()
        assert (response.status, response.error) == (503, "too many connections") and extra.closed()
    kept[0].close()
    kept[1].close()
    assert is_eventually_served(small)
    kept[2].close()


def is_eventually_served(gateway, seconds=PATIENCE):
    """Returns whether a new connection is served once the gateway has noticed that others were closed."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with Connection(gateway) as connection:
            if connection.request(HEALTH).response().status == 200:
                return True
    return False


def test_many_simultaneous_connections_are_served(gateway):
    connections = [Connection(gateway) for _ in range(300)]
    for connection in connections:
        connection.request(HEALTH)
    assert {connection.response().status for connection in connections} == {200}
    for connection in connections:
        connection.close()


# Slow senders, all at the same time: each waits for the gateway's timeout of 30 s.

SLOW = {
    "half a request line": "GET /hea", "half a head": "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: a",
    "no body": post("Content-Length: 2"), "half a body": post("Content-Length: 2", body="{"),
    "half a chunk": post("Transfer-Encoding: chunked", body="5\r\n{"),
    "no last chunk": post("Transfer-Encoding: chunked", body="2\r\n{}\r\n"),
    "half a second request": "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /hea",
}


@pytest.mark.slow
def test_head_or_body_idle_for_30_seconds_is_408_and_closed(gateway):
    def wait(number):
        kind = list(SLOW)[number]
        text = fill_in(gateway, SLOW[kind])
        started = time.monotonic()
        with Connection(gateway) as connection:
            connection.send(text)
            response = connection.response()
            while response.status == 200:
                response = connection.response()
            return kind, response.status, connection.closed(), 25 < time.monotonic() - started

    assert at_once(len(SLOW), wait) == [(kind, 408, True, True) for kind in SLOW]
