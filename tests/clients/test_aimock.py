"""`@copilotkit/aimock` as the model service: a third-party mock of many vendors."""

import json
import subprocess
from contextlib import contextmanager

import httpx
import pytest

from checks import accepted
from conftest import HERE, MODULES, PATH
from events import ENDS, text_of
from gateway import Gateway

MODEL = "deepseek-r1"  # the mock takes it for a reasoning model, by its name
TEXT = "Grüße aus Köln, \N{GRINNING FACE} and the rest of it, which comes in many pieces."
THOUGHTS = "Let me think about it for more than one piece."
FIRST, SECOND, THIRD = ({"name": "Glob", "arguments": {"pattern": f"*.{number}"}} for number in ("one", "two", "three"))
USAGE = {"prompt_tokens": 20, "completion_tokens": 7, "total_tokens": 27}

# The mock's answers by question and, for `several rounds`, by the number of earlier answers.
ANSWERS = [
    ({"userMessage": "plain"}, {"response": {"content": TEXT, "usage": USAGE}}),
    ({"userMessage": "think"}, {"response": {"content": TEXT, "reasoning": THOUGHTS}}),
    ({"userMessage": "several rounds", "turnIndex": 0}, {"response": {"toolCalls": [FIRST], "reasoning": THOUGHTS}}),
    ({"userMessage": "several rounds", "turnIndex": 1},
     {"response": {"content": "Looking further. ", "toolCalls": [SECOND, THIRD]}}),
    ({"userMessage": "several rounds", "turnIndex": 2}, {"response": {"content": TEXT}}),
    ({"userMessage": "refused"}, {"response": {"error": {"message": "not like this"}, "status": 400}}),
    # The latency lets written data be sent before the connection is destroyed.
    ({"userMessage": "broken off"},
     {"response": {"content": TEXT}, "chunkSize": 5, "latency": 20, "truncateAfterChunks": 8}),
]

# API and path of each format that both the mock and the gateway support, and of vendors' variants of OpenAI's.
SERVICES = {
    "anthropic": ("anthropic", ""),
    "responses": ("openai-responses", "/v1"),
    "chat": ("openai-chat", "/v1"),
    "openrouter": ("openai-chat", "/api/v1"),
    "azure": ("openai-chat", "/openai/deployments/{model}?api-version=2024-10-21"),
    "gemini": ("gemini", ""),
    "ollama": ("ollama", ""),
}
# For Ollama, the mock sends reasoning in a member that does not exist there.
THINKING = [name for name in SERVICES if name != "ollama"]
# Nor does the mock count tokens for Ollama.
COUNTING = THINKING

# Faults of half of the requests: the end of the header that requests them from the mock, and the status in its journal.
FAULTS = {"drop": 500, "malformed": 200, "ratelimit": 429, "disconnect": 0}
RUNS = 4


class Mock:
    """The process of the mock."""

    def __init__(self, folder):
        answers = folder / "answers.json"
        answers.write_text(json.dumps({"fixtures": [{"match": match, **answer} for match, answer in ANSWERS]}))
        # Node looks for modules in the directory of the script.
        (folder / "node_modules").symlink_to(MODULES)
        script = folder / "aimock.mjs"
        script.write_text((HERE / "aimock.mjs").read_text())
        self.process = subprocess.Popen(["node", str(script), str(answers)], stdin=subprocess.DEVNULL, text=True,
                                        stdout=subprocess.PIPE, env={"PATH": PATH, "HOME": str(folder)})
        self.url = self.process.stdout.readline().strip()
        assert self.url.startswith("http://127.0.0.1:"), self.process.wait()

    def requests(self, test):
        """Returns the requests of a test, in the format of OpenAI's chats whatever they were sent in, with the responses."""
        return accepted(httpx.get(f"{self.url}/__aimock/journal", params={"testId": test, "method": "POST"}))

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Services:
    """A gateway whose model services are the mock."""

    def __init__(self, gateway, mock):
        self.gateway = gateway
        self.mock = mock

    def connect(self, service, test, **headers):
        """Connects the service under the name of the test, by which the mock distinguishes its requests."""
        api, path = SERVICES[service]
        definition = {"kind": "model", "api": api, "base_url": self.mock.url + path,
                      "headers": {"x-test-id": test, **headers}}
        record = {"type": "integration", "name": test, "description": "", "enabled": True, "definition": definition}
        accepted(self.gateway.http.post("/extensions", json=record), 201)
        return f"{test}/{MODEL}"

    def send(self, model, content):
        """Sends a message in a new thread, with a title so that none is requested of the mock. Returns the user turn."""
        thread = accepted(self.gateway.http.post("/threads", json={"title": content}), 201)
        body = {"content": content, "threadId": thread["id"], "model": model}
        return accepted(self.gateway.http.post("/chat", json=body), 201)

    def ask(self, model, content):
        """Returns the events of the run."""
        with self.gateway.events() as events:
            return events.run(self.send(model, content)["id"])

    def answers(self, thread):
        """Returns the assistant turns of the thread."""
        turns = accepted(self.gateway.http.get(f"/threads/{thread}/turns"))
        return [turn for turn in turns if turn["role"] == "assistant"]


@contextmanager
def running(folder):
    mock = Mock(folder)
    try:
        gateway = Gateway(folder / "gateway").start()
        try:
            yield Services(gateway, mock)
        finally:
            gateway.close()
    finally:
        mock.stop()


@pytest.fixture(scope="module")
def services(tmp_path_factory):
    with running(tmp_path_factory.mktemp("aimock")) as services:
        yield services


def reasoning_of(run):
    return "".join(event["delta"] for event in run if event["type"] == "reasoning-delta")


@pytest.mark.parametrize("name", SERVICES)
def test_an_answer_is_streamed(services, name):
    run = services.ask(services.connect(name, f"plain-{name}"), "plain")
    assert text_of(run) == TEXT and run[-1]["finishReason"] == "stop"
    assert len([event for event in run if event["type"] == "text-delta"]) > 1


@pytest.mark.parametrize("name", COUNTING)
def test_tokens_are_counted(services, name):
    usage = services.ask(services.connect(name, f"counted-{name}"), "plain")[-1]["usage"]
    assert (usage["input_tokens"], usage["output_tokens"]) == (20, 7)


@pytest.mark.parametrize("name", THINKING)
def test_reasoning_is_streamed_separately(services, name):
    run = services.ask(services.connect(name, f"thinking-{name}"), "think")
    assert (reasoning_of(run), text_of(run)) == (THOUGHTS, TEXT)


@pytest.mark.parametrize("name", SERVICES)
def test_tools_are_used_in_several_rounds(services, name):
    test = f"rounds-{name}"
    run = services.ask(services.connect(name, test), "several rounds")
    assert run[-1]["finishReason"] == "stop" and text_of(run).endswith(TEXT)
    used = [event["toolName"] for event in run if event["type"] == "tool-end"]
    assert used == ["Glob"] * 3
    *_, last = requests = services.mock.requests(test)
    assert [request["response"]["status"] for request in requests] == [200] * 3
    messages = last["body"]["messages"]
    calls = [call for message in messages for call in message.get("tool_calls") or []]
    assert [json.loads(call["function"]["arguments"]) for call in calls] == [
        call["arguments"] for call in (FIRST, SECOND, THIRD)]
    assert [message["role"] for message in messages].count("tool") == 3


@pytest.mark.parametrize("name", SERVICES)
def test_a_refusal_ends_the_run_with_the_error_of_the_service(services, name):
    run = services.ask(services.connect(name, f"refused-{name}"), "refused")
    assert run[-1]["finishReason"] == "error" and "not like this" in run[-2]["error"]


@pytest.mark.parametrize("name", SERVICES)
def test_text_before_a_broken_stream_is_kept(services, name):
    run = services.ask(services.connect(name, f"broken-{name}"), "broken off")
    assert run[-1]["finishReason"] == "error" and text_of(run) and TEXT.startswith(text_of(run))
    answer, = services.answers(run[0]["threadId"])
    assert answer["content"] == text_of(run) and answer["metadata"]["partial"] is True


@pytest.mark.parametrize("fault", FAULTS)
def test_every_run_ends_exactly_once_while_half_of_the_requests_fail(services, fault):
    tests = {name: f"{fault}-{name}" for name in SERVICES}
    models = {name: services.connect(name, test, **{f"x-aimock-chaos-{fault}": "0.5"}) for name, test in tests.items()}
    with services.gateway.events() as events:
        turns = [services.send(model, "several rounds") for model in models.values() for _ in range(RUNS)]
        for turn in turns:
            events.run(turn["id"])
        events.drain()
        for turn in turns:
            run = events.run_so_far(turn["id"])
            assert [event["type"] in ENDS for event in run].count(True) == 1 and run[-1]["type"] == "finish"
            assert (run[-1]["finishReason"] == "error") == any(event["type"] == "error" for event in run)
            if run[-1]["finishReason"] == "stop":
                assert text_of(run).endswith(TEXT)
    hit = [request for test in tests.values() for request in services.mock.requests(test)
           if "chaosAction" in request["response"]]
    assert hit and {request["response"]["status"] for request in hit} == {FAULTS[fault]}
