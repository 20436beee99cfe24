"""`@anthropic-ai/sdk` as the client."""

from stubs.provider import Reply, ToolCall
from talker import MODEL


def test_a_message_is_received(programs):
    programs.stub.script(Reply("Sunny."))
    message = programs.script("anthropic.mjs", "whole")
    assert [block["text"] for block in message["content"]] == ["Sunny."] and message["stop_reason"] == "end_turn"
    assert message["usage"]["output_tokens"] == 5


def test_a_stream_is_assembled(programs):
    programs.stub.script(Reply("Sunny and warm.", deltas=3, reasoning="Hm."))
    result = programs.script("anthropic.mjs", "stream")
    thinking, text = result["message"]["content"]
    assert (thinking["thinking"], text["text"]) == ("Hm.", "Sunny and warm.")
    assert result["message"]["usage"]["input_tokens"] == 10
    assert result["events"][0] == "message_start" and result["events"][-1] == "message_stop"


def test_a_tool_result_leads_to_the_answer(programs):
    programs.stub.script(Reply("I look.", tool_calls=[ToolCall("weather", {"city": "Rome"}, id="call_1")]),
                         Reply("It is sunny."))
    result = programs.script("anthropic.mjs", "tools")
    assert result["asked"]["content"][-1]["input"] == {"city": "Rome"}
    assert result["asked"]["stop_reason"] == "tool_use"
    assert result["answered"]["content"][0]["text"] == "It is sunny."
    assert programs.stub.requests[-1].json["messages"][-1]["content"] == "sunny"


def test_tokens_are_counted(programs):
    assert programs.script("anthropic.mjs", "count")["input_tokens"] > 0


def test_models_are_listed_page_by_page(programs):
    programs.stub.models = ["talker-1", "talker-2", "talker-3"]
    result = programs.script("anthropic.mjs", "models")
    ids = [model["id"] for model in result["listed"]]
    assert "assistant" in ids and MODEL in ids and len(set(ids)) == len(ids)
    assert result["one"]["id"] == MODEL and result["one"]["type"] == "model"


def test_errors_have_the_classes_of_the_client(programs):
    assert programs.script("anthropic.mjs", "errors") == [
        {"name": "NotFoundError", "status": 404, "type": "not_found_error"},
        {"name": "BadRequestError", "status": 400, "type": "invalid_request_error"},
        {"name": "AuthenticationError", "status": 401, "type": "authentication_error"}]


def test_an_error_in_a_stream_is_an_error_of_the_client(programs):
    programs.stub.script(Reply("one two three", deltas=3, after=2, fault="error"))
    result = programs.script("anthropic.mjs", "broken")
    assert "".join(result["texts"]) in "one two three" and result["type"]
