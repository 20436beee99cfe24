"""Programs that ask a model through the gateway, by OpenAI's Chat Completions."""

import http.client
import json
import time

from bench.harness import Gateway, Row, Upstream, folder, load_chat, median, median_and_p99, milliseconds

REQUESTS = 1_000
SECONDS_OF_STREAM = 4


class Program:
    """Asks for whole answers, one after the other, on one connection."""

    def __init__(self, port, token, model, **members):
        self.connection = http.client.HTTPConnection("127.0.0.1", port)
        self.headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self.body = json.dumps({"model": model, "messages": [{"role": "user", "content": "go"}], **members},
                               separators=(",", ":"))

    def seconds(self):
        began = time.perf_counter()
        self.connection.request("POST", "/v1/chat/completions", self.body, self.headers)
        answer = self.connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise SystemExit(f"POST /v1/chat/completions answered {answer.status}")
        return time.perf_counter() - began


def streams(gateway, upstream, count, rate):
    """Delays through the gateway and of the service itself, of so many programs that read so many deltas a second."""
    model = f"{rate}x{rate * SECONDS_OF_STREAM}"
    through = load_chat([gateway.port, "--direct", f"bench/{model}", count, gateway.token])
    direct = load_chat([upstream.port, "--direct", model, count])
    return through["delays"], direct["delays"]


def clients():
    """Streams and requests of programs that are passed through to a model; the floor asks the model service directly"""
    with folder() as home, Upstream() as upstream, Gateway(home, upstream.port) as gateway:
        through = Program(gateway.port, gateway.token, "bench/1000000x1")
        direct = Program(upstream.port, "-", "1000000x1", stream=True)
        through.seconds()
        pairs = [(through.seconds(), direct.seconds()) for _ in range(REQUESTS)]
        asked, floor = (median(column) for column in zip(*pairs))
        yield Row("passed-through request, added at the median", milliseconds(asked - floor), milliseconds(floor), "-",
                  "< 0.3 ms", asked - floor < 0.0003)
        delay, floor = streams(gateway, upstream, 8, 50)
        added = delay["p99"] - floor["p99"]
        yield Row("delta of 8 programs at 50/s, added to the p99", milliseconds(added), milliseconds(floor["p99"]), "-",
                  "< 1 ms", added < 0.001)
        delay, floor = streams(gateway, upstream, 64, 200)
        yield Row("delta of 64 programs at 200/s, p50 / p99", median_and_p99(delay), median_and_p99(floor), "-",
                  "p99 < 5 ms", delay["p99"] < 0.005)
        expected = 64 * 200 * SECONDS_OF_STREAM
        yield Row("deltas that arrived", f"{delay['count']:,}", f"{floor['count']:,}", "-", f"= {expected:,}",
                  delay["count"] == expected)
