"""Prompt caches of services: in a long thread, nearly all of a request repeats the previous one.

See docs/contract/models.md#prompt-caches.
"""

import json
import re

import pytest

from checks import accepted
from gateway import Gateway
from stubs.provider import Fault, ProviderStub, Reply, ToolCall

TURNS = 30
SERVICES = {"messages": {"kind": "anthropic"}, "chat": {"kind": "openai", "api": "chat"},
            "responses": {"kind": "openai", "api": "responses"}, "local": {"kind": "ollama"},
            "google": {"kind": "gemini"}}


@pytest.fixture(scope="module")
def services(tmp_path_factory):
    with ProviderStub() as stub:
        providers = {name: {**service, "base_url": stub.openai_url if service["kind"] == "openai" else stub.base_url}
                     for name, service in SERVICES.items()}
        gateway = Gateway(tmp_path_factory.mktemp("caches"), config={"providers": providers}).start()
        yield gateway, stub
        gateway.close()


def cacheable_body(request):
    """Returns the body without Anthropic's cache markers: they move with the conversation and are not part of what is
    cached."""
    return re.sub(rb',"cache_control":{[^}]*}', b"", request.body)


def shared_prefix(one, other):
    for number, (a, b) in enumerate(zip(one, other)):
        if a != b:
            return number
    return min(len(one), len(other))


def talk(gateway, stub, model, turns, thoughts=""):
    """Has a conversation in one thread and returns the requests. Every third answer uses a tool first; the model sends
    `thoughts` before each answer."""
    stub.reset()
    thread = accepted(gateway.http.post("/threads", json={"title": "a title"}), 201)
    with gateway.events(thread["id"]) as events:
        for number in range(turns):
            if number % 3 == 0:
                stub.script(Reply("", reasoning=thoughts, tool_calls=[
                    ToolCall("Glob", {"pattern": f"*.none-{number}"}, id=f"call_{number}")]))
            stub.script(Reply(f"Answer {number}: {'some words about it, ' * 20}", reasoning=thoughts))
            body = {"content": f"Question {number}?", "threadId": thread["id"], "model": model}
            assert events.run(accepted(gateway.http.post("/chat", json=body), 201)["id"])[-1]["finishReason"] == "stop"
    return stub.requests


@pytest.mark.slow
@pytest.mark.parametrize("thoughts", ["", "I think about it for a while. " * 20], ids=["", "thinking"])
@pytest.mark.parametrize("name", SERVICES)
def test_requests_of_a_long_thread_repeat_the_previous_one(services, name, thoughts):
    gateway, stub = services
    bodies = [cacheable_body(request) for request in talk(gateway, stub, f"{name}/model-1", TURNS, thoughts)]
    assert len(bodies) == TURNS + TURNS // 3
    shared = sum(shared_prefix(before, after) for before, after in zip(bodies, bodies[1:]))
    assert shared / sum(map(len, bodies)) > 0.9


def conversation_in(request):
    body = json.loads(cacheable_body(request))
    return next(body[name] for name in ("messages", "input", "contents") if name in body)


@pytest.mark.parametrize("name", SERVICES)
def test_thoughts_of_a_model_are_sent_in_later_turns(services, name):
    """Otherwise a request would differ from the previous one from the first answer that used a tool."""
    requests = talk(*services, f"{name}/model-1", 5, "I think about it.")
    for before, after in zip(map(conversation_in, requests), map(conversation_in, requests[1:])):
        assert after[:len(before)] == before


@pytest.fixture
def thread(services):
    gateway, stub = services
    stub.reset()
    return accepted(gateway.http.post("/threads", json={"title": "a title"}), 201)


def ask(gateway, thread, model="messages/model-1"):
    with gateway.events(thread["id"]) as events:
        body = {"content": "And?", "threadId": thread["id"], "model": model}
        end = events.run(accepted(gateway.http.post("/chat", json=body), 201)["id"])[-1]
    assert end["finishReason"] == "stop", end


def requests_with_thoughts(stub):
    return ["stub-signature" in request.body.decode() for request in stub.requests]


def test_refused_thoughts_are_not_sent_again(services, thread):
    gateway, stub = services
    stub.script(Reply("One.", reasoning="Hm."), Fault(400, "invalid signature in thinking block"), "Two.", "Three.")
    for _ in range(3):
        ask(gateway, thread)
    assert requests_with_thoughts(stub) == [False, True, False, False]


def test_fork_keeps_the_thoughts_of_its_original(services, thread):
    gateway, stub = services
    stub.script(Reply("One.", reasoning="Hm."), "Two.")
    ask(gateway, thread)
    ask(gateway, accepted(gateway.http.post(f"/threads/{thread['id']}/fork"), 201))
    assert requests_with_thoughts(stub) == [False, True]


def test_answer_of_the_librarian_keeps_the_thoughts_of_models(services, thread):
    gateway, stub = services
    stub.script(Reply("One.", reasoning="Hm."), "Two.")
    for model in ("messages/model-1", "offline/librarian", "messages/model-1"):
        ask(gateway, thread, model)
    assert requests_with_thoughts(stub) == [False, True]


def cache_points(request):
    """Returns where Anthropic's cache markers are: `tools`, `system`, or the number of a message."""
    body = request.json
    found = ["tools"] if "cache_control" in body["tools"][-1] else []
    found += ["system"] if "cache_control" in body["system"][-1] else []
    return found + [number for number, message in enumerate(body["messages"])
                    if any("cache_control" in block for block in message["content"])]


def test_anthropic_caches_at_tools_system_and_the_last_two_turns(services):
    requests = talk(*services, "messages/model-1", 4)
    for before, after in zip(requests, requests[1:]):
        last = len(after.json["messages"]) - 1
        assert cache_points(after) == ["tools", "system", last - 2, last]
        assert cache_points(before)[-1] == last - 2
        assert json.dumps(after.json).count("cache_control") == 4


def test_savings_by_caches_are_reported(make_gateway, stub):
    gateway = make_gateway(config={"providers": {"messages": {"kind": "anthropic", "base_url": stub.base_url}}}).start()
    assert "saved" not in accepted(gateway.http.get("/costs"))
    stub.script(Reply(usage={"input": 0, "output": 0, "cache_read": 1_000_000, "cache_write": 0}))
    thread = accepted(gateway.http.post("/threads", json={"title": "a title"}), 201)
    with gateway.events(thread["id"]) as events:
        body = {"content": "a", "threadId": thread["id"], "model": "messages/claude-sonnet-5-5"}
        events.run(accepted(gateway.http.post("/chat", json=body), 201)["id"])
    report = accepted(gateway.http.get("/costs"))
    assert report["today"] == pytest.approx(0.2) and report["saved"] == pytest.approx(2 - 0.2)
