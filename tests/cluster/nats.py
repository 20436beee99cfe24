"""A NATS server of a test's own."""

import contextlib
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import pytest

from checks import PATIENCE
from connection import free_port


class Nats:
    """Runs on a free port of loopback. `options`: lines of its configuration."""

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
    """A server that runs. Skips the test if it is not installed."""
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
