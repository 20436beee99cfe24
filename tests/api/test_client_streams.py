"""Programs that go away from a stream, or read it slowly. See docs/contract/clients.md."""

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
    """Asks for a stream and returns once its first bytes have come."""
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


def come_and_go(talker, path, count):
    """Programs that ask and go away in the middle of the answer. Returns what the gateway had open meanwhile."""
    helds = [talker.stub.hold("one ") for _ in range(count)]
    connections = [talker.gateway.connect() for _ in helds]
    for connection in connections:
        ask(connection, path)
    opened = sockets(talker.gateway)
    for connection in connections:
        connection.close()
    assert all(held.was_aborted() for held in helds)
    return opened


@pytest.mark.parametrize("path", ROUTES)
def test_a_program_that_goes_away_frees_everything(own_talker, path):
    before = come_and_go(own_talker, path, 1) - 2
    wait_for(lambda: sockets(own_talker.gateway) <= before)
    assert come_and_go(own_talker, path, 8) >= before + 2 * 8, "each has a connection, and one to the service"
    wait_for(lambda: sockets(own_talker.gateway) <= before)


def test_a_program_that_pipelines_and_goes_away_stops_the_model(own_talker):
    gateway = own_talker.gateway
    held = own_talker.stub.hold("one ")
    with gateway.connect() as connection:
        ask(connection, "/v1/chat/completions")
        connection.send(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 2000)
    wait_for(lambda: held.say("more ") or held.was_aborted(0.05))


def test_a_stream_that_waits_has_keep_alives(own_talker):
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
            # Messages has a ping at its beginning, too.
            while received.count(comments[path]) < (2 if path == "/v1/messages" else 1):
                piece = connection.socket.recv(65536)
                assert piece, received
                received += piece


class SlowReader:
    """Reads one byte a second, until `with` ends."""

    def __init__(self, connection):
        self.connection = connection
        self.has_read = threading.Semaphore(0)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._read)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()

    def _read(self):
        while not self._over.wait(1):
            if self.connection.socket.recv(1):
                self.has_read.release()


def test_a_program_that_reads_a_byte_a_second_delays_nobody(own_talker):
    gateway = own_talker.gateway
    own_talker.stub.script(Reply("x" * MEBIBYTE, deltas=64))
    with gateway.connect(receive_buffer=4096) as connection:
        ask(connection, "/v1/messages")
        with SlowReader(connection) as reader:
            assert reader.has_read.acquire(timeout=PATIENCE)
            for path, members in ROUTES.items():
                own_talker.stub.script(Reply("Hello"))
                accepted(gateway.http.post(path, json={"model": MODEL, **members}))


def test_a_program_that_reads_too_slowly_is_disconnected_and_stops_the_model(own_talker):
    held = own_talker.stub.hold(*["x" * MEBIBYTE] * 24)
    with own_talker.gateway.connect(receive_buffer=4096) as connection:
        ask(connection, "/v1/messages")
        with SlowReader(connection) as reader:
            assert held.was_aborted()
            assert reader.has_read.acquire(timeout=PATIENCE)
    accepted(own_talker.gateway.http.get("/health"))
