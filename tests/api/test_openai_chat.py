"""Clients of OpenAI's Chat Completions API that use models. See docs/contract/clients.md."""

import json

import pytest

import http_client
from checks import accepted
from stubs.provider import Fault, Reply, ToolCall
from talker import MODEL

PIXEL = ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
WEATHER = {"type": "function", "function": {"name": "weather", "description": "d", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}}}}


def body(content="Hi", **members):
    return {"model": MODEL, "messages": [{"role": "user", "content": content}], **members}


def complete(talker, **members):
    return accepted(talker.gateway.http.post("/v1/chat/completions", json=body(**members)))


def events_of(response):
    """Returns the data of each event. Checks that `[DONE]` is the last one."""
    assert response.headers["content-type"].startswith("text/event-stream")
    data = [line.removeprefix("data: ") for line in response.text.split("\n\n") if line.startswith("data: ")]
    assert data.count("[DONE]") == 1 and data[-1] == "[DONE]"
    return [json.loads(event) for event in data[:-1]]


def stream(talker, **members):
    response = talker.gateway.http.post("/v1/chat/completions", json=body(stream=True, **members))
    assert response.status_code == 200, response.text
    return events_of(response)


def refusal(talker, status, **members):
    response = talker.gateway.http.post("/v1/chat/completions", json=body(**members))
    assert response.status_code == status, response.text
    error = response.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    return error


def test_a_model_returns_a_whole_answer(talker):
    talker.stub.script(Reply("Hello there", reasoning="Hm."))
    response = complete(talker, temperature=0.5)
    assert response["object"] == "chat.completion" and response["id"].startswith("chatcmpl-")
    assert response["model"] == MODEL
    choice, = response["choices"]
    assert choice["finish_reason"] == "stop" and choice["index"] == 0
    assert choice["message"]["content"] == "Hello there" and choice["message"]["reasoning_content"] == "Hm."
    assert response["usage"]["prompt_tokens"] == 10 and response["usage"]["total_tokens"] == 15
    sent = talker.stub.requests[-1].json
    assert sent["temperature"] == 0.5 and sent["model"] == "talker-1"
    assert "max_tokens" not in sent and "max_completion_tokens" not in sent


def test_a_model_streams_its_answer(talker):
    talker.stub.script(Reply("Hello there", deltas=3))
    chunks = stream(talker, stream_options={"include_usage": True})
    assert len({chunk["id"] for chunk in chunks}) == 1
    assert all(chunk["object"] == "chat.completion.chunk" for chunk in chunks)
    assert chunks[0]["choices"][0]["delta"]["role"] == "assistant"
    text = "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks[:-1])
    assert text == "Hello there"
    assert [c["choices"][0]["finish_reason"] for c in chunks[:-1]].count("stop") == 1
    assert chunks[-1]["choices"] == [] and chunks[-1]["usage"]["completion_tokens"] == 5
    assert all(chunk["usage"] is None for chunk in chunks[:-1])


def test_tool_calls_are_returned_to_the_client(talker):
    talker.stub.script(Reply("", tool_calls=[ToolCall("weather", {"city": "Köln"}, id="call_7")]))
    choice = complete(talker, tools=[WEATHER], tool_choice="required", parallel_tool_calls=False)["choices"][0]
    assert choice["finish_reason"] == "tool_calls" and choice["message"]["content"] is None
    call, = choice["message"]["tool_calls"]
    assert call["id"] == "call_7" and json.loads(call["function"]["arguments"]) == {"city": "Köln"}
    sent = talker.stub.requests[-1].json
    assert sent["tool_choice"] == "required" and sent["parallel_tool_calls"] is False
    assert sent["tools"][0]["function"]["name"] == "weather"


def test_arguments_are_passed_on_as_they_were_written(talker):
    written = '{"ratio":1.0, "id": 12345678901234567890123,"tags":[ "Ü" ],"small":1e-7}'
    talker.stub.script(Reply("", tool_calls=[ToolCall("weather", written, id="a"), ToolCall("weather", "", id="b")]),
                       "Fine.")
    message = complete(talker, tools=[WEATHER])["choices"][0]["message"]
    assert [call["function"]["arguments"] for call in message["tool_calls"]] == [written, "{}"]
    results = [{"role": "tool", "tool_call_id": call["id"], "content": "ok"} for call in message["tool_calls"]]
    complete(talker, tools=[WEATHER], messages=[{"role": "user", "content": "Hi"}, message, *results])
    sent = talker.stub.requests[-1].json["messages"][1]["tool_calls"]
    assert [call["function"]["arguments"] for call in sent] == [written, "{}"]


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_arguments_of_an_agent_are_passed_on_as_they_were_written(talker, streamed):
    written = '{"ratio":1.0, "id": 12345678901234567890123}'
    talker.stub.script(Reply("", tool_calls=[ToolCall("weather", written, id="a")]))
    asked = {"model": "assistant", "tools": [WEATHER]}
    pieces = ([chunk["choices"][0]["delta"] for chunk in stream(talker, **asked)] if streamed
              else [complete(talker, **asked)["choices"][0]["message"]])
    calls = [call for piece in pieces for call in piece.get("tool_calls", [])]
    assert "".join(call["function"]["arguments"] for call in calls) == written


def test_malformed_arguments_reach_the_program_but_no_service(talker):
    talker.stub.script(Reply("", tool_calls=[ToolCall("weather", '{"city": "Kö', id="a")]), "Fine.")
    message = complete(talker, tools=[WEATHER])["choices"][0]["message"]
    assert message["tool_calls"][0]["function"]["arguments"] == '{"city": "Kö'
    result = {"role": "tool", "tool_call_id": "a", "content": "no"}
    complete(talker, tools=[WEATHER], messages=[{"role": "user", "content": "Hi"}, message, result])
    assert talker.stub.requests[-1].json["messages"][1]["tool_calls"][0]["function"]["arguments"] == "{}"


def test_tool_calls_are_streamed(talker):
    talker.stub.script(Reply("", tool_calls=[ToolCall("weather", {"city": "A"}, id="a"),
                                             ToolCall("weather", {"city": "B"}, id="b")]))
    pieces = [call for chunk in stream(talker, tools=[WEATHER])
              for call in chunk["choices"][0]["delta"].get("tool_calls", [])]
    calls = {}
    for piece in pieces:
        call = calls.setdefault(piece["index"], {"arguments": ""})
        call.update({"id": piece["id"]} if "id" in piece else {})
        call["arguments"] += piece["function"].get("arguments", "")
    assert {index: (call["id"], json.loads(call["arguments"])["city"]) for index, call in calls.items()} == {
        0: ("a", "A"), 1: ("b", "B")}


def test_only_allowed_tools_are_offered(talker):
    other = {"type": "function", "function": {"name": "other"}}
    for mode, choice in (("auto", "auto"), ("required", "required")):
        allowed = {"mode": mode, "tools": [other]}
        complete(talker, tools=[WEATHER, other], tool_choice={"type": "allowed_tools", "allowed_tools": allowed})
        sent = talker.stub.requests[-1].json
        assert [tool["function"]["name"] for tool in sent["tools"]] == ["other"]
        assert sent.get("tool_choice", "auto") == choice


def test_a_conversation_with_tool_results_is_sent_to_the_model(talker):
    complete(talker, tools=[WEATHER], messages=[
        {"role": "system", "content": "Be short."}, {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "x", "type": "function", "function": {"name": "weather", "arguments": "{\"city\": \"Rom\"}"}}]},
        {"role": "tool", "tool_call_id": "x", "content": "sunny"}])
    sent = talker.stub.requests[-1].json["messages"]
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "tool"]
    assert sent[2]["tool_calls"][0]["id"] == "x" and sent[3] == {
        "role": "tool", "tool_call_id": "x", "content": "sunny"}


def test_a_part_of_an_answer_may_repeat_what_the_answer_had_beside_its_text(talker):
    call = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    beside = {"role": "assistant", "refusal": None, "reasoning_content": "Hm.", "tool_calls": [call], "annotations": []}
    complete(talker, messages=[
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": [{"type": "text", "text": "I look.", **beside}], "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "sunny"}])
    answer = talker.stub.requests[-1].json["messages"][1]
    assert answer["content"] == "I look." and [use["id"] for use in answer["tool_calls"]] == ["call_1"]


def test_an_answer_that_the_library_of_openai_has_parsed_may_be_sent_back(talker):
    function = {"name": "weather", "arguments": "{}", "parsed_arguments": {}}
    complete(talker, messages=[
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": "{\"a\": 1}", "parsed": {"a": 1}, "refusal": None,
         "tool_calls": [{"id": "call_1", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": "call_1", "content": "sunny"}])
    answer = talker.stub.requests[-1].json["messages"][1]
    assert set(answer) == {"role", "content", "tool_calls"}
    assert answer["tool_calls"][0]["function"] == {"name": "weather", "arguments": "{}"}


def test_all_settings_are_sent_to_the_service(talker):
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    complete(talker, top_p=0.5, seed=7, stop=["END"], reasoning_effort="low", max_tokens=50,
             response_format={"type": "json_schema", "json_schema": {"name": "n", "schema": schema, "strict": True}})
    sent = talker.stub.requests[-1].json
    assert sent["top_p"] == 0.5 and sent["seed"] == 7 and sent["stop"] == ["END"]
    assert sent["reasoning_effort"] == "low" and sent["max_tokens"] == 50
    assert sent["response_format"]["json_schema"] == {"name": "n", "schema": schema, "strict": True}


def test_a_limit_of_the_program_is_kept_for_a_model_whose_own_limit_nobody_states(talker):
    complete(talker, max_tokens=32_000)
    assert talker.stub.requests[-1].json["max_tokens"] == 32_000


def test_a_picture_is_sent_to_the_model(talker):
    complete(talker, content=[{"type": "text", "text": "What is it?"},
                              {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}])
    parts = talker.stub.requests[-1].json["messages"][-1]["content"]
    assert parts[1]["image_url"]["url"] == f"data:image/png;base64,{PIXEL}"


def test_no_thread_is_created_and_the_cost_is_recorded_for_the_client(own_talker):
    accepted(own_talker.gateway.http.post("/v1/chat/completions", json=body(),
                                          headers={"User-Agent": "someprogram/1.2 (Linux)"}))
    assert accepted(own_talker.gateway.http.get("/threads")) == []
    clients = accepted(own_talker.gateway.http.get("/costs"))["by_client"]
    assert [row["client"] for row in clients] == ["someprogram"]


def test_an_exhausted_budget_is_an_error_of_the_protocol(make_gateway, stub):
    gateway = make_gateway(config={"budget_usd_per_day": 0, "providers": {
        "stub": {"kind": "openai", "base_url": stub.openai_url, "default_model": "talker-1"}}}).start()
    response = gateway.http.post("/v1/chat/completions", json=body())
    assert response.status_code == 429 and response.json()["error"]["code"] == "insufficient_quota"
    assert stub.requests == []


def test_an_error_before_the_answer_is_a_response(talker):
    talker.stub.script(Fault(400, "no such setting"))
    assert "no such setting" in refusal(talker, 400, stream=True)["message"]


def test_retry_after_of_the_service_is_forwarded(talker):
    for status in (429, 503):
        talker.stub.script(Fault(status, headers={"retry-after": "120"}))
        response = talker.gateway.http.post("/v1/chat/completions", json=body())
        assert response.status_code == status and response.headers["retry-after"] == "120"
    talker.stub.script(Fault(400, headers={"retry-after": "120"}))
    response = talker.gateway.http.post("/v1/chat/completions", json=body())
    assert response.status_code == 400 and "retry-after" not in response.headers


def test_an_invalid_key_of_the_service_is_a_server_error(talker):
    talker.stub.script(Fault(401, "wrong key"))
    assert refusal(talker, 502)["type"] == "server_error"


def test_an_error_in_mid_stream_is_the_last_event(talker):
    talker.stub.script(Reply("one two three", deltas=3, after=2, fault="error"))
    chunks = stream(talker)
    assert "error" in chunks[-1] and chunks[-1]["error"]["message"]
    assert not any(c["choices"][0]["finish_reason"] for c in chunks[:-1])


def test_a_client_that_disconnects_stops_the_model(talker):
    held = talker.stub.hold("one ")
    with http_client.new_client(base_url=talker.gateway.url, headers=talker.gateway.authorization) as http:
        with http.stream("POST", "/v1/chat/completions", json=body(stream=True)) as response:
            next(response.iter_bytes())
    assert held.was_aborted()


def test_a_client_that_disconnects_before_the_answer_stops_the_model(talker):
    held = talker.stub.hold()
    with talker.gateway.connect() as connection:
        content = json.dumps(body()).encode()
        connection.send(b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n"
                        b"Content-Length: %d\r\n\r\n" % (talker.gateway.token.encode(), len(content)) + content)
        assert held.was_asked()
    assert held.was_aborted()


def test_a_setting_that_the_service_lacks_is_named(make_gateway, stub):
    gateway = make_gateway(config={"providers": {
        "claude": {"kind": "anthropic", "base_url": stub.base_url, "api_key_env": "K", "default_model": "m"}}},
        environment={"K": "k"}).start()
    response = gateway.http.post("/v1/chat/completions", json={**body(seed=1), "model": "claude/m"})
    assert response.status_code == 400 and response.json()["error"]["param"] == "seed"


@pytest.mark.parametrize("members, param", [
    ({"n": 5}, "n"), ({"logprobs": True}, "logprobs"), ({"messages": []}, "messages"), ({"messages": 7}, "messages"),
    ({"messages": [[]]}, "messages[0]"), ({"messages": [{"role": "judge", "content": "x"}]}, "messages[0].role"),
    ({"tools": [WEATHER] * 10_000}, "tools"), ({"temperature": "hot"}, "temperature"), ({"top_p": 2}, "top_p"),
    ({"max_tokens": 0}, "max_tokens"), ({"max_tokens": -2}, "max_tokens"), ({"stream": "yes"}, "stream"),
    ({"stop": 7}, "stop"),
    ({"frobnicate": 1}, "frobnicate"), ({"tool_choice": "perhaps"}, "tool_choice"),
    ({"tool_choice": "required"}, "tool_choice"), ({"reasoning_effort": "enormous"}, "reasoning_effort"),
    ({"tools": [WEATHER], "tool_choice": {"type": "function", "function": {"name": "other"}}}, "tool_choice"),
    ({"tools": [WEATHER], "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "none", "tools": []}}},
     "tool_choice.allowed_tools.mode"),
    ({"tools": [WEATHER], "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [
        {"type": "function", "function": {"name": "other"}}]}}}, "tool_choice.allowed_tools.tools[0].function.name"),
    ({"response_format": {"type": "xml"}}, "response_format.type"),
    ({"tools": [{"type": "function", "function": {"name": "a b"}}]}, "tools[0].function.name"),
    ({"tools": [{"type": "function", "function": {"name": "a", "parameters": {"$ref": "#"}}}]},
     "tools[0].function.parameters"),
    ({"messages": [{"role": "tool", "tool_call_id": "none", "content": "x"}]}, "messages[0].tool_call_id"),
    ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}]}]},
     "messages[0].content[0].image_url.url"),
])
def test_an_invalid_parameter_is_named(talker, members, param):
    error = refusal(talker, 400, **members)
    assert error["param"] == param and error["type"] == "invalid_request_error"
    assert talker.stub.requests == []


def test_a_picture_at_a_private_address_is_not_fetched(talker):
    url = f"{talker.stub.base_url}/picture.png"
    error = refusal(talker, 400, content=[{"type": "image_url", "image_url": {"url": url}}])
    assert error["param"] == "messages[0].content[0].image_url.url"
    assert talker.stub.requests == [] and talker.stub.list_requests == []


@pytest.mark.parametrize("content", [b"[" * 10_000_000, b'{"messages": ' + b"[" * 5_000_000 + b"]" * 5_000_000 + b"}",
                                     b'{"messages": [' + b"[]," * 500_000 + b"[]]}", b'{"model": "\\ud800"}', b"", b"[]", b"\xff"],
                         ids=["10 MB of brackets", "deep messages", "many messages", "lone surrogate", "empty", "array",
                              "not UTF-8"])
def test_a_hostile_body_is_refused_in_the_protocols_format(talker, content):
    response = talker.gateway.http.post("/v1/chat/completions", content=content)
    assert response.status_code == 400 and response.json()["error"]["type"] == "invalid_request_error"


def test_a_body_of_too_many_values_is_refused_with_the_reason(talker):
    response = talker.gateway.http.post("/v1/chat/completions", content=b'{"messages": [' + b"1," * 500_000 + b"1]}")
    assert response.status_code == 400 and "over 500,000 values" in response.json()["error"]["message"]


def test_a_thread_id_for_a_model_is_an_error(talker):
    error = refusal(talker, 400, metadata={"thread_id": "x"})
    assert error["param"] == "metadata.thread_id" and "no threads" in error["message"]
    response = talker.gateway.http.post("/v1/chat/completions", json=body(), headers={"X-Thread-Id": "x"})
    assert response.status_code == 400 and response.json()["error"]["param"] == "X-Thread-Id"
    assert refusal(talker, 400, store=True)["param"] == "store", "no thread keeps the answer"
    assert talker.stub.requests == []


def test_an_unknown_model_is_not_found(talker):
    for model in ("nobody", "nobody/m", "stub"):
        assert refusal(talker, 404, model=model)["code"] == "model_not_found"


def test_errors_before_the_handler_have_the_protocols_format(gateway):
    for path, method, status in [("/v1/chat/completions", "GET", 405), ("/v1/models/nothing", "GET", 404)]:
        error = gateway.http.request(method, path)
        assert error.status_code == status and error.json()["error"]["message"]
    # An unknown route belongs to no protocol.
    for path in ("/v1/completions", "/v1/audio/speech", "/v1"):
        error = http_client.get(gateway.url + path, headers=gateway.authorization)
        assert error.status_code == 404 and error.json()["error"] == "not found"
    unknown = gateway.http.post("/v1/chat/completions", headers={"Authorization": "Bearer wrong"}, json={})
    assert unknown.status_code == 401 and unknown.json()["error"]["code"] == "invalid_api_key"


def test_instructions_in_the_middle_stay_there(talker):
    """Moving them to the system prompt would change what the service has cached."""
    complete(talker, messages=[{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi"},
                               {"role": "assistant", "content": "Hello."}, {"role": "user", "content": "And?"},
                               {"role": "developer", "content": "It is noon."}])
    sent = [(message["role"], message["content"]) for message in talker.stub.requests[-1].json["messages"]]
    assert sent == [("system", "Be kind."), ("user", "Hi"), ("assistant", "Hello."), ("user", "And?"),
                    ("system", "It is noon.")]


def test_instructions_in_the_middle_remind_a_model_that_refuses_them(talker):
    """The templates of many models of llama.cpp and vLLM raise this error."""
    talker.stub.script(Fault(400, "System message must be at the beginning."), "Noon.")
    response = complete(talker, messages=[{"role": "user", "content": "Hi"}, {"role": "system", "content": "It is noon."}])
    assert response["choices"][0]["message"]["content"] == "Noon."
    sent = talker.stub.requests[-1].json["messages"]
    assert sent[-1] == {"role": "user", "content": "<system-reminder>\nIt is noon.\n</system-reminder>"}
