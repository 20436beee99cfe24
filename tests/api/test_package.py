"""The Debian package (script/package)."""

import hashlib
import os
import subprocess

import pytest

from gateway import BINARY, HAS_ADDRESS_SANITIZER, REPOSITORY


def package():
    """Makes the package of the binary and returns its path, in the repository."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    made = subprocess.run([REPOSITORY / "script" / "package", BINARY], env=environment, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


@pytest.mark.skipif(HAS_ADDRESS_SANITIZER, reason="nobody packages it")
def test_the_package_is_complete_and_has_the_same_bytes_each_time():
    digests = set()
    for _ in range(2):
        file = REPOSITORY / package()
        digests.add(hashlib.sha256(file.read_bytes()).hexdigest())
    assert len(digests) == 1
    listed = subprocess.run(["dpkg-deb", "--contents", file], capture_output=True, text=True, check=True).stdout
    for path in ("./usr/bin/agw", "./usr/share/man/man1/agw.1.gz", "./usr/share/bash-completion/completions/agw",
                 "./usr/lib/systemd/user/agent-gateway.service", "./usr/share/doc/agent-gateway/copyright"):
        assert f" {path}\n" in listed
