"""Raw connections to the gateway, for requests and frames that no library would send."""

import base64
import contextlib
import json
import os
import random
import socket
import struct
from dataclasses import dataclass
from pathlib import Path

import pytest

from checks import PATIENCE, seconds_of

TEXT, BINARY, CLOSE, PING, PONG = 0x1, 0x2, 0x8, 0x9, 0xA


def has_ipv6():
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6) as one:
        one.bind(("::1", 0))
        return True
    return False


def free_port():
    """Returns an unused port outside the range from which the kernel picks ports for other programs."""
    first, last = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    ports = [port for port in range(10_000, 65_536) if not first <= port <= last] or range(10_000, 65_536)
    while True:
        port = random.choice(ports)
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port


DELAYED_ACKNOWLEDGEMENT = 0.04  # seconds, at least; Linux's TCP_DELACK_MIN

needs_ipv6 = pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")


@dataclass
class Response:
    """An HTTP response, with header names in lower case."""

    version: str
    status: int
    headers: dict
    repeated: list
    body: bytes

    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        return self.json().get("error") if self.body else None


class Connection:
    """A TCP connection that sends raw bytes, reads complete responses and detects that the gateway closes it."""

    def __init__(self, gateway, seconds=PATIENCE, receive_buffer=None):
        self.gateway = gateway
        self.socket = socket.socket()
        self.socket.settimeout(seconds)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect(("127.0.0.1", gateway.port))
        self.reader = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.reader.close()
        self.socket.close()

    def send(self, data):
        """Sends all data. If the gateway closes the connection during this, it has already responded, and the response
        can be read."""
        try:
            self.socket.sendall(data.encode("latin-1") if isinstance(data, str) else data)
        except (BrokenPipeError, ConnectionResetError):
            pass
        return self

    def request(self, line, *headers, body=b"", host=True, token=True):
        """Sends a request: its line, the header lines unchanged, then the body. Adds only Host and the token."""
        lines = [line]
        if host:
            lines.append(f"Host: 127.0.0.1:{self.gateway.port}")
        if token:
            lines.append(f"Authorization: Bearer {self.gateway.token}")
        head = "\r\n".join([*lines, *headers]) + "\r\n\r\n"
        return self.send(head.encode("latin-1") + body)

    def response(self, head_only=False):
        """Returns the next response, which may be an interim one. Raises EOFError if the connection ended instead."""
        version, status = self._line().split(" ", 2)[:2]
        repeated = []
        while line := self._line():
            name, _, value = line.partition(":")
            repeated.append((name.lower(), value.strip()))
        headers = dict(repeated)
        empty = head_only or int(status) in (204, 304) or int(status) < 200
        body = b"" if empty else self._body(headers)
        return Response(version, int(status), headers, repeated, body)

    def closed(self):
        """Returns whether the gateway closes the connection without sending more data."""
        try:
            return self.reader.read(1) == b""
        except ConnectionResetError:
            return True

    def _line(self):
        line = self.reader.readline()
        if not line.endswith(b"\r\n"):
            raise EOFError(f"the connection ended within a response: {line!r}")
        return line[:-2].decode("latin-1")

    def _body(self, headers):
        if headers.get("transfer-encoding", "").lower() != "chunked":
            return self._exactly(int(headers["content-length"])) if "content-length" in headers else self.reader.read()
        body = b""
        while size := int(self._line().split(";")[0], 16):
            body += self._exactly(size)
            assert self._line() == ""
        assert self._line() == ""
        return body

    def _exactly(self, size):
        data = self.reader.read(size)
        if len(data) < size:
            raise EOFError(f"the connection ended after {len(data)} of {size} bytes")
        return data


def seconds_of_separate_body(connection, line, body, status):
    """Returns the time of the fastest of 20 requests whose body is written after their head, by a client with Nagle's
    algorithm: if the gateway's kernel delays the acknowledgement of the head, the client's kernel keeps the body back."""
    def ask():
        connection.request(line, f"Content-Length: {len(body)}").send(body)
        assert connection.response().status == status

    times = [seconds_of(ask) for _ in range(40)]
    return min(times[20:])  # on a new connection, acknowledgements are not delayed


class FrameConnection(Connection):
    """A WebSocket whose frames are built by hand."""

    def __init__(self, gateway, path="/ws", *headers, token=True, expect=101, **options):
        super().__init__(gateway, **options)
        key = base64.b64encode(os.urandom(16)).decode()
        self.request(f"GET {path} HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                     f"Sec-WebSocket-Key: {key}", *headers, token=token)
        self.handshake = self.response()
        assert self.handshake.status == expect, self.handshake
        if expect == 101:  # Required by every client (RFC 6455, 4.1).
            fields = self.handshake.headers
            assert (fields["upgrade"].lower(), fields["connection"].lower()) == ("websocket", "upgrade"), fields

    def frame(self, opcode, payload=b"", *, final=True, reserved=0, masked=True, length=None):
        """Sends a frame. `length`: the length in its header if it differs from the payload's."""
        payload = payload.encode() if isinstance(payload, str) else payload
        claimed = len(payload) if length is None else length
        flag = 0x80 if masked else 0
        head = bytes([(0x80 if final else 0) | reserved | opcode])
        if claimed < 126:
            head += bytes([flag | claimed])
        elif claimed < 65536:
            head += bytes([flag | 126]) + struct.pack("!H", claimed)
        else:
            head += bytes([flag | 127]) + struct.pack("!Q", claimed)
        if masked:
            mask = os.urandom(4)
            repeated = (mask * (len(payload) // 4 + 1))[: len(payload)]
            payload = (int.from_bytes(payload, "big") ^ int.from_bytes(repeated, "big")).to_bytes(len(payload), "big")
            head += mask
        return self.send(head + payload)

    def receive(self):
        """Returns the next frame as (opcode, payload). Checks that it is not masked: servers must not."""
        first, second = self._exactly(2)
        assert not second & 0x80, "a server must not mask"
        assert not first & 0x70, "no extension was negotiated"
        size = second & 0x7F
        if size == 126:
            size = struct.unpack("!H", self._exactly(2))[0]
        elif size == 127:
            size = struct.unpack("!Q", self._exactly(8))[0]
        return first & 0x0F, self._exactly(size)

    def message(self):
        """Returns the next text message as JSON."""
        opcode, payload = self.receive()
        while opcode == PING:
            opcode, payload = self.receive()
        assert opcode == TEXT, (opcode, payload)
        return json.loads(payload)

    def next_of(self, kind):
        """Returns the next message of this type and discards earlier ones."""
        message = self.message()
        while message["type"] != kind:
            message = self.message()
        return message

    def close_code(self):
        """Returns the gateway's close code and replies with a close frame. Discards earlier messages."""
        opcode, payload = self.receive()
        while opcode != CLOSE:
            opcode, payload = self.receive()
        self.frame(CLOSE, payload)
        return struct.unpack("!H", payload[:2])[0]
