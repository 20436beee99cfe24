"""Test apps: small servers in the home directory of a gateway, and requests to them."""

import textwrap
import time

import http_client

from checks import PATIENCE

SERVER = """
import http.server, os, sys, time, json, socket, threading, hashlib, base64

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, body, status=200, **headers):
        body = body if isinstance(body, bytes) else body.encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def body(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            pieces = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                pieces.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(pieces)
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def echo(self):
        body = self.body()
        self.answer(json.dumps({"method": self.command, "path": self.path, "fields": [[n.lower(), v] for n, v in
                    self.headers.items()], "size": len(body), "digest": hashlib.sha256(body).hexdigest()}),
                    Content_Type="application/json")

    def __getattr__(self, name):
        if name.startswith("do_"):
            return getattr(type(self), "route")
        raise AttributeError(name)

    def route(self):
        self.echo()

    def do_GET(self):
        self.route()

for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "HEAD"):
    setattr(Handler, "do_" + method, lambda self: self.route())

class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

def serve():
    Server(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""

def make_app(gateway, name, script="serve()", *, enabled=True, routes="", **definition):
    """Creates an app that runs a Python script in its own directory. `routes`: the body of the handler's `route`."""
    directory = gateway.home / "apps" / name
    directory.mkdir(parents=True, exist_ok=True)
    text = SERVER
    if routes:
        text += "\ndef route(self):\n" + textwrap.indent(textwrap.dedent(routes), "    ") + "\nHandler.route = route\n"
    (directory / "app.py").write_text(text + textwrap.dedent(script) + "\n")
    body = {"type": "app", "name": name, "description": "An app of a test", "enabled": enabled,
            "definition": {"type": "python", "path": str(directory), "command": "exec python3 app.py", **definition}}
    response = gateway.http.post("/extensions", json=body)
    assert response.status_code == 201, response.text
    return response.json()


def make_static(gateway, name, files):
    directory = gateway.home / "sites" / name
    for path, content in files.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_bytes(content if isinstance(content, bytes) else content.encode())
    response = gateway.http.post("/extensions", json={
        "type": "app", "name": name, "description": "Files", "enabled": True,
        "definition": {"type": "static", "path": str(directory)}})
    assert response.status_code == 201, response.text
    return directory


def show(gateway, name):
    return gateway.http.get(f"/apps/{name}").json()


def wait_for_status(gateway, name, *statuses, seconds=PATIENCE):
    """Waits until the app has one of the statuses and returns it."""
    deadline = time.monotonic() + seconds
    while True:
        app = show(gateway, name)
        if app["status"] in statuses:
            return app
        assert time.monotonic() < deadline, (app, log_of(gateway, name))
        time.sleep(0.02)


def start(gateway, name):
    response = gateway.http.post(f"/apps/{name}/start")
    assert response.status_code == 200, response.text
    return wait_for_status(gateway, name, "running")


def log_of(gateway, name, stream=None):
    lines = gateway.http.get(f"/apps/{name}/logs", params={"limit": 1000}).json()
    return [line["line"] for line in lines if stream in (None, line["stream"])]


def proxy_request(gateway, name, path="/", method="GET", **options):
    headers = {**gateway.authorization, **options.pop("headers", {})}
    return http_client.request(method, f"{gateway.url}/apps/{name}/proxy{path}", headers=headers, follow_redirects=False,
                               **options)
