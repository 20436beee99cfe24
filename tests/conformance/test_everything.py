"""The gateway with MCP's reference server, which offers every feature. Run by script/mcp-conformance."""

import json
import os
import time
from pathlib import Path

from checks import accepted
from stubs import many_tools
from tools import call_tool, new_agent, new_thread

MODULES = Path(os.environ["MCP_NODE_MODULES"])

EVERYTHING = [str(MODULES / "node" / "bin" / "node"),
              str(MODULES / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js"), "stdio"]


def connect(gateway, name, command):
    """Connects a server over stdio, and waits until it is connected."""
    body = {"type": "integration", "name": name, "description": "", "enabled": True,
            "definition": {"kind": "mcp-stdio", "command": command[0], "args": command[1:]}}
    accepted(gateway.http.post("/extensions", json=body), 201)
    deadline = time.monotonic() + 60
    while f"integration {name}: connected" not in gateway.stderr and time.monotonic() < deadline:
        time.sleep(0.05)


def test_tools_are_found_among_those_of_four_servers_with_sixty_each(talker):
    gateway = talker.gateway
    connect(gateway, "everything", EVERYTHING)
    for number in range(4):
        connect(gateway, f"server{number}", ["/usr/bin/python3", many_tools.__file__, str(number)])
    thread = new_thread(gateway, new_agent(gateway, "user", "trusted"))
    found = call_tool(talker, thread, "FindTools", {"query": "add two numbers"})
    assert '"name":"everything__get-sum"' in found["output"], found
    first, second = talker.stub.requests[-2:]
    assert len(json.dumps(first.json["tools"])) < 3 * 12_000
    assert not [tool for tool in first.json["tools"] if "__" in tool["function"]["name"]]
    assert "everything__get-sum" in [tool["function"]["name"] for tool in second.json["tools"]]
    assert "5" in call_tool(talker, thread, "everything__get-sum", {"a": 2, "b": 3})["output"]


def test_tools_are_offered_and_called(talker):
    connect(talker.gateway, "everything", EVERYTHING)
    thread = new_thread(talker.gateway, new_agent(talker.gateway, "user", "trusted"))
    assert call_tool(talker, thread, "everything__echo", {"message": "hello"})["output"] == "Echo: hello"
    offered = {tool["function"]["name"] for tool in talker.stub.requests[-1].json["tools"]}
    print(sorted(name for name in offered if name.startswith("everything__")))
    assert "5" in call_tool(talker, thread, "everything__get-sum", {"a": 2, "b": 3})["output"]
    assert "image/png" in call_tool(talker, thread, "everything__get-tiny-image", {})["output"]
    long = call_tool(talker, thread, "everything__trigger-long-running-operation", {"duration": 1, "steps": 2})
    assert not long["isError"], long
    assert call_tool(talker, thread, "everything__get-sum", {"a": "x", "b": 3})["isError"]
