"""A test editor: a client of the Agent Client Protocol over the standard streams of `agw acp`.

Each line that the bridge writes is validated against the protocol's published schema.
"""

import itertools
import json
import queue
import subprocess
import threading
from pathlib import Path

import jsonschema

from checks import PATIENCE
from gateway import BINARY
from tools import turns_of

SCHEMA = json.loads((Path(__file__).parent / "schemas" / "acp-v1.json").read_text())
REQUESTS = {shape["x-method"]: name for name, shape in SCHEMA["$defs"].items()
            if name.endswith(("Request", "Notification")) and "x-method" in shape}
EVERYTHING = {"elicitation": {"form": {}}, "session": {"notices": {}, "compaction": {}}}
_validators = {}


def validate(value, name):
    """Validates a value against a definition of the schema."""
    if name not in _validators:
        _validators[name] = jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]})
    _validators[name].validate(value)


def text(value):
    return {"type": "text", "text": value}


def select(option):
    """Returns a function that answers permission requests with this option."""
    return lambda method, params: {"outcome": {"outcome": "selected", "optionId": option}}


def stored(gateway, session):
    """Returns role and text of each turn of a session."""
    return [(turn["role"], turn["content"]) for turn in turns_of(gateway, {"id": session})]


class Refused(Exception):
    def __init__(self, error):
        super().__init__(error["message"])
        self.code, self.message = error["code"], error["message"]


class Editor:
    """`agw acp` as an editor runs it. `decide(method, params)` returns the response to a request of the agent, or None
    to send none."""

    def __init__(self, gateway, *arguments, capabilities=None):
        self.process = subprocess.Popen(
            [str(BINARY), "acp", "--data-dir", str(gateway.data), *arguments], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=gateway.variables(), cwd=gateway.home)
        self.ids = itertools.count(1)
        self.methods = {}  # of our requests, by id
        self.responses = {}
        self.updates = []
        self.asked = []
        self.capabilities = capabilities or {}
        self.decide = lambda method, params: None
        self._lines = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    # Sending.

    def write(self, line):
        """Writes a line unchanged."""
        self.process.stdin.write(line if isinstance(line, bytes) else line.encode())
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def send(self, **message):
        self.write(json.dumps({"jsonrpc": "2.0", **message}))

    def begin(self, method, **params):
        """Sends a request and returns its id."""
        number = next(self.ids)
        self.methods[number] = method
        if method in REQUESTS:
            validate(params, REQUESTS[method])
        self.send(id=number, method=method, params=params)
        return number

    def notify(self, method, **params):
        self.send(method=method, params=params)

    # Receiving.

    def step(self):
        """Processes the next line, responds if it is a request, and returns it; None at the end of the output."""
        line = self._lines.get(timeout=PATIENCE)
        if line is None:
            return None
        message = json.loads(line)
        assert message.pop("jsonrpc") == "2.0"
        if "method" in message:
            self._take(message)
        elif message["id"] in self.methods:
            method = self.methods[message["id"]]
            if "result" in message:
                validate(message["result"], REQUESTS[method].removesuffix("Request") + "Response")
            else:
                validate(message["error"], "Error")
            self.responses[message["id"]] = message
        return message

    def _take(self, message):
        validate(message["params"], REQUESTS[message["method"]])
        if message["method"] == "session/update":
            self.updates.append((message["params"]["sessionId"], message["params"]["update"]))
        elif "id" in message:
            self.asked.append(message)
            result = self.decide(message["method"], message["params"])
            if result is not None:
                self.send(id=message["id"], result=result)

    def until(self, condition):
        """Processes lines until the condition is true; returns its value."""
        while not (found := condition()):
            assert self.step() is not None, "it ended: " + self.process.stderr.read().decode()
        return found

    def end_of(self, number):
        """Waits for the response to a request; returns its result or raises Refused."""
        response = self.until(lambda: self.responses.get(number))
        if "error" in response:
            raise Refused(response["error"])
        return response["result"]

    def ask(self, method, **params):
        return self.end_of(self.begin(method, **params))

    def raw(self, line):
        """Writes a line and returns the next line of output."""
        self.write(line)
        return self.step()

    # The protocol.

    def initialize(self, version=1):
        return self.ask("initialize", protocolVersion=version, clientCapabilities=self.capabilities,
                        clientInfo={"name": "test", "version": "1"})

    def new(self, directory):
        """Creates a session and returns its id after its commands have been received."""
        session = self.ask("session/new", cwd=str(directory), mcpServers=[])["sessionId"]
        self.until(lambda: self.kinds(session, "available_commands_update"))
        return session

    def begin_prompt(self, session, *blocks):
        prompt = [text(block) if isinstance(block, str) else block for block in blocks]
        return self.begin("session/prompt", sessionId=session, prompt=prompt)

    def prompt(self, session, *blocks):
        """Returns the stop reason."""
        return self.end_of(self.begin_prompt(session, *blocks))["stopReason"]

    def kinds(self, session, kind):
        return [update for owner, update in self.updates if owner == session and update["sessionUpdate"] == kind]

    def said(self, session):
        return "".join(update["content"]["text"] for update in self.kinds(session, "agent_message_chunk"))

    # The process.

    def resident_kib(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])

    def leave(self):
        """Closes standard input, as an exiting editor does; returns the exit status."""
        self.process.stdin.close()
        return self.process.wait(PATIENCE)

    def close(self):
        self.process.kill()
        self.process.wait()
        self._reader.join(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                stream.close()
            except BrokenPipeError:
                pass
