"""The load of a soak test: people, jobs, programs, sockets and faults use a gateway at the same time.

Each worker is a thread that repeats one small action and records what the gateway acknowledged. Half of the model's
answers are faults.
"""

import contextlib
import itertools
import json
import random
import subprocess
import threading
import time
import uuid

import http_client
from apps import make_app, proxy_request
from channels import ANN
from channels import connect as connect_channel
from checks import accepted
from editor import Editor, Refused
from events import ENDS
from gateway import REPOSITORY, Gateway
from integrations import new_integration
from jobs import new_extension, new_job
from stubs.provider import Fault, ProviderStub, Reply, ToolCall
from stubs.telegram import TOKEN, TelegramStub
from talker import MODEL, configuration
from tools import new_agent

CHATS = 20
TEXT = "All is well here, and this answer is streamed in a few pieces. " * 4
FAULTS = (
    lambda: Fault(500),
    lambda: Fault(429, headers={"retry-after": "0"}),
    lambda: Fault(529),
    lambda: Reply(TEXT, deltas=8, fault="cut", after=4),
    lambda: Reply(TEXT, deltas=8, fault="error", after=4),
    lambda: Reply(TEXT, deltas=8, fault="end"),
)


def calls_tool(request):
    """Returns whether the question requests a tool that has not been called yet."""
    messages = request.json.get("messages", [])
    last = messages[-1] if messages else {}
    return last.get("role") == "user" and "use a tool" in json.dumps(last)


def allow(method, params):
    """Responds as a person at an editor who trusts the folder and allows each call."""
    options = params.get("options", [])
    chosen = next((option["optionId"] for option in options if option["kind"].startswith("allow")), None)
    return {"outcome": {"outcome": "selected", "optionId": chosen} if chosen else {"outcome": "cancelled"}}


def model(request):
    """Returns the model's answer: half of the time a fault, otherwise a call if the question requests one, or text."""
    if random.random() < 0.5:
        return random.choice(FAULTS)()
    if calls_tool(request):
        return Reply("", tool_calls=[random.choice((
            ToolCall("Write", {"path": f"note-{random.randrange(20)}.txt", "content": f"text {random.randrange(5)}\n"}),
            ToolCall("Glob", {"pattern": "*.txt"}),
            ToolCall("Read", {"path": "note-1.txt"}),
            ToolCall("Bash", {"command": "ls | wc -l"}),
        ))])
    return Reply(TEXT, deltas=8, rate=50)


class Load:
    """The gateway, what it is connected to, and the workers."""

    def __init__(self, root, minutes, report):
        self.minutes = minutes
        self.report = report  # called with a description of each problem
        self.stub = ProviderStub().start()
        self.stub.always(model)
        self.telegram = TelegramStub()
        self.gateway = Gateway(root, config={**configuration(self.stub), "log": {"format": "json"}})
        self.gateway.start()
        self.runs = {}  # types of end events by run
        self.turns = []  # acknowledged (thread, turn)
        self.latencies = []
        self._ended = {}  # by turn: an event that is set at the end of its run
        self._stopping = threading.Event()
        self._threads = []

    # Setup.

    def prepare(self):
        self.gateway.command("secret", "set", "TELEGRAM", typed=TOKEN)
        self.project = self.gateway.home / "project"
        self.project.mkdir()
        body = {"name": "project", "path": str(self.project), "description": ""}
        self.project_id = accepted(self.gateway.http.post("/projects", json=body), 201)["id"]
        self.asking = new_agent(self.gateway, "asking", "apprentice")
        self.acting = new_agent(self.gateway, "acting", "operator")
        new_job(self.gateway, "each-second", {"type": "cron", "expression": "* * * * * *"})
        server = REPOSITORY / "tests" / "api" / "stubs" / "mcp_server.py"
        new_integration(self.gateway, "crashing", "mcp-stdio", command="/usr/bin/python3", args=[str(server)])
        new_extension(self.gateway, "action", "die", {"kind": "mcp", "integration": "crashing", "tool": "die"}, enabled=True)
        make_app(self.gateway, "shop")
        accepted(self.gateway.http.post("/apps/shop/start"))
        connect_channel(self.gateway, self.telegram)

    # The workers.

    def start(self):
        self.events = self.gateway.events()
        self.events.send({"type": "subscribe", "threadIds": [], "lists": True, "approvals": True})
        workers = [(self.watch, ())]
        workers += [(self.chat, (number,)) for number in range(CHATS)]
        workers += [(worker, ()) for worker in (
            self.health, self.extensions, self.sockets, self.searches, self.app, self.telegram_person, self.chat_programs,
            self.message_programs, self.mcp_clients, self.editors, self.crash_integration, self.backups, self.tidy)]
        for worker, arguments in workers:
            thread = threading.Thread(target=self._guarded, args=(worker, arguments), name=worker.__name__, daemon=True)
            thread.start()
            self._threads.append(thread)

    def stop(self):
        """Stops all workers except the one that watches events, which sees the last runs end."""
        self._stopping.set()
        for thread in self._threads:
            if thread.name != "watch":
                thread.join(120)
                if thread.is_alive():
                    self.report(f"the worker {thread.name} does not end")

    def close(self):
        self.gateway.close()
        self.stub.stop()

    def _guarded(self, worker, arguments):
        try:
            worker(*arguments)
        except Exception as error:  # the test continues, and fails at its end
            self.report(f"{worker.__name__}: {type(error).__name__}: {error}")

    def _pause(self, seconds):
        """Waits, and returns whether to continue."""
        return not self._stopping.wait(seconds)

    def _client(self, **options):
        return http_client.new_client(base_url=self.gateway.url, headers=self.gateway.authorization, **options)

    def watch(self):
        """Records the ends of runs, decides on permission requests, and discards the messages that it has read."""
        with self._client() as http:
            while (messages := self.events.take()) is not None:
                for message in messages:
                    self._handle(http, message)

    def _handle(self, http, message):
        if message["type"] in ENDS:
            self.runs.setdefault(message["runId"], []).append(message["type"])
            self._ended.setdefault(message["turnId"], threading.Event()).set()
        elif message["type"] == "permission-requested":
            decision = random.choice(("allow", "deny"))
            http.post(f"/permissions/{message['request']['id']}", json={"decision": decision})

    def chat(self, number):
        agent = self.asking if number % 2 else self.acting
        with self._client() as http:
            while self._pause(random.uniform(0.2, 1)):
                thread = accepted(http.post("/threads", json={"agent_id": agent["id"], "project_id": self.project_id,
                                                              "title": f"Chat {number}"}), 201)["id"]
                accepted(http.patch(f"/threads/{thread}", json={"mode": "act"}))
                for _ in range(10):
                    self._ask(http, thread, random.choice(("Please use a tool.", "How are you?")))
                    if not self._pause(random.uniform(0, 0.5)):
                        break
                http.patch(f"/threads/{thread}", json={"archived": True})

    def _ask(self, http, thread, content):
        turn = accepted(http.post("/chat", json={"threadId": thread, "content": content}), 201)["id"]
        self.turns.append((thread, turn))
        ended = self._ended.setdefault(turn, threading.Event())
        if random.random() < 0.1:
            http.post("/chat/stop", json={"threadId": thread})
        if not ended.wait(120):
            self.report(f"the run of turn {turn} did not end within 120 s")
        self._ended.pop(turn, None)

    def health(self):
        with self._client() as http:
            while self._pause(0.1):
                began = time.monotonic()
                accepted(http.get("/health"))
                self.latencies.append(time.monotonic() - began)

    def extensions(self):
        with self._client() as http:
            for number in itertools.count():
                if not self._pause(0.3):
                    return
                body = {"type": "command", "name": f"command-{number}", "description": "", "definition": {"prompt": "Hello"}}
                made = accepted(http.post("/extensions", json=body), 201)
                accepted(http.patch(f"/extensions/{made['id']}", json={"description": "changed"}))
                assert http.delete(f"/extensions/{made['id']}").status_code == 204

    def sockets(self):
        while self._pause(0.2):
            with self.gateway.events() as events:
                self.gateway._sockets.remove(events)
                events.subscribe(str(uuid.uuid4()))

    def searches(self):
        with self._client() as http:
            while self._pause(0.3):
                words = random.choice(("well", '"answer is"', "str*", "tool"))
                accepted(http.get("/turns/search", params={"agent_id": "assistant", "q": words}))

    def app(self):
        while self._pause(0.5):
            assert proxy_request(self.gateway, "shop", "/somewhere").status_code in (200, 404, 502)

    def telegram_person(self):
        while self._pause(2):
            self.telegram.says(ANN, "How are you today?")

    def chat_programs(self):
        body = {"model": MODEL, "messages": [{"role": "user", "content": "How are you?"}]}
        with self._client() as http:
            while self._pause(0.5):
                path = random.choice(("/v1/chat/completions", "/v1/responses"))
                sent = body if path.endswith("completions") else {"model": MODEL, "input": "How are you?"}
                with http.stream("POST", path, json={**sent, "stream": random.random() < 0.5}) as response:
                    for _ in response.iter_bytes():
                        if random.random() < 0.05:
                            break  # the client disconnects

    def message_programs(self):
        with self._client() as http:
            while self._pause(0.5):
                body = {"model": "asking", "max_tokens": 500, "messages": [{"role": "user", "content": "How are you?"}],
                        "stream": random.random() < 0.5}
                with http.stream("POST", "/v1/messages", json=body, headers={"anthropic-version": "2023-06-01"}) as response:
                    response.read()

    def mcp_clients(self):
        headers = {"accept": "application/json, text/event-stream"}
        body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "soak", "version": "1"}}}
        with self._client() as http:
            while self._pause(1):
                opened = http.post("/mcp", json=body, headers=headers)
                session = opened.headers.get("mcp-session-id")
                session_headers = {**headers, "mcp-protocol-version": "2025-11-25",
                                   **({"mcp-session-id": session} if session else {})}
                http.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=session_headers)
                http.post("/mcp", json={"jsonrpc": "2.0", "id": 2, "method": "tools/list"}, headers=session_headers)
                http.delete("/mcp", headers=session_headers)

    def editors(self):
        """Starts and stops editors. A prompt ends with an error if its model fails."""
        while self._pause(2):
            editor = Editor(self.gateway, "--agent", "asking")
            editor.decide = allow
            try:
                editor.initialize()
                session = editor.new(self.project)
                with contextlib.suppress(Refused):
                    editor.prompt(session, "How are you?")
                editor.leave()
            finally:
                editor.close()

    def crash_integration(self):
        """Kills the MCP server, as a crash would; the gateway restarts it."""
        while self._pause(15):
            subprocess.run(["pkill", "-9", "-P", str(self.gateway.process.pid), "-f", "mcp_server.py"], check=False)

    def backups(self):
        number = 0
        while self._pause(self.minutes * 60 / 6):
            number += 1
            file = self.gateway.root / "backup.tar.zst"
            file.unlink(missing_ok=True)
            result = self.gateway.command("backup", str(file), seconds=300)
            if result.returncode != 0:
                self.report(f"backup {number}: {result.stderr}")

    def tidy(self):
        """Discards the requests that the stubs have recorded, to limit the memory of this program."""
        while self._pause(10):
            self.stub.requests.clear()
            self.stub.title_requests.clear()
            self.telegram.calls.clear()
            self.telegram.times.clear()
            del self.telegram.messages[:-100]
