"""The gateway's MCP server with the client of MCP's TypeScript SDK. Run by script/mcp-conformance."""

import json
import os
import subprocess
from pathlib import Path

from stubs.provider import Reply, ToolCall

HERE = Path(__file__).resolve().parent
MODULES = Path(os.environ["MCP_NODE_MODULES"])


def test_sdk_client_uses_every_feature(talker):
    write = ToolCall("Write", {"path": "by-sdk.md", "content": "x"})
    talker.stub.script(Reply("", tool_calls=[write]), Reply("I was told not to."), Reply("Once more."))
    result = subprocess.run([str(MODULES / "node" / "bin" / "node"), str(HERE / "sdk_client.mjs"), str(MODULES),
                             talker.gateway.url + "/mcp", talker.gateway.token], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    seen = json.loads(result.stdout)
    assert {"chat", "ask_assistant", "propose", "get_threads"} <= set(seen["tools"])
    assert seen["health"]["status"] == "ok" and seen["said"].startswith("I was told not to.")
    assert len(seen["asked"]) == 1 and "asks to write a file" in seen["asked"][0]
    assert "I was told not to." in "".join(seen["progress"])
    assert "Do it" in seen["read"] and "I was told not to." in seen["read"]
    assert seen["updated"] == seen["uri"] and seen["templates"] == 4 and seen["thread"] in seen["completed"]
    assert seen["prompts"] and seen["missing"] == -32002
