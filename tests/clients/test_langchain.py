"""LangChain's ChatOpenAI as the client."""

from stubs.provider import Reply, ToolCall


def test_answers_of_an_agent_and_a_model_and_a_tool_call_are_received(programs):
    programs.stub.script("From the agent.", Reply("Hello there", deltas=3),
                         Reply("", tool_calls=[ToolCall("weather", {"city": "Rome"}, id="call_1")]), "It is sunny.")
    assert programs.script("langchain.mjs") == {
        "asked": "From the agent.", "streamed": "Hello there", "answer": "It is sunny.", "usage": 15}
    assert "sunny in Rome" in str(programs.stub.requests[-1].json["messages"][-1]["content"])
