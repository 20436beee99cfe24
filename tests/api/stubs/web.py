"""A web server for tests: it serves given paths and records requests."""

import ssl
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class WebRequest:
    method: str
    path: str  # query included
    headers: dict  # names in lower case
    body: bytes


class WebStub:
    def __init__(self, certificate=None, key=None):
        """With the paths of a certificate and its key, it serves HTTPS with persistent connections."""
        self.requests = []
        self.on_request = lambda request: None
        self.on_failed_handshake = lambda: None  # clients that refuse the certificate
        self.scheme = "https" if certificate else "http"
        self._answers = {}
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1" if certificate else "HTTP/1.0"

            def answer(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                if self.headers.get("transfer-encoding") == "chunked":
                    while size := int(self.rfile.readline(), 16):
                        body += self.rfile.read(size)
                        self.rfile.readline()
                    self.rfile.readline()
                headers = {name.lower(): value for name, value in self.headers.items()}
                stub.requests.append(WebRequest(self.command, self.path, headers, body))
                stub.on_request(stub.requests[-1])
                status, answer_headers, answer = stub._answers.get(self.path.partition("?")[0], (404, {}, b"nothing"))
                self.send_response(status)
                for name, value in answer_headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(answer)

            do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = answer

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            # The thread of the connection does the handshake at its first read.
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True,
                                                      do_handshake_on_connect=False)
            self._server.handle_error = lambda *_: self.on_failed_handshake()
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True, name="web stub").start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def url(self, path="/", host="127.0.0.1"):
        return f"{self.scheme}://{host}:{self.port}{path}"

    def answers(self, path, body, content_type="text/html", status=200, **headers):
        data = body.encode() if isinstance(body, str) else body
        self._answers[path] = (status, {"content-type": content_type, **headers}, data)

    def redirects(self, path, target, status=302):
        self._answers[path] = (status, {"location": target}, b"")
