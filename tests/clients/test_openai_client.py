"""`openai` as the client."""

import json

from stubs.provider import Reply, ToolCall
from talker import MODEL


def test_a_completion_is_received(programs):
    programs.stub.script(Reply("Sunny."))
    completion = programs.script("openai.mjs", "chat")
    assert completion["choices"][0]["message"]["content"] == "Sunny."
    assert completion["usage"]["total_tokens"] == 15


def test_a_stream_is_assembled(programs):
    programs.stub.script(Reply("Sunny and warm.", deltas=3))
    completion = programs.script("openai.mjs", "stream")
    assert completion["choices"][0]["message"]["content"] == "Sunny and warm."
    assert completion["usage"]["total_tokens"] == 15


def test_a_tool_result_leads_to_the_answer(programs):
    programs.stub.script(Reply("", tool_calls=[ToolCall("weather", {"city": "Rome"}, id="call_1")]),
                         Reply("It is sunny."))
    result = programs.script("openai.mjs", "tools")
    call, = result["asked"]["choices"][0]["message"]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"city": "Rome"}
    assert result["answered"]["choices"][0]["message"]["content"] == "It is sunny."


def test_models_are_listed(programs):
    result = programs.script("openai.mjs", "models")
    assert "assistant" in result["listed"] and MODEL in result["listed"] and result["one"]["id"] == MODEL


def test_a_response_is_received(programs):
    programs.stub.script(Reply("Sunny."))
    assert programs.script("openai.mjs", "response")["output_text"] == "Sunny."


def test_a_streamed_response_has_a_tool_call(programs):
    programs.stub.script(Reply("", tool_calls=[ToolCall("weather", {"city": "Rome"}, id="call_1")]))
    result = programs.script("openai.mjs", "responseStream")
    assert result["numbers"] == sorted(set(result["numbers"]))
    call = next(item for item in result["final"]["output"] if item["type"] == "function_call")
    assert json.loads(call["arguments"]) == {"city": "Rome"}


def test_responses_on_a_socket_continue_each_other(programs):
    programs.stub.script("First.", "Second.")
    first, second = programs.script("openai.mjs", "socket")
    assert first["kinds"][0] == "response.created" and "response.output_text.delta" in first["kinds"]
    assert second["response"]["previous_response_id"] == first["response"]["id"]
    assert programs.talker.conversation() == [("user", "One"), ("assistant", "First."), ("user", "Two")]


def test_errors_have_the_classes_of_the_client(programs):
    assert programs.script("openai.mjs", "errors") == [
        {"name": "NotFoundError", "status": 404, "param": "model"},
        {"name": "BadRequestError", "status": 400, "param": "n"},
        {"name": "AuthenticationError", "status": 401, "param": None}]
