"""A proxy that adds the gateway's token to each request, because MCP's conformance suite sends none."""

import re
import socket
import threading
from urllib.parse import urlsplit


class AuthorizingProxy:
    """Runs while it is used as a context manager. Each connection carries one request. `Host` and `Origin` that name
    the proxy are changed to the gateway; others are not changed."""

    def __init__(self, url, token):
        self.gateway = urlsplit(url)
        self.token = token

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.url = f"http://{self.address}"
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        with client, socket.create_connection((self.gateway.hostname, self.gateway.port)) as gateway:
            received = b""
            while b"\r\n\r\n" not in received:
                piece = client.recv(65536)
                if not piece:
                    return
                received += piece
            head, body = received.split(b"\r\n\r\n", 1)
            gateway.sendall(self._rewritten(head.decode("latin-1")).encode("latin-1") + b"\r\n\r\n" + body)
            upload = threading.Thread(target=pump, args=(client, gateway), daemon=True)
            upload.start()
            pump(gateway, client)

    def _rewritten(self, head):
        head = head.replace(self.address, self.gateway.netloc)
        head = re.sub(r"(?im)^connection:.*\r?\n?", "", head).rstrip("\r\n")
        return f"{head}\r\nConnection: close\r\nAuthorization: Bearer {self.token}"


def pump(source, target):
    try:
        while piece := source.recv(65536):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass
