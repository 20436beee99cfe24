"""Agents as models of Anthropic's Messages API. See docs/contract/clients.md."""

import pytest

from checks import UNKNOWN_ID, accepted
from stubs.provider import Fault, Reply, ToolCall
from test_anthropic_messages import THINKING, VERSION, WEATHER, events_in, outline


def user(content):
    return {"role": "user", "content": content}


def send(talker, *messages, headers=None, **members):
    body = {"model": "assistant", "max_tokens": 4096, "messages": list(messages), **members}
    return talker.gateway.http.post("/v1/messages", json=body, headers=VERSION | (headers or {}))


def ask(talker, *messages, **members):
    return accepted(send(talker, *messages, **members))


def error_of(talker, status, *messages, **members):
    response = send(talker, *messages, **members)
    assert response.status_code == status, response.text
    assert response.json()["type"] == "error"
    return response.json()["error"]


def turns(talker, thread_id):
    listed = accepted(talker.gateway.http.get(f"/threads/{thread_id}/turns"))
    return [(turn["role"], turn["content"]) for turn in reversed(listed)]


def test_an_agent_answers_on_a_new_thread(talker):
    talker.stub.script(Reply("Good morning."))
    response = send(talker, user("Hello"), system="Speak like a pirate.")
    message = accepted(response)
    assert message["model"] == "assistant" and message["stop_reason"] == "end_turn"
    assert [block["text"] for block in message["content"]] == ["Good morning."]
    assert message["usage"]["input_tokens"] == 10 and message["usage"]["output_tokens"] == 5
    assert talker.system().endswith("Speak like a pirate.")
    thread = response.headers["x-thread-id"]
    assert message["metadata"] == {"thread_id": thread}
    assert turns(talker, thread) == [("user", "Hello"), ("assistant", "Good morning.")]


def test_an_agent_streams_its_thoughts_and_its_answer(talker):
    talker.stub.script(Reply("one two three", deltas=3, reasoning="Hm."))
    events = events_in(send(talker, user("Hi"), stream=True, **THINKING))
    assert outline(events) == ["start 0 thinking", "delta 0 thinking_delta", "stop 0", "start 1 text",
                               *["delta 1 text_delta"] * 3, "stop 1"]
    assert events[-2]["delta"]["stop_reason"] == "end_turn" and events[-2]["usage"]["output_tokens"] == 5


def test_a_client_that_sends_the_whole_conversation_continues_one_thread(talker):
    talker.stub.script("First answer.", "Second answer.")
    first = ask(talker, user("A first message"))
    second = ask(talker, user([{"type": "text", "text": "A first message"}]),
                 {"role": "assistant", "content": first["content"]}, user("A second message"))
    assert second["metadata"] == first["metadata"]
    assert [role for role, _ in turns(talker, first["metadata"]["thread_id"])] == [
        "user", "assistant", "user", "assistant"]


def test_a_named_thread_is_continued(talker):
    thread = ask(talker, user("Hello"))["metadata"]["thread_id"]
    assert ask(talker, user("Again"), metadata={"thread_id": thread})["metadata"]["thread_id"] == thread
    assert ask(talker, user("More"), headers={"X-Thread-Id": thread})["metadata"]["thread_id"] == thread


def test_a_call_of_a_client_tool_ends_the_answer_and_its_result_continues_it(talker):
    talker.stub.script(Reply("I look.", tool_calls=[ToolCall("weather", {"city": "Rome"}, id="call_m1")]), "Sunny.")
    first = ask(talker, user("Weather in Rome?"), tools=[WEATHER])
    assert first["stop_reason"] == "tool_use"
    use = first["content"][-1]
    assert (use["type"], use["name"], use["input"]) == ("tool_use", "weather", {"city": "Rome"})
    result = {"type": "tool_result", "tool_use_id": use["id"], "content": "sunny"}
    second = ask(talker, user("Weather in Rome?"), {"role": "assistant", "content": first["content"]}, user([result]),
                 tools=[WEATHER])
    assert second["content"][0]["text"].strip() == "Sunny." and second["metadata"] == first["metadata"]
    asked = talker.stub.requests[-1].json["messages"]
    assert asked[-1]["role"] == "tool" and asked[-1]["content"] == "sunny"


def test_an_unknown_thread_is_not_found(talker):
    assert error_of(talker, 404, user("Hi"), metadata={"thread_id": UNKNOWN_ID})["type"] == "not_found_error"


def test_a_thread_of_another_agent_is_an_invalid_request(talker, new_name):
    name = new_name("other")
    accepted(talker.gateway.http.post("/extensions", json={
        "type": "agent", "name": name, "description": "d", "definition": {}, "enabled": True}), 201)
    thread = accepted(talker.gateway.http.post("/threads", json={"agent_id": name}), 201)
    error = error_of(talker, 409, user("Hi"), metadata={"thread_id": thread["id"]})
    assert error == {"type": "invalid_request_error", "message": "the thread is of another agent"}


@pytest.mark.parametrize("members, param", [
    ({"stop_sequences": ["END"]}, "stop_sequences"),
    ({"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}}, "output_config.format"),
    ({"tools": [WEATHER], "tool_choice": {"type": "any"}}, "tool_choice"),
])
def test_an_error_names_the_parameter_that_agents_do_not_support(talker, members, param):
    error = error_of(talker, 400, user("Hi"), **members)
    assert error["message"].startswith(f"{param}: an agent cannot do this")
    assert talker.stub.requests == []


@pytest.mark.parametrize("stream", [False, True])
def test_a_failed_answer_is_an_error_of_the_protocol(talker, stream):
    talker.stub.script(Fault(400, "not today"))
    error = error_of(talker, 502, user("Hi"), stream=stream)
    assert error["type"] == "api_error" and "not today" in error["message"]


def test_an_answer_that_fails_in_mid_stream_ends_with_one_error(talker):
    talker.stub.script(Reply("one two three", deltas=3, after=2, fault="error"))
    events = events_in(send(talker, user("Hi"), stream=True))
    kinds = [event["type"] for event in events]
    assert kinds.count("error") == 1 and kinds[-1] == "error" and "message_stop" not in kinds


def test_tokens_of_a_request_to_an_agent_are_counted(talker):
    body = {"model": "assistant", "messages": [user("Hello")]}
    assert accepted(talker.gateway.http.post("/v1/messages/count_tokens", json=body))["input_tokens"] > 0
    assert talker.stub.requests == []


@pytest.mark.parametrize("length", [64, 65, 128])
def test_tool_of_the_client_may_have_a_name_as_long_as_in_the_protocol(talker, length):
    name = "look_" * 25 + "at_"
    name = name[:length].ljust(length, "x")
    talker.stub.script(Reply(tool_calls=[ToolCall(name, {"a": 1}, "call_1")]), "Done.")
    tools = [{"name": name, "input_schema": {"type": "object"}}]
    message = ask(talker, user("Look."), tools=tools)
    (use,) = [block for block in message["content"] if block["type"] == "tool_use"]
    assert (message["stop_reason"], use["name"], use["input"]) == ("tool_use", name, {"a": 1})
    result = {"type": "tool_result", "tool_use_id": use["id"], "content": "A wall."}
    ended = ask(talker, user("Look."), {"role": "assistant", "content": message["content"]}, user([result]), tools=tools)
    assert [block["text"] for block in ended["content"]] == ["Done."]
    sent = talker.stub.requests[-1].json
    called, = [call["function"]["name"] for each in sent["messages"] for call in each.get("tool_calls", [])]
    assert called in [tool["function"]["name"] for tool in sent["tools"]] and len(called) == 64
