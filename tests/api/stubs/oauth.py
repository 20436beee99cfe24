"""A service that requires a login: an MCP server over HTTP and its authorization server, on one local port."""

import base64
import hashlib
import json
import secrets
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import http_client


class OAuthStub:
    """Grants every request to /authorize. The n-th tokens are `access-n` and `refresh-n`; only the last ones are valid.
"""

    def __init__(self):
        self.lifetime = 3600
        self.said_issuer = None  # replaces the issuer in the metadata
        self.answered_issuer = None  # replaces the issuer in the redirect
        self.needed_scope = "read"
        self.disturbance = None  # answers requests for tokens
        self.requests = []  # (method, path, headers with names in lower case, form or JSON)
        self.tokens = 0
        self.valid = None
        self.grants = []  # forms of the requests to /token
        self._lock = threading.Lock()
        self._codes = {}
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                self.answer(b"")

            def do_POST(self):
                self.answer(self.rfile.read(int(self.headers.get("content-length", 0))))

            def do_DELETE(self):
                self.answer(b"")

            def answer(self, body):
                status, headers, text = stub.answer(self.command, self.path, self.headers, body)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.call_itself("127.0.0.1")
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True, name="oauth stub").start()

    def call_itself(self, host):
        self.origin = f"http://{host}:{self._server.server_address[1]}"
        self.url = f"{self.origin}/mcp"

    def stop(self):
        self._server.shutdown()
        self._server.server_close()

    def answer(self, method, target, headers, body):
        path, _, query = target.partition("?")
        given = dict(parse_qsl(body.decode())) if b"=" in body and not body.startswith(b"{") else json.loads(body or b"{}")
        with self._lock:
            self.requests.append((method, target, {name.lower(): value for name, value in headers.items()}, given))
            if path == "/mcp":
                return self.speak(method, headers.get("Authorization"), given)
            if path == "/.well-known/oauth-protected-resource/mcp":
                return self.tell({"resource": self.url, "authorization_servers": [f"{self.origin}/login"]})
            if path == "/.well-known/oauth-authorization-server/login":
                return self.describe()
            if path == "/register":
                return self.tell({"client_id": "registered", **given}, 201)
            if path == "/authorize":
                return self.authorize(parse_qs(query))
            if path == "/token" and self.disturbance:
                return self.disturbance
            if path == "/token":
                return self.give_tokens(given)
            return 404, {}, b""

    @staticmethod
    def tell(value, status=200, **headers):
        return status, {"content-type": "application/json", **headers}, json.dumps(value).encode()

    def describe(self):
        return self.tell({"issuer": self.said_issuer or f"{self.origin}/login", "response_types_supported": ["code"],
                          "authorization_endpoint": f"{self.origin}/authorize", "token_endpoint": f"{self.origin}/token",
                          "registration_endpoint": f"{self.origin}/register", "code_challenge_methods_supported": ["S256"],
                          "authorization_response_iss_parameter_supported": True})

    def authorize(self, wish):
        wish = {name: values[0] for name, values in wish.items()}
        code = secrets.token_hex(8)
        self._codes[code] = wish
        answer = {"code": code, "state": wish["state"], "iss": self.answered_issuer or f"{self.origin}/login"}
        return 302, {"location": f"{wish['redirect_uri']}?{urlencode(answer)}"}, b""

    def give_tokens(self, form):
        self.grants.append(form)
        if form["grant_type"] == "authorization_code":
            wish = self._codes.pop(form["code"])
            hashed = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).decode().rstrip("=")
            right = hashed == wish["code_challenge"] and form["redirect_uri"] == wish["redirect_uri"]
        else:
            right = form["refresh_token"] == f"refresh-{self.tokens}"
        if not right or form["resource"] != self.url or form["client_id"] != "registered":
            return self.tell({"error": "invalid_grant"}, 400)
        self.tokens += 1
        self.valid = f"access-{self.tokens}"
        return self.tell({"access_token": self.valid, "token_type": "Bearer", "refresh_token": f"refresh-{self.tokens}",
                          "expires_in": self.lifetime})

    def speak(self, method, authorization, message):
        if method != "POST":
            return 405, {}, b""
        if not self.valid or authorization != f"Bearer {self.valid}":
            place = f"{self.origin}/.well-known/oauth-protected-resource/mcp"
            challenge = f'Bearer resource_metadata="{place}", scope="{self.needed_scope}"'
            return self.tell({"error": "no"}, 401, **{"www-authenticate": challenge})
        if "id" not in message:
            return 202, {}, b""
        results = {"initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                                  "serverInfo": {"name": "s", "version": "1"}},
                   "tools/list": {"tools": [{"name": "whoami", "inputSchema": {"type": "object"}}]},
                   "tools/call": {"content": [{"type": "text", "text": f"known by {self.valid}"}]}}
        if message["method"] not in results:
            return self.tell({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "none"}})
        return self.tell({"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]})


def sent_back(authorization_url):
    """Returns the address to which the service redirects a browser."""
    return http_client.get(authorization_url, follow_redirects=False).headers["location"]


def asked_for(authorization_url):
    return {name: values[0] for name, values in parse_qs(urlsplit(authorization_url).query).items()}
