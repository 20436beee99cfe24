"""The gateway with MCP's reference server, which offers every feature. Run by script/mcp-conformance."""

import os
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "api"))

from checks import accepted  # noqa: E402
from gateway import Gateway  # noqa: E402
from stubs.provider import ProviderStub  # noqa: E402
from talker import Talker, configuration  # noqa: E402
from tools import call_tool, new_agent, new_thread  # noqa: E402

MODULES = Path(os.environ["MCP_NODE_MODULES"])


@pytest.fixture
def talker(tmp_path):
    with ProviderStub() as stub:
        gateway = Gateway(tmp_path / "gateway", config=configuration(stub)).start()
        yield Talker(gateway, stub)
        gateway.close()


def test_its_tools_are_offered_and_called(talker):
    body = {"type": "integration", "name": "everything", "description": "", "enabled": True, "definition": {
        "kind": "mcp-stdio", "command": str(MODULES / "node" / "bin" / "node"),
        "args": [str(MODULES / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js"), "stdio"]}}
    accepted(talker.gateway.http.post("/extensions", json=body), 201)
    deadline = time.monotonic() + 60
    while "integration everything: connected" not in talker.gateway.stderr and time.monotonic() < deadline:
        time.sleep(0.05)
    thread = new_thread(talker.gateway, new_agent(talker.gateway, "user", "trusted"))
    assert call_tool(talker, thread, "everything__echo", {"message": "hello"})["output"] == "Echo: hello"
    offered = {tool["function"]["name"] for tool in talker.stub.requests[-1].json["tools"]}
    print(sorted(name for name in offered if name.startswith("everything__")))
    assert "5" in call_tool(talker, thread, "everything__get-sum", {"a": 2, "b": 3})["output"]
    assert "image/png" in call_tool(talker, thread, "everything__get-tiny-image", {})["output"]
    long = call_tool(talker, thread, "everything__trigger-long-running-operation", {"duration": 1, "steps": 2})
    assert not long["isError"], long
    assert call_tool(talker, thread, "everything__get-sum", {"a": "x", "b": 3})["isError"]
