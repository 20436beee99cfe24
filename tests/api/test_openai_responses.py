"""Clients of OpenAI's Responses API. See docs/contract/clients.md."""

import json

import pytest

from checks import accepted
from stubs.provider import Reply, ToolCall
from talker import MODEL, configuration
from test_openai_chat import PIXEL

WEATHER = {"type": "function", "name": "weather", "description": "d", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}}}


def respond(talker, status=200, **members):
    return accepted(talker.gateway.http.post("/v1/responses", json={"model": MODEL, "input": "Hi", **members}), status)


def stream(talker, **members):
    response = talker.gateway.http.post("/v1/responses", json={"model": MODEL, "input": "Hi", "stream": True, **members})
    assert response.status_code == 200, response.text
    blocks = response.text.strip().split("\n\n")
    assert blocks[-1] == "data: [DONE]" and response.text.count("[DONE]") == 1
    events = []
    for block in blocks[:-1]:
        name, data = block.split("\n")
        events.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {events[-1]['type']}"
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    return events


def text_of(response):
    return "".join(part["text"] for item in response["output"] if item["type"] == "message" for part in item["content"])


def test_a_model_responds(talker):
    talker.stub.script(Reply("Hello there", reasoning="Hm."))
    response = respond(talker, instructions="Be brief.", metadata={"a": "b"})
    assert response["object"] == "response" and response["status"] == "completed"
    reasoning, message = response["output"]
    assert reasoning["summary"] == [{"type": "summary_text", "text": "Hm."}]
    assert message["content"] == [{"type": "output_text", "text": "Hello there", "annotations": [], "logprobs": []}]
    assert response["usage"]["total_tokens"] == 15 and response["metadata"] == {"a": "b"}
    assert response["instructions"] == "Be brief." and response["error"] is None
    assert talker.system() == "Be brief."


def test_calls_of_functions_in_a_namespace_name_it(talker):
    helpers = {"type": "namespace", "name": "helpers", "description": "d", "tools": [
        {"type": "function", "name": "start", "parameters": {"type": "object", "properties": {}}}]}
    talker.stub.script(Reply("", tool_calls=[ToolCall("helpers__start", {}, id="c1")]), "Started.")
    first = respond(talker, tools=[WEATHER, helpers])
    tools = talker.stub.requests[-1].json["tools"]
    assert [tool["function"]["name"] for tool in tools] == ["weather", "helpers__start"]
    call, = first["output"]
    assert (call["name"], call["namespace"], call["call_id"]) == ("start", "helpers", "c1")
    result = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
    respond(talker, input=[{"role": "user", "content": "Start."}, call, result], tools=[WEATHER, helpers])
    messages = talker.stub.requests[-1].json["messages"]
    assert messages[1]["tool_calls"][0]["function"]["name"] == "helpers__start" and messages[2]["content"] == "ok"


EXEC = {"type": "custom", "name": "exec", "description": "Run code.", "format": {
    "type": "grammar", "syntax": "lark", "definition": "start: /.+/"}}
CODE = 'print("1\\n")'


def test_tools_that_take_free_text_are_called_with_it(talker):
    talker.stub.script(Reply("", tool_calls=[ToolCall("exec", {"input": CODE}, id="c1")]), "Done.")
    first = respond(talker, tools=[EXEC], tool_choice={"type": "custom", "name": "exec"})
    function = talker.stub.requests[-1].json["tools"][0]["function"]
    assert function["parameters"]["required"] == ["input"] and "start: /.+/" in function["description"]
    call, = first["output"]
    assert (call["type"], call["call_id"], call["name"], call["input"]) == ("custom_tool_call", "c1", "exec", CODE)
    result = {"type": "custom_tool_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "1"}]}
    assert text_of(respond(talker, input=[result], previous_response_id=first["id"], tools=[EXEC])) == "Done."
    _, asked, answered = talker.stub.requests[-1].json["messages"]
    assert json.loads(asked["tool_calls"][0]["function"]["arguments"]) == {"input": CODE} and answered["content"] == "1"


def test_tools_that_the_input_adds_are_called_as_codex_does(talker):
    functions = {"type": "namespace", "name": "functions", "tools": [EXEC, WEATHER]}
    items = [{"type": "additional_tools", "role": "developer", "tools": [functions]}, {"role": "user", "content": "Run it."}]
    talker.stub.script(Reply("", tool_calls=[ToolCall("functions__exec", {"input": CODE}), ToolCall("functions__weather", {})]))
    events = stream(talker, input=items, reasoning={"effort": "low", "context": "all_turns"})
    texts = [event for event in events if event["type"].startswith("response.custom_tool_call_input.")]
    assert [(event["type"].rpartition(".")[2], event.get("delta", event.get("input"))) for event in texts] == [
        ("delta", CODE), ("done", CODE)]
    custom, other = events[-1]["response"]["output"]
    assert (custom["type"], custom["namespace"], custom["name"], custom["input"]) == ("custom_tool_call", "functions", "exec", CODE)
    assert (other["type"], other["namespace"], other["arguments"]) == ("function_call", "functions", "{}")


SEARCH = {"type": "tool_search", "execution": "client", "description": "Finds tools.", "parameters": {
    "type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}}
FOUND = [{"type": "namespace", "name": "files", "description": "d", "tools": [
    {"type": "function", "name": "read", "defer_loading": True, "parameters": {"type": "object", "properties": {}}}]}]


def respond_in_a_stream(talker, **members):
    return stream(talker, **members)[-1]["response"]


@pytest.mark.parametrize("ask", [respond, respond_in_a_stream], ids=["whole", "streamed"])
def test_a_program_searches_its_tools(talker, ask):
    talker.stub.script(Reply("", tool_calls=[ToolCall("tool_search", {"query": "read"}, id="c1")]),
                       Reply("", tool_calls=[ToolCall("files__read", {}, id="c2")]),
                       Reply("", tool_calls=[ToolCall("files__read", {}, id="c3")]))
    call, = ask(talker, tools=[WEATHER, SEARCH])["output"]
    assert (call["type"], call["call_id"], call["execution"]) == ("tool_search_call", "c1", "client")
    assert call["arguments"] == {"query": "read"} and call["status"] == "completed" and "name" not in call
    assert talker.stub.requests[-1].json["tools"][1]["function"]["description"] == "Finds tools."
    result = {"type": "tool_search_output", "call_id": "c1", "execution": "client", "tools": FOUND}
    again = [{**call, "call_id": "c0"}, {**result, "call_id": "c0"}]
    question = {"role": "user", "content": "Read it."}
    response = ask(talker, tools=[WEATHER, SEARCH], input=[question, call, result, *again])
    found, = response["output"]
    assert (found["type"], found["name"], found["namespace"]) == ("function_call", "read", "files")
    sent = talker.stub.requests[-1].json
    assert [tool["function"]["name"] for tool in sent["tools"]] == ["weather", "tool_search", "files__read"]
    assert sent["messages"][1]["tool_calls"][0]["function"]["name"] == "tool_search"
    assert sent["messages"][2]["content"] == "The tool files__read can be called."
    # It stays found in the conversation.
    result = {"type": "function_call_output", "call_id": "c2", "output": "A text."}
    found, = ask(talker, tools=[WEATHER, SEARCH], input=[result], previous_response_id=response["id"])["output"]
    assert (found["name"], found["namespace"]) == ("read", "files")


def test_tools_that_the_service_would_search_are_all_given(talker):
    respond(talker, tools=[WEATHER, *FOUND, {"type": "tool_search"}])
    assert [tool["function"]["name"] for tool in talker.stub.requests[-1].json["tools"]] == ["weather", "files__read"]


def test_malformed_arguments_of_a_tool_that_takes_free_text_are_its_text(talker):
    talker.stub.script(Reply("", tool_calls=[ToolCall("exec", CODE, id="c1")]))
    assert respond(talker, tools=[EXEC])["output"][0]["input"] == CODE


def test_a_model_streams_its_response(talker):
    talker.stub.script(Reply("one two three", deltas=3))
    events = stream(talker)
    kinds = [event["type"].removeprefix("response.") for event in events]
    assert kinds[:4] == ["created", "in_progress", "output_item.added", "content_part.added"]
    assert kinds[-4:] == ["output_text.done", "content_part.done", "output_item.done", "completed"]
    deltas = [event for event in events if event["type"] == "response.output_text.delta"]
    assert "".join(event["delta"] for event in deltas) == "one two three"
    item = events[2]["item"]["id"]
    assert all(event["item_id"] == item and event["output_index"] == 0 and event["logprobs"] == [] for event in deltas)
    assert text_of(events[-1]["response"]) == "one two three"


def test_arguments_are_passed_on_as_they_were_written(talker):
    written = '{"ratio":1.0, "id": 12345678901234567890123}'
    talker.stub.script(Reply("", tool_calls=[ToolCall("weather", written, id="a")]), "Fine.")
    call, = respond(talker, tools=[WEATHER])["output"]
    assert call["arguments"] == written
    result = {"type": "function_call_output", "call_id": "a", "output": "ok"}
    respond(talker, tools=[WEATHER], input=[{"role": "user", "content": "Hi"}, call, result])
    assert talker.stub.requests[-1].json["messages"][1]["tool_calls"][0]["function"]["arguments"] == written


def test_tool_calls_are_streamed(talker):
    talker.stub.script(Reply("Look.", tool_calls=[ToolCall("weather", {"city": "Rom"}, id="call_9")]))
    events = stream(talker, tools=[WEATHER])
    done = next(event for event in events if event["type"] == "response.function_call_arguments.done")
    assert json.loads(done["arguments"]) == {"city": "Rom"}
    call = events[-1]["response"]["output"][-1]
    assert call["type"] == "function_call" and call["call_id"] == "call_9" and call["status"] == "completed"


def test_a_call_ends_before_the_next_begins(talker):
    talker.stub.script(Reply("", tool_calls=[ToolCall("weather", {"city": "Rom"}, id="a"),
                                             ToolCall("weather", {"city": "Oslo"}, id="b")]))
    ends = [(event["type"].removeprefix("response.output_item."), event["output_index"])
            for event in stream(talker, tools=[WEATHER]) if event["type"].startswith("response.output_item.")]
    assert ends == [("added", 0), ("done", 0), ("added", 1), ("done", 1)]


def test_a_conversation_with_calls_and_a_picture_is_sent_to_the_model(talker):
    respond(talker, input=[
        {"role": "developer", "content": "Be kind."},
        {"role": "user", "content": [{"type": "input_text", "text": "What?"},
                                     {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"}]},
        {"type": "function_call", "call_id": "c", "name": "weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "sunny"}])
    sent = talker.stub.requests[-1].json["messages"]
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "tool"]


def test_a_response_continues_the_previous_one(talker):
    talker.stub.script("First.", "Second.")
    first = respond(talker, input="One")
    respond(talker, input="Two", previous_response_id=first["id"])
    assert talker.conversation() == [("user", "One"), ("assistant", "First."), ("user", "Two")]


def test_a_response_is_continued_and_compacted_without_input(talker):
    """The most natural way to compact: OpenAI's libraries have `input` optional."""
    talker.stub.script("One!", "Two!", "They met.")
    first = respond(talker, input="One")
    second = respond(talker, input=None, previous_response_id=first["id"])
    assert talker.conversation() == [("user", "One"), ("assistant", "One!")]
    compacted = accepted(talker.gateway.http.post("/v1/responses/compact", json={
        "model": MODEL, "previous_response_id": second["id"]}))
    assert talker.conversation()[:3] == [("user", "One"), ("assistant", "One!"), ("assistant", "Two!")]
    assert [item["type"] for item in compacted["output"]] == ["message", "compaction"]
    assert respond(talker, 400, input=None)["error"]["param"] == "input"
    agents = respond(talker, model="assistant", input="Hi")
    assert respond(talker, 400, model="assistant", input=None, instructions="Be brief.",
                   previous_response_id=agents["id"])["error"]["param"] == "input"


def test_system_messages_alone_are_the_question(talker):
    respond(talker, instructions="Be kind.", input=[{"role": "developer", "content": "Say hi."}])
    assert talker.conversation() == [("user", "Be kind.\n\nSay hi.")] and talker.system() == ""
    accepted(talker.gateway.http.post("/v1/chat/completions", json={
        "model": MODEL, "messages": [{"role": "system", "content": "Say hi."}]}))
    assert talker.conversation() == [("user", "Say hi.")] and talker.system() == ""


def test_items_of_stored_responses_can_be_referenced_by_id(talker):
    """Some clients send the whole conversation, but only references to what is stored."""
    talker.stub.script(Reply("Let me see.", tool_calls=[ToolCall("weather", {"city": "Rome"}, id="c1")]), "Sunny.")
    first = respond(talker, tools=[WEATHER])
    items = [{"type": "item_reference", "id": item["id"]} for item in first["output"]]
    del items[0]["type"]
    result = {"type": "function_call_output", "call_id": "c1", "output": "sun"}
    second = respond(talker, input=[{"role": "user", "content": "And Rome?"}, *items, result], tools=[WEATHER])
    sent = talker.stub.requests[-1].json["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool"]
    assert sent[1]["content"] == "Let me see." and sent[1]["tool_calls"][0]["id"] == "c1"
    accepted(talker.gateway.http.delete(f"/v1/responses/{first['id']}"))
    talker.stub.script("Still sunny.")
    third = respond(talker, previous_response_id=second["id"], input="Really?")
    assert text_of(third) == "Still sunny.", "a stored conversation contains the items that it refers to"


@pytest.mark.parametrize("reference", ["msg_1", "nonsense", f"msg_{'0' * 28}0", f"fc_{'0' * 40}"])
def test_a_reference_to_an_unknown_item_is_named(talker, reference):
    items = [{"role": "user", "content": "Hi"}, {"type": "item_reference", "id": reference}]
    assert respond(talker, 400, input=items)["error"]["param"] == "input[1].id"


def test_a_stored_conversation_is_limited_to_the_size_of_a_body(make_gateway, stub):
    gateway = make_gateway(config={**configuration(stub), "limits": {"body_mib": 1}}).start()

    def send(status, path="/v1/responses", **members):
        body = {"model": MODEL, "input": "word " * 120_000, **members}
        return accepted(gateway.http.post(path, json=body), status)

    first = send(200)
    second = send(200, previous_response_id=first["id"])
    error = send(400, previous_response_id=second["id"])["error"]
    assert (error["param"], error["code"]) == ("previous_response_id", "context_length_exceeded")
    send(200, "/v1/responses/compact", previous_response_id=second["id"])


def test_an_item_can_be_referenced_only_once(talker):
    """Otherwise a short request could become a conversation of any size."""
    item = {"type": "item_reference", "id": respond(talker)["output"][0]["id"]}
    assert respond(talker, 400, input=[item, item])["error"]["param"] == "input[1].id"


def test_only_allowed_tools_are_offered(talker):
    other = {**WEATHER, "name": "other"}
    for mode, choice in (("auto", "auto"), ("required", "required")):
        talker.stub.script("Fine.")
        allowed = {"type": "allowed_tools", "mode": mode, "tools": [{"type": "function", "name": "other"}]}
        response = respond(talker, tools=[WEATHER, other], tool_choice=allowed)
        assert response["tool_choice"] == allowed and len(response["tools"]) == 2
        sent = talker.stub.requests[-1].json
        assert [tool["function"]["name"] for tool in sent["tools"]] == ["other"]
        assert sent.get("tool_choice", "auto") == choice


def test_a_response_is_returned_and_deleted(talker):
    first = respond(talker)
    path = f"/v1/responses/{first['id']}"
    assert accepted(talker.gateway.http.get(path)) == first
    assert accepted(talker.gateway.http.delete(path)) == {"id": first["id"], "object": "response", "deleted": True}
    assert talker.gateway.http.get(path).status_code == 404
    error = respond(talker, 400, previous_response_id=first["id"])["error"]
    assert (error["param"], error["code"]) == ("previous_response_id", "previous_response_not_found")


def test_events_of_a_stored_response_cannot_be_read_again(talker):
    path = f"/v1/responses/{respond(talker)['id']}"
    error = accepted(talker.gateway.http.get(path, params={"stream": "true"}), 400)["error"]
    assert (error["param"], error["code"]) == ("stream", "unsupported_parameter")
    assert talker.gateway.http.get(path, params={"stream": "false"}).status_code == 200


def test_store_false_stores_nothing(talker):
    first = respond(talker, store=False)
    assert talker.gateway.http.get(f"/v1/responses/{first['id']}").status_code == 404


def test_a_completed_response_cannot_be_cancelled(talker):
    first = respond(talker)
    assert talker.gateway.http.post(f"/v1/responses/{first['id']}/cancel").status_code == 400
    assert talker.gateway.http.post("/v1/responses/resp_none/cancel").status_code == 404


@pytest.mark.parametrize("conversation", ["conv_1", {"id": "conv_1"}])
def test_a_model_has_no_conversations(talker, conversation):
    error = respond(talker, 400, conversation=conversation)["error"]
    assert (error["param"], error["code"]) == ("conversation", "unsupported_parameter")


def test_an_agent_responds_and_continues_its_thread(talker):
    talker.stub.script("First.", "Second.", "Third.")
    first = respond(talker, model="assistant", input="One")
    second = respond(talker, model="assistant", input="Two", previous_response_id=first["id"])
    third = respond(talker, model="assistant", input="Three", conversation=first["conversation"]["id"])
    assert first["conversation"] == second["conversation"] == third["conversation"]
    listed = accepted(talker.gateway.http.get(f"/threads/{first['conversation']['id']}/turns"))
    assert [turn["content"] for turn in reversed(listed)] == ["One", "First.", "Two", "Second.", "Three", "Third."]


def test_an_agent_reads_a_late_tool_result(talker):
    talker.stub.script("First.", "Second.")
    first = respond(talker, model="assistant", input="One")
    late = {"type": "function_call_output", "call_id": "call_gone", "output": "late"}
    respond(talker, model="assistant", input=[late], previous_response_id=first["id"])
    listed = accepted(talker.gateway.http.get(f"/threads/{first['conversation']['id']}/turns"))
    assert listed[1]["content"].strip() == "[a tool returned]\nlate"


def test_an_agent_calls_a_tool_of_the_client(talker):
    talker.stub.script(Reply("Look.", tool_calls=[ToolCall("weather", {"city": "Rom"}, id="call_a")]), "Sunny.")
    first = respond(talker, model="assistant", tools=[WEATHER])
    call = first["output"][-1]
    second = respond(talker, model="assistant", tools=[WEATHER], previous_response_id=first["id"], input=[
        {"type": "function_call_output", "call_id": call["call_id"], "output": "sunny"}])
    assert text_of(second).strip() == "Sunny." and second["conversation"] == first["conversation"]


def test_a_conversation_is_compacted(talker):
    talker.stub.script("They spoke of cats.", "Yes.")
    compacted = accepted(talker.gateway.http.post("/v1/responses/compact", json={"model": MODEL, "input": [
        {"role": "user", "content": "Cats!"}, {"role": "assistant", "content": "Cats?"}]}))
    assert compacted["object"] == "response.compaction"
    assert [item.get("role", item.get("type")) for item in compacted["output"]] == ["user", "compaction"]
    respond(talker, input=[*compacted["output"], {"role": "user", "content": "Go on"}])
    assert talker.conversation()[1][1].endswith("They spoke of cats.")


def test_an_error_in_mid_stream_fails_the_response(talker):
    talker.stub.script(Reply("one two three", deltas=3, after=2, fault="error"))
    events = stream(talker)
    assert events[-1]["type"] == "response.failed" and events[-1]["response"]["error"]["message"]


def test_a_truncated_answer_is_incomplete(talker):
    talker.stub.script(Reply("one", stop="length"))
    response = respond(talker)
    assert response["status"] == "incomplete" and response["incomplete_details"] == {"reason": "max_output_tokens"}


@pytest.mark.parametrize("members, param", [
    ({"input": []}, "input"), ({"input": 7}, "input"), ({"input": [7]}, "input[0]"), ({"background": True}, "background"),
    ({"tools": [{"type": "web_search"}]}, "tools[0].type"),
    ({"tools": [WEATHER, WEATHER]}, "tools[1].name"),
    ({"tools": [{"type": "namespace", "name": "n", "tools": [{"type": "web_search"}]}]}, "tools[0].tools[0].type"),
    ({"tools": [{**EXEC, "format": {"type": "grammar"}}]}, "tools[0].format.syntax"),
    ({"input": [{"type": "additional_tools", "tools": 7}]}, "input[0].tools"),
    ({"text": {"format": {"type": "xml"}}}, "text.format.type"),
    ({"input": [{"type": "item_reference", "id": "x"}]}, "input[0].id"),
    ({"input": [{"type": "item_reference"}]}, "input[0].id"),
    ({"tools": [WEATHER], "tool_choice": {"type": "function", "name": "other"}}, "tool_choice"),
    ({"tools": [WEATHER], "tool_choice": {"type": "allowed_tools", "mode": "none", "tools": []}}, "tool_choice.mode"),
    ({"tools": [WEATHER], "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [
        {"type": "function", "name": "other"}]}}, "tool_choice.tools[0].name"),
    ({"tools": [WEATHER], "tool_choice": {"type": "allowed_tools", "mode": "required", "tools": []}}, "tool_choice"),
    ({"frobnicate": 1}, "frobnicate"),
    ({"tools": [{**WEATHER, "parameters": {"$ref": "#"}}]}, "tools[0].parameters"), ({"n": 5}, "n"),
    ({"tools": [WEATHER] * 10_000}, "tools"),
    ({"tools": [{"type": "namespace", "name": f"n{i}", "tools": [{"type": "function", "name": f"f{j}"} for j in range(100)]}
                for i in range(11)]}, "tools"),
    ({"conversation": "a", "previous_response_id": "b"}, "conversation"),
    ({"conversation": {"id": "a"}}, "conversation"), ({"metadata": {"thread_id": "a"}}, "metadata.thread_id"),
])
def test_an_invalid_parameter_is_named(talker, members, param):
    assert respond(talker, 400, **members)["error"]["param"] == param
    assert talker.stub.requests == []


def test_a_picture_at_a_private_address_is_not_fetched(talker):
    picture = {"type": "input_image", "image_url": f"{talker.stub.base_url}/picture.png"}
    error = respond(talker, 400, input=[{"role": "user", "content": [picture]}])["error"]
    assert error["param"] == "input[0].content[0].image_url"
    assert talker.stub.requests == [] and talker.stub.list_requests == []


def test_a_thread_of_another_agent_is_a_conflict(talker, new_name):
    first = respond(talker, model="assistant")
    other = accepted(talker.gateway.http.post("/extensions", json={
        "type": "agent", "name": new_name("other"), "description": "", "definition": {}, "enabled": True}), 201)
    for member in ({"conversation": first["conversation"]["id"]}, {"previous_response_id": first["id"]}):
        assert respond(talker, 409, model=other["name"], **member)["error"]["code"] == "thread_of_another_agent"


def test_a_model_does_not_continue_a_thread_silently(talker):
    first = respond(talker, model="assistant")
    error = respond(talker, 400, previous_response_id=first["id"])["error"]
    assert error["param"] == "previous_response_id" and "no threads" in error["message"]


@pytest.mark.parametrize("content", [b"[" * 10_000_000, b'{"input": ' + b"[" * 5_000_000 + b"]" * 5_000_000 + b"}",
                                     b'{"input": "\\ud800"}', b"", b"[]", b"\xff"],
                         ids=["10 MB of brackets", "deep input", "lone surrogate", "empty", "array", "not UTF-8"])
def test_a_hostile_body_is_refused_in_the_protocols_format(talker, content):
    response = talker.gateway.http.post("/v1/responses", content=content)
    assert response.status_code == 400 and response.json()["error"]["type"] == "invalid_request_error"
