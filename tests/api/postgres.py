"""A PostgreSQL server for a test, in a temporary directory."""

import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile

import pytest

from connection import free_port

PROGRAMS = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres"))


class Postgres:
    """Listens on a free port of the loopback interface. The role `agw` is a superuser and needs no password."""

    def __init__(self, directory, user, fsync="off"):
        self.directory, self.user, self.port, self.fsync = directory, user, free_port(), fsync
        self.process = None

    def start(self):
        command = [PROGRAMS[-1], "-D", self.directory / "data", "-p", str(self.port), "-k", self.directory, "-h",
                   "127.0.0.1", "-c", f"fsync={self.fsync}", "-c", "log_destination=stderr"]
        with open(self.directory / "log", "a") as log:
            self.process = subprocess.Popen(command, user=self.user, stdout=subprocess.DEVNULL, stderr=log)
        ready = [PROGRAMS[-1].parent / "pg_isready", "-q", "-h", self.directory, "-p", str(self.port)]
        while subprocess.run(ready).returncode != 0:
            assert self.process.poll() is None, (self.directory / "log").read_text()

    def stop(self, by=signal.SIGINT):
        """SIGINT disconnects the clients immediately; SIGQUIT also skips the checkpoint, like a crash."""
        self.process.send_signal(by)
        self.process.wait()

    def psql(self, database, script):
        """Runs the script and returns the rows of its queries as lists of strings. An error fails the test."""
        command = ["psql", "-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-h", str(self.directory),
                   "-p", str(self.port), "-U", "agw", "-d", database, "-f", "-"]
        done = subprocess.run(command, input=script, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return [line.split("\t") for line in done.stdout.splitlines()]

    def create(self, database, options="ENCODING 'UTF8' LOCALE 'C'"):
        self.psql("postgres", f"CREATE DATABASE {database} TEMPLATE template0 {options}")

    def url(self, database, user="agw"):
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"


@contextlib.contextmanager
def running(user, prepare, prefix, within=None, **options):
    """Runs a server in a new directory, in which `prepare` makes its data, and removes both at the end."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix=prefix, dir=within))
    try:
        if user is not None:
            os.chown(directory, user, -1)
        prepare(directory / "data")
        server = Postgres(directory, user, **options)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(directory)


@contextlib.contextmanager
def standby(primary):
    """Starts a server that follows the primary."""
    def copy(data):
        subprocess.run([PROGRAMS[-1].parent / "pg_basebackup", "-R", "-c", "fast", "-D", data, "-U", "agw",
                        "-h", primary.directory, "-p", str(primary.port)], check=True, user=primary.user)

    with running(primary.user, copy, "agw-standby-") as server:
        yield server


def server_user():
    """Returns the id of the user for the server's programs if the tests run as root, which PostgreSQL refuses."""
    return pwd.getpwnam("postgres").pw_uid if os.geteuid() == 0 else None


@contextlib.contextmanager
def postgres(within=None, fsync="off"):
    """Starts a server, with its directory in `within`. Skips the test if PostgreSQL is not installed."""
    if not PROGRAMS or not shutil.which("psql"):
        pytest.skip("PostgreSQL is not installed (Debian's package `postgresql`)")
    user = server_user()

    def make(data):
        subprocess.run([PROGRAMS[-1].parent / "initdb", "-D", data, "-U", "agw", "-A", "trust", "-N",
                        "--no-instructions", "--encoding=UTF8", "--locale=C"],
                       check=True, capture_output=True, user=user)

    with running(user, make, "agw-postgres-", within, fsync=fsync) as server:
        yield server
