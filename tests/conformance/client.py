#!/usr/bin/python3
"""The gateway as the client that the MCP conformance suite asks for: connects an integration to the URL given last and
has an agent call each of its tools once. See script/mcp-conformance."""

import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
os.environ.setdefault("AGW", str(ROOT / "build" / "dev" / "agw"))
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests" / "api"))

from checks import accepted  # noqa: E402
from gateway import Gateway  # noqa: E402
from stubs.provider import ProviderStub  # noqa: E402
from talker import Talker, configuration  # noqa: E402
from tools import asked, called, new_agent, new_thread  # noqa: E402

ARGUMENTS = {"add_numbers": {"a": 5, "b": 3}}


def main():
    url = sys.argv[-1]
    with tempfile.TemporaryDirectory() as directory, ProviderStub() as stub:
        gateway = Gateway(Path(directory) / "gateway", config=configuration(stub)).start()
        try:
            use(Talker(gateway, stub), url)
        finally:
            gateway.stop()
            print(gateway.stderr, file=sys.stderr)


def use(talker, url):
    body = {"type": "integration", "name": "suite", "description": "", "enabled": True,
            "definition": {"kind": "mcp-http", "url": url}}
    accepted(talker.gateway.http.post("/extensions", json=body), 201)
    deadline = time.monotonic() + 15
    while "integration suite: connected" not in talker.gateway.stderr and time.monotonic() < deadline:
        time.sleep(0.05)
    thread = new_thread(talker.gateway, new_agent(talker.gateway, "user", "trusted"))
    asked(talker, thread, "Nothing to do.")
    offered = [tool["function"]["name"] for tool in talker.stub.requests[-1].json.get("tools", [])]
    for name in offered:
        if name.startswith("suite__"):
            tool = name.removeprefix("suite__")
            print(tool, called(talker, thread, name, ARGUMENTS.get(tool, {})))


if __name__ == "__main__":
    main()
