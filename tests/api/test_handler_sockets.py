"""What the sockets of browsers and terminals have in common. See docs/contract/browsers.md and terminals.md."""

import json
import socket

import pytest

import browsers
from checks import accepted, wait_until
from connection import CLOSE, TEXT
from test_terminals import PATH, Terminal, processes_with, start_background_process
from test_websocket import upgrade
from threads import new_thread

PATHS = (browsers.PATH, PATH)
NO_JSON = ("no JSON", "a message must be a JSON object")
NOT_OPEN = ({"type": "close"}, "the first message must be of type open")


@pytest.fixture(params=PATHS)
def path(request):
    return request.param


@pytest.mark.parametrize("path, message, error", [
    *((path, *wrong) for path in PATHS for wrong in (NO_JSON, NOT_OPEN)),
    (browsers.PATH, {"type": "open", "width": 99, "height": 100}, "width must be a whole number from 100 to 4096"),
    (browsers.PATH, {"type": "open", "width": 100}, "height must be a whole number from 100 to 4096"),
    (PATH, {"type": "open", "columns": 0}, "columns must be a whole number from 1 to 1000"),
    (PATH, {"type": "open", "rows": 1001}, "rows must be a whole number from 1 to 1000"),
])
def test_invalid_first_message_is_refused(gateway, path, message, error):
    with gateway.events(path=path) as client:
        client.send(message)
        assert client.until(lambda _: True) == [{"type": "error", "status": 400, "error": error}]
        assert client.closed() == 1000


def leave_with_close(gateway, path, **members):
    """Opens a browser or terminal, ends it, and closes the connection in the same segment."""
    with gateway.frames(path=path) as frames:
        frames.frame(TEXT, json.dumps({"type": "open", **members}))
        assert frames.message()["type"] == "opened"
        frames.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
        frames.frame(TEXT, json.dumps({"type": "close"})).frame(CLOSE)


@pytest.mark.skipif(not browsers.IS_INSTALLED, reason="no Chromium is installed: run script/bootstrap")
def test_browser_ends_although_its_client_leaves_at_once(gateway):
    thread = new_thread(gateway)
    leave_with_close(gateway, browsers.PATH, threadId=thread, width=800, height=600)
    wait_until(lambda: not browsers.processes_of(thread))


def test_terminal_ends_although_its_client_leaves_at_once(gateway):
    terminal = Terminal(gateway)
    name = start_background_process(terminal)
    leave_with_close(gateway, PATH, id=terminal.id)
    assert terminal.until_closed()["reason"] == "moved"
    wait_until(lambda: not processes_with(name))


def test_socket_has_the_same_checks_as_others(gateway, path):
    assert upgrade(gateway, path=path, token=False).status == 401
    assert upgrade(gateway, "Origin: http://evil.example", path=path).status == 403
    assert upgrade(gateway, "Host: evil.example", path=path).status in (400, 403)
    assert gateway.http.get(path).status_code == 426


def test_socket_is_described_in_asyncapi_only(gateway, path):
    assert accepted(gateway.http.get("/asyncapi.json"))["channels"][path.strip("/")]["address"] == path
    for document in ("/utcp", "/openapi.json"):
        assert path not in json.dumps(accepted(gateway.http.get(document)))
