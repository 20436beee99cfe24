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

        def ask_itself():
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
            floor.append(seconds_of(ask_itself))
            checked.append(seconds_of(check))
            listed.append(seconds_of(list_again))
    own = median(floor)
    for what, times in (("checking", checked), ("listing", listed)):
        slowest = sorted(times)[CHECKS * 99 // 100] - own
        yield Row(f"{what} a service, beyond its own time, p50", milliseconds(median(times) - own), milliseconds(own), "-",
                  "-", None)
        yield Row(f"{what} a service, beyond its own time, p99", milliseconds(slowest), milliseconds(own), "-", "< 20 ms",
                  slowest < 0.020)


def connect_servers(chats):
    """Connects five MCP servers of 60 tools, for an agent that may use them."""
    gateway = chats.gateway
    gateway.request("PATCH", "/agents/assistant/stage", {"stage": "trusted", "reason": "a measurement"})
    for number, name in enumerate(SERVERS):
        gateway.request("POST", "/extensions", {
            "type": "integration", "name": name, "description": "", "enabled": True,
            "definition": {"kind": "mcp-stdio", "command": "/usr/bin/python3", "args": [many_tools.__file__, str(number)]}})
    while gateway.request("GET", "/agents/assistant/prompt?mode=act")["tools_deferred"] < 60 * len(SERVERS):
        time.sleep(0.05)


class Asking:
    """A model that searches a tool with FindTools, and counts how often it is then offered the right one."""

    def __init__(self, questions):
        self.right = dict(questions)
        self.found = 0

    def answer(self, request):
        question = next(message["content"] for message in request.json["messages"] if message["role"] == "user")
        if request.json["messages"][-1]["role"] != "tool":
            return Reply("", deltas=0, tool_calls=[ToolCall("FindTools", {"query": question})])
        self.found += self.right[question] in {tool["function"]["name"] for tool in request.json["tools"]}
        return Reply("Done.")


def tokens_of_tools(request):
    """Returns the size of the definitions and the list of deferred tools, and the size of all definitions."""
    system = "\n".join(message["content"] for message in request.json["messages"] if message["role"] == "system")
    listing = system[system.index("# More tools"):system.index("</deferred_tools>")]
    offered = json.dumps(request.json["tools"], separators=(",", ":"))
    whole = offered + json.dumps([many_tools.tools_of(number) for number in range(len(SERVERS))], separators=(",", ":"))
    return (len(offered.encode()) + len(listing.encode())) // BYTES_PER_TOKEN, len(whole.encode()) // BYTES_PER_TOKEN


def found():
    """300 tools of five MCP servers: tokens of a first request (floor: with all of them), 200 questions to FindTools"""
    questions = many_tools.questions(SERVERS)
    asking = Asking(questions)
    with folder() as home, ProviderStub() as stub, Chats(home, stub) as chats:
        connect_servers(chats)
        stub.always(asking.answer)
        threads = chats.threads(len(questions))
        for thread, (question, _) in zip(threads, questions):
            chats.gateway.request("POST", "/chat", {"content": question, "threadId": thread})
        chats.wait(threads)
        tokens, all_of_them = tokens_of_tools(stub.requests[0])
    yield Row("tokens of 300 deferred tools, first request", f"{tokens:,}", f"{all_of_them:,}",
              f"{tokens / all_of_them:.2f}", "< 12,000", tokens < 12_000)
    share = asking.found / len(questions)
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
