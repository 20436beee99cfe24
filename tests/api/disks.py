"""Disks of which little is needed to fill them."""

import contextlib
import os
import subprocess

import pytest


@contextlib.contextmanager
def small_disk(folder, limit):
    """A disk at `folder` with a limit of tmpfs: `size=24m`, `nr_inodes=10`. Skips where none can be had."""
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
