"""`ai` with `@ai-sdk/openai-compatible` as the client."""

from stubs.provider import Reply, ToolCall


def test_text_and_reasoning_are_received(programs):
    programs.stub.script(Reply("Sunny.", reasoning="Hm."))
    result = programs.script("ai_sdk.mjs", "text")
    assert (result["text"], result["reasoningText"], result["finishReason"]) == ("Sunny.", "Hm.", "stop")
    assert result["usage"]["outputTokens"] == 5


def test_client_runs_a_tool_and_gets_the_answer(programs):
    programs.stub.script(Reply("", tool_calls=[ToolCall("weather", {"city": "Rome"}, id="call_1")]),
                         Reply("It is sunny."))
    assert programs.script("ai_sdk.mjs", "tools") == {"text": "It is sunny.", "steps": 2}
    assert "sunny in Rome" in str(programs.stub.requests[-1].json["messages"][-1]["content"])
