"""A NATS server for a test."""

import contextlib
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

import pytest

from checks import PATIENCE
from connection import free_port


class Nats:
    """Runs on a free port of the loopback. `options` are further lines of its configuration."""

    def __init__(self, directory, options=""):
        self.directory, self.port = directory, free_port()
        self.process = None
        (directory / "nats.conf").write_text(f"host: 127.0.0.1\nport: {self.port}\n{options}\n")

    def start(self):
        with open(self.directory / "log", "a") as log:
            self.process = subprocess.Popen(["nats-server", "-c", self.directory / "nats.conf"], stdout=log, stderr=log)
        deadline = time.monotonic() + PATIENCE
        while True:
            assert self.process.poll() is None, (self.directory / "log").read_text()
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as connection:
                if connection.recv(4) == b"INFO":
                    return self
            assert time.monotonic() < deadline, (self.directory / "log").read_text()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def url(self, credentials="", scheme="nats"):
        return f"{scheme}://{credentials + '@' if credentials else ''}127.0.0.1:{self.port}"


@contextlib.contextmanager
def nats(options=""):
    """A running server. Skips the test if it is not installed."""
    if not shutil.which("nats-server"):
        pytest.skip("nats-server is not installed (Debian's package of that name)")
    directory = pathlib.Path(tempfile.mkdtemp(prefix="agw-nats-"))
    server = None
    try:
        server = Nats(directory, options).start()
        yield server
    finally:
        if server and server.process.poll() is None:
            server.stop()
        shutil.rmtree(directory)


class Listener:
    """A client of the server that is not a node: records every message, and can send them again."""

    def __init__(self, server):
        self.recorded = []
        self.socket = socket.create_connection(("127.0.0.1", server.port))
        self.stream = self.socket.makefile("rb")
        self.socket.sendall(b'CONNECT {"verbose":false}\r\nSUB agw.> 1\r\nPING\r\n')
        while self.stream.readline() != b"PONG\r\n":
            pass
        self.thread = threading.Thread(target=self._record, daemon=True)
        self.thread.start()

    def _record(self):
        with contextlib.suppress(OSError, ValueError):
            while line := self.stream.readline():
                if line == b"PING\r\n":
                    self.socket.sendall(b"PONG\r\n")
                if not line.startswith(b"MSG "):
                    continue
                _, subject, _, size = line.split()
                self.recorded.append((subject, self.stream.read(int(size))))
                self.stream.readline()

    def send_again(self, messages):
        for subject, payload in messages:
            self.socket.sendall(b"PUB %s %d\r\n%s\r\n" % (subject, len(payload), payload))

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.socket.close()


class Proxy:
    """A proxy for the server. It can cut its connections; other clients stay connected."""

    def __init__(self, server):
        self.server, self.is_open, self.ends = server, True, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.thread = threading.Thread(target=self._accept, daemon=True)
        self.thread.start()

    def url(self):
        return f"nats://127.0.0.1:{self.listener.getsockname()[1]}"

    def cut(self):
        self.is_open = False
        for end in self.ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self.ends = []

    def restore(self):
        self.is_open = True

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                if not self.is_open:
                    client.close()
                    continue
                upstream = socket.create_connection(("127.0.0.1", self.server.port))
                self.ends += [client, upstream]
                for source, target in ((client, upstream), (upstream, client)):
                    threading.Thread(target=self._forward, args=(source, target), daemon=True).start()

    @staticmethod
    def _forward(source, target):
        with contextlib.suppress(OSError):
            while piece := source.recv(65536):
                target.sendall(piece)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.cut()
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()
