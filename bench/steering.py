"""Messages that join an active answer."""

import http.client
import json
import sys

from bench.harness import ROOT, Gateway, Row, folder

sys.path.insert(0, str(ROOT / "tests" / "api"))

from stubs.provider import ProviderStub, Reply, ToolCall  # noqa: E402

RUNS = 1_000


class Model:
    """Steers its own answer: at the first request it sends the message and then calls a tool. At the next request it
    checks whether the message is the last one of the prompt."""

    def __init__(self, gateway):
        self.connection = http.client.HTTPConnection("127.0.0.1", gateway.port)
        self.token = gateway.token
        self.received = 0

    def chat(self, thread, content, **members):
        body = json.dumps({"content": content, "threadId": thread, **members})
        self.connection.request("POST", "/chat", body, {"Authorization": f"Bearer {self.token}"})
        response = self.connection.getresponse()
        response.read()
        if response.status != 201:
            raise SystemExit(f"POST /chat answered {response.status}")

    def answer(self, request):
        messages = request.json["messages"]
        if messages[-2]["role"] == "tool":
            thread = next(message["content"] for message in messages if message["role"] == "user")
            self.received += messages[-1]["role"] == "user" and messages[-1]["content"] == f"for {thread}"
            return Reply("Done.")
        thread = messages[-1]["content"]
        self.chat(thread, f"for {thread}", delivery="steer")
        return Reply("", deltas=0, tool_calls=[ToolCall("Glob", {"pattern": "*.none"})])


def steering():
    """1,000 answers, each with a message that is sent while the model thinks; the next request must contain it"""
    with folder() as home, ProviderStub() as stub, Gateway(home, stub.port) as gateway:
        model, threads = Model(gateway), gateway.new_threads(RUNS)
        stub.always(model.answer)
        client = Model(gateway)
        for thread in threads:
            client.chat(thread, thread)
        stub.wait_for_requests(2 * RUNS, timeout=300)
    yield Row("steered messages in the next request, of 1,000 runs", f"{model.received:,}", "-", "-", "= 1,000",
              model.received == RUNS)
