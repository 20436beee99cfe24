"""Tests of the provider stub, on which most tests of the gateway depend."""

import http.client
import json
import socket
import threading

import pytest

from .provider import Fault, ProviderStub, Raw, Reply, Silence, ToolCall, split

PATHS = ["/v1/messages", "/v1/chat/completions", "/v1/responses", "/api/chat"]
ENDS = {"/v1/messages": b'"message_stop"}\n\n', "/v1/chat/completions": b"data: [DONE]\n\n",
        "/v1/responses": b"}}}}\n\n", "/api/chat": b'"eval_count":5}\n'}


@pytest.fixture
def stub():
    with ProviderStub() as running:
        yield running


def post(stub, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", stub.port, timeout=10)
    connection.request("POST", path, json.dumps(body or {"model": "m", "stream": True}))
    return connection.getresponse()


def connect(stub, path):
    """Sends a request without reading the response."""
    client = socket.create_connection(("127.0.0.1", stub.port), timeout=10)
    body = b'{"model":"m"}'
    client.sendall(b"POST %b HTTP/1.1\r\ncontent-length: %d\r\n\r\n%b" % (path.encode(), len(body), body))
    return client


@pytest.mark.parametrize("path", PATHS)
def test_every_format_streams_to_its_end(stub, path):
    stub.script(Reply("Hello", deltas=5, reasoning="hm", tool_calls=[ToolCall("look", {"a": 1})], chunk_bytes=7))
    answer = post(stub, path)
    assert answer.status == 200
    body = answer.read()
    assert body.endswith(ENDS[path])
    assert b"hm" in body and b"look" in body
    assert stub.requests[0].json["model"] == "m"
    assert stub.requests[0].answered.wait(20)
    assert stub.requests[0].deltas_sent == 5


@pytest.mark.parametrize("path", PATHS)
def test_faults_have_their_status_and_headers(stub, path):
    stub.script(Fault(429, "slower", headers={"retry-after": "1"}), Fault(502, body="<html>"))
    answer = post(stub, path)
    assert (answer.status, answer.headers["retry-after"]) == (429, "1")
    assert b"slower" in answer.read()
    answer = post(stub, path)
    assert (answer.status, answer.read()) == (502, b"<html>")


@pytest.mark.parametrize("path", PATHS)
def test_answer_can_be_cut(stub, path):
    stub.script(Reply("Hello", deltas=5, after=2, fault="cut"))
    with pytest.raises(http.client.IncompleteRead):
        post(stub, path).read()


def test_disconnecting_client_is_noticed(stub):
    stub.script(Silence())
    client = connect(stub, PATHS[0])
    request = stub.wait_for_requests(1)[0]
    assert not request.closed_by_client.is_set()
    client.close()
    assert request.closed_by_client.wait(20)
    assert not request.answered.is_set()


def test_raw_bytes_and_functions_can_answer(stub):
    stub.script(Raw(b"nonsense"), lambda request: f"You sent {request.json['n']}")
    assert connect(stub, PATHS[0]).recv(100) == b"nonsense"
    assert b"You sent 5" in post(stub, "/api/chat", {"model": "m", "n": 5}).read()


def test_text_is_split_evenly():
    assert split("Hello there", 3) == ["Hell", "o th", "ere"]
    assert split("Hi", 9) == ["H", "i"]
    assert split("", 3) == []


def test_stub_serves_a_hundred_streams_at_once(stub):
    streams, deltas = 100, 100
    stub.always(Reply("x" * deltas, deltas=deltas, rate=50))
    threads = [threading.Thread(target=lambda: post(stub, PATHS[1]).read()) for _ in range(streams)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(request.deltas_sent for request in stub.requests) == streams * deltas


def test_held_answer_waits_for_its_release(stub):
    held = stub.hold("Once", " upon")
    client = connect(stub, "/api/chat")
    received = b""
    while b" upon" not in received:
        received += client.recv(65536)
    assert held.was_asked() and b'"done": true' not in received and not held.request.answered.is_set()
    held.release(" a time")
    assert held.request.answered.wait(20)
    while b"\r\n0\r\n\r\n" not in received:
        received += client.recv(65536)
    assert b" a time" in received and b'"done":true' in received and not held.was_aborted(0)


def test_held_answer_reports_that_its_client_left(stub):
    held = stub.hold("Once")
    client = connect(stub, "/v1/messages")
    assert held.was_asked()
    client.close()
    assert held.was_aborted()
