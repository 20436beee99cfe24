#!/usr/bin/python3
"""An MCP server for tests, over stdio, HTTP or HTTP+SSE, with selectable faults. It requires only Python.

    mcp_server.py [--era legacy|modern] [--fault NAME] [--http|--sse] [--notes FILE]

Over HTTP, or HTTP+SSE, it prints its URL first. `--notes`: a file that receives every incoming message, as one line of JSON each.
"""

import argparse
import base64
import itertools
import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26")
MODERN = "2026-07-28"


def text(value, **more):
    return {"content": [{"type": "text", "text": value}], **more}


class Failure(Exception):
    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.error = {"code": code, "message": message, **({"data": data} if data is not None else {})}


class Server:
    def __init__(self, options):
        self.options = options
        self.tools = {
            "echo": self.tool_echo, "add.numbers": self.tool_add, "fail": self.tool_fail, "picture": self.tool_picture,
            "structured": self.tool_structured, "look": self.tool_look, "hang": self.tool_hang, "slow": self.tool_slow,
            "grow": self.tool_grow, "die": self.tool_die, "large": self.tool_large, "variable": self.tool_variable,
            "forget": self.tool_forget, "cut": self.tool_cut, "pictures": self.tool_pictures,
            "ask": self.tool_ask,
        }
        self.schemas = {
            "echo": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}},
            "add.numbers": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}},
        }
        if options.fault == "hostile-schema":
            self.schemas["echo"] = {"$ref": "#"}
            self.schemas["add.numbers"] = {"type": "object", "properties": {
                "a": {"type": "string", "pattern": "^(a+)+$"}, "b": {"$ref": "#/properties/b"}}}
        for number in range(options.many):
            self.add_shelf(number)
        self.send = None  # writes a message that is not a response
        self.cancelled = threading.Event()

    def note(self, message):
        if self.options.notes:
            with open(self.options.notes, "a") as notes:
                notes.write(json.dumps(message) + "\n")

    def answer(self, message):
        """Returns the response to a message, or None for a notification."""
        self.note(message)
        if message.get("method") == "notifications/cancelled":
            self.cancelled.set()
        if "id" not in message or "method" not in message:
            return None
        try:
            return {"jsonrpc": "2.0", "id": message["id"], "result": self.result(message["method"], message.get("params", {}))}
        except Failure as failure:
            return {"jsonrpc": "2.0", "id": message["id"], "error": failure.error}

    def result(self, method, params):
        modern = self.options.era == "modern"
        if method == "server/discover" and self.options.fault == "ends-at-unknown-requests":
            os._exit(1)
        if method == "server/discover" and modern:
            return {"resultType": "complete", "supportedVersions": [MODERN], "capabilities": {"tools": {"listChanged": True}},
                    "ttlMs": 1000, "cacheScope": "public"}
        if method == "initialize" and not modern:
            if self.options.fault == "hang-at-start":
                time.sleep(3600)
            version = params["protocolVersion"]
            version = self.options.version or (version if version in LEGACY else LEGACY[0])
            return {"protocolVersion": version, "capabilities": {"tools": {"listChanged": True}},
                    "serverInfo": {"name": "stub", "version": "1"}}
        if modern and params.get("_meta", {}).get("io.modelcontextprotocol/protocolVersion") != MODERN:
            raise Failure(-32022, "Unsupported protocol version", {"supported": [MODERN]})
        if method == "ping" and not modern:
            return {}
        if method == "tools/list":
            return self.page(params.get("cursor"))
        if method == "tools/call":
            tool = self.tools.get(params.get("name"))
            if not tool:
                raise Failure(-32602, f"Unknown tool: {params.get('name')}")
            return tool(params.get("arguments", {}), params)
        raise Failure(-32601, "Method not found")

    def page(self, cursor):
        """Returns a page of tools: two, or more with `--many`."""
        size = 100 if self.options.many else 2
        names = list(self.tools)
        at = int(cursor or 0)
        page = [{"name": name, "description": f"The tool {name}", "inputSchema": self.schemas.get(name, {"type": "object"})}
                for name in names[at:at + size]]
        if self.options.fault == "endless-pages":
            return {"tools": page, "nextCursor": "0"}
        return {"tools": page, **({"nextCursor": str(at + size)} if at + size < len(names) else {})}

    def add_shelf(self, number):
        name = f"shelf_{number}"
        self.tools[name] = lambda arguments, params: text(f"{arguments['book']} is on shelf {number}")
        self.schemas[name] = {"type": "object", "required": ["book"], "properties": {
            "book": {"type": "string", "description": f"a book that is kept on the shelf called number-{number}"}}}

    def tool_echo(self, arguments, params):
        return text(arguments["text"])

    def tool_add(self, arguments, params):
        return text(str(arguments.get("a", 0) + arguments.get("b", 0)))

    def tool_fail(self, arguments, params):
        return text(arguments.get("text", "it went wrong"), isError=True)

    def tool_picture(self, arguments, params):
        return {"content": [{"type": "text", "text": "See:"}, {"type": "image", "data": PIXEL, "mimeType": "image/png"},
                            {"type": "resource", "resource": {"uri": "test://a", "mimeType": "text/plain", "text": "Inside."}},
                            {"type": "resource_link", "uri": "test://b", "name": "B"}]}

    def tool_pictures(self, arguments, params):
        """Returns pictures, each given as `[claimed type, base64]`. `padding`: bytes added to the first one."""
        content = [{"type": "image", "mimeType": mime, "data": data} for mime, data in arguments["pictures"]]
        if padding := arguments.get("padding"):
            content[0]["data"] = base64.b64encode(base64.b64decode(content[0]["data"]) + bytes(padding)).decode()
        return {"content": content}

    def tool_structured(self, arguments, params):
        return {"content": [], "structuredContent": {"degrees": 21.5}}

    def tool_look(self, arguments, params):
        """Returns the content of a file, or the reason why it cannot be read."""
        try:
            with open(os.path.expanduser(arguments["path"]), errors="replace") as file:
                return text(file.read(1000))
        except OSError as error:
            return text(f"{type(error).__name__}", isError=True)

    def tool_variable(self, arguments, params):
        return text(json.dumps(dict(os.environ)))

    def tool_hang(self, arguments, params):
        self.cancelled.wait(3600)
        return text("too late")

    def tool_slow(self, arguments, params):
        token = params.get("_meta", {}).get("progressToken")
        for step in range(1, 4):
            self.send({"jsonrpc": "2.0", "method": "notifications/progress",
                       "params": {"progressToken": token, "progress": step, "total": 3}})
        return text("done slowly")

    def tool_grow(self, arguments, params):
        """Adds a tool."""
        name = arguments["name"]
        self.tools[name] = lambda arguments, params: text(f"I am {name}")
        self.send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        return text("grown")

    def tool_die(self, arguments, params):
        os._exit(3)

    def tool_forget(self, arguments, params):
        """Discards all sessions (over HTTP)."""
        return text("forgotten")

    def tool_cut(self, arguments, params):
        return text("half of \ud83d")

    def tool_ask(self, arguments, params):
        for number in range(100):
            self.send({"jsonrpc": "2.0", "id": f"ping {number}", "method": "ping"})
        return text("asked")

    def tool_large(self, arguments, params):
        return text("x" * int(arguments["size"]))


def serve_stdio(server):
    lock = threading.Lock()

    def send(message):
        with lock:
            sys.stdout.write(json.dumps(message) + "\n")
            sys.stdout.flush()

    def answer(message):
        found = server.answer(message)
        if found is not None:
            send(found)

    server.send = send
    fault = server.options.fault
    if fault == "garbage":
        print("Listening!\n\x00\x01{not json\n[]\n42", flush=True)
    if fault == "only-garbage":
        while True:
            print("garbage " * 10)
    if fault == "endless-line":
        while True:
            sys.stdout.write("x" * 65536)
    if fault == "dies":
        sys.exit("I cannot work like that")
    if fault == "asks":
        send({"jsonrpc": "2.0", "id": "p1", "method": "ping"})
        send({"jsonrpc": "2.0", "id": "p2", "method": "sampling/createMessage", "params": {}})
    for line in sys.stdin:
        threading.Thread(target=answer, args=(json.loads(line),), daemon=True).start()


def rpc_error(message):
    return json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": message}}).encode()


def serve_http(server):
    sessions = set()
    numbers, streams = itertools.count(), itertools.count()
    listeners = []
    lost = {"forgets-in-silence": (404, b"{}"),
            "forgets-with-400": (400, rpc_error("Bad Request: No valid session ID provided")),
            "forgets-the-handshake": (400, b"Bad Request: Server not initialized"),
            "forgets-with-401": (401, b"Unauthorized: Session not found")}
    lost_status, forgotten = lost.get(server.options.fault, (404, rpc_error("No session")))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def reply(self, status, body=b"", content_type="application/json", **headers):
            self.send_response(status)
            if body:
                self.send_header("content-type", content_type)
            self.send_header("content-length", str(len(body)))
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(body)

        def is_redirected(self):
            """Whether the request was redirected to the address with a slash, as frameworks for Python do."""
            if server.options.fault == "redirects" and self.path == "/mcp":
                self.reply(307, location="/mcp/")
                return True
            if server.options.fault == "redirects-elsewhere":
                self.reply(307, location="http://127.0.0.2:9/mcp")
                return True
            return False

        def do_POST(self):
            message = json.loads(self.rfile.read(int(self.headers["content-length"])))
            server.note({"http": {name.lower(): value for name, value in self.headers.items()}, **message})
            if self.is_redirected():
                return
            modern, method = server.options.era == "modern", message.get("method")
            if modern and (self.headers.get("mcp-protocol-version") != MODERN or self.headers.get("mcp-method") != method):
                error = {"code": -32020, "message": "Header mismatch"}
                return self.reply(400, json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "error": error}).encode())
            if not modern and method != "initialize" and "method" in message:
                session = self.headers.get("mcp-session-id")
                if session not in sessions:
                    return self.reply(lost_status if session else 400, forgotten)
            if message.get("params", {}).get("name") == "forget":
                sessions.clear()
            if "id" not in message or "method" not in message:
                server.answer(message)
                return self.reply(202)
            if method == "subscriptions/listen":
                return self.stream(message["id"])
            before = []
            server.send = before.append
            answer = server.answer(message)
            for notice in before:
                if notice["method"].endswith("list_changed"):
                    for listener in listeners:
                        listener(notice)
            if server.options.fault == "cuts-a-silent-stream":
                before.clear()  # only the stream tells
            headers = {}
            if method == "initialize":
                headers["mcp_session_id"] = f"session-{next(numbers)}"
                sessions.add(headers["mcp_session_id"])
            if method == "tools/call" and message["params"]["name"] != "echo":
                return self.reply_with_events([*before, answer])
            self.reply(200, json.dumps(answer).encode(), **headers)

        def reply_with_events(self, messages):
            body = "".join(f"event: message\ndata: {json.dumps(one)}\n\n" for one in messages)
            self.reply(200, body.encode(), "text/event-stream")

        def stream(self, subscription=None):
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            self.wfile.flush()
            over = threading.Event()

            def listener(notice):
                try:
                    self.wfile.write(f"data: {json.dumps(notice)}\n\n".encode())
                    self.wfile.flush()
                except OSError:
                    over.set()

            listeners.append(listener)
            over.wait(3600)

        def do_GET(self):
            if self.is_redirected():
                return
            if server.options.era == "modern":
                return self.reply(405)
            number = next(streams)
            server.note({"stream": number})
            if server.options.fault == "cuts-a-silent-stream" and number == 0:
                self.close_connection = True
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                return self.end_headers()
            self.stream()

        def do_DELETE(self):
            server.note({"deleted": self.headers.get("mcp-session-id")})
            self.reply(200)

        def log_message(self, *_):
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    print(f"http://127.0.0.1:{httpd.server_address[1]}/mcp", flush=True)
    httpd.serve_forever()


def serve_sse(server):
    """Serves by the older transport HTTP+SSE, which takes no messages at its own address."""
    streams = {}
    numbers = itertools.count()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def reply(self, status, body=b""):
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            session, over, lock = str(next(numbers)), threading.Event(), threading.Lock()

            def send(event, data):
                try:
                    with lock:
                        self.wfile.write(f"event: {event}\r\ndata: {data}\r\n\r\n".encode())
                        self.wfile.flush()
                except OSError:
                    over.set()

            self.send_response(200)
            self.send_header("content-type", "text/event-stream; charset=utf-8")
            self.end_headers()
            streams[session] = send
            server.end_streams = over.set
            other = "http://127.0.0.2" if server.options.fault == "names-another-host" else ""
            send("endpoint", f"{other}/messages/?session_id={session}")
            over.wait(3600)
            self.close_connection = True

        def do_POST(self):
            message = json.loads(self.rfile.read(int(self.headers["content-length"])))
            server.note({"http": {name.lower(): value for name, value in self.headers.items()}, **message})
            send = streams.get(self.path.partition("?session_id=")[2])
            if not send:
                return self.reply(405, b"Method Not Allowed")
            if message.get("params", {}).get("name") == "forget":
                server.end_streams()
                return self.reply(202)
            if "method" not in message and server.options.fault == "ignores-responses":
                threading.Event().wait()
            self.reply(202, b"Accepted")
            server.send = lambda one: send("message", json.dumps(one))
            answer = server.answer(message)
            if answer is not None:
                send("message", json.dumps(answer))

        def log_message(self, *_):
            pass

    ThreadingHTTPServer.request_queue_size = 256
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    print(f"http://127.0.0.1:{httpd.server_address[1]}/sse", flush=True)
    httpd.serve_forever()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--era", default="legacy", choices=["legacy", "modern"])
    parser.add_argument("--version")
    parser.add_argument("--fault", default="")
    parser.add_argument("--http", action="store_true")
    parser.add_argument("--sse", action="store_true")
    parser.add_argument("--notes")
    parser.add_argument("--many", type=int, default=0, help="number of additional tools: shelf_0, …")
    server = Server(parser.parse_args())
    serve = serve_sse if server.options.sse else serve_http if server.options.http else serve_stdio
    serve(server)


if __name__ == "__main__":
    main()
