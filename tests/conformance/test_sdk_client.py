"""The gateway's MCP server with the client of MCP's TypeScript SDK. Run by script/mcp-conformance."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "api"))

from gateway import Gateway  # noqa: E402
from stubs.provider import ProviderStub, Reply, ToolCall  # noqa: E402
from talker import Talker, configuration  # noqa: E402

MODULES = Path(os.environ["MCP_NODE_MODULES"])


@pytest.fixture
def talker(tmp_path):
    with ProviderStub() as stub:
        gateway = Gateway(tmp_path / "gateway", config=configuration(stub)).start()
        yield Talker(gateway, stub)
        gateway.close()


def test_sdk_client_uses_every_feature(talker):
    write = ToolCall("Write", {"path": "by-sdk.md", "content": "x"})
    talker.stub.script(Reply("", tool_calls=[write]), Reply("I was told not to."), Reply("Once more."))
    done = subprocess.run([str(MODULES / "node" / "bin" / "node"), str(HERE / "sdk_client.mjs"), str(MODULES),
                           talker.gateway.url + "/mcp", talker.gateway.token], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    got = json.loads(done.stdout)
    assert {"chat", "ask_assistant", "propose", "get_threads"} <= set(got["tools"])
    assert got["health"]["status"] == "ok" and got["said"].startswith("I was told not to.")
    assert len(got["asked"]) == 1 and "asks to write a file" in got["asked"][0]
    assert "I was told not to." in "".join(got["progress"])
    assert "Do it" in got["read"] and "I was told not to." in got["read"]
    assert got["updated"] == got["uri"] and got["templates"] == 4 and got["thread"] in got["completed"]
    assert got["prompts"] and got["missing"] == -32002
