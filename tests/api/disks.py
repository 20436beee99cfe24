"""Small file systems, for tests of a full disk."""

import contextlib
import os
import subprocess

import pytest


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
