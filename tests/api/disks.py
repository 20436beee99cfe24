"""Small file systems, for tests of a full disk."""

import contextlib
import os
import sqlite3
import subprocess

import pytest

from checks import PATIENCE


@contextlib.contextmanager
def small_disk(folder, limit):
    """Mounts a tmpfs at `folder` with a limit such as `size=24m` or `nr_inodes=10`. Skips the test if that is
    impossible."""
    if os.geteuid() != 0:
        pytest.skip("a small file system can only be mounted by root")
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"{limit},mode=700", "tmpfs", folder]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("mounting is not permitted")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def fill(gateway):
    """Fills the disk with a file."""
    with (gateway.data / "filling").open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))


def fill_with_the_log(gateway):
    """Also fills the free space in the database log: a log that was restarted after a checkpoint has some."""
    while True:
        with contextlib.closing(sqlite3.connect(gateway.data / "gateway.db", timeout=PATIENCE)) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        fill(gateway)
        if (gateway.data / "gateway.db-wal").stat().st_size == 0:
            return
        (gateway.data / "filling").unlink()
