"""A client of the gateway's MCP server, over Streamable HTTP. See docs/contract/mcp.md."""

import contextlib
import json

import httpx

from checks import PATIENCE

LEGACY = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
MODERN = "2026-07-28"
VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def events_of(response):
    """Yields the messages of a response: those of a stream as they arrive, or the single one of a JSON body."""
    if not response.headers.get("content-type", "").startswith("text/event-stream"):
        response.read()
        yield json.loads(response.content)
        return
    for line in response.iter_lines():
        data = line.removeprefix("data:").strip()
        if line.startswith("data:") and data:
            yield json.loads(data)


class Stream:
    """The messages of a response, read one by one."""

    def __init__(self, response):
        self.response = response
        self.messages = events_of(response)

    def next(self):
        return next(self.messages)

    def until(self, method):
        """Reads up to the next notification or request with this method and returns it."""
        return next(message for message in self.messages if message.get("method") == method)

    def result(self):
        """Reads up to the response and returns its result."""
        return next(message for message in self.messages if "method" not in message)["result"]


class Client:
    """A client with a session; with version 2026-07-28, a stateless one."""

    def __init__(self, gateway, version="2025-11-25", capabilities=None, path="/mcp"):
        self.http = httpx.Client(base_url=gateway.url, headers={"Authorization": f"Bearer {gateway.token}"},
                                 timeout=PATIENCE)
        self.version = version
        self.path = path
        self.capabilities = capabilities or {}
        self.headers = {"MCP-Protocol-Version": version, "Accept": "application/json, text/event-stream"}
        self.ids = 0
        if version != MODERN:
            self.headers.pop("MCP-Protocol-Version")
            answer = self.post(id=0, method="initialize", params={
                "protocolVersion": version, "capabilities": self.capabilities,
                "clientInfo": {"name": "test", "version": "1"}})
            self.initialized = answer.json()["result"]
            self.headers |= {"Mcp-Session-Id": answer.headers["mcp-session-id"], "MCP-Protocol-Version": version}
            assert self.post(method="notifications/initialized").status_code == 202

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.http.close()

    def post(self, headers=None, **message):
        """Sends a message with exactly these members and returns the HTTP response."""
        return self.post_raw(json.dumps({"jsonrpc": "2.0", **message}), headers)

    def post_raw(self, content, headers=None):
        return self.http.post(self.path, content=content, headers={**self.headers, **(headers or {})})

    def request(self, method, **params):
        """Returns message and headers of a request in the client's protocol version."""
        self.ids += 1
        headers = dict(self.headers)
        if self.version == MODERN:
            params["_meta"] = {VERSION: MODERN, CAPABILITIES: self.capabilities, **params.get("_meta", {})}
            headers["Mcp-Method"] = method
            if method in NAMED:
                headers["Mcp-Name"] = params[NAMED[method]]
        return {"jsonrpc": "2.0", "id": self.ids, "method": method, "params": params}, headers

    def ask(self, method, **params):
        """Sends a request and returns its response."""
        with self.streamed(method, **params) as stream:
            return next(message for message in stream.messages if "method" not in message)

    def result(self, method, **params):
        answer = self.ask(method, **params)
        assert "result" in answer, answer
        return answer["result"]

    def error(self, method, **params):
        return self.ask(method, **params)["error"]

    def call(self, name, **arguments):
        return self.result("tools/call", name=name, arguments=arguments)

    @contextlib.contextmanager
    def streamed(self, method, **params):
        """Sends a request and yields the stream of its response."""
        message, headers = self.request(method, **params)
        with self.http.stream("POST", self.path, json=message, headers=headers) as response:
            yield Stream(response)

    @contextlib.contextmanager
    def listening(self, **headers):
        """Opens the session's general stream, or resumes one (`Last-Event-ID`)."""
        with self.http.stream("GET", self.path, headers={**self.headers, **headers}) as response:
            yield Stream(response)


def text_of(result):
    return result["content"][0]["text"]
