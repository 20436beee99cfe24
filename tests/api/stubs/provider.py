"""A model provider for tests: it speaks the wire formats of Anthropic, OpenAI, Ollama and Google, with their oddities and
faults.

    with ProviderStub() as stub:
        stub.script(Reply("Hello there", deltas=2), Fault(429, headers={"retry-after": "1"}))
        start_gateway(env={"OPENAI_BASE_URL": stub.openai_url, "OPENAI_API_KEY": "k"})
        ...
        assert stub.requests[0].json["messages"][-1]["content"] == "Hi"
        assert stub.requests[0].closed_by_client.wait(20)

The path of a request selects its wire format: /v1/messages, /v1/chat/completions, /v1/responses, /api/chat,
:streamGenerateContent. It lists `models` where these services list theirs. Responses are written to the socket by hand,
so that a test can make any byte wrong.
"""

import asyncio
import json
import threading
import time
from dataclasses import dataclass, field

from checks import PATIENCE

from . import refusals, wires
from .endless import Endless, Flood

_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests",
            500: "Internal Server Error", 529: "Overloaded"}


@dataclass
class ToolCall:
    """A tool call of the stubbed model."""

    name: str
    arguments: object  # text is sent unchanged, even if it is not JSON
    id: str = None  # None: generated; empty: the service sends none

    @property
    def text(self):
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


@dataclass
class Reply:
    """An answer of the stubbed model. Faults occur after `after` deltas of text."""

    text: str = "Hello from the stub."
    deltas: int = 1  # number of pieces
    rate: float = None  # pieces per second; None: as fast as possible
    reasoning: str = ""
    tool_calls: list = field(default_factory=list)
    stop: str = None  # stop reason as named by the format; None: the usual one
    service_tier: str = None  # None: not in the response
    usage: dict = field(default_factory=lambda: {"input": 10, "output": 5, "cache_read": 0, "cache_write": 0})
    head_delay: float = 0  # seconds before the response head
    chunk_bytes: int = None  # send the stream in network writes of this size, split anywhere
    after: int = None
    fault: str = None  # "cut", "silence", "garbage", "error" (an error in the stream), "end" (no terminal event)
    hold_open: bool = False  # send nothing after the terminal event, but keep the body open


@dataclass
class Fault:
    """An HTTP error response. `body` None: an error in the wire format."""
    status: int = 500
    message: str = "stubbed failure"
    kind: str = None  # the error's type, such as insufficient_quota; None: the one that fits the status
    headers: dict = field(default_factory=dict)  # names in lower case; may contain content-type
    body: object = None  # bytes, text, or an object to send as JSON


def down():
    """Returns the responses of a service that is down to all attempts of one request, without a pause between them."""
    return [Fault(503, headers={"retry-after": "0"}) for _ in range(5)]


@dataclass
class Raw:
    """Bytes to write instead of an HTTP response; the connection is closed after them."""
    data: bytes = b""


@dataclass
class Silence:
    """No response, while the connection stays open."""


class Held:
    """An answer whose pieces the test releases. Created by ProviderStub.hold."""

    def __init__(self, loop, pieces, tool_calls):
        self.request = None  # set once requested
        self.tool_calls = list(tool_calls)
        self._asked = threading.Event()
        self._loop = loop
        self._pieces = asyncio.Queue()
        for piece in pieces:
            self._pieces.put_nowait(piece)

    def say(self, *pieces):
        """Writes these pieces and pauses again."""
        for piece in pieces:
            self._loop.call_soon_threadsafe(self._pieces.put_nowait, piece)

    def release(self, *pieces):
        """Writes these pieces and then ends the answer normally."""
        self.say(*pieces, None)

    def take(self, request):
        """Records the request that this answers."""
        self.request = request
        self._asked.set()

    def was_asked(self, timeout=PATIENCE):
        """Waits for the request that this answers, and returns whether it arrived."""
        return self._asked.wait(timeout)

    def was_aborted(self, timeout=PATIENCE):
        """Returns whether the client disconnects before the end of the answer."""
        return self.was_asked(timeout) and self.request.closed_by_client.wait(timeout)

    async def next_piece(self):
        """Returns the next piece, or None after the last one."""
        return await self._pieces.get()


class Request:
    """A request of the gateway."""

    def __init__(self, method, target, headers, body):
        self.came = time.monotonic()  # arrival, before its body was read
        self.method = method
        self.path, _, self.query = target.partition("?")
        self.headers = headers  # names in lower case
        self.body = body
        self.json = json.loads(body) if body else None
        self.at = time.monotonic()  # after its body was read
        self.answered = threading.Event()  # the answer was written completely
        self.closed_by_client = threading.Event()  # the client disconnected before the end of the answer
        self.deltas_sent = 0


class ProviderStub:
    """The server, in its own thread and event loop, on a port chosen by the kernel.

    Requests for a thread's title or a page's summary arrive in the background, between any two others. They are
    answered with `title` or `summary` (a text, or anything a script may contain), collected in `title_requests` or
    `summary_requests`, and do not consume replies of the script."""

    def __init__(self):
        self.requests = []
        self.title_requests = []
        self.title = "A title from the stub"
        self.summary_requests = []
        self.summary = "A summary from the stub."
        self.models = None  # ids, or objects as the service sends them; None: it has no list
        self.list_requests = []
        self.connections = 0
        self._replies = []
        self._default = Reply()
        self._arrived = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server = None
        self._tasks = set()
        self.port = None

    def start(self):
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(10)
        return self

    def stop(self):
        if self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    @property
    def base_url(self):
        """For ANTHROPIC_BASE_URL and OLLAMA_HOST."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def openai_url(self):
        """For OPENAI_BASE_URL."""
        return f"{self.base_url}/v1"

    def script(self, *replies):
        """Answers the next requests with these, in order: a Reply, Fault, Raw, Silence, Held, text, or a function that
        takes the Request and returns one of them."""
        with self._arrived:
            self._replies.extend(replies)

    def hold(self, *pieces, tool_calls=()):
        """Answers the next request with these pieces and holds the rest, these calls included, back until it is
        released."""
        held = Held(self._loop, pieces, tool_calls)
        self.script(held)
        return held

    def always(self, reply):
        """Sets the reply to requests beyond the script. The default is a plain Reply."""
        self._default = reply

    def reset(self):
        """Clears requests and script."""
        with self._arrived:
            self.requests.clear()
            self.title_requests.clear()
            self.summary_requests.clear()
            self.list_requests.clear()
            self._replies.clear()
            self._default = Reply()

    def wait_for_requests(self, count, timeout=PATIENCE):
        """Waits for the first `count` requests and returns them."""
        with self._arrived:
            if not self._arrived.wait_for(lambda: len(self.requests) >= count, timeout):
                raise AssertionError(f"{len(self.requests)} of {count} requests came within {timeout} s")
            return self.requests[:count]

    async def _listen(self):
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, backlog=1024)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _close(self):
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader, writer):
        self.connections += 1
        task = asyncio.current_task()
        self._tasks.add(task)
        client = _Client(reader)
        try:
            while await self._serve(client, writer):
                pass
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _serve(self, client, writer):
        """Serves one request. Returns False when the connection is over."""
        request = await client.read_request()
        if request is None:
            return False
        with self._arrived:
            self._list_of(request).append(request)
            self._arrived.notify_all()
        leaving = asyncio.ensure_future(client.left())
        answer = asyncio.ensure_future(self._answer(writer, request))
        try:
            await asyncio.wait({leaving, answer}, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done() or isinstance(answer.exception(), ConnectionError):
                request.closed_by_client.set()
                return False
            keep = answer.result()
            request.answered.set()
            return keep
        finally:
            leaving.cancel()
            answer.cancel()
            await asyncio.gather(leaving, answer, return_exceptions=True)

    def _list_of(self, request):
        if request.method == "GET":
            return self.list_requests
        if is_title_request(request):
            return self.title_requests
        return self.summary_requests if is_summary_request(request) else self.requests

    def _next_reply(self, request):
        if is_title_request(request):
            reply = self.title
        elif is_summary_request(request):
            reply = self.summary
        else:
            with self._arrived:
                reply = self._replies.pop(0) if self._replies else self._default
        if callable(reply):
            reply = reply(request)
        return Reply(reply) if isinstance(reply, str) else reply

    async def _answer(self, writer, request):
        """Writes one response. Returns False if the connection must not be reused."""
        if request.method == "GET":
            return await self._list(writer, request)
        wire = wires.of_path(request.path)
        if wire is None and not (self._replies and isinstance(self._replies[0], Fault)):
            status, body = wires.without_format(request)
            await self._write_head(writer, status, "application/json", body)
            return True
        problem = wire.problem(request.json) if hasattr(wire, "problem") else None
        reply = Fault(refusals.status_of(problem), problem) if problem else self._next_reply(request)
        if isinstance(reply, Raw):
            writer.write(reply.data)
            await writer.drain()
            return False
        if isinstance(reply, Silence):
            await asyncio.Event().wait()
        if isinstance(reply, Endless):
            await reply.write(writer)
        if isinstance(reply, Fault):
            body = reply.body if reply.body is not None else wire.error(reply.status, reply.kind, reply.message)
            if isinstance(body, (dict, list)):
                body = json.dumps(body)
            if isinstance(body, str):
                body = body.encode()
            await self._write_head(writer, reply.status, "application/json", body, reply.headers)
            return True
        if isinstance(reply, Held):
            return await self._stream_held(writer, request, wire, reply)
        return await self._stream(writer, request, wire, reply)

    async def _list(self, writer, request):
        """Responds with `models`: a list, a Fault or Raw response, no response (Silence) or an endless one (Flood)."""
        models = self.models
        if isinstance(models, Silence):
            await asyncio.Event().wait()
        if isinstance(models, Flood):
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 10000000000\r\n\r\n")
            while True:
                writer.write(b" " * 1_000_000)
                await writer.drain()
        if isinstance(models, Raw):
            writer.write(models.data)
            await writer.drain()
            return False
        if isinstance(models, Fault):
            body = models.body if models.body is not None else {"error": {"message": models.message}}
            body = body if isinstance(body, str) else json.dumps(body)
            await self._write_head(writer, models.status, "application/json", body.encode(), models.headers)
            return True
        listing = None if models is None else wires.listing(request.path, models)
        status = 404 if listing is None else 200
        body = json.dumps(listing or {"error": {"message": "no such route"}}).encode()
        await self._write_head(writer, status, "application/json", body)
        return True

    @staticmethod
    async def _write_head(writer, status, content_type, body, headers=None):
        headers = {"content-type": content_type, "content-length": len(body), **(headers or {})}
        lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Stubbed')}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode() + body)
        await writer.drain()

    async def _stream(self, writer, request, wire, reply):
        await asyncio.sleep(reply.head_delay)
        body = _Body(writer, reply.chunk_bytes)
        body.head(wire.content_type)
        for frame in wire.begin(request, reply):
            await body.write(frame)
        start = time.monotonic()
        for number, piece in enumerate(split(reply.text, reply.deltas)):
            if reply.fault and reply.after == number:
                return await self._strike(body, wire, reply)
            if reply.rate:
                await asyncio.sleep(max(0, start + number / reply.rate - time.monotonic()))
            await body.write(wire.text(request, piece))
            request.deltas_sent += 1
        if reply.fault:
            return await self._strike(body, wire, reply)
        for frame in wire.end(request, reply):
            await body.write(frame)
        if reply.hold_open:
            await asyncio.Event().wait()
        await body.finish()
        return True

    @staticmethod
    async def _stream_held(writer, request, wire, held):
        held.take(request)
        body = _Body(writer, None)
        body.head(wire.content_type)
        for frame in wire.begin(request, Reply()):
            await body.write(frame)
        while (piece := await held.next_piece()) is not None:
            await body.write(wire.text(request, piece))
            request.deltas_sent += 1
        for frame in wire.end(request, Reply(tool_calls=held.tool_calls)):
            await body.write(frame)
        await body.finish()
        return True

    @staticmethod
    async def _strike(body, wire, reply):
        if reply.fault == "silence":
            await asyncio.Event().wait()
        if reply.fault == "garbage":
            await body.write(wire.garbage())
            await asyncio.Event().wait()
        if reply.fault == "error":
            await body.write(wire.stream_error())
            await body.finish()
            return True
        if reply.fault == "end":
            await body.finish()
            return True
        if reply.fault == "cut":
            return False
        raise ValueError(f"unknown fault {reply.fault!r}")


class _Client:
    """Reads bytes from a client and detects its disconnect."""

    def __init__(self, reader):
        self._reader = reader
        self._bytes = b""

    async def _more(self):
        piece = await self._reader.read(256 * 1024)
        self._bytes += piece
        return bool(piece)

    async def left(self):
        """Returns once the client has closed the connection."""
        while await self._more():
            pass

    async def read_request(self):
        """Returns the next request, or None if the client is done."""
        while b"\r\n\r\n" not in self._bytes:
            if not await self._more():
                return None
        head, _, rest = self._bytes.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        size = int(headers.get("content-length", 0))
        self._bytes = rest
        while len(self._bytes) < size:
            if not await self._more():
                return None
        body, self._bytes = self._bytes[:size], self._bytes[size:]
        return Request(method, target, headers, body)


class _Body:
    """Writes a chunked body in pieces of the given size."""

    def __init__(self, writer, piece):
        self._writer = writer
        self._piece = piece

    def head(self, content_type):
        head = f"HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ntransfer-encoding: chunked\r\n\r\n"
        self._writer.write(head.encode())

    async def write(self, data):
        if self._piece is None:
            self._writer.write(b"%x\r\n%b\r\n" % (len(data), data))
            await self._writer.drain()
            return
        for at in range(0, len(data), self._piece):
            part = data[at:at + self._piece]
            self._writer.write(b"%x\r\n%b\r\n" % (len(part), part))
            await self._writer.drain()
            await asyncio.sleep(0)

    async def finish(self):
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()


def is_title_request(request):
    return request.body is not None and b"Answer with a title" in request.body


def is_summary_request(request):
    return request.body is not None and b"Answer with a summary" in request.body


def split(text, count):
    """Splits `text` into `count` pieces of nearly equal length; fewer if it is shorter."""
    count = max(1, min(count, len(text)))
    size, longer = divmod(len(text), count)
    pieces, at = [], 0
    for number in range(count):
        end = at + size + (1 if number < longer else 0)
        pieces.append(text[at:end])
        at = end
    return [piece for piece in pieces if piece]
