"""Clients that disconnect during a stream or read it slowly. See docs/contract/clients.md."""

import contextlib
import json
import os
import threading
from pathlib import Path

import pytest

from checks import PATIENCE, accepted
from jobs import wait_for
from stubs.provider import Reply
from talker import MODEL

ROUTES = {
    "/v1/chat/completions": {"messages": [{"role": "user", "content": "Hi"}]},
    "/v1/responses": {"input": "Hi"},
    "/v1/messages": {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 4096},
}
MEBIBYTE = 1024 * 1024


def ask(connection, path):
    """Requests a stream and waits for its first bytes."""
    body = json.dumps({"model": MODEL, "stream": True, **ROUTES[path]}).encode()
    connection.request(f"POST {path} HTTP/1.1", f"Content-Length: {len(body)}", body=body)
    assert connection.socket.recv(15) == b"HTTP/1.1 200 OK"


def sockets(gateway):
    def kind(link):
        try:
            return os.readlink(link).partition(":")[0]
        except FileNotFoundError:  # closed since it was listed
            return ""
    return [kind(link) for link in Path(f"/proc/{gateway.process.pid}/fd").iterdir()].count("socket")


def connect_and_leave(talker, path, count):
    """Opens `count` streams and disconnects in the middle of the answers. Returns the number of sockets that the
    gateway had open before that."""
    answers = [talker.stub.hold("one ") for _ in range(count)]
    connections = [talker.gateway.connect() for _ in answers]
    for connection in connections:
        ask(connection, path)
    opened = sockets(talker.gateway)
    for connection in connections:
        connection.close()
    assert all(held.was_aborted() for held in answers)
    return opened


@pytest.mark.parametrize("path", ROUTES)
def test_a_disconnect_closes_all_sockets(own_talker, path):
    before = connect_and_leave(own_talker, path, 1) - 2
    wait_for(lambda: sockets(own_talker.gateway) <= before)
    assert connect_and_leave(own_talker, path, 8) >= before + 2 * 8, "each has a connection, and one to the service"
    wait_for(lambda: sockets(own_talker.gateway) <= before)


def test_a_client_that_pipelines_and_disconnects_stops_the_model(own_talker):
    gateway = own_talker.gateway
    held = own_talker.stub.hold("one ")
    with gateway.connect() as connection:
        ask(connection, "/v1/chat/completions")
        connection.send(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 2000)
    wait_for(lambda: held.say("more ") or held.was_aborted(0.05))


@pytest.mark.slow
def test_an_idle_stream_has_keep_alives(own_talker):
    comments = {"/v1/chat/completions": b": keep-alive\n\n", "/v1/responses": b": keep-alive\n\n",
                "/v1/messages": b"event: ping\n"}
    for path in ROUTES:
        own_talker.stub.hold("one ")
    with contextlib.ExitStack() as stack:
        connections = {path: stack.enter_context(own_talker.gateway.connect()) for path in ROUTES}
        for path, connection in connections.items():
            ask(connection, path)
        for path, connection in connections.items():
            received = b""
            # A stream of Messages also has a ping at its beginning.
            while received.count(comments[path]) < (2 if path == "/v1/messages" else 1):
                piece = connection.socket.recv(65536)
                assert piece, received
                received += piece


class SlowReader:
    """Reads one byte per second in the background, until the end of the `with` block."""

    def __init__(self, connection):
        self.connection = connection
        self.has_read = threading.Semaphore(0)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()

    def _read(self):
        while not self._stop.wait(1):
            if self.connection.socket.recv(1):
                self.has_read.release()


def test_a_client_that_reads_a_byte_per_second_delays_no_others(own_talker):
    gateway = own_talker.gateway
    own_talker.stub.script(Reply("x" * MEBIBYTE, deltas=64))
    with gateway.connect(receive_buffer=4096) as connection:
        ask(connection, "/v1/messages")
        with SlowReader(connection) as reader:
            assert reader.has_read.acquire(timeout=PATIENCE)
            for path, members in ROUTES.items():
                own_talker.stub.script(Reply("Hello"))
                accepted(gateway.http.post(path, json={"model": MODEL, **members}))


def test_a_client_that_reads_too_slowly_is_disconnected_and_stops_the_model(own_talker):
    held = own_talker.stub.hold(*["x" * MEBIBYTE] * 24)
    with own_talker.gateway.connect(receive_buffer=4096) as connection:
        ask(connection, "/v1/messages")
        with SlowReader(connection) as reader:
            assert held.was_aborted()
            assert reader.has_read.acquire(timeout=PATIENCE)
    accepted(own_talker.gateway.http.get("/health"))
