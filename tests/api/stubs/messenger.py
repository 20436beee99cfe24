"""What the stubs of messengers with an HTTP API have in common."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class MessengerHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def send(self, status, content, kind="application/json", headers=None):
        try:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(content)))
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)
        except OSError:  # the client has left
            self.close_connection = True

    def log_message(self, *_):
        pass


class MessengerStub:
    """Is served at `url` from `_serve` until the end of the `with` block. `_changed` guards the state of the stub: long
    polls wait for it, and end when `_is_closing`."""

    def __init__(self):
        self._changed = threading.Condition()
        self._is_closing = False

    def _serve(self, handler, name):
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True, name=name).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        self._server.shutdown()
        self._server.server_close()
