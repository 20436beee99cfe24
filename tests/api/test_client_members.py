"""Each member of a client's request is forwarded to the model or refused by name: none is dropped silently."""

import base64
import json
import struct

import pytest

from checks import accepted
from client_streams import data_of, read_response
from stubs.provider import Fault, Reply, ToolCall
from test_openai_chat import PIXEL

PICTURE = f"data:image/png;base64,{PIXEL}"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
SERVICES = {"anthropic": {"kind": "anthropic"}, "chat": {"kind": "openai", "api": "chat"},
            "responses": {"kind": "openai", "api": "responses"}, "ollama": {"kind": "ollama"},
            "gemini": {"kind": "gemini"}}
SECRET_TEXT = "what a service wants back"


@pytest.fixture
def gateway(make_gateway, stub):
    def service(settings):
        url = stub.openai_url if settings["kind"] == "openai" else stub.base_url
        return {**settings, "base_url": url, "api_key_env": "KEY", "default_model": "gpt-5"}

    made = make_gateway(config={"providers": {name: service(settings) for name, settings in SERVICES.items()}},
                        environment={"KEY": "k"}).start()
    made.stub = stub
    return made


def forwarded(gateway, path, service, **members):
    """Sends the request and returns the body of the resulting request to the service."""
    accepted(gateway.http.post(path, json={"model": f"{service}/gpt-5", **members}))
    return gateway.stub.requests[-1].json


def chat(gateway, service="chat", **members):
    return forwarded(gateway, "/v1/chat/completions", service,
                     **{"messages": [{"role": "user", "content": "Hi"}], **members})


def respond(gateway, service="responses", **members):
    return forwarded(gateway, "/v1/responses", service, **{"input": "Hi", **members})


def message(gateway, service="anthropic", **members):
    return forwarded(gateway, "/v1/messages", service,
                     **{"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 99, **members})


def refused(gateway, path, param, **members):
    response = gateway.http.post(path, json={"model": "chat/gpt-5", **members})
    assert response.status_code == 400, response.text
    error = response.json()["error"]
    assert (error.get("param") or error["message"].split(":")[0]) == param, error


def user(*parts):
    return {"role": "user", "content": list(parts)}


@pytest.mark.parametrize("strict", [True, False])
def test_strict_of_a_function_is_forwarded(gateway, strict):
    function = {"name": "weather", "parameters": SCHEMA, "strict": strict}
    tools = [{"type": "function", "function": function}]
    assert chat(gateway, tools=tools)["tools"][0]["function"]["strict"] is strict
    assert chat(gateway, "responses", tools=tools)["tools"][0]["strict"] is strict
    assert chat(gateway, "anthropic", tools=tools)["tools"][0]["strict"] is strict
    flat = [{"type": "function", **function}]
    assert respond(gateway, tools=flat)["tools"][0]["strict"] is strict
    assert respond(gateway, "chat", tools=flat)["tools"][0]["function"]["strict"] is strict
    own = [{"name": "weather", "input_schema": SCHEMA, "strict": strict}]
    assert message(gateway, tools=own)["tools"][0]["strict"] is strict
    choice = {"functionCallingConfig": {"mode": "VALIDATED"}}
    assert chat(gateway, "gemini", tools=tools).get("toolConfig") == (choice if strict else None)
    choice["functionCallingConfig"]["mode"] = "ANY"
    assert chat(gateway, "gemini", tools=tools, tool_choice="required")["toolConfig"] == choice


def test_detail_of_a_picture_is_forwarded(gateway):
    asked = [user({"type": "image_url", "image_url": {"url": PICTURE, "detail": "low"}})]
    assert chat(gateway, messages=asked)["messages"][0]["content"][0]["image_url"]["detail"] == "low"
    assert chat(gateway, "responses", messages=asked)["input"][0]["content"][0]["detail"] == "low"
    items = [user({"type": "input_image", "image_url": PICTURE, "detail": "high"})]
    assert respond(gateway, input=items)["input"][0]["content"][0]["detail"] == "high"
    assert "detail" not in chat(gateway, messages=[user({"type": "image_url", "image_url": {"url": PICTURE}})])[
        "messages"][0]["content"][0]["image_url"]


def test_parts_keep_their_order(gateway):
    def kinds(content):
        return [part.get("text") or next(kind for kind in ("image_url", "image", "source", "inlineData") if kind in part)
                for part in content]

    asked = [user({"type": "text", "text": "First:"}, {"type": "image_url", "image_url": {"url": PICTURE}},
                  {"type": "text", "text": "Second:"}, {"type": "image_url", "image_url": {"url": PICTURE}},
                  {"type": "text", "text": "Which?"})]
    assert kinds(chat(gateway, messages=asked)["messages"][0]["content"]) == [
        "First:", "image_url", "Second:", "image_url", "Which?"]
    assert kinds(chat(gateway, "responses", messages=asked)["input"][0]["content"]) == [
        "First:", "image_url", "Second:", "image_url", "Which?"]
    assert kinds(chat(gateway, "anthropic", messages=asked)["messages"][0]["content"]) == [
        "First:", "source", "Second:", "source", "Which?"]
    assert kinds(chat(gateway, "gemini", messages=asked)["contents"][0]["parts"]) == [
        "First:", "inlineData", "Second:", "inlineData", "Which?"]
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    blocks = [user({"type": "text", "text": "See"}, {"type": "image", "source": source},
                   {"type": "text", "text": "this."})]
    assert kinds(message(gateway, messages=blocks)["messages"][0]["content"]) == ["See", "source", "this."]
    items = [user({"type": "input_text", "text": "See"}, {"type": "input_image", "image_url": PICTURE},
                  {"type": "input_text", "text": "this."})]
    assert kinds(respond(gateway, input=items)["input"][0]["content"]) == ["See", "image_url", "this."]


def test_name_of_a_speaker_is_forwarded(gateway):
    asked = [{"role": "user", "name": "Ada", "content": "Hi"}, {"role": "assistant", "name": "Bot", "content": "Hello"},
             {"role": "user", "content": "Who?"}]
    assert [each.get("name") for each in chat(gateway, messages=asked)["messages"]] == ["Ada", "Bot", None]


def test_verbosity_is_forwarded(gateway):
    assert respond(gateway, text={"verbosity": "low"})["text"] == {"verbosity": "low"}
    assert respond(gateway, "chat", text={"verbosity": "high"})["verbosity"] == "high"
    assert chat(gateway, verbosity="high")["verbosity"] == "high"
    assert chat(gateway, "responses", verbosity="low")["text"] == {"verbosity": "low"}
    assert "verbosity" not in chat(gateway, verbosity="medium")
    refused(gateway, "/v1/chat/completions", "verbosity", messages=[user()], verbosity="loud")


LABELS = {"user": "ada", "safety_identifier": "5f3a", "prompt_cache_key": "notes", "metadata": {"ticket": "7"}}


@pytest.mark.parametrize("service", ["chat", "responses"])
@pytest.mark.parametrize("protocol", [chat, respond])
def test_labels_are_forwarded_to_services_with_openais_apis(gateway, service, protocol):
    asked = protocol(gateway, service, **LABELS, prompt_cache_retention="24h", service_tier="flex")
    for name, value in {**LABELS, "prompt_cache_retention": "24h", "service_tier": "flex"}.items():
        assert asked[name] == value


@pytest.mark.parametrize("protocol", [chat, respond])
def test_labels_that_a_service_does_not_support_are_omitted(gateway, protocol):
    for service in ("ollama", "gemini"):
        asked = protocol(gateway, service, **LABELS, service_tier="auto")
        assert not {*LABELS, "service_tier"} & set(asked)
    asked = protocol(gateway, "anthropic", **LABELS, service_tier="default")
    assert asked["metadata"] == {"user_id": "5f3a"} and asked["service_tier"] == "standard_only"
    assert "service_tier" not in protocol(gateway, "anthropic", service_tier="auto")


def test_members_of_anthropics_api_are_forwarded_to_anthropic(gateway):
    asked = message(gateway, metadata={"user_id": "u-1"}, service_tier="standard_only", inference_geo="us")
    assert asked["metadata"] == {"user_id": "u-1"} and asked["inference_geo"] == "us"
    assert asked["service_tier"] == "standard_only"
    asked = message(gateway, "chat", metadata={"user_id": "u-1"}, service_tier="standard_only", inference_geo="global")
    assert asked["service_tier"] == "default" and not {"metadata", "user", "inference_geo"} & set(asked)
    refused(gateway, "/v1/messages", "service_tier", max_tokens=9, messages=[{"role": "user", "content": "Hi"}],
            service_tier="flex")


def test_label_that_a_service_refuses_is_omitted_but_not_the_tier(gateway):
    gateway.stub.script(Fault(400, "Unsupported parameter: 'safety_identifier'"), "Hello")
    assert "safety_identifier" not in chat(gateway, **LABELS)
    assert chat(gateway, **LABELS)["user"] == "ada"
    gateway.stub.script(Fault(400, "Invalid service_tier argument"))
    response = gateway.http.post("/v1/chat/completions", json={
        "model": "chat/gpt-5", "messages": [{"role": "user", "content": "Hi"}], "service_tier": "flex"})
    assert response.status_code == 400 and "service_tier" in response.json()["error"]["message"]


def answers_of(gateway, service, tier, **members):
    """Yields the responses in each protocol for a service that reports its tier."""
    gateway.stub.script(*[Reply("Hello", service_tier=tier)] * 3)
    asked = {"model": f"{service}/gpt-5", **members}
    for path, own in (("/v1/chat/completions", {"messages": [{"role": "user", "content": "Hi"}]}),
                      ("/v1/responses", {"input": "Hi"}),
                      ("/v1/messages", {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 9})):
        yield gateway.http.post(path, json={**asked, **own})


@pytest.mark.parametrize("service, tier", [("chat", "flex"), ("responses", "priority"), ("anthropic", "priority")])
def test_answer_has_the_tier_that_the_service_used(gateway, service, tier):
    whole = [accepted(response) for response in answers_of(gateway, service, tier)]
    assert [whole[0]["service_tier"], whole[1]["service_tier"]] == [tier, tier]
    assert whole[2]["usage"]["service_tier"] == ("priority" if tier == "priority" else "standard")
    streams = [[json.loads(line.removeprefix("data: ")) for line in response.text.splitlines()
                if line.startswith("data: {")] for response in answers_of(gateway, service, tier, stream=True)]
    assert streams[0][-1]["service_tier"] == tier
    assert [streams[1][0]["response"]["service_tier"], streams[1][-1]["response"]["service_tier"]] == ["auto", tier]


def test_answer_of_a_service_without_tiers_has_none(gateway):
    whole = [accepted(response) for response in answers_of(gateway, "ollama", None)]
    assert whole[0]["service_tier"] is None and whole[1]["service_tier"] == "default"
    assert whole[2]["usage"]["service_tier"] is None


def test_summary_of_reasoning_is_forwarded(gateway):
    assert respond(gateway, reasoning={"summary": "detailed"})["reasoning"]["summary"] == "detailed"
    assert chat(gateway, "responses", reasoning={"summary": "concise"})["reasoning"]["summary"] == "concise"


def test_thoughts_of_chat_completions_are_sent_back_to_their_model(gateway):
    asked = [{"role": "user", "content": "Hi"},
             {"role": "assistant", "content": "Hello", "reasoning_content": "They greet."},
             {"role": "user", "content": "Go on"}]
    assert chat(gateway, messages=asked)["messages"][1]["reasoning_content"] == "They greet."
    assert chat(gateway, "ollama", messages=asked)["messages"][1]["thinking"] == "They greet."
    assert chat(gateway, "anthropic", messages=asked)["messages"][1]["content"] == [{"type": "text", "text": "Hello"}]


def test_duration_of_a_cache_is_forwarded(gateway):
    mark = {"type": "ephemeral", "ttl": "1h"}
    asked = message(gateway, system=[{"type": "text", "text": "Be brief.", "cache_control": mark}],
                    tools=[{"name": "weather", "input_schema": SCHEMA, "cache_control": {"type": "ephemeral"}}])
    assert asked["system"][0]["cache_control"] == mark and asked["tools"][-1]["cache_control"] == mark
    assert asked["messages"][-1]["content"][-1]["cache_control"] == mark
    usual = message(gateway, messages=[user({"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}})])
    assert usual["messages"][-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}
    in_chat = chat(gateway, "anthropic", messages=[user({"type": "text", "text": "Hi", "cache_control": mark})])
    assert in_chat["messages"][-1]["content"][-1]["cache_control"] == mark


def test_duration_of_a_cache_may_be_anywhere_in_chat_completions(gateway):
    mark = {"type": "ephemeral", "ttl": "1h"}
    call = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    plain = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Weather?"},
             {"role": "assistant", "content": "I look.", "tool_calls": [call]},
             {"role": "tool", "tool_call_id": "call_1", "content": "sunny"}]
    marked = [[*plain[:i], {**plain[i], "cache_control": mark}, *plain[i + 1:]] for i in range(len(plain))]
    # The AI SDK marks the call that ends an answer; opencode has it do so for Claude.
    marked.append([*plain[:2], {**plain[2], "tool_calls": [{**call, "cache_control": mark}]}, plain[3]])
    for members in [*({"messages": messages} for messages in marked), {"cache_control": mark}]:
        asked = chat(gateway, "anthropic", **members)
        assert asked["messages"][-1]["content"][-1]["cache_control"] == mark, members


def test_examples_of_inputs_are_forwarded(gateway):
    tools = [{"name": "weather", "description": "d", "input_schema": SCHEMA, "input_examples": [{"city": "Rome"}]}]
    assert message(gateway, tools=tools)["tools"][0]["input_examples"] == [{"city": "Rome"}]
    elsewhere = message(gateway, "chat", tools=tools)["tools"][0]["function"]
    assert elsewhere["description"] == 'd\nExample of its input: {"city":"Rome"}'


def test_deferred_tools_are_defined_when_referenced(gateway):
    tools = [{"name": "search", "input_schema": SCHEMA},
             {"name": "weather", "input_schema": SCHEMA, "defer_loading": True},
             {"name": "stocks", "input_schema": SCHEMA, "defer_loading": True}]
    assert [tool["function"]["name"] for tool in message(gateway, "chat", tools=tools)["tools"]] == ["search"]
    found = [user({"type": "text", "text": "Hi"}),
             {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "search", "input": {}}]},
             user({"type": "tool_result", "tool_use_id": "c",
                   "content": [{"type": "tool_reference", "tool_name": "weather"}]})]
    asked = message(gateway, "chat", tools=tools, messages=found)
    assert [tool["function"]["name"] for tool in asked["tools"]] == ["search", "weather"]
    refused(gateway, "/v1/messages", "tools", messages=found[:1], max_tokens=9, tools=tools[1:])


@pytest.mark.parametrize("path,param,members", [
    ("/v1/chat/completions", "messages[0].content[0].file_id",
     {"messages": [user({"type": "text", "text": "Hi", "file_id": "f"})]}),
    ("/v1/chat/completions", "messages[0].content[0].image_url.width",
     {"messages": [user({"type": "image_url", "image_url": {"url": PICTURE, "width": 1}})]}),
    ("/v1/chat/completions", "messages[0].tone", {"messages": [{"role": "system", "tone": "s", "content": "Hi"}, user()]}),
    ("/v1/chat/completions", "tools[0].cost",
     {"messages": [user()], "tools": [{"type": "function", "function": {"name": "f"}, "cost": 1}]}),
    ("/v1/chat/completions", "response_format.schema",
     {"messages": [user()], "response_format": {"type": "json_object", "schema": SCHEMA}}),
    ("/v1/chat/completions", "stream_options.include_obfuscation",
     {"messages": [user()], "stream_options": {"include_obfuscation": True}}),
    ("/v1/responses", "input[0].tone", {"input": [{"role": "user", "content": "Hi", "tone": "kind"}]}),
    ("/v1/responses", "input[0].content[0].file_id",
     {"input": [user({"type": "input_image", "image_url": PICTURE, "file_id": "f"})]}),
    ("/v1/responses", "tools[0].cost", {"input": "Hi", "tools": [{"type": "function", "name": "f", "cost": 1}]}),
    ("/v1/responses", "tool_choice.mode", {"input": "Hi", "tool_choice": {"type": "function", "name": "f", "mode": 1}}),
    ("/v1/responses", "text.size", {"input": "Hi", "text": {"size": 1}}),
    ("/v1/responses", "text.format.schema", {"input": "Hi", "text": {"format": {"type": "text", "schema": SCHEMA}}}),
    ("/v1/responses", "include[0]", {"input": "Hi", "include": ["message.output_text.logprobs"]}),
    ("/v1/responses", "truncation", {"input": "Hi", "truncation": "auto"}),
    ("/v1/responses", "stream_options.include_obfuscation",
     {"input": "Hi", "stream_options": {"include_obfuscation": True}}),
    ("/v1/messages", "messages.0.content.0.tone",
     {"max_tokens": 9, "messages": [user({"type": "text", "text": "Hi", "tone": "kind"})]}),
    ("/v1/messages", "messages.0.content.0.cache_control.ttl",
     {"max_tokens": 9, "messages": [user({"type": "text", "text": "Hi",
                                          "cache_control": {"type": "ephemeral", "ttl": "1d"}})]}),
    ("/v1/messages", "messages.0.content.0.citations.enabled",
     {"max_tokens": 9, "messages": [user({"type": "document", "citations": {"enabled": True}, "source": {
         "type": "text", "media_type": "text/plain", "data": "d"}})]}),
])
def test_error_names_the_unknown_member(gateway, path, param, members):
    refused(gateway, path, param, **members)


def test_service_without_embeddings_is_named_as_the_wrong_model(gateway):
    refused(gateway, "/v1/embeddings", "model", model="anthropic/claude", input="Hi")


def test_phase_of_an_answer_is_forwarded(gateway):
    """Models since gpt-5.3-codex take an answer for the final one without it."""
    def items(phase):
        return [{"role": "user", "content": "Hi"}, {"role": "assistant", "phase": phase, "content": "I look."},
                {"role": "user", "content": "Go on"}]

    assert [item.get("phase") for item in respond(gateway, input=items("commentary"))["input"]] == [
        None, "commentary", None]
    assert "phase" not in respond(gateway, input=items(None))["input"][1]
    assert "phase" not in json.dumps(respond(gateway, "anthropic", input=items("final_answer")))
    refused(gateway, "/v1/responses", "input[1].phase", input=items("moon"))


@pytest.mark.parametrize("service", ["responses", "anthropic"])
@pytest.mark.parametrize("stream", [False, True])
def test_reasoning_survives_between_tool_calls(gateway, service, stream):
    tool = {"type": "function", "name": "weather", "parameters": SCHEMA}
    members = {"model": f"{service}/gpt-5", "tools": [tool], "store": False, "stream": stream,
               "include": ["reasoning.encrypted_content"]}
    gateway.stub.script(Reply("", reasoning="Hm.", tool_calls=[ToolCall("weather", {}, id="c1")]))
    response = gateway.http.post("/v1/responses", json={**members, "input": "Hi"})
    assert response.status_code == 200, response.text
    if stream:
        events = [json.loads(line.removeprefix("data: ")) for line in response.text.splitlines()
                  if line.startswith("data: {")]
        output = events[-1]["response"]["output"]
        done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
        assert done == output
    else:
        output = response.json()["output"]
    reasoning, call = output
    assert reasoning["summary"] == [{"type": "summary_text", "text": "Hm."}] and reasoning["encrypted_content"]
    question = {"role": "user", "content": "Hi"}
    result = {"type": "function_call_output", "call_id": "c1", "output": "sunny"}
    again = {**members, "stream": False, "input": [question, reasoning, call, result]}
    accepted(gateway.http.post("/v1/responses", json=again))
    asked = gateway.stub.requests[-1].json
    if service == "responses":
        kinds = [item.get("type", "message") for item in asked["input"]]
        assert kinds == ["message", "reasoning", "function_call", "function_call_output"]
        assert asked["input"][1]["encrypted_content"] == "stub"
    else:
        assert [block["type"] for block in asked["messages"][1]["content"]] == ["thinking", "tool_use"]
        assert asked["messages"][1]["content"][0]["thinking"] == "Hm."


@pytest.mark.parametrize("service, roles", [
    ("chat", ["user", "assistant", "tool"]), ("ollama", ["user", "assistant", "tool"]),
    ("gemini", ["user", "model", "user"])])
@pytest.mark.parametrize("stream", [False, True])
def test_reasoning_of_services_that_send_it_last_stays_with_its_call(gateway, service, roles, stream):
    """Services accept nothing between a call and its result."""
    members = {"model": f"{service}/gpt-5", "tools": [{"type": "function", "name": "weather", "parameters": SCHEMA}],
               "store": False, "stream": stream, "include": ["reasoning.encrypted_content"]}
    gateway.stub.script(Reply("Let me look.", reasoning="Hm.", tool_calls=[ToolCall("weather", {}, id="c1")]))
    response = gateway.http.post("/v1/responses", json={**members, "input": "Hi"})
    output = json.loads(data_of(response.text)[-2])["response"]["output"] if stream else response.json()["output"]
    call, = [item for item in output if item["type"] == "function_call"]
    result = {"type": "function_call_output", "call_id": call["call_id"], "output": "sunny"}
    accepted(gateway.http.post("/v1/responses", json={
        **members, "stream": False, "input": [{"role": "user", "content": "Hi"}, *output, result]}))
    asked = gateway.stub.requests[-1].json
    sent = asked["contents"] if service == "gemini" else asked["messages"]
    assert [message["role"] for message in sent] == roles
    if service != "gemini":
        thoughts = "thinking" if service == "ollama" else "reasoning_content"
        assert sent[1][thoughts] == "Hm." and len(sent[1]["tool_calls"]) == 1


def test_reasoning_of_a_stored_response_is_sent_back(gateway):
    tool = {"type": "function", "name": "weather", "parameters": SCHEMA}
    gateway.stub.script(Reply("", reasoning="Hm.", tool_calls=[ToolCall("weather", {}, id="c1")]))
    first = accepted(gateway.http.post("/v1/responses", json={"model": "responses/gpt-5", "tools": [tool], "input": "Hi"}))
    assert "encrypted_content" not in first["output"][0]
    result = {"type": "function_call_output", "call_id": "c1", "output": "sunny"}
    asked = respond(gateway, previous_response_id=first["id"], tools=[tool], input=[result])
    assert [item.get("type", "message") for item in asked["input"]] == [
        "message", "reasoning", "function_call", "function_call_output"]


def test_reasoning_encrypted_by_the_service_is_forwarded_only_to_it(gateway):
    item = {"type": "reasoning", "id": "rs_9", "summary": [], "encrypted_content": SECRET_TEXT}
    answer = {"role": "assistant", "content": "Hello"}
    items = [{"role": "user", "content": "Hi"}, item, answer, {"role": "user", "content": "Go on"}]
    assert respond(gateway, input=items)["input"][1] == item
    for service in ("anthropic", "chat", "gemini", "ollama"):
        assert SECRET_TEXT not in json.dumps(respond(gateway, service, input=items))


def test_call_with_thoughts_that_gemini_did_not_sign_is_marked_as_such(gateway):
    def signatures(asked):
        return [part.get("thoughtSignature") for part in asked["contents"][1]["parts"] if "functionCall" in part]

    function = {"name": "weather", "arguments": "{}"}
    called = [user({"type": "text", "text": "Hi"}),
              {"role": "assistant", "content": None, "reasoning_content": "Hm.",
               "tool_calls": [{"id": "c1", "type": "function", "function": function}]},
              {"role": "tool", "tool_call_id": "c1", "content": "sunny"}]
    assert signatures(chat(gateway, "gemini", messages=called)) == ["skip_thought_signature_validator"]
    items = [user({"type": "input_text", "text": "Hi"}),
             {"type": "reasoning", "id": "rs_9", "summary": [], "encrypted_content": SECRET_TEXT},
             {"type": "function_call", "call_id": "c1", **function},
             {"type": "function_call_output", "call_id": "c1", "output": "sunny"}]
    assert signatures(respond(gateway, "gemini", input=items)) == ["skip_thought_signature_validator"]
    blocks = [user({"type": "text", "text": "Hi"}),
              {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": SECRET_TEXT},
                                                {"type": "tool_use", "id": "c1", "name": "weather", "input": {}}]},
              user({"type": "tool_result", "tool_use_id": "c1", "content": "sunny"})]
    assert signatures(message(gateway, "gemini", messages=blocks)) == ["skip_thought_signature_validator"]


def test_streamed_reasoning_is_text_and_not_json_of_the_service(gateway):
    gateway.stub.script(Reply("Hello", reasoning="Hm."))
    response = gateway.http.post("/v1/responses", json={"model": "anthropic/gpt-5", "input": "Hi", "stream": True})
    assert '"type\\":\\"thinking' not in response.text and response.text.count("Hm.") >= 1


def test_stream_without_a_text_has_the_encrypted_reasoning(gateway):
    gateway.stub.script(Reply(""))
    response = gateway.http.post("/v1/responses", json={"model": "gemini/gpt-5", "input": "Hi", "stream": True,
                                                        "include": ["reasoning.encrypted_content"]})
    assert read_response(response.text).stop == "completed"
    assert [json.loads(data)["item"]["type"] for data in data_of(response.text) if "output_item.done" in data] == [
        "reasoning"]


@pytest.mark.parametrize("ask, limit", [
    (lambda gateway, limit: chat(gateway, "anthropic", max_completion_tokens=limit, reasoning_effort="high"), 100),
    (lambda gateway, limit: respond(gateway, "anthropic", max_output_tokens=limit, reasoning={"effort": "high"}), 5000),
    (lambda gateway, limit: message(gateway, max_tokens=limit, output_config={"effort": "low"}), 3000),
    (lambda gateway, limit: message(gateway, max_tokens=limit, thinking={"type": "enabled", "budget_tokens": limit}),
     9000)])
def test_thinking_stays_within_the_programs_limit(gateway, ask, limit):
    asked = ask(gateway, limit)
    assert asked["max_tokens"] == limit
    assert asked.get("thinking", {"budget_tokens": 0})["budget_tokens"] < limit


@pytest.mark.parametrize("service", ["chat", "responses"])
def test_description_that_is_too_long_is_cut_where_the_service_says_so(gateway, service):
    gateway.stub.script(Fault(400, "Invalid 'tools[0].function.description': string too long. Expected a string with "
                                   "maximum length 1024, but got a string with length 2000 instead."))
    tools = [{"type": "function", "function": {"name": "weather", "description": "x" * 2000, "parameters": SCHEMA}}]
    for requests in (2, 3):  # what the service refuses is remembered
        tool, = chat(gateway, service, tools=tools)["tools"]
        assert len(gateway.stub.requests) == requests
        assert tool.get("function", tool)["description"] == "x" * 1021 + "…"


def test_picture_that_is_too_large_for_anthropic_does_not_end_its_conversation(gateway):
    png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR" + struct.pack(">II", 1280, 9000) + bytes(9)
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png",
                                           "data": base64.b64encode(png).decode()}}
    messages = [user({"type": "text", "text": "Look"}, picture)]
    for requests in (2, 3):  # what the service refuses is remembered
        sent = message(gateway, messages=messages)["messages"][0]["content"]
        assert len(gateway.stub.requests) == requests
        assert [block["type"] for block in sent] == ["text", "text"] and "9000 pixels" in sent[1]["text"]
        messages += [{"role": "assistant", "content": "I cannot see it."}, user({"type": "text", "text": "Go on"})]


@pytest.mark.parametrize("service", ["anthropic", "responses"])
def test_tool_with_alternatives_is_accepted_where_only_objects_are(gateway, service):
    """Many MCP servers have such tools, and one of them would make each request fail."""
    schema = {"type": "object", "oneOf": [{"properties": {"city": {"type": "string"}}, "required": ["city"]},
                                          {"properties": {"zip": {"type": "string"}}, "required": ["zip"]}]}
    tools = [{"type": "function", "function": {"name": "weather", "description": "The weather.", "parameters": schema}},
             {"type": "function", "function": {"name": "time", "parameters": SCHEMA}}]
    for requests in (2, 3):  # what the service refuses is remembered
        weather, time = chat(gateway, service, tools=tools)["tools"]
        assert len(gateway.stub.requests) == requests
        sent = weather["input_schema" if service == "anthropic" else "parameters"]
        assert set(sent["properties"]) == {"city", "zip"} and "oneOf" not in sent
        assert weather["description"].startswith("The weather.") and '"oneOf"' in weather["description"]
        assert time["input_schema" if service == "anthropic" else "parameters"] == SCHEMA


def test_claude_is_asked_for_thoughts_only_where_it_may_think(gateway):
    """Chat Completions has no place for signed thoughts, without which Claude may not go on thinking after a tool."""
    function = {"name": "weather", "parameters": SCHEMA}
    members = {"model": "anthropic/claude-haiku-4-5", "reasoning_effort": "high",
               "tools": [{"type": "function", "function": function}]}
    assert chat(gateway, **members)["thinking"]["type"] == "enabled"
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    continued = [{"role": "user", "content": "Hi"},
                 {"role": "assistant", "content": None, "reasoning_content": "Hm.", "tool_calls": [call]},
                 {"role": "tool", "tool_call_id": "c1", "content": "sunny"}]
    assert "thinking" not in chat(gateway, messages=continued, **members)
    assert chat(gateway, messages=[*continued, {"role": "assistant", "content": "Sunny."},
                                   {"role": "user", "content": "And tomorrow?"}], **members)["thinking"]


def test_effort_stays_if_the_model_thinks_adaptively(gateway):
    gateway.stub.script(Fault(400, "`thinking.type.enabled` is not supported for this model. Use "
                                   "`thinking.type.adaptive` and `output_config.effort` to control thinking."))
    for effort in ("low", "medium"):
        asked = message(gateway, max_tokens=9000, output_config={"effort": effort})
        assert asked["thinking"]["type"] == "adaptive"
        assert asked["output_config"] == {"effort": effort}
