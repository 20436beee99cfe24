"""An import that is killed at each of its steps and then repeated.

See docs/contract/transfer.md.
"""

import contextlib
import json
import signal
import socket
import subprocess
import threading

import pytest

from checks import accepted
from gateway import BINARY
from transfer import created, imported, program, threads, transcript_of

SOURCE = "hermes"
LOCK = "gateway.lock"


class Relay:
    """Forwards the requests of `agw import` to the gateway. The last of `requests` is executed, but its response is
    dropped: `then` is called instead."""

    def __init__(self, gateway, requests, then):
        self.remaining = requests
        self.then = then
        self.target = ("127.0.0.1", int(gateway.url.rpartition(":")[2]))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.thread = threading.Thread(target=self._serve)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *failure):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.listener.close()

    def _serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with client, socket.create_connection(self.target) as server:
                forwarding = threading.Thread(target=self._forward, args=(client, server))
                forwarding.start()
                self._forward_responses(server, client)
                for side in (client, server):
                    with contextlib.suppress(OSError):
                        side.shutdown(socket.SHUT_RDWR)
                forwarding.join()

    def _forward_responses(self, server, client):
        while data := self._receive(server):
            self.remaining -= 1 if data.startswith(b"HTTP/1.1 ") else 0
            if self.remaining == 0 and self.then:
                then, self.then = self.then, None
                then()
                return
            client.sendall(data)

    def _forward(self, source, target):
        while data := self._receive(source):
            with contextlib.suppress(OSError):
                target.sendall(data)

    @staticmethod
    def _receive(source):
        with contextlib.suppress(OSError):
            return source.recv(65536)
        return b""


def started_import(gateway, home, url):
    """Starts an import that connects to the gateway at this URL."""
    lock = gateway.data / LOCK
    content = json.loads(lock.read_text())
    with lock.open("r+") as file:
        file.write(json.dumps(content | {"url": url}).ljust(512))
    return subprocess.Popen([str(BINARY), "import", SOURCE, str(home)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                            env={**gateway.variables(), "AGENT_GATEWAY_DATA_DIR": str(gateway.data)})


def imported_data(gateway):
    """Returns everything that an import creates, without the ids and times that each gateway assigns."""
    extensions = {one["name"]: (one["type"], one["enabled"], one["definition"])
                  for one in accepted(gateway.http.get("/extensions")) if one["source"] != "built-in"}
    conversations = {one["id"]: [(turn["id"], turn["content"], turn["metadata"], turn["created_at"])
                                 for turn in transcript_of(gateway, one["id"])] for one in threads(gateway).values()}
    folders = [gateway.data / "attachments", gateway.data / "agents" / SOURCE]
    files = {str(path.relative_to(gateway.data)): path.read_bytes() for folder in folders for path in folder.rglob("*")
             if path.is_file() and path.name != "agent.yaml"}
    return extensions, conversations, files


@pytest.fixture
def home(tmp_path):
    return program(SOURCE, tmp_path / SOURCE)


@pytest.fixture
def expected(make_gateway, home):
    """The data that an undisturbed import creates, and the number of requests it sends."""
    gateway = make_gateway().start()
    with Relay(gateway, 1_000_000, None) as relay:
        assert started_import(gateway, home, relay.url).wait() == 0
    requests = 1_000_000 - relay.remaining
    assert requests > 10
    return imported_data(gateway), requests


def test_an_import_killed_at_any_step_and_repeated_creates_the_same_data(make_gateway, home, expected):
    expected_data, requests = expected
    for step in range(1, requests + 1):
        gateway = make_gateway().start()
        url = gateway.url
        started, processes = threading.Event(), []
        with Relay(gateway, step, lambda: started.wait() and processes[0].kill()) as relay:
            processes.append(started_import(gateway, home, relay.url))
            started.set()
            assert processes[0].wait() == -signal.SIGKILL, f"step {step} was not reached"
        assert started_import(gateway, home, url).wait() == 0, gateway.stderr
        assert imported_data(gateway) == expected_data, f"killed at step {step} of {requests}"
        assert created(imported(gateway, SOURCE, home)) == {}
        gateway.close()


def test_an_import_repeated_after_a_kill_of_the_gateway_at_any_step_creates_the_same_data(make_gateway, home, expected):
    expected_data, requests = expected
    for step in range(1, requests + 1):
        gateway = make_gateway().start()
        with Relay(gateway, step, gateway.kill) as relay:
            process = started_import(gateway, home, relay.url)
            assert process.wait() == 1, f"step {step}"
        gateway.start()
        assert created(imported(gateway, SOURCE, home)) != {} or step == requests
        assert imported_data(gateway) == expected_data, f"killed at step {step} of {requests}"
        gateway.close()
