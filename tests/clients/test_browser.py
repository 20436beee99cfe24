"""Playwright MCP as an integration: an agent's browser, in the sandbox, whose screenshots the chat keeps.

See docs/connect-mcp.md#playwright-instead. The version is the last one that opens no UNIX socket, which the sandbox
refuses.
"""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from checks import accepted
from conftest import MODULES
from integrations import new_integration
from jobs import wait_for
from tools import call_tool, new_agent, new_thread, turns_of

CHROMIUM = "/usr/bin/chromium-headless-shell"
PAGE = b"<!doctype html><title>Tea</title><body style='background: teal'><h1>Tea is ready</h1>"

pytestmark = pytest.mark.skipif(not Path(CHROMIUM).exists(), reason=f"{CHROMIUM} is missing: run script/bootstrap")


class Website(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_):
        pass


@pytest.fixture
def website():
    with ThreadingHTTPServer(("127.0.0.1", 0), Website) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def connected(gateway):
    """Waits for an attempt to connect. On a busy machine, Node may take too long to start for the first one."""
    state = accepted(gateway.http.post("/integrations/browser/test"))
    return state if state["status"] == "connected" else None


@pytest.fixture
def browse(programs, website):
    """Has an agent call a tool of its browser, which may reach only the website. Returns the end of the call."""
    gateway = programs.talker.gateway
    arguments = ["--browser", "chromium", "--executable-path", CHROMIUM, "--headless", "--no-sandbox", "--isolated",
                 "--proxy-bypass", "<-loopback>"]
    new_integration(gateway, "browser", "mcp-stdio", command="/bin/sh", hosts=[website], args=[
        "-c", 'exec "$@" --proxy-server "$HTTP_PROXY"', "sh", str(MODULES / "node/bin/node"),
        str(MODULES / "@playwright/mcp/cli.js"), *arguments])
    wait_for(lambda: connected(gateway), seconds=300)
    thread = new_thread(gateway, new_agent(gateway, "surfer", "trusted"))

    def call(tool, **arguments):
        return call_tool(programs.talker, thread, f"browser__{tool}", arguments)

    call.gateway, call.thread = gateway, thread
    return call


def test_a_screenshot_is_a_picture_of_the_chat(browse, website):
    visited = browse("browser_navigate", url=f"http://{website}/")
    assert "Tea is ready" in visited["output"] and "pictures" not in visited, visited
    shot = browse("browser_take_screenshot", type="png")
    [picture] = shot["pictures"]
    assert (picture["mime"], picture["name"]) == ("image/png", "browser__browser_take_screenshot.png"), shot
    response = browse.gateway.http.get(f"/files/{picture['id']}")
    assert response.headers["content-type"] == "image/png" and len(response.content) == picture["size"]
    assert turns_of(browse.gateway, browse.thread, "tool")[-1]["metadata"]["pictures"] == [picture]


def test_the_browser_reaches_only_the_named_hosts(browse):
    gateway = browse.gateway.url.removeprefix("http://")  # its own address is not named
    refused = browse("browser_navigate", url=f"http://{gateway}/health")["output"]
    assert "Page URL" in refused and '"status"' not in refused, refused
