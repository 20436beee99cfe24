"""What a model's service refuses, and programs cannot know, does not end their conversation."""

import json

import pytest

from checks import accepted
from stubs.provider import Fault, Raw, Reply, ToolCall
from test_client_members import SCHEMA, chat, gateway, message, refused, respond, user  # noqa: F401 (a fixture)
from test_client_services import REPLIES, Chat, Messages, Responses

LONG_NAME = "mcp__plugin_chrome-devtools-mcp_chrome-devtools__get_console_message"
ASKED = [{"role": "user", "content": "Hi"}]


@pytest.mark.parametrize("protocol", [Chat, Messages, Responses])
@pytest.mark.parametrize("model", ["mistral-small", "gemma-2-9b", "gpt-oss-120b", "gemini-3-flash"])
def test_conversation_goes_on_with_models_that_are_stricter(gateway, protocol, model):  # noqa: F811
    gateway.stub.script(*REPLIES)
    conversation = protocol()
    for text in ("Be brief.", "What is the weather?"):
        conversation.say(text)
    for reply in REPLIES:
        system = {"instructions": "Be kind."} if protocol is Responses else {}
        body = {"model": f"chat/{model}", **system, **protocol.members, **conversation.body()}
        if protocol is Chat:
            body["messages"] = [{"role": "system", "content": "Be kind."}, *body["messages"]]
        if protocol is Messages:
            body["system"] = "Be kind."
        conversation.take(accepted(gateway.http.post(protocol.path, json=body)))
        if reply.text == "Sunny.":
            conversation.say("Thank you.")


@pytest.mark.parametrize("service", ["chat", "responses"])
@pytest.mark.parametrize("members", [{"thinking": {"type": "adaptive"}}, {"output_config": {"effort": "high"}},
                                     {"thinking": {"type": "enabled", "budget_tokens": 2000}}])
def test_model_that_cannot_think_answers_without(gateway, service, members):  # noqa: F811
    """Claude Code asks every model to think."""
    if service == "responses":
        gateway.stub.script(Fault(400, "Unsupported parameter: 'reasoning.effort' is not supported with this model."))
    for requests in (2, 3):  # what the service refuses is remembered
        asked = message(gateway, service, model=f"{service}/llama-3.3-70b", max_tokens=9000, **members)
        assert not {"reasoning_effort", "reasoning"} & set(asked)
        assert len(gateway.stub.requests) == requests


@pytest.mark.parametrize("service, refusal", [
    ("responses", {"message": "Unsupported value: 'max' is not supported with the 'gpt-5.1' model. Supported values are: "
                   "'none', 'low', 'medium', and 'high'.", "param": "reasoning.effort", "code": "unsupported_value"}),
    ("chat", {"message": "1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'reasoning_effort'), 'msg': "
              "\"Input should be 'low', 'medium' or 'high'\", 'input': 'max'}", "code": 400}),
    ("chat", {"message": "Validation error for `reasoning_effort`: expected one of `'low' | 'medium' | 'high'`, received "
              "`'max'`."})])
def test_effort_that_a_model_does_not_have_becomes_one_that_it_has(gateway, service, refusal):  # noqa: F811
    """Claude Code sends the effort that a person chose for other models. As OpenAI, SGLang and Kimi refuse it."""
    def asked(effort):
        tools = [{"name": "weather", "input_schema": SCHEMA}]
        sent = message(gateway, service, max_tokens=9000, output_config={"effort": effort}, tools=tools)
        return sent["reasoning"]["effort"] if service == "responses" else sent["reasoning_effort"]

    for effort, fitting in (("max", "high"), ("xhigh", "high")):
        gateway.stub.script(Fault(400, body={"error": refusal}))
        assert asked(effort) == fitting
    assert asked("medium") == "medium"


@pytest.mark.parametrize("members, effort", [
    ({"enable_thinking": False}, "none"),
    ({"thinking": {"type": "disabled"}}, "none"),
    ({"chat_template_kwargs": {"enable_thinking": False, "preserve_thinking": True}}, "none"),
    ({"chat_template_kwargs": {"thinking": True}}, None),
    ({"thinking": {"type": "enabled", "budget_tokens": 9000, "clear_thinking": False}}, "medium"),
    ({"enable_thinking": True, "thinking_budget": 1000}, "low")])
def test_switches_for_thinking_of_open_models_are_forwarded_and_translated(gateway, members, effort):  # noqa: F811
    """As Dify, LangChain and others send them, to whatever model a person chose."""
    asked = chat(gateway, **members)
    assert {name: asked[name] for name in members} == members and asked.get("reasoning_effort") == effort
    asked = chat(gateway, "responses", **members)
    assert not set(members) & set(asked) and asked.get("reasoning", {}).get("effort") == effort
    gateway.stub.script(Fault(400, f"Unknown parameter: '{next(iter(members))}'."))
    assert next(iter(members)) not in chat(gateway, model="chat/gpt-5.2", **members)


def in_stream(message):
    """Returns an error as LM Studio sends it: its response has begun before the template is applied."""
    body = f"event: error\ndata: {json.dumps({'error': {'message': message}})}\n\n"
    return Raw(f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{body}".encode())


ONLY_TWO_ROLES = ("Error rendering prompt with jinja template: \"Only user and assistant roles are supported!\".\n\nThis is "
                  "usually an issue with the model's prompt template.")


@pytest.mark.parametrize("refusal", [Fault(400, ONLY_TWO_ROLES), in_stream(ONLY_TWO_ROLES)])
def test_template_without_a_system_prompt_gets_it_in_the_question(gateway, refusal):  # noqa: F811
    gateway.stub.script(refusal, Reply("Hello"))
    for requests in (2, 3):  # what the template refuses is remembered
        sent = chat(gateway, messages=[{"role": "system", "content": "Be kind."}, *ASKED])["messages"]
        assert sent == [{"role": "user", "content": "Be kind.\n\nHi"}] and len(gateway.stub.requests) == requests


@pytest.mark.parametrize("service", ["chat", "responses", "gemini", "ollama"])
@pytest.mark.parametrize("status, refusal", [
    (400, "Tools is not supported in this model. For a list of supported models, refer to the documentation."),
    (400, "`tool calling` is not supported with this model"),
    (405, "Tool calling is not supported for model: mistralai/Mistral-Small-24B-Instruct-2501")])
def test_model_that_takes_no_tools_answers_without(gateway, service, status, refusal):  # noqa: F811
    gateway.stub.script(Fault(status, refusal))
    tool = {"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}
    for requests in (2, 3):  # what the model refuses is remembered
        sent = chat(gateway, service, tools=[tool], tool_choice="auto")
        assert not {"tools", "tool_choice", "toolConfig"} & sent.keys() and len(gateway.stub.requests) == requests


def test_text_after_a_result_joins_it_for_mistral(gateway):  # noqa: F811
    gateway.stub.script(Fault(400, "Unexpected role 'user' after role 'tool'", kind="invalid_request_message_order"))
    sent = message(gateway, "chat", messages=[
        *ASKED, {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "weather", "input": {}}]},
        user({"type": "tool_result", "tool_use_id": "c1", "content": "sunny"}, {"type": "text", "text": "Be brief."})])
    assert sent["messages"][2:] == [{"role": "tool", "tool_call_id": "c1", "content": "sunny\n\nBe brief."}]


def test_error_about_a_template_after_a_text_is_final(gateway):  # noqa: F811
    error = json.dumps({"error": {"message": ONLY_TWO_ROLES}})
    text = json.dumps({"choices": [{"index": 0, "delta": {"content": "Hel"}}]})
    body = f"data: {text}\n\nevent: error\ndata: {error}\n\n"
    gateway.stub.script(Raw(f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {len(body)}\r\n\r\n"
                            f"{body}".encode()), Reply("Hello"))
    response = gateway.http.post("/v1/chat/completions", json={"model": "chat/gpt-5", "messages": [
        {"role": "system", "content": "Be kind."}, *ASKED]})
    assert response.status_code == 502 and len(gateway.stub.requests) == 1


CONTENT_AND_THINKING = ("Cannot pass both content and thinking in an assistant message with tool calls! Put the analysis "
                        "message in one or the other, but not both. at row 290, column 178:\n {{- raise_exception(")


@pytest.mark.parametrize("refusal", [Fault(500, CONTENT_AND_THINKING), in_stream(
    f"Error rendering prompt with jinja template: {CONTENT_AND_THINKING}")])
def test_thoughts_beside_a_text_and_a_call_are_left_out_for_gpt_oss(gateway, refusal):  # noqa: F811
    gateway.stub.script(refusal, Reply("Sunny."))
    called = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    sent = chat(gateway, messages=[
        *ASKED, {"role": "assistant", "content": "Let me see.", "reasoning_content": "Hm.", "tool_calls": [called]},
        {"role": "tool", "tool_call_id": "c1", "content": "sunny"}])["messages"]
    assert sent[1] == {"role": "assistant", "content": "Let me see.", "tool_calls": [called]}
    assert len(gateway.stub.requests) == 2


def test_effort_that_a_program_chose_is_refused_by_name(gateway):  # noqa: F811
    response = gateway.http.post("/v1/chat/completions", json={
        "model": "chat/llama-3.3-70b", "messages": ASKED, "reasoning_effort": "high"})
    assert response.status_code == 400 and "reasoning_effort" in response.json()["error"]["message"]


def test_limit_becomes_what_the_window_leaves(gateway):  # noqa: F811
    """Claude Code asks for 32,000 tokens, whatever the window."""
    for limit, sent, requests in ((32_000, 15_309, 2), (500, 500, 3), (32_000, 15_309, 5)):
        asked = message(gateway, "chat", model="chat/qwen3", max_tokens=limit)
        assert asked["max_tokens"] == sent and len(gateway.stub.requests) == requests


def test_conversation_that_is_too_long_is_refused_in_the_words_of_the_protocol(gateway):  # noqa: F811
    gateway.stub.script(Fault(400, "This model's maximum context length is 4096 tokens."))
    response = gateway.http.post("/v1/messages", json={"model": "chat/gpt-5", "messages": ASKED, "max_tokens": 99})
    assert response.status_code == 400
    assert "prompt is too long" in response.json()["error"]["message"]


@pytest.mark.parametrize("service", ["chat", "responses", "gemini"])
@pytest.mark.parametrize("stream", [False, True])
def test_tool_with_a_long_name_is_called(gateway, service, stream):  # noqa: F811
    def call(request):
        tools = request.json["tools"][0].get("functionDeclarations", request.json["tools"])
        name = tools[0].get("function", tools[0])["name"]
        assert len(name) <= 64
        return Reply("", tool_calls=[ToolCall(name, {"city": "Rome"}, id="c1")])

    members = {"model": f"{service}/gpt-5", "max_tokens": 99, "tools": [{"name": LONG_NAME, "input_schema": SCHEMA}],
               "tool_choice": {"type": "tool", "name": LONG_NAME}}
    gateway.stub.script(call)
    response = gateway.http.post("/v1/messages", json={**members, "messages": ASKED, "stream": stream})
    assert response.status_code == 200, response.text
    assert response.text.count(f'"name":"{LONG_NAME}"') == 1
    use = {"type": "tool_use", "id": "c1", "name": LONG_NAME, "input": {"city": "Rome"}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "sunny"}
    accepted(gateway.http.post("/v1/messages", json={
        **members, "messages": [*ASKED, {"role": "assistant", "content": [use]}, user(result)]}))
    assert LONG_NAME not in json.dumps(gateway.stub.requests[-1].json)


def test_tool_whose_name_begins_with_a_digit_is_called_by_gemini(gateway):  # noqa: F811
    gateway.stub.script(Reply("", tool_calls=[ToolCall("_1password__get", {}, id="c1")]))
    tools = [{"type": "function", "function": {"name": "1password__get", "parameters": SCHEMA}}]
    response = accepted(gateway.http.post("/v1/chat/completions", json={
        "model": "gemini/gpt-5", "messages": ASKED, "tools": tools}))
    assert response["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "1password__get"


@pytest.mark.parametrize("service, size", [("chat", 46), ("responses", 83)])
def test_call_with_the_long_id_of_another_service_is_kept(gateway, service, size):  # noqa: F811
    call = {"id": "c" * size, "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    called = [*ASKED, {"role": "assistant", "content": None, "tool_calls": [call]},
              {"role": "tool", "tool_call_id": call["id"], "content": "sunny"}]
    assert call["id"] not in json.dumps(chat(gateway, service, messages=called))


def test_array_without_items_does_not_end_the_conversation(gateway):  # noqa: F811
    tools = [{"type": "function", "name": f"tool{number}", "parameters": {
        "type": "object", "properties": {"tags": {"type": "array"}}}} for number in range(12)]
    for tool in respond(gateway, tools=tools)["tools"]:
        assert tool["parameters"]["properties"] == {"tags": {"type": "array", "items": {}}}


def test_schema_that_a_service_cannot_read_is_described_in_words(gateway):  # noqa: F811
    schema = {"type": "object", "properties": {"$filter": {"type": "string"}}}
    tools = [{"name": "weather", "input_schema": SCHEMA}, {"name": "search", "input_schema": schema}]
    for requests in (2, 3):  # what the service refuses is remembered
        weather, search = message(gateway, tools=tools)["tools"]
        assert weather["input_schema"] == SCHEMA and search["input_schema"] == {"type": "object", "properties": {}}
        assert search["description"] == f"The input must match this JSON Schema: {json.dumps(schema, separators=(',', ':'))}"
        assert len(gateway.stub.requests) == requests


def test_model_that_continues_no_message_is_asked_to_continue(gateway):  # noqa: F811
    begun = [*ASKED, {"role": "assistant", "content": "Hel"}]
    asked = message(gateway, model="anthropic/claude-sonnet-5", messages=begun)
    assert [each["role"] for each in asked["messages"]] == ["user", "assistant", "user"]
    assert chat(gateway, model="chat/mistral-small", messages=begun)["messages"][-1]["content"] == "Continue."


def test_answer_with_nothing_but_thoughts_is_left_out(gateway):  # noqa: F811
    thought = {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}]}
    for service in ("anthropic", "chat"):
        sent = message(gateway, service, messages=[*ASKED, thought, user({"type": "text", "text": "Go on"})])["messages"]
        assert {each["role"] for each in sent} == {"user"}
    reasoning = {"type": "reasoning", "id": "rs_9", "summary": [], "encrypted_content": "e"}
    sent = respond(gateway, input=[*ASKED, reasoning, {"role": "user", "content": "Go on"}])["input"]
    assert [each.get("type", "message") for each in sent] == ["message", "message"]


def test_prompt_is_not_cut_by_ollama(gateway):  # noqa: F811
    assert chat(gateway, "ollama")["truncate"] is False
    gateway.stub.script(Fault(400, '{"error":{"code":400,"message":"request (40000 tokens) exceeds the available context '
                                   'size (32768 tokens), try increasing it","type":"exceed_context_size_error"}}'))
    response = gateway.http.post("/v1/chat/completions", json={"model": "ollama/gpt-5", "messages": ASKED})
    assert response.json()["error"]["code"] == "context_length_exceeded"


SAMPLING = {"min_p": 0.05, "typical_p": 0.9, "repetition_penalty": 1.1}
NEUTRAL = {"min_p": 0, "top_a": 0, "typical_p": 1, "repetition_penalty": 1.0, "repeat_penalty": 1, "top_k": -1}


def test_sampling_of_open_models_is_forwarded(gateway):  # noqa: F811
    sent = chat(gateway, top_k=-1, top_a=0.2, **SAMPLING)
    assert {name: sent[name] for name in [*SAMPLING, "top_a", "top_k"]} == {**SAMPLING, "top_a": 0.2, "top_k": -1}
    options = chat(gateway, "ollama", **SAMPLING)["options"]
    assert (options["min_p"], options["typical_p"], options["repeat_penalty"]) == (0.05, 0.9, 1.1)
    for service in ["anthropic", "responses", "gemini"]:
        sent = json.dumps(chat(gateway, service, **NEUTRAL))
        assert not any(name in sent for name in [*NEUTRAL, "topK"]), sent
        refused(gateway, "/v1/chat/completions", "min_p", model=f"{service}/m", min_p=0.1, messages=ASKED)
    refused(gateway, "/v1/chat/completions", "min_p", min_p="much", messages=ASKED)


@pytest.mark.parametrize("name, value", [("min_p", 0.05), ("repetition_penalty", 1.1)])
def test_sampling_that_a_model_refuses_is_omitted(gateway, name, value):  # noqa: F811
    gateway.stub.script(Fault(400, f"Unrecognized request argument supplied: {name}", kind="invalid_request_error"))
    assert name not in chat(gateway, **{name: value})
    assert name in gateway.stub.requests[0].json
