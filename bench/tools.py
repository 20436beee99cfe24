"""Tool calls: single ones, many at once, in long threads, and the memory used afterwards."""

import http.client
import json
import sys
import threading
import time

from bench.harness import ROOT, Gateway, Row, folder, median, milliseconds

sys.path.insert(0, str(ROOT / "tests/api"))

from stubs.provider import ProviderStub, Reply, ToolCall  # noqa: E402

TYPES = ("agent", "app", "job", "theme")


def model_that_calls(calls):
    """A model that makes this many calls, one after the other, and then finishes."""
    def reply(request):
        number = sum(message["role"] == "tool" for message in request.json["messages"])
        if number >= calls:
            return Reply("Done.")
        return Reply("", tool_calls=[ToolCall("ListExtensions", {"type": TYPES[number % len(TYPES)]}, f"call_{number}")])
    return reply


class Chats:
    """A gateway with a scripted model, and helpers that send messages and wait for answers."""

    def __init__(self, home, stub):
        self.stub = stub
        self.gateway = Gateway(home, stub.port)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.gateway.stop()

    def threads(self, count):
        threads = self.gateway.new_threads(count)
        for thread in threads:
            self.gateway.request("PATCH", f"/threads/{thread}", {"mode": "act"})
        return threads

    def ask(self, thread):
        self.gateway.request("POST", "/chat", {"content": "Go.", "threadId": thread})

    def newest(self, thread):
        return self.gateway.request("GET", f"/threads/{thread}/turns?limit=1")[0]

    def wait(self, threads):
        """Waits until all threads have an answer. Returns the finish reasons."""
        reasons = []
        for thread in threads:
            while (turn := self.newest(thread))["role"] != "assistant":
                time.sleep(0.005)
            reasons.append(turn["metadata"]["finish_reason"])
        return reasons


def gaps(stub):
    times = [request.at for request in stub.requests]
    return [after - before for before, after in zip(times, times[1:])]


def direct_gaps(stub, body):
    """Sends the same requests from a client that ignores the responses. Returns the gaps between them."""
    connection = http.client.HTTPConnection("127.0.0.1", stub.port)
    for _ in range(50):
        connection.request("POST", "/v1/chat/completions", body=body)
        connection.getresponse().read()
    connection.close()
    return gaps(stub)


def calls():
    """Overhead of a tool call: from the model's call to its next request; the floor does nothing in between"""
    with folder() as home, ProviderStub() as stub, Chats(home, stub) as chats:
        stub.always(model_that_calls(40))
        threads = chats.threads(3)
        for thread in threads:
            stub.requests.clear()
            chats.ask(thread)
            chats.wait([thread])
        through = median(gaps(stub))
        body = stub.requests[len(stub.requests) // 2].body
        stub.requests.clear()
        floor = median(direct_gaps(stub, body))
    yield Row("overhead of a tool call, p50", milliseconds(through - floor), milliseconds(floor), "-", "< 2 ms",
              through - floor < 0.002)


def hundred():
    """100 runs at once with 10 tool calls each"""
    with folder() as home, ProviderStub() as stub, Chats(home, stub) as chats:
        stub.always(model_that_calls(10))
        threads = chats.threads(100)
        began = time.monotonic()
        askers = [threading.Thread(target=ask_on_own_connection, args=(chats.gateway, thread)) for thread in threads]
        for asker in askers:
            asker.start()
        for asker in askers:
            asker.join()
        reasons = chats.wait(threads)
        seconds = time.monotonic() - began
        results = sum(chats.gateway.request("GET", f"/threads/{thread}")["turn_count"] == 12 for thread in threads)
    failed = sum(reason != "stop" for reason in reasons)
    yield Row("100 runs of 10 tool calls, failed", str(failed), "-", "-", "0", failed == 0)
    yield Row("100 runs of 10 tool calls, complete", str(results), "-", "-", "= 100", results == 100)
    yield Row("100 runs of 10 tool calls, in total", f"{seconds:.2f} s", "-", "-", "-", None)


def ask_on_own_connection(gateway, thread):
    connection = http.client.HTTPConnection("127.0.0.1", gateway.port)
    connection.request("POST", "/chat", body=json.dumps({"content": "Go.", "threadId": thread}),
                       headers={"Authorization": f"Bearer {gateway.token}"})
    connection.getresponse().read()
    connection.close()


def prompts():
    """The time from a message to the model's request in a thread with 2,000 turns; the floor is a new thread"""
    with folder() as home, ProviderStub() as stub, Chats(home, stub) as chats:
        stub.always(Reply("Done."))
        short, long = chats.threads(2)
        for number in range(1000):
            for role in "user", "assistant":
                chats.gateway.request("POST", f"/threads/{long}/turns", {"role": role, "content": f"Turn {number} of it."})
        seconds = {thread: median(delays(chats, thread)) for thread in (short, long)}
    more = seconds[long] - seconds[short]
    yield Row("prompt of 2,000 turns", milliseconds(more), milliseconds(seconds[short]), "-", "< 5 ms", more < 0.005)


def delays(chats, thread):
    for _ in range(15):
        chats.stub.requests.clear()
        began = time.monotonic()
        chats.ask(thread)
        request = chats.stub.wait_for_requests(1)[0]
        yield request.came - began
        chats.wait([thread])


def memory():
    """Memory after 1,000 runs with a tool call each; the floor is the first 100"""
    with folder() as home, ProviderStub() as stub, Chats(home, stub) as chats:
        stub.always(model_that_calls(1))
        for thread in chats.threads(100):
            run_one(chats, thread)
        before = chats.gateway.memory()["Rss"]
        for thread in chats.threads(1000):
            run_one(chats, thread)
        chats.gateway.wait_until_quiet()
        after = chats.gateway.memory()["Rss"]
    yield Row("memory after 1,000 runs", f"{after / 2**20:.1f} MiB", f"{before / 2**20:.1f} MiB", f"{after / before:.2f}",
              "<= 1.2", after <= 1.2 * before)


def run_one(chats, thread):
    chats.ask(thread)
    chats.wait([thread])
    chats.stub.requests.clear()
