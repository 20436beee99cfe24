"""A PostgreSQL server of a test's own, in a directory of its own."""

import contextlib
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile

import pytest

from connection import free_port

PROGRAMS = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres"))


class Postgres:
    """Runs on a free port of loopback, and trusts whoever connects: the directory of the socket is private."""

    def __init__(self, directory, port, identity):
        self.directory, self.port, self.identity = directory, port, identity

    def psql(self, database, script):
        """The rows of the script's queries, as lists of texts. An error ends the test."""
        command = ["psql", "-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-h", str(self.directory),
                   "-p", str(self.port), "-U", "agw", "-d", database, "-f", "-"]
        done = subprocess.run(command, input=script, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return [line.split("\t") for line in done.stdout.splitlines()]

    def create(self, database):
        self.psql("postgres", f"CREATE DATABASE {database} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'")


def identity():
    """PostgreSQL refuses to run as root: the arguments that start its programs as another user."""
    if os.geteuid() != 0:
        return None
    return pwd.getpwnam("postgres").pw_uid


@contextlib.contextmanager
def postgres():
    """Skips the test if the server is not installed."""
    if not PROGRAMS or not shutil.which("psql"):
        pytest.skip("PostgreSQL is not installed (Debian's package `postgresql`)")
    programs, user = PROGRAMS[-1].parent, identity()
    directory = pathlib.Path(tempfile.mkdtemp(prefix="agw-postgres-"))
    try:
        if user is not None:
            os.chown(directory, user, -1)
        data, port = directory / "data", free_port()
        subprocess.run([programs / "initdb", "-D", data, "-U", "agw", "-A", "trust", "-N", "--no-instructions",
                        "--encoding=UTF8", "--locale=C"], check=True, capture_output=True, user=user)
        server = subprocess.Popen([programs / "postgres", "-D", data, "-p", str(port), "-k", directory, "-h",
                                   "127.0.0.1", "-c", "fsync=off", "-c", "log_destination=stderr"], user=user,
                                  stdout=subprocess.DEVNULL, stderr=open(directory / "log", "w"))
        try:
            ready = [programs / "pg_isready", "-q", "-h", directory, "-p", str(port)]
            while subprocess.run(ready).returncode != 0:
                assert server.poll() is None, (directory / "log").read_text()
            yield Postgres(directory, port, user)
        finally:
            server.terminate()
            server.wait()
    finally:
        shutil.rmtree(directory)
