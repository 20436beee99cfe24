"""A WebSocket client that collects messages in the background, so that tests need no callbacks."""

import asyncio
import contextlib
import json
import threading
import time

import websockets

from checks import PATIENCE

RUN_KINDS = {"text-delta", "reasoning-delta", "tool-start", "tool-end", "error", "finish", "stopped"}
ENDS = {"finish", "stopped"}


def _start_loop():
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True, name="websockets").start()
    return loop


_loop = _start_loop()


def _wait(coroutine):
    return asyncio.run_coroutine_threadsafe(coroutine, _loop).result(PATIENCE)


async def _connect(url, **options):
    return await websockets.connect(url, compression=None, max_size=None, max_queue=None, ping_interval=None,
                                    open_timeout=PATIENCE, close_timeout=5, **options)


class Events:
    """A connection. It keeps all messages; `until` and `drain` continue where the previous call stopped."""

    def __init__(self, gateway, path="/ws", *, headers=None, subprotocols=None, token="header", origin=None):
        """`token`: where to send the token: "header", "subprotocol", "query" or None."""
        headers = dict(headers or {})
        url = f"ws://127.0.0.1:{gateway.port}{path}"
        if token == "header":
            headers.update(gateway.authorization)
        elif token == "subprotocol":
            subprotocols = ["bearer", gateway.token]
        elif token == "query":
            url += f"?token={gateway.token}"
        self.messages = []
        self.position = 0
        self._changed = threading.Condition()
        self._ended = False
        self._socket = _wait(_connect(url, extra_headers=headers, subprotocols=subprotocols, origin=origin))
        asyncio.run_coroutine_threadsafe(self._collect(), _loop)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def subprotocol(self):
        return self._socket.subprotocol

    def close(self):
        with contextlib.suppress(websockets.ConnectionClosed):  # the gateway may have been killed
            _wait(self._socket.close())

    def send(self, message):
        """Sends a dictionary as JSON, and text and bytes unchanged."""
        data = message if isinstance(message, (str, bytes)) else json.dumps(message)
        _wait(self._socket.send(data))

    def ask(self, message):
        """Sends a message and returns the reply, skipping events of threads and of the gateway."""
        self.send(message)
        return self.until(lambda found: found["type"] in ("subscribed", "pong", "error") and "runId" not in found)[-1]

    def subscribe(self, *threads, **members):
        answer = self.ask({"type": "subscribe", "threadIds": list(threads), **members})
        assert answer["type"] == "subscribed", answer
        return answer

    def until(self, condition, seconds=PATIENCE):
        """Returns the messages since the previous call, up to the first that meets the condition."""
        first, deadline = self.position, time.monotonic() + seconds
        with self._changed:
            while True:
                while self.position < len(self.messages):
                    self.position += 1
                    if condition(self.messages[self.position - 1]):
                        return self.messages[first:self.position]
                if self._ended:
                    raise AssertionError(f"closed with {self._socket.close_code}; got {self.messages[first:]}")
                if not self._changed.wait(max(0, deadline - time.monotonic())):
                    raise AssertionError(f"not received within {seconds} s; got {self.messages[first:]}")

    def take(self):
        """Waits for messages, and removes and returns all that were received. None once the connection is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self.messages or self._ended)
            taken, self.messages, self.position = self.messages, [], 0
        return taken or None

    def drain(self):
        """Returns all messages that the gateway has sent so far, by waiting for the reply to a ping."""
        self.send({"type": "ping"})
        return self.until(lambda message: message["type"] == "pong")[:-1]

    def run(self, turn_id, seconds=PATIENCE):
        """Returns the events of the run that answers the turn, including its end."""
        def over():
            return self._ended or any(found["type"] in ENDS for found in self._of_run(turn_id))

        with self._changed:
            self._changed.wait_for(over, seconds)
            events = self._of_run(turn_id)
        assert events and events[-1]["type"] in ENDS, f"the run has not ended; got {self.messages}"
        return events

    def run_so_far(self, turn_id):
        with self._changed:
            return self._of_run(turn_id)

    def closed(self, seconds=PATIENCE):
        """Waits for the end of the connection and returns its close code."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._ended, seconds):
                raise AssertionError(f"still open after {seconds} s")
        return self._socket.close_code

    def _of_run(self, turn_id):
        return [found for found in self.messages if found.get("turnId") == turn_id and found["type"] in RUN_KINDS]

    async def _collect(self):
        try:
            async for data in self._socket:
                self._note(json.loads(data))
        except websockets.ConnectionClosed:
            pass
        finally:
            with self._changed:
                self._ended = True
                self._changed.notify_all()

    def _note(self, message):
        with self._changed:
            self.messages.append(message)
            self._changed.notify_all()


def text_of(events):
    """Returns the text that a run has streamed."""
    return "".join(event["delta"] for event in events if event["type"] == "text-delta")


def wait_for_text(events, turn, text):
    """Waits until the run of this turn has streamed the text."""
    events.until(lambda _: text_of(events.run_so_far(turn["id"])) == text)
