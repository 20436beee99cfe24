"""Clients of vendors and complete programs, from npm, with a gateway whose model is a stub. Run by script/test_clients."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "api"))

from gateway import Gateway  # noqa: E402
from stubs.provider import ProviderStub  # noqa: E402
from talker import MODEL, Talker, configuration  # noqa: E402

HERE = Path(__file__).resolve().parent
MODULES = Path(os.environ["CLIENT_MODULES"])
PATH = f"{MODULES / 'node' / 'bin'}:{MODULES / '.bin'}:/usr/bin:/bin"
TIMEOUT_SECONDS = 300


class Programs:
    """Runs programs in a home in which only the gateway is configured."""

    def __init__(self, talker, home):
        self.talker = talker
        self.stub = talker.stub
        self.home = home
        self.work = home / "work"
        self.work.mkdir(parents=True)

    @property
    def url(self):
        return self.talker.gateway.url

    def run(self, *command, **environment):
        """Runs a program that needs no input, and returns what it printed."""
        variables = {"HOME": str(self.home), "PATH": PATH, "LANG": "C.UTF-8", "TOKEN": self.talker.gateway.token,
                     "TMPDIR": str(self.home), "GATEWAY": self.url, "MODEL": MODEL}
        result = subprocess.run(command, cwd=self.work, env=variables | environment, stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
        assert result.returncode == 0, f"{result.stdout}\n{result.stderr}\n{self.talker.gateway.stderr}"
        return result.stdout

    def script(self, name, *arguments):
        """Runs one of the scripts here, and returns the JSON that it prints."""
        path = self.home / name
        path.write_text((HERE / name).read_text())
        (self.home / "node_modules").symlink_to(MODULES)
        return json.loads(self.run("node", str(path), *arguments))


@pytest.fixture
def programs(tmp_path):
    with ProviderStub() as stub:
        gateway = Gateway(tmp_path / "gateway", config=configuration(stub)).start()
        yield Programs(Talker(gateway, stub), gateway.home / "person")
        gateway.close()
