"""Model services of extensions, and tools that models search for."""

import http.client
import json
import sys
import time

from bench.harness import ROOT, Gateway, Row, folder, median, milliseconds
from bench.tools import Chats

sys.path.insert(0, str(ROOT / "tests/api"))

from stubs import many_tools  # noqa: E402
from stubs.provider import ProviderStub, Reply, ToolCall  # noqa: E402

CHECKS = 100
LISTED = 300  # models; OpenRouter lists about as many
SERVERS = [f"server{number}" for number in range(many_tools.SERVERS)]
BYTES_PER_TOKEN = 3  # fewer than JSON has for real models, so this overestimates the tokens


def listed_models(count):
    return [{"id": f"vendor-{number % 20}/model-{number}", "context_length": 131072, "pricing": {"prompt": "0.000001"}}
            for number in range(count)]


def seconds_of(ask):
    began = time.perf_counter()
    ask()
    return time.perf_counter() - began


def checks():
    """Checking and listing a service with 300 models; the floor requests the list from the service"""
    with folder() as home, ProviderStub() as stub, Gateway(home) as gateway:
        stub.models = listed_models(LISTED)
        body = {"definition": {"kind": "model", "api": "openai-chat", "base_url": stub.openai_url}, "key": "none"}

        def ask_directly():
            connection = http.client.HTTPConnection("127.0.0.1", stub.port)
            connection.request("GET", "/v1/models", headers={"Authorization": "Bearer none"})
            json.loads(connection.getresponse().read())
            connection.close()

        def check():
            checked = gateway.request("POST", "/model-services/check", body)
            if len(checked["models"]) != LISTED:
                raise SystemExit(f"the service was not listed: {checked['error']}")

        def list_again():
            rows = gateway.request("GET", "/models?refresh=true")
            if sum(row["provider"] == "mine" for row in rows) != LISTED:
                raise SystemExit("the service was not listed")

        gateway.request("POST", "/extensions", {"type": "integration", "name": "mine", "description": "", "enabled": True,
                                                "definition": body["definition"]})
        floor, checked, listed = [], [], []
        for _ in range(CHECKS):
            floor.append(seconds_of(ask_directly))
            checked.append(seconds_of(check))
            listed.append(seconds_of(list_again))
    direct = median(floor)
    for operation, times in (("checking", checked), ("listing", listed)):
        slowest = sorted(times)[CHECKS * 99 // 100] - direct
        yield Row(f"{operation} a service, beyond its own time, p50", milliseconds(median(times) - direct),
                  milliseconds(direct), "-", "-", None)
        yield Row(f"{operation} a service, beyond its own time, p99", milliseconds(slowest), milliseconds(direct), "-",
                  "< 20 ms", slowest < 0.020)


def connect_servers(chats):
    """Connects five MCP servers with 60 tools each, which the agent may call."""
    gateway = chats.gateway
    gateway.request("PATCH", "/agents/assistant/stage", {"stage": "trusted", "reason": "a measurement"})
    for number, name in enumerate(SERVERS):
        gateway.request("POST", "/extensions", {
            "type": "integration", "name": name, "description": "", "enabled": True,
            "definition": {"kind": "mcp-stdio", "command": "/usr/bin/python3", "args": [many_tools.__file__, str(number)]}})
    while gateway.request("GET", "/agents/assistant/prompt?mode=act")["tools_deferred"] < 60 * len(SERVERS):
        time.sleep(0.05)


class SearchingModel:
    """A model that searches for a tool with FindTools, and counts how often the next request offers the right one."""

    def __init__(self, questions):
        self.expected = dict(questions)
        self.found = 0

    def answer(self, request):
        question = next(message["content"] for message in request.json["messages"] if message["role"] == "user")
        if request.json["messages"][-1]["role"] != "tool":
            return Reply("", deltas=0, tool_calls=[ToolCall("FindTools", {"query": question})])
        self.found += self.expected[question] in {tool["function"]["name"] for tool in request.json["tools"]}
        return Reply("Done.")


def tokens_of_tools(request):
    """Returns the size of the definitions and the list of deferred tools, and the size of all definitions."""
    system = "\n".join(message["content"] for message in request.json["messages"] if message["role"] == "system")
    listing = system[system.index("# More tools"):system.index("</deferred_tools>")]
    offered = json.dumps(request.json["tools"], separators=(",", ":"))
    complete = offered + json.dumps([many_tools.tools_of(number) for number in range(len(SERVERS))], separators=(",", ":"))
    return (len(offered.encode()) + len(listing.encode())) // BYTES_PER_TOKEN, len(complete.encode()) // BYTES_PER_TOKEN


def found():
    """300 tools of five MCP servers: tokens of a first request (floor: all definitions), 200 questions to FindTools"""
    questions = many_tools.questions(SERVERS)
    model = SearchingModel(questions)
    with folder() as home, ProviderStub() as stub, Chats(home, stub) as chats:
        connect_servers(chats)
        stub.always(model.answer)
        threads = chats.threads(len(questions))
        for thread, (question, _) in zip(threads, questions):
            chats.gateway.request("POST", "/chat", {"content": question, "threadId": thread})
        chats.wait(threads)
        tokens, all_tokens = tokens_of_tools(stub.requests[0])
    yield Row("tokens of 300 deferred tools, first request", f"{tokens:,}", f"{all_tokens:,}",
              f"{tokens / all_tokens:.2f}", "< 12,000", tokens < 12_000)
    share = model.found / len(questions)
    yield Row("right tool after one FindTools, of 200 questions", f"{share:.1%}", "-", "-", ">= 95 %", share >= 0.95)


def memory():
    """Memory of a gateway that lists 50,000 models of a service; the floor lists 10"""
    resident = []
    for count in (10, 50_000):
        with folder() as home, ProviderStub() as stub, Gateway(home) as gateway:
            stub.models = listed_models(count)
            gateway.request("POST", "/extensions", {
                "type": "integration", "name": "many", "description": "", "enabled": True,
                "definition": {"kind": "model", "api": "openai-chat", "base_url": stub.openai_url}})
            for _ in range(10):
                listed = gateway.request("GET", "/models?refresh=true")
            if sum(row["provider"] == "many" for row in listed) != count:
                raise SystemExit("not all models are listed")
            resident.append(gateway.memory()["Rss"])
    few, many = resident
    yield Row("memory after listing 50,000 models 10 times", f"{many / 2**20:.1f} MiB", f"{few / 2**20:.1f} MiB", "-",
              "< 160 MiB", many < 160 * 2**20)
