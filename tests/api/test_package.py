"""The Debian package (script/package)."""

import hashlib
import os
import subprocess

import pytest

from gateway import BINARY, HAS_ADDRESS_SANITIZER, REPOSITORY


def build_package():
    """Builds the package of the binary and returns its path relative to the repository.

    The usual compression takes half a minute of CPU.
    """
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000", "DPKG_DEB_COMPRESSOR_TYPE": "zstd",
                   "DPKG_DEB_COMPRESSOR_LEVEL": "1"}
    result = subprocess.run([REPOSITORY / "script" / "package", BINARY], env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


@pytest.mark.skipif(HAS_ADDRESS_SANITIZER, reason="builds with AddressSanitizer are not packaged")
def test_package_is_complete_and_reproducible():
    digests = set()
    for _ in range(2):
        file = REPOSITORY / build_package()
        digests.add(hashlib.sha256(file.read_bytes()).hexdigest())
    assert len(digests) == 1
    listed = subprocess.run(["dpkg-deb", "--contents", file], capture_output=True, text=True, check=True).stdout
    for path in ("./usr/bin/agw", "./usr/share/man/man1/agw.1.gz", "./usr/share/bash-completion/completions/agw",
                 "./usr/lib/systemd/user/agent-gateway.service", "./usr/share/doc/agent-gateway/copyright"):
        assert f" {path}\n" in listed
