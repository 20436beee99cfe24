"""Models behind Anthropic's Messages API. See docs/contract/clients.md."""

import json

import pytest

import http_client
from checks import accepted
from stubs.provider import Fault, Reply, ToolCall
from talker import MODEL

VERSION = {"anthropic-version": "2023-06-01"}
PIXEL = ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
WEATHER = {"name": "weather", "description": "d", "input_schema": {
    "type": "object", "properties": {"city": {"type": "string"}}}}
THINKING = {"thinking": {"type": "enabled", "budget_tokens": 1024}}


def body(content="Hi", **members):
    return {"model": MODEL, "max_tokens": 4096, "messages": [{"role": "user", "content": content}], **members}


def send(gateway, **members):
    return gateway.http.post("/v1/messages", json=body(**members), headers=VERSION)


def answer(talker, **members):
    return accepted(send(talker.gateway, **members))


def stream(talker, **members):
    return events_in(send(talker.gateway, stream=True, **members))


def events_in(response):
    """Returns the events of the stream. Checks that the name of each is its type."""
    assert response.status_code == 200 and response.headers["content-type"].startswith("text/event-stream")
    events = []
    for frame in response.text.removesuffix("\n\n").split("\n\n"):
        name, data = frame.split("\n")
        events.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {events[-1]['type']}"
    return events


def outline(events):
    """Returns a line for each event of the content: `start 0 text`, `delta 0 text_delta`, `stop 0`."""
    assert [event["type"] for event in events[:2]] == ["message_start", "ping"]
    assert [event["type"] for event in events[-2:]] == ["message_delta", "message_stop"]
    lines = []
    for event in events[2:-2]:
        part = event.get("content_block") or event.get("delta") or {}
        kind = event["type"].removeprefix("content_block_")
        lines.append(" ".join([kind, str(event["index"]), part.get("type", "")]))
    return [line.strip() for line in lines]


def refusal(gateway, status, kind, **members):
    response = send(gateway, **members)
    assert response.status_code == status, response.text
    error = response.json()
    assert set(error) == {"type", "error", "request_id"} and error["type"] == "error"
    assert error["error"]["type"] == kind
    return error["error"]["message"]


def test_no_conversation_is_held_between_requests(talker):
    """Anthropic's library then sends the conversation as a whole, and asks again that it be held."""
    first = answer(talker, thread={"type": "create"})
    result = {"type": "tool_result", "tool_use_id": "t", "content": "of a call in the held conversation"}
    lost = send(talker.gateway, content=[result], thread={"type": "continue", "previous_message_id": first["id"]})
    assert lost.status_code == 404 and len(talker.stub.requests) == 1
    error = lost.json()["error"]
    assert (error["type"], error["details"]) == ("not_found_error", {"error_code": "thread_not_found"})
    answer(talker, thread={"type": "create"}, content="Hi again")


@pytest.fixture
def claude(make_gateway, stub):
    """A gateway whose model service also has Anthropic's Messages API."""
    gateway = make_gateway(config={"providers": {
        "claude": {"kind": "anthropic", "base_url": stub.base_url, "api_key_env": "K", "default_model": "m"}}},
        environment={"K": "k"}).start()
    gateway.stub = stub
    return gateway


class Target:
    """Passes a gateway where `answer` and `stream` expect a talker."""

    def __init__(self, gateway):
        self.gateway = gateway


def test_a_model_answers(talker):
    talker.stub.script(Reply("Hello there", usage={"input": 10, "output": 5, "cache_read": 4, "cache_write": 0}))
    message = answer(talker, system="Be brief.", temperature=0.5)
    assert message["id"].startswith("msg_") and message["model"] == MODEL and message["role"] == "assistant"
    assert message["content"] == [{"type": "text", "text": "Hello there"}]
    assert message["stop_reason"] == "end_turn" and message["stop_sequence"] is None
    assert message["usage"]["input_tokens"] + message["usage"]["cache_read_input_tokens"] == 10 + 4
    assert message["usage"]["output_tokens"] == 5
    asked = talker.stub.requests[-1].json
    assert asked["messages"][0] == {"role": "system", "content": "Be brief."} and asked["temperature"] == 0.5
    assert 4096 in (asked.get("max_tokens"), asked.get("max_completion_tokens"))


def test_a_model_streams_its_answer(talker):
    talker.stub.script(Reply("Hello there", deltas=3))
    events = stream(talker)
    assert outline(events) == ["start 0 text", *["delta 0 text_delta"] * 3, "stop 0"]
    text = "".join(event["delta"]["text"] for event in events if event["type"] == "content_block_delta")
    assert text == "Hello there"
    assert events[0]["message"]["content"] == [] and events[0]["message"]["stop_reason"] is None
    assert events[-2]["delta"]["stop_reason"] == "end_turn"
    assert events[-2]["usage"]["input_tokens"] == 10 and events[-2]["usage"]["output_tokens"] == 5


def test_tool_calls_are_returned_to_the_client(talker):
    talker.stub.script(Reply("I look.", tool_calls=[ToolCall("weather", {"city": "Köln"}, id="call_7")]))
    message = answer(talker, tools=[WEATHER], tool_choice={"type": "any", "disable_parallel_tool_use": True})
    assert message["stop_reason"] == "tool_use"
    text, use = message["content"]
    assert text["text"] == "I look."
    assert (use["type"], use["id"], use["name"], use["input"]) == ("tool_use", "call_7", "weather", {"city": "Köln"})
    asked = talker.stub.requests[-1].json
    assert asked["tool_choice"] == "required" and asked["parallel_tool_calls"] is False


def test_parallel_tool_calls_are_streamed_as_blocks(talker):
    talker.stub.script(Reply("", tool_calls=[ToolCall("weather", {"city": "A"}, id="a"),
                                             ToolCall("weather", {"city": "B"}, id="b")]))
    events = stream(talker, tools=[WEATHER])
    starts = {event["index"]: event["content_block"] for event in events if event["type"] == "content_block_start"}
    assert [block["id"] for block in starts.values()] == ["a", "b"]
    inputs = dict.fromkeys(starts, "")
    for event in events:
        if event["type"] == "content_block_delta":
            inputs[event["index"]] += event["delta"]["partial_json"]
    assert [json.loads(text)["city"] for text in inputs.values()] == ["A", "B"]
    opened = [line.split()[0] for line in outline(events) if "delta" not in line]
    assert opened == ["start", "stop", "start", "stop"]


def test_thoughts_have_the_signature_of_the_service(claude):
    claude.stub.script(Reply("Yes.", reasoning="Hm."))
    events = stream(Target(claude), model="claude/m", **THINKING)
    assert outline(events) == ["start 0 thinking", "delta 0 thinking_delta", "delta 0 signature_delta", "stop 0",
                               "start 1 text", "delta 1 text_delta", "stop 1"]
    assert events[4]["delta"]["signature"] == "stub-signature"


def test_thoughts_are_sent_back_to_the_service_that_signed_them(claude):
    claude.stub.script(Reply("Yes.", reasoning="Hm."), Reply("No."))
    first = answer(Target(claude), model="claude/m", **THINKING)
    assert [block["type"] for block in first["content"]] == ["thinking", "text"]
    answer(Target(claude), model="claude/m", **THINKING, messages=[
        {"role": "user", "content": "One?"}, {"role": "assistant", "content": first["content"]},
        {"role": "user", "content": "Two?"}])
    asked = claude.stub.requests[-1].json
    assert asked["thinking"] == {"type": "enabled", "budget_tokens": 1024}
    assert asked["messages"][1]["content"][0] == {
        "type": "thinking", "thinking": "Hm.", "signature": "stub-signature"}


def test_thoughts_are_omitted_unless_requested(talker):
    talker.stub.script(Reply("Yes.", reasoning="Hm."))
    assert [block["type"] for block in answer(talker)["content"]] == ["text"]


def test_a_conversation_with_tool_results_is_sent_to_the_model(talker):
    answer(talker, tools=[WEATHER], messages=[
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "x", "name": "weather", "input": {"city": "Rom"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "sunny"},
                                     {"type": "text", "text": "Well?"}]}])
    asked = talker.stub.requests[-1].json["messages"]
    assert [message["role"] for message in asked] == ["user", "assistant", "tool", "user"]
    assert asked[1]["tool_calls"][0]["id"] == "x" and asked[2]["content"] == "sunny"


def test_a_picture_is_sent_to_the_model(talker):
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    answer(talker, content=[{"type": "text", "text": "What is it?"}, {"type": "image", "source": source}])
    parts = talker.stub.requests[-1].json["messages"][-1]["content"]
    assert parts[1]["image_url"]["url"] == f"data:image/png;base64,{PIXEL}"


def test_cache_control_is_accepted(talker):
    answer(talker, cache_control={"type": "ephemeral"}, tools=[{**WEATHER, "cache_control": {"type": "ephemeral"}}],
           content=[{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral", "ttl": "1h"}}])


def test_the_token_is_accepted_as_api_key(talker):
    headers = {**VERSION, "x-api-key": talker.gateway.token}
    assert talker.gateway.anonymous.post("/v1/messages", json=body(), headers=headers).status_code == 200
    wrong = talker.gateway.anonymous.post("/v1/messages", json=body(), headers={**headers, "x-api-key": "wrong"})
    assert wrong.status_code == 401 and wrong.json()["error"]["type"] == "authentication_error"


def test_an_api_key_is_accepted_only_by_the_compatible_apis(gateway):
    assert gateway.anonymous.get("/agents", headers={"x-api-key": gateway.token}).status_code == 401


def test_tokens_are_counted(talker):
    def count(**members):
        request = {name: value for name, value in body(**members).items() if name != "max_tokens"}
        return accepted(talker.gateway.http.post("/v1/messages/count_tokens", json=request))["input_tokens"]
    assert 0 < count() < count(system="Be brief. " * 50) < count(system="Be brief. " * 50, tools=[WEATHER])
    assert talker.stub.requests == []
    missing = talker.gateway.http.post("/v1/messages/count_tokens", json=body(model="nobody/m", max_tokens=None))
    assert missing.status_code == 404 and missing.json()["error"]["type"] == "not_found_error"


def test_an_overloaded_service_is_529(talker):
    talker.stub.script(*[Fault(529, headers={"retry-after": "0"}) for _ in range(5)])
    refusal(talker.gateway, 529, "overloaded_error")


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("model", [MODEL, "assistant"])
def test_retry_after_of_the_service_is_forwarded(talker, model, stream):
    for status, expected, kind in ((429, 429, "rate_limit_error"), (503, 529, "overloaded_error")):
        talker.stub.script(Fault(status, headers={"retry-after": "120"}))
        response = talker.gateway.http.post("/v1/messages", json={**body(stream=stream), "model": model})
        assert accepted(response, expected)["error"]["type"] == kind
        assert response.headers["retry-after"] == "120"


def test_an_exceeded_rate_limit_is_429(talker):
    talker.stub.script(*[Fault(429, headers={"retry-after": "0"}) for _ in range(5)])
    refusal(talker.gateway, 429, "rate_limit_error")


def test_an_error_in_mid_stream_is_an_event_and_the_only_end(talker):
    talker.stub.script(Reply("one two three", deltas=3, after=2, fault="error"))
    events = stream(talker)
    assert events[-1]["type"] == "error" and events[-1]["error"]["message"]
    assert [event["type"] for event in events].count("message_stop") == 0


def test_a_client_that_disconnects_stops_the_model(talker):
    held = talker.stub.hold("one ")
    with http_client.new_client(base_url=talker.gateway.url, headers=talker.gateway.authorization) as http:
        with http.stream("POST", "/v1/messages", json=body(stream=True)) as response:
            next(response.iter_bytes())
    assert held.was_aborted()


def test_a_body_that_is_too_large_is_413(own_gateway):
    with own_gateway.connect() as connection:
        connection.send(b"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n"
                        b"Content-Length: 99999999999\r\n\r\n" % own_gateway.token.encode())
        response = connection.response()
    assert response.status == 413 and json.loads(response.body)["error"]["type"] == "request_too_large"


@pytest.mark.parametrize("members, param", [
    ({"max_tokens": 0}, "max_tokens"), ({"messages": []}, "messages"), ({"messages": 7}, "messages"),
    ({"messages": [[]]}, "messages.0"), ({"messages": [{"role": "judge", "content": "x"}]}, "messages.0.role"),
    ({"tools": [WEATHER] * 10_000}, "tools"), ({"tools": [WEATHER] * 2}, "tools.1.name"),
    ({"temperature": "hot"}, "temperature"), ({"top_p": 2}, "top_p"), ({"stream": "yes"}, "stream"),
    ({"stop_sequences": "END"}, "stop_sequences"), ({"n": 5}, "n"), ({"tool_choice": {"type": "perhaps"}}, "tool_choice.type"),
    ({"tool_choice": {"type": "tool", "name": "none"}}, "tool_choice.name"),
    ({"tools": [{"name": "a b", "input_schema": {}}]}, "tools.0.name"),
    ({"tools": [{"name": "a", "input_schema": {"$ref": "#"}}]}, "tools.0.input_schema"),
    ({"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "tools.0.type"),
    ({"content": [{"type": "tool_result", "tool_use_id": "none"}]}, "messages.0.content.0.tool_use_id"),
    ({"content": [{"type": "image", "source": {"type": "file", "file_id": "f"}}]}, "messages.0.content.0.source.type"),
    ({"thinking": {"type": "enabled"}}, "thinking.budget_tokens"), ({"container": "c"}, "container"),
])
def test_an_error_names_the_invalid_parameter(talker, members, param):
    assert refusal(talker.gateway, 400, "invalid_request_error", **members).startswith(f"{param}: ")
    assert talker.stub.requests == []


def test_a_picture_at_a_private_address_is_not_fetched(talker):
    source = {"type": "url", "url": f"{talker.stub.base_url}/picture.png"}
    message = refusal(talker.gateway, 400, "invalid_request_error", content=[{"type": "image", "source": source}])
    assert message.startswith("messages.0.content.0.source.url: ")
    assert talker.stub.requests == [] and talker.stub.list_requests == []


@pytest.mark.parametrize("content", [b"[" * 10_000_000, b'{"messages": ' + b"[" * 5_000_000 + b"]" * 5_000_000 + b"}",
                                     b'{"model": "\\ud800"}', b"", b"[]", b"\xff"],
                         ids=["10 MB of brackets", "deep messages", "lone surrogate", "empty", "array", "no UTF-8"])
def test_a_malformed_body_is_refused_in_the_protocols_format(talker, content):
    response = talker.gateway.http.post("/v1/messages", content=content)
    assert response.status_code == 400 and response.json()["error"]["type"] == "invalid_request_error"


def test_an_unknown_model_is_not_found(talker):
    for model in ("nobody", "nobody/m", "stub"):
        refusal(talker.gateway, 404, "not_found_error", model=model)


def test_errors_of_the_gate_have_the_protocols_format(gateway):
    error = gateway.http.get("/v1/messages")
    assert error.status_code == 405 and error.json()["type"] == "error"
