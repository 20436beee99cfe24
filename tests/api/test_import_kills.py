"""An import that ends at any of its steps, and is done again.

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

WHAT = "hermes"
LOCK = "gateway.lock"


class Relay:
    """Passes the requests of `agw import` on to the gateway. The response to the last of `requests` never arrives: the
    gateway has done what was asked, and `then` is called."""

    def __init__(self, gateway, requests, then):
        self.left = requests
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
                asking = threading.Thread(target=self._pass, args=(client, server))
                asking.start()
                self._answer(server, client)
                for side in (client, server):
                    with contextlib.suppress(OSError):
                        side.shutdown(socket.SHUT_RDWR)
                asking.join()

    def _answer(self, server, client):
        while piece := self._received(server):
            self.left -= 1 if piece.startswith(b"HTTP/1.1 ") else 0
            if self.left == 0 and self.then:
                then, self.then = self.then, None
                then()
                return
            client.sendall(piece)

    def _pass(self, source, target):
        while piece := self._received(source):
            with contextlib.suppress(OSError):
                target.sendall(piece)

    @staticmethod
    def _received(source):
        with contextlib.suppress(OSError):
            return source.recv(65536)
        return b""


def started_import(gateway, home, url):
    """Starts an import that finds the gateway at this URL."""
    lock = gateway.data / LOCK
    content = json.loads(lock.read_text())
    with lock.open("r+") as file:
        file.write(json.dumps(content | {"url": url}).ljust(512))
    return subprocess.Popen([str(BINARY), "import", WHAT, str(home)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                            env={**gateway.variables(), "AGENT_GATEWAY_DATA_DIR": str(gateway.data)})


def all_of(gateway):
    """All that an import makes, without the ids and times that each gateway chooses itself."""
    extensions = {one["name"]: (one["type"], one["enabled"], one["definition"])
                  for one in accepted(gateway.http.get("/extensions")) if one["source"] != "built-in"}
    conversations = {one["id"]: [(turn["id"], turn["content"], turn["metadata"], turn["created_at"])
                                 for turn in transcript_of(gateway, one["id"])] for one in threads(gateway).values()}
    folders = [gateway.data / "attachments", gateway.data / "agents" / WHAT]
    files = {str(path.relative_to(gateway.data)): path.read_bytes() for folder in folders for path in folder.rglob("*")
             if path.is_file() and path.name != "agent.yaml"}
    return extensions, conversations, files


@pytest.fixture
def home(tmp_path):
    return program(WHAT, tmp_path / WHAT)


@pytest.fixture
def expected(make_gateway, home):
    """What an import that nothing disturbs makes, and how many requests it needs."""
    gateway = make_gateway().start()
    with Relay(gateway, 1_000_000, None) as relay:
        assert started_import(gateway, home, relay.url).wait() == 0
    requests = 1_000_000 - relay.left
    assert requests > 10
    return all_of(gateway), requests


def test_a_kill_at_any_step_and_done_again_gives_the_same(make_gateway, home, expected):
    whole, requests = expected
    for step in range(1, requests + 1):
        gateway = make_gateway().start()
        url = gateway.url
        started, processes = threading.Event(), []
        with Relay(gateway, step, lambda: started.wait() and processes[0].kill()) as relay:
            processes.append(started_import(gateway, home, relay.url))
            started.set()
            assert processes[0].wait() == -signal.SIGKILL, f"step {step} did not come"
        assert started_import(gateway, home, url).wait() == 0, gateway.stderr
        assert all_of(gateway) == whole, f"killed at step {step} of {requests}"
        assert created(imported(gateway, WHAT, home)) == {}
        gateway.close()


def test_a_gateway_killed_at_any_step_and_done_again_gives_the_same(make_gateway, home, expected):
    whole, requests = expected
    for step in range(1, requests + 1):
        gateway = make_gateway().start()
        with Relay(gateway, step, gateway.kill) as relay:
            process = started_import(gateway, home, relay.url)
            assert process.wait() == 1, f"step {step}"
        gateway.start()
        assert created(imported(gateway, WHAT, home)) != {} or step == requests
        assert all_of(gateway) == whole, f"killed at step {step} of {requests}"
        gateway.close()
