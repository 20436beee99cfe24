"""Two equal tool calls in one step both get their results, for any ids of the service.

See docs/contract/tools.md#calls.
"""

import pytest

from checks import accepted
from gateway import Gateway
from stubs.provider import ProviderStub, Reply, ToolCall

SERVICES = {"messages": {"kind": "anthropic"}, "chat": {"kind": "openai", "api": "chat"},
            "responses": {"kind": "openai", "api": "responses"}, "local": {"kind": "ollama"},
            "google": {"kind": "gemini"}}
IDS = {"their own": ("one", "two"), "the same": ("same", "same"), "none": ("", "")}


@pytest.fixture(scope="module")
def services(tmp_path_factory):
    with ProviderStub() as stub:
        providers = {name: {**service, "base_url": stub.openai_url if service["kind"] == "openai" else stub.base_url}
                     for name, service in SERVICES.items()}
        gateway = Gateway(tmp_path_factory.mktemp("equal"), config={"providers": providers}).start()
        yield gateway, stub
        gateway.close()


def blocks_of(body, kind):
    return [block for message in body["messages"] for block in message["content"] if block["type"] == kind]


def parts_of(body, kind):
    return [part[kind] for content in body["contents"] for part in content["parts"] if kind in part]


def ids_in(name, body):
    """Returns the ids of the calls and of the results in a request. Ollama has no ids: its tool names instead."""
    if name == "messages":
        return ([block["id"] for block in blocks_of(body, "tool_use")],
                [block["tool_use_id"] for block in blocks_of(body, "tool_result")])
    if name == "responses":
        return tuple([item["call_id"] for item in body["input"] if item.get("type") == kind]
                     for kind in ("function_call", "function_call_output"))
    if name == "google":
        calls, results = parts_of(body, "functionCall"), parts_of(body, "functionResponse")
        return [call.get("id") for call in calls], [result.get("id") for result in results]
    calls = [call for message in body["messages"] for call in message.get("tool_calls") or []]
    results = [message for message in body["messages"] if message["role"] == "tool"]
    if name == "local":
        return [call["function"]["name"] for call in calls], [result["tool_name"] for result in results]
    return [call["id"] for call in calls], [result["tool_call_id"] for result in results]


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("name", SERVICES)
def test_two_equal_calls_in_one_step_both_get_their_results(services, name, ids):
    gateway, stub = services
    stub.reset()
    stub.script(Reply("", tool_calls=[ToolCall("Glob", {"pattern": "*.none"}, id=id) for id in IDS[ids]]), "Done.")
    thread = accepted(gateway.http.post("/threads", json={"title": "a title"}), 201)
    with gateway.events(thread["id"]) as events:
        body = {"content": "Look twice.", "threadId": thread["id"], "model": f"{name}/model-1"}
        run = events.run(accepted(gateway.http.post("/chat", json=body), 201)["id"])
    assert run[-1]["finishReason"] == "stop"
    ends = [event for event in run if event["type"] == "tool-end"]
    assert len(ends) == 2 and len({event["toolCallId"] for event in ends}) == 2
    calls, results = ids_in(name, stub.requests[-1].json)
    assert len(calls) == 2 and results == calls
    if name != "local":
        assert len(set(calls)) == 2
