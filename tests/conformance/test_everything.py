"""The gateway with MCP's reference server, which offers every feature. Run by script/mcp-conformance."""

import json
import os
import socket
import subprocess
import time
from pathlib import Path

import pytest

from checks import accepted
from stubs import many_tools
from tools import call_tool, new_agent, new_thread

MODULES = Path(os.environ["MCP_NODE_MODULES"])

EVERYTHING = [str(MODULES / "node" / "bin" / "node"),
              str(MODULES / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js"), "stdio"]


def connect(gateway, name, command):
    """Connects a server over stdio, and waits until it is connected."""
    connect_as(gateway, name, {"kind": "mcp-stdio", "command": command[0], "args": command[1:]})


def connect_as(gateway, name, definition):
    body = {"type": "integration", "name": name, "description": "", "enabled": True, "definition": definition}
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


class RemoteServer:
    """The server over HTTP, which can be started again at the same address."""

    def __init__(self, transport):
        self.transport = transport
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.start()

    def start(self):
        self.process = subprocess.Popen([*EVERYTHING[:-1], self.transport], stderr=subprocess.PIPE, text=True,
                                        env={**os.environ, "PORT": str(self.port)})
        while f"on port {self.port}" not in self.process.stderr.readline():
            pass

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()


@pytest.mark.parametrize("transport,path", [("streamableHttp", "/mcp"), ("sse", "/sse")])
def test_remote_server_is_used_before_and_after_a_restart(talker, transport, path):
    """It answers 400 for a session that it no longer knows, as those that follow its example do."""
    server = RemoteServer(transport)
    try:
        connect_as(talker.gateway, "everything", {"kind": "mcp-http", "url": f"http://127.0.0.1:{server.port}{path}"})
        thread = new_thread(talker.gateway, new_agent(talker.gateway, "user", "trusted"))
        for text in ("before", "after"):
            assert call_tool(talker, thread, "everything__echo", {"message": text})["output"] == f"Echo: {text}"
            long = call_tool(talker, thread, "everything__trigger-long-running-operation", {"duration": 1, "steps": 2})
            assert not long["isError"], long
            server.stop()
            server.start()
    finally:
        server.stop()
