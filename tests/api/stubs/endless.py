"""Answers that never end."""

import json
from dataclasses import dataclass


class Flood:
    """A list of models with a size of ten gigabytes."""


@dataclass
class Endless:
    """An answer of ten gigabytes in OpenAI's chat format: many deltas ("text"), one endless "frame", or an "error"."""
    what: str = "text"

    async def write(self, writer):
        status = "400 Bad Request" if self.what == "error" else "200 OK"
        writer.write(f"HTTP/1.1 {status}\r\ncontent-type: text/event-stream\r\ncontent-length: 10000000000\r\n\r\n".encode())
        word = "x" * 100_000
        frame = {"choices": [{"index": 0, "delta": {"content": word}, "finish_reason": None}]}
        if self.what != "text":
            writer.write(b"data: {")
        while True:
            writer.write(f"data: {json.dumps(frame)}\n\n".encode() if self.what == "text" else word.encode())
            await writer.drain()
