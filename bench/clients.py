"""Clients that call a model through the gateway with OpenAI's Chat Completions; the list of models; an idle editor."""

import http.client
import json
import subprocess
import time
from pathlib import Path

from bench.harness import Gateway, Row, Upstream, agw, folder, load_chat, median, median_and_p99, milliseconds

REQUESTS = 1_000
LISTINGS = 200
MODELS = 5_000
SECONDS_OF_STREAM = 4
CLIENTS = 64


class Client:
    """Requests complete answers, one after the other, on one connection."""

    def __init__(self, port, token, model, **members):
        self.connection = http.client.HTTPConnection("127.0.0.1", port)
        self.answer = None
        self.headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self.body = json.dumps({"model": model, "messages": [{"role": "user", "content": "go"}], **members},
                               separators=(",", ":"))

    def start(self):
        """Requests an answer, and reads the beginning of the stream."""
        self.connection.request("POST", "/v1/chat/completions", self.body, self.headers)
        self.answer = self.connection.getresponse()
        self.answer.read1()

    def disconnect(self):
        self.answer.close()
        self.connection.close()

    def seconds(self):
        began = time.perf_counter()
        self.connection.request("POST", "/v1/chat/completions", self.body, self.headers)
        answer = self.connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise SystemExit(f"POST /v1/chat/completions answered {answer.status}")
        return time.perf_counter() - began


def streams(gateway, upstream, count, rate):
    """Returns delays through the gateway and directly from the service, for that many clients and deltas a second."""
    model = f"{rate}x{rate * SECONDS_OF_STREAM}"
    through = load_chat([gateway.port, "--direct", f"bench/{model}", count, gateway.token])
    direct = load_chat([upstream.port, "--direct", model, count])
    return through["delays"], direct["delays"]


def disconnection_row(gateway):
    """64 clients disconnect during their streams: the time until the gateway has released everything for them."""
    def descriptors():
        return len(list(Path(f"/proc/{gateway.child.pid}/fd").iterdir()))

    Client(gateway.port, gateway.token, "bench/1000000x1").seconds()  # opens the persistent connections
    gateway.wait_until_quiet()
    before = descriptors()
    connected = [Client(gateway.port, gateway.token, "bench/20x2000", stream=True) for _ in range(CLIENTS)]
    for client in connected:
        client.start()
    began = time.perf_counter()
    for client in connected:
        client.disconnect()
    while descriptors() > before and time.perf_counter() - began < 10:
        time.sleep(0.001)
    took = time.perf_counter() - began
    return Row(f"{CLIENTS} clients disconnect, until all is freed", milliseconds(took), "-", "-", "< 1 s", took < 1)


def models_row(gateway, upstream):
    """Lists the models of a service whose definition has 5,000."""
    models = [{"id": f"model-{number:04}"} for number in range(MODELS)]
    definition = {"kind": "model", "api": "openai-chat", "base_url": f"http://127.0.0.1:{upstream.port}/v1",
                  "models": models}
    made = gateway.request("POST", "/extensions", {"type": "integration", "name": "many", "description": "",
                                                   "enabled": True, "definition": definition})
    assert made["enabled"], made
    connection = http.client.HTTPConnection("127.0.0.1", gateway.port)

    def seconds():
        began = time.perf_counter()
        connection.request("GET", "/v1/models", headers={"Authorization": f"Bearer {gateway.token}"})
        answer = connection.getresponse().read()
        took = time.perf_counter() - began
        assert len(json.loads(answer)["data"]) > MODELS
        return took

    took = median([seconds() for _ in range(LISTINGS)])
    return Row(f"GET /v1/models, {MODELS:,} models", milliseconds(took), "-", "-", "< 5 ms", took < 0.005)


def editor_row(home):
    """The memory of `agw acp` with an idle open session."""
    command = [agw(), "acp", "--data-dir", home / ".agent-gateway"]
    session_folder = home / "work"
    session_folder.mkdir()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env={"HOME": str(home), "PATH": "/usr/bin:/bin"}) as editor:

        def ask(number, method, **params):
            request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            editor.stdin.write(json.dumps(request) + "\n")
            editor.stdin.flush()
            while (answer := json.loads(editor.stdout.readline())).get("id") != number:
                pass
            return answer["result"]

        ask(1, "initialize", protocolVersion=1)
        assert ask(2, "session/new", cwd=str(session_folder), mcpServers=[])["sessionId"]
        time.sleep(2)
        status = Path(f"/proc/{editor.pid}/status").read_text()
        editor.stdin.close()
    mebibytes = int(status.split("VmRSS:")[1].split()[0]) / 1024
    return Row("agw acp with an open session, idle", f"{mebibytes:.1f} MiB", "-", "-", "< 4 MiB", mebibytes < 4)


def clients():
    """Streams and requests of API clients, forwarded to a model; the floor calls the model service directly"""
    with folder() as home, Upstream() as upstream, Gateway(home, upstream.port) as gateway:
        yield disconnection_row(gateway)  # first, because later rows leave idle connections to the service
        through = Client(gateway.port, gateway.token, "bench/1000000x1")
        direct = Client(upstream.port, "-", "1000000x1", stream=True)
        through.seconds()
        pairs = [(through.seconds(), direct.seconds()) for _ in range(REQUESTS)]
        asked, floor = (median(column) for column in zip(*pairs))
        yield Row("passed-through request, added at the median", milliseconds(asked - floor), milliseconds(floor), "-",
                  "< 0.3 ms", asked - floor < 0.0003)
        delay, floor = streams(gateway, upstream, 8, 50)
        added = delay["p99"] - floor["p99"]
        yield Row("delta of 8 clients at 50/s, added to the p99", milliseconds(added), milliseconds(floor["p99"]), "-",
                  "< 1 ms", added < 0.001)
        delay, floor = streams(gateway, upstream, CLIENTS, 200)
        yield Row("delta of 64 clients at 200/s, p50 / p99", median_and_p99(delay), median_and_p99(floor), "-",
                  "p99 < 5 ms", delay["p99"] < 0.005)
        yield models_row(gateway, upstream)
        yield editor_row(home)
        expected = CLIENTS * 200 * SECONDS_OF_STREAM
        yield Row("deltas that arrived", f"{delay['count']:,}", f"{floor['count']:,}", "-", f"= {expected:,}",
                  delay["count"] == expected)
