"""A client of the browser of a chat, and a website for it."""

import contextlib
import os
import signal
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from websockets import ConnectionClosed

from threads import new_thread

PATH = "/browsers"
PROGRAMS = ("/usr/bin/chromium-headless-shell", "/usr/bin/chromium")
IS_INSTALLED = any(Path(program).exists() for program in PROGRAMS)
WIDTH, HEIGHT = 800, 600


def processes_of(thread, text=""):
    """Returns the processes of this machine that belong to the browser of a thread and whose command line has the text."""
    lines, parents = {}, {}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # the process has ended
            lines[int(process.name)] = (process / "cmdline").read_text(errors="replace")
            parents[int(process.name)] = int((process / "stat").read_text().rpartition(")")[2].split()[1])
    found = {process for process, line in lines.items() if f"browsers/{thread}" in line}
    while more := {process for process, parent in parents.items() if parent in found} - found:
        found |= more
    return [process for process in found if text in lines[process] and not lines[process].startswith("bwrap")]


def kill(processes):
    for process in processes:
        with contextlib.suppress(ProcessLookupError):  # it may end with its parent
            os.kill(process, signal.SIGKILL)


class Website:
    """Serves the given pages, from paths to HTML; all others are 404. Keeps the paths, cookies and user agents of
    requests."""

    def __init__(self, **pages):
        self.pages = {f"/{path}": html for path, html in pages.items()}
        self.requests = []
        self.cookies = []
        self.agents = []
        self.headers = {}
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                site.requests.append(self.path)
                site.cookies.append(self.headers.get("cookie"))
                site.agents.append((self.headers["user-agent"], self.headers.get("sec-ch-ua")))
                html = site.pages.get(self.path.partition("?")[0])
                content = ("<!doctype html><meta charset=utf-8>" + (html or "not found")).encode()
                self.send_response(404 if html is None else 200)
                self.send_header("content-type", "text/html")
                self.send_header("content-length", str(len(content)))
                for name, value in site.headers.get(self.path, {}).items():
                    self.send_header(name, value)
                self.end_headers()
                with contextlib.suppress(ConnectionError):
                    self.wfile.write(content)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def url(self, path=""):
        return f"http://{self.host}/{path}"


class Browser:
    """A person's client, such as the page: keeps the tabs, and confirms each picture unless `shows` is false."""

    def __init__(self, gateway, thread=None, shows=True, **members):
        self.thread = thread or new_thread(gateway)
        self.shows = shows
        self.tabs = None
        self.frame = None
        self.first_frame = None
        self.frames = 0
        self.socket = gateway.events(path=PATH)
        self.send("open", threadId=self.thread, **{"width": WIDTH, "height": HEIGHT, **members})
        self.first = self.until("opened", "error")

    def __enter__(self):
        assert self.first["type"] == "opened", self.first
        return self

    def __exit__(self, *_):
        with contextlib.suppress(Exception):
            self.send("close")
            self.until("closed")
        self.socket.close()

    def send(self, kind, **members):
        self.socket.send({"type": kind, **members})

    def receive(self):
        message = self.socket.until(lambda _: True)[-1]
        if message["type"] == "tabs":
            self.tabs = message
        if message["type"] == "frame":
            self.frame = message
            self.first_frame = self.first_frame or message
            self.frames += 1
            if self.shows:
                with contextlib.suppress(ConnectionClosed):  # the browser may close right after its picture
                    self.send("shown", seq=message["seq"])
        return message

    def until(self, *kinds, **members):
        """Returns the next message of one of these types that has these members."""
        while True:
            message = self.receive()
            if message["type"] in kinds and members.items() <= message.items():
                return message

    def until_tab(self, **members):
        """Waits until the active tab has these members, and returns it."""
        while True:
            if self.tabs and self.tab and members.items() <= self.tab.items():
                return self.tab
            self.receive()

    def until_tabs(self, condition=lambda _: True, **members):
        """Waits until the state of the tabs has these members."""
        while not (self.tabs and members.items() <= self.tabs.items() and condition(self.tabs)):
            self.receive()
        return self.tabs

    def until_frame(self, **members):
        """Waits until the last picture has these members, and returns it."""
        while not (self.frame and members.items() <= self.frame.items()):
            self.receive()
        return self.frame

    def show_next(self):
        """Confirms the last picture, waits for another one, and returns it."""
        self.send("shown", seq=self.frame["seq"])
        return self.until("frame")

    @property
    def tab(self):
        return next((tab for tab in self.tabs["tabs"] if tab["id"] == self.tabs["activeId"]), None)

    def open_site(self, site, path="", **members):
        """Allows the site's host, as a person does, and opens a page of it."""
        self.send("go", to=site.url(path))
        refused = self.until("refused", host=site.host)
        assert refused["canAllow"], refused
        self.until_tab(isLoading=False, url=site.url(path))  # Chromium ignores an address that it is about to open
        self.send("allow", host=site.host)
        self.send("go", to=site.url(path))
        return self.until_tab(isLoading=False, url=site.url(path), **members)

    def go(self, to):
        self.send("go", to=to)

    def click(self, x, y, button="left", **members):
        self.send("mouse", action="move", x=x, y=y)
        for action, buttons in (("down", 1), ("up", 0)):
            self.send("mouse", action=action, x=x, y=y, button=button, buttons=buttons, clicks=1, **members)

    def key(self, key, code=None, key_code=0, text=None, modifiers=0):
        for action in ("down", "up"):
            members = {"text": text} if text and action == "down" else {}
            self.send("key", action=action, key=key, code=code or key, keyCode=key_code, modifiers=modifiers, **members)

    def type(self, text):
        for letter in text:
            self.key(letter, f"Key{letter.upper()}", ord(letter.upper()), letter)
