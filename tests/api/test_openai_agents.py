"""Clients of OpenAI's Chat Completions API that use agents. See docs/contract/clients.md."""

import base64
import json
import struct

import pytest

import http_client
from checks import UNKNOWN_ID, accepted, at_once
from stubs.provider import Fault, Reply, ToolCall
from test_openai_chat import events_of
from tools import new_agent, new_thread

PLACE = {"type": "function", "function": {"name": "place", "description": "Where the editor is.", "parameters": {
    "type": "object", "properties": {"line": {"type": "integer"}}}}}


def chat(talker, *messages, status=200, headers=None, **members):
    body = {"model": "assistant", "messages": list(messages), **members}
    return accepted(talker.gateway.http.post("/v1/chat/completions", json=body, headers=headers), status)


def user(text):
    return {"role": "user", "content": text}


def message_in(response):
    return response["choices"][0]["message"]


def turns(talker, thread_id):
    listed = accepted(talker.gateway.http.get(f"/threads/{thread_id}/turns"))
    return [(turn["role"], turn["content"]) for turn in reversed(listed)]


def test_an_agent_answers_on_a_new_thread(talker):
    talker.stub.script(Reply("Good morning.", reasoning="Hm."))
    response = chat(talker, user("Hello"))
    assert response["model"] == "assistant" and message_in(response)["content"] == "Good morning."
    assert message_in(response)["reasoning_content"] == "Hm." and response["usage"]["total_tokens"] == 15
    assert turns(talker, response["metadata"]["thread_id"]) == [("user", "Hello"), ("assistant", "Good morning.")]


def test_tokens_of_reasoning_are_counted(talker):
    used = {"input": 10, "output": 9, "cache_read": 2, "cache_write": 0, "reasoning": 4}
    tools = [PLACE]
    talker.stub.script(Reply("", tool_calls=[ToolCall("place", {}, id="a")], usage=used), Reply("Here.", usage=used))
    first = chat(talker, user("Where?"), tools=tools)
    result = {"role": "tool", "tool_call_id": message_in(first)["tool_calls"][0]["id"], "content": "line 3"}
    second = chat(talker, user("Where?"), message_in(first), result, tools=tools)
    for usage in (first["usage"], second["usage"]):
        assert usage["completion_tokens"] == 9 and usage["completion_tokens_details"]["reasoning_tokens"] == 4
        assert usage["prompt_tokens"] == 12 and usage["prompt_tokens_details"]["cached_tokens"] == 2


def test_store_is_accepted_for_an_agent(talker):
    talker.answers("I keep it.")
    response = chat(talker, user("Keep this"), store=True)
    assert turns(talker, response["metadata"]["thread_id"]) == [("user", "Keep this"), ("assistant", "I keep it.")]


def test_an_agent_streams(talker):
    talker.stub.script(Reply("one two three", deltas=3))
    response = talker.gateway.http.post("/v1/chat/completions", json={
        "model": "assistant", "messages": [user("Hi")], "stream": True})
    chunks = events_of(response)
    assert "".join(c["choices"][0]["delta"].get("content") or "" for c in chunks) == "one two three"
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
    assert turns(talker, response.headers["x-thread-id"])[-1] == ("assistant", "one two three")


def test_a_client_that_sends_the_whole_conversation_continues_one_thread(talker):
    talker.stub.script("First answer.", "Second answer.")
    first = chat(talker, user("A first question"))
    second = chat(talker, user("A first question"), {"role": "assistant", "content": "First answer.\n"},
                  user("A second question"))
    assert second["metadata"] == first["metadata"]
    assert [role for role, _ in turns(talker, first["metadata"]["thread_id"])] == [
        "user", "assistant", "user", "assistant"]


def test_a_question_of_two_messages_continues_one_thread(talker):
    talker.stub.script("Both.", "More.")
    question = [user("One question"), user("in two messages")]
    first = chat(talker, *question)
    second = chat(talker, *question, message_in(first), user("And more?"))
    assert second["metadata"] == first["metadata"]
    assert turns(talker, first["metadata"]["thread_id"])[0] == ("user", "One question\n\nin two messages")


@pytest.mark.parametrize("omitted", [False, True], ids=["sends it", "leaves it out"])
def test_an_empty_answer_does_not_end_a_thread(talker, omitted):
    talker.stub.script("", "", "Here I am.")
    messages, threads = [], set()
    for question in ("Are you there?", "Hello?", "Anybody?"):
        messages.append(user(f"{question} {omitted}"))
        response = chat(talker, *messages)
        threads.add(response["metadata"]["thread_id"])
        if not omitted:
            messages.append({"role": "assistant", "content": message_in(response)["content"]})
    thread, = threads
    assert [text for role, text in turns(talker, thread) if role == "user"] == [m["content"] for m in messages
                                                                               if m["role"] == "user"]


@pytest.mark.parametrize("path, body", [
    ("/v1/chat/completions", lambda parts: {"messages": [{"role": "user", "content": parts("text")}]}),
    ("/v1/responses", lambda parts: {"input": [{"role": "user", "content": parts("input_text")}]}),
    ("/v1/messages", lambda parts: {"max_tokens": 100, "messages": [{"role": "user", "content": parts("text")}]})],
    ids=lambda value: value if isinstance(value, str) else "")
def test_parts_of_a_message_are_lines_in_each_protocol(talker, path, body):
    talker.stub.script("Yes.")
    sent = body(lambda kind: [{"type": kind, "text": text} for text in ("A file.", "What is it?")])
    accepted(talker.gateway.http.post(path, json={"model": "assistant", **sent}))
    assert talker.conversation()[-1] == ("user", "A file.\nWhat is it?")


def test_a_conversation_with_another_beginning_gets_a_new_thread(talker):
    talker.stub.script("One.", "Two.")
    first = chat(talker, user("Beginning"))
    other = chat(talker, user("Beginning"), {"role": "assistant", "content": "Something else."}, user("And?"))
    assert other["metadata"] != first["metadata"]
    assert turns(talker, other["metadata"]["thread_id"]) == [
        ("user", "Beginning"), ("assistant", "Something else."), ("user", "And?"), ("assistant", "Two.")]
    assert ("assistant", "Something else.") in talker.conversation()


def test_a_thread_that_has_grown_is_not_continued(talker):
    talker.stub.script("One.", "Two.", "Three.")
    first = chat(talker, user("It grows"))
    thread = first["metadata"]["thread_id"]
    chat(talker, user("More"), metadata={"thread_id": thread})
    third = chat(talker, user("It grows"), {"role": "assistant", "content": "One."}, user("Again"))
    assert third["metadata"]["thread_id"] != thread


def assistant(text):
    return {"role": "assistant", "content": text}


def test_a_thread_that_a_person_wrote_to_is_continued(talker):
    thread = new_thread(talker.gateway, {"id": "assistant"})
    talker.says(thread, "By a person", answer="To a person.")
    talker.stub.script("To a program.")
    continued = chat(talker, user("By a person"), assistant("To a person."), user("By a program"))
    assert continued["metadata"]["thread_id"] == thread["id"]
    talker.says(thread, "By a person again", answer="To a person again.")
    talker.stub.script("To a program again.")
    messages = [user("By a person"), assistant("To a person."), user("By a program"), assistant("To a program."),
                user("By a person again"), assistant("To a person again."), user("By a program again")]
    assert chat(talker, *messages)["metadata"]["thread_id"] == thread["id"]


@pytest.mark.parametrize("roles", [("user", "assistant"), ("user", "user", "assistant"), ("assistant",)])
def test_a_thread_of_inserted_turns_is_continued(talker, roles):
    thread = new_thread(talker.gateway, {"id": "assistant"})
    messages = [{"role": role, "content": f"Inserted {len(roles)} {at}"} for at, role in enumerate(roles)]
    for message in messages:
        accepted(talker.gateway.http.post(f"/threads/{thread['id']}/turns", json=message), 201)
    other = chat(talker, *messages[:-1], assistant("Not inserted"), user("And?"))
    assert other["metadata"]["thread_id"] != thread["id"]
    assert chat(talker, *messages, user("And?"))["metadata"]["thread_id"] == thread["id"]


def test_a_thread_whose_last_turns_were_deleted_is_continued(talker):
    talker.stub.script("One.", "Two.", "Three.")
    first = chat(talker, user("It shrinks"))
    thread = first["metadata"]["thread_id"]
    chat(talker, user("It shrinks"), assistant("One."), user("More"))
    for turn in accepted(talker.gateway.http.get(f"/threads/{thread}/turns"))[:2]:
        assert talker.gateway.http.delete(f"/turns/{turn['id']}").status_code == 204
    third = chat(talker, user("It shrinks"), assistant("One."), user("Again"))
    assert third["metadata"]["thread_id"] == thread


def test_a_named_thread_is_continued(talker):
    first = chat(talker, user("Hello"))
    thread = first["metadata"]["thread_id"]
    assert chat(talker, user("Again"), metadata={"thread_id": thread})["metadata"]["thread_id"] == thread
    assert chat(talker, user("More"), headers={"X-Thread-Id": thread})["metadata"]["thread_id"] == thread
    assert len(turns(talker, thread)) == 6


def test_an_unknown_thread_is_not_found(talker):
    assert chat(talker, user("Hi"), metadata={"thread_id": UNKNOWN_ID}, status=404)["error"]["param"] == \
        "metadata.thread_id"


def test_a_thread_of_another_agent_is_a_conflict(talker, new_name):
    name = new_name("other")
    accepted(talker.gateway.http.post("/extensions", json={
        "type": "agent", "name": name, "description": "d", "definition": {}, "enabled": True}), 201)
    thread = accepted(talker.gateway.http.post("/threads", json={"agent_id": name}), 201)
    assert chat(talker, user("Hi"), metadata={"thread_id": thread["id"]}, status=409)["error"]["code"] == \
        "thread_of_another_agent"


def test_the_clients_system_message_follows_the_soul(talker):
    chat(talker, {"role": "system", "content": "Speak like a pirate."}, user("Hi"))
    assert talker.system().endswith("Speak like a pirate.") and len(talker.system()) > 100


def test_system_messages_in_the_middle_follow_the_soul_too(talker):
    chat(talker, user("Hi"), {"role": "system", "content": "Speak like a pirate."})
    assert talker.system().endswith("Speak like a pirate.")
    sent = talker.stub.requests[-1].json["messages"]
    assert [message["role"] for message in sent] == ["system", "user"]


def test_a_tool_of_the_client_ends_the_answer_and_its_result_continues_it(talker):
    talker.stub.script(Reply("Let me look.", tool_calls=[ToolCall("place", {"line": 3}, id="call_p1")]),
                       "It is line 3.")
    first = chat(talker, user("Where am I?"), tools=[PLACE])
    assert first["choices"][0]["finish_reason"] == "tool_calls"
    call, = message_in(first)["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"line": 3}
    second = chat(talker, user("Where am I?"), message_in(first),
                  {"role": "tool", "tool_call_id": call["id"], "content": "main.cpp:3"}, tools=[PLACE])
    assert message_in(second)["content"].strip() == "It is line 3."
    assert second["metadata"] == first["metadata"]
    sent = talker.stub.requests[-1].json["messages"]
    assert sent[-1]["role"] == "tool" and sent[-1]["content"] == "main.cpp:3"
    assert [role for role, _ in turns(talker, first["metadata"]["thread_id"])] == ["user", "tool", "assistant"]


def test_results_reach_their_conversation_although_the_model_repeats_ids(talker):
    """Models use ids such as call_1 in each conversation, so clients get ids of the gateway."""
    talker.stub.script(*[Reply("Look.", tool_calls=[ToolCall("place", {"line": line}, id="call_1")]) for line in (1, 2)])
    questions = [user("Where is the first?"), user("Where is the second?")]
    pending = [chat(talker, question, tools=[PLACE]) for question in questions]
    calls = [message_in(response)["tool_calls"][0]["id"] for response in pending]
    assert len({*calls, "call_1"}) == 3
    talker.stub.script("There.", "Here.")
    for question, response, call, place in reversed([*zip(questions, pending, calls, ["a.cpp", "b.cpp"])]):
        done = chat(talker, question, message_in(response), {"role": "tool", "tool_call_id": call, "content": place},
                    tools=[PLACE])
        assert done["metadata"] == response["metadata"]
        sent = talker.stub.requests[-1].json["messages"]
        assert sent[-1]["content"] == place and sent[-1]["tool_call_id"] == "call_1"


def test_results_of_calls_with_the_same_id_are_distinguished(talker):
    talker.stub.script(Reply("", tool_calls=[ToolCall("place", {"line": line}, id="same") for line in (1, 2)]), "Both.")
    question = user("Where are both?")
    first = chat(talker, question, tools=[PLACE])
    ids = [call["id"] for call in message_in(first)["tool_calls"]]
    assert len(set(ids)) == 2
    results = [{"role": "tool", "tool_call_id": one, "content": f"result {number}"} for number, one in enumerate(ids)]
    chat(talker, question, message_in(first), *results, tools=[PLACE])
    sent = [message["content"] for message in talker.stub.requests[-1].json["messages"] if message["role"] == "tool"]
    assert sent == ["result 0", "result 1"]


def test_the_conversation_continues_after_a_tool_of_the_client(talker):
    talker.stub.script(Reply("Look.", tool_calls=[ToolCall("place", {}, id="call_p2")]), "Done.", "Bye.")
    question = user("Where am I now?")
    first = chat(talker, question, tools=[PLACE])
    result = {"role": "tool", "tool_call_id": message_in(first)["tool_calls"][0]["id"], "content": "here"}
    second = chat(talker, question, message_in(first), result, tools=[PLACE])
    assert message_in(second)["content"] == "Done."
    third = chat(talker, question, message_in(first), result, message_in(second), user("Thanks"), tools=[PLACE])
    assert third["metadata"] == first["metadata"]


EARLIER_CALL = [{"role": "assistant", "content": "Look.", "tool_calls": [
    {"id": "call_earlier", "type": "function", "function": {"name": "place", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "call_earlier", "content": "a cave"}]


def test_a_conversation_with_calls_that_began_elsewhere_continues_one_thread(talker):
    talker.stub.script("Dark.", "Bye.")
    conversation = [user("Where was I then?"), *EARLIER_CALL, {"role": "assistant", "content": "In a cave."},
                    user("And how is it there?")]
    first = chat(talker, *conversation)
    second = chat(talker, *conversation, message_in(first), user("Thanks"))
    assert second["metadata"] == first["metadata"]
    assert ("assistant", "[place returned]\na cave") in turns(talker, first["metadata"]["thread_id"])


def test_results_that_no_run_waits_for_become_part_of_the_question(talker):
    talker.stub.script("Dark.", "Bye.")
    conversation = [user("Where was I long ago?"), *EARLIER_CALL, user("Well?")]
    first = chat(talker, *conversation)
    assert turns(talker, first["metadata"]["thread_id"])[-2] == ("user", "[place returned]\na cave\n\nWell?")
    second = chat(talker, *conversation, message_in(first), user("Thanks"))
    assert second["metadata"] == first["metadata"]


def test_the_agents_own_calls_are_not_returned_to_the_client(talker):
    talker.stub.script(Reply("", tool_calls=[ToolCall("Glob", {"pattern": "*"})]), "Nothing there.")
    response = chat(talker, user("What files are there?"))
    assert response["choices"][0]["finish_reason"] == "stop" and "tool_calls" not in message_in(response)


def test_an_agents_answer_continues_without_the_client(talker):
    held = talker.stub.hold("begun ")
    with talker.gateway.events() as events:
        with http_client.new_client(base_url=talker.gateway.url, headers=talker.gateway.authorization) as http:
            with http.stream("POST", "/v1/chat/completions", json={
                    "model": "assistant", "messages": [user("Go on")], "stream": True}) as response:
                thread = response.headers["x-thread-id"]
                next(response.iter_bytes())
        held.release("and done")
        events.until(lambda message: message["type"] == "finish" and message["threadId"] == thread)
    assert turns(talker, thread)[-1] == ("assistant", "begun and done")


def test_an_answer_that_is_stopped_does_not_look_complete(talker):
    talker.stub.hold("half ")
    with http_client.new_client(base_url=talker.gateway.url, headers=talker.gateway.authorization) as http:
        with http.stream("POST", "/v1/chat/completions", json={
                "model": "assistant", "messages": [user("Go on")], "stream": True}) as response:
            chunks = response.iter_bytes()
            received = next(chunks)
            accepted(talker.gateway.http.post("/chat/stop", json={"threadId": response.headers["x-thread-id"]}))
            received += b"".join(chunks)
    assert b'"finish_reason":"length"' in received and b'"finish_reason":"stop"' not in received


def test_two_requests_on_one_thread_are_queued(talker):
    thread = chat(talker, user("Hello"))["metadata"]["thread_id"]
    at_once(2, lambda i: chat(talker, user(f"number {i}"), metadata={"thread_id": thread}))
    assert [role for role, _ in turns(talker, thread)].count("assistant") == 3


def test_unsupported_settings_of_an_agent_are_named(talker):
    for members, param in [({"response_format": {"type": "json_object"}}, "response_format"),
                           ({"stop": "END"}, "stop"), ({"tools": [PLACE], "tool_choice": "required"}, "tool_choice")]:
        assert chat(talker, user("Hi"), status=400, **members)["error"]["param"] == param


def test_settings_apply_to_every_call_of_the_agents_model(talker):
    chosen = {"max_completion_tokens": 77, "reasoning_effort": "low", "parallel_tool_calls": False, "temperature": 0.3,
              "top_p": 0.5, "seed": 7, "verbosity": "low", "service_tier": "flex", "user": "ada"}
    talker.stub.script(Reply("", tool_calls=[ToolCall("Glob", {"pattern": "*"})]), "Done.")
    before = len(talker.stub.requests)
    assert message_in(chat(talker, user("Look."), **chosen, prompt_cache_key="own",
                           metadata={"ticket": "7"}))["content"]
    calls = [request.json for request in talker.stub.requests[before:] if "tools" in request.json]
    assert len(calls) == 2
    for call in calls:
        sent = {**call, "max_completion_tokens": call.get("max_tokens")}
        assert {name: sent[name] for name in chosen} == chosen
        assert "metadata" not in call and call.get("prompt_cache_key") != "own"


def test_token_limit_is_never_more_than_the_agents_own(talker):
    chat(talker, user("Hi"), max_tokens=50_000_000)
    assert talker.stub.requests[-1].json["max_tokens"] <= 8192


def test_setting_that_the_service_refuses_is_a_client_error(talker):
    talker.stub.script(Fault(400, "Unsupported value: 'reasoning_effort'"))
    error = chat(talker, user("Hi"), status=400, reasoning_effort="low")["error"]
    assert error["type"] == "invalid_request_error" and "reasoning_effort" in error["message"]


def test_a_failed_answer_is_an_error_of_the_protocol(talker):
    talker.stub.script(Fault(400, "not today"))
    assert "not today" in chat(talker, user("Hi"), status=502)["error"]["message"]


def test_agent_of_a_rate_limited_model_returns_retry_after(talker):
    for status, kind in ((429, "rate_limit_exceeded"), (503, "service_unavailable")):
        talker.stub.script(Fault(status, "too much", headers={"retry-after": "61.5"}))
        response = talker.gateway.http.post("/v1/chat/completions", json={
            "model": "assistant", "messages": [user("Hi")], "stream": True})
        error = accepted(response, status)["error"]
        assert response.headers["retry-after"] == "62"
        assert error["code"] == kind and "too much" in error["message"]


def test_agents_and_models_are_listed(talker):
    listed = accepted(talker.gateway.http.get("/v1/models"))
    assert listed["object"] == "list"
    ids = [model["id"] for model in listed["data"]]
    assert "assistant" in ids and talker.model in ids
    assert all(set(model) == {"id", "object", "created", "owned_by"} for model in listed["data"])
    for name in ("assistant", talker.model, talker.model.replace("/", "%2F")):
        shown = http_client.get(f"{talker.gateway.url}/v1/models/{name}", headers=talker.gateway.authorization)
        assert accepted(shown)["object"] == "model"
    for name in ("none", "/assistant", "assistant/", talker.model.replace("/", "//")):
        missing = http_client.get(f"{talker.gateway.url}/v1/models/{name}", headers=talker.gateway.authorization)
        assert accepted(missing, 404)["error"]["code"] == "model_not_found", name


def test_models_are_listed_in_the_format_of_anthropic(talker):
    listed = accepted(talker.gateway.http.get("/v1/models", headers={"anthropic-version": "2023-06-01"}))
    assert listed["has_more"] is False and {model["type"] for model in listed["data"]} == {"model"}
    assert listed["first_id"] == listed["data"][0]["id"] and listed["last_id"] == listed["data"][-1]["id"]


def test_models_are_paged_as_anthropic_does(talker):
    def page(status=200, **query):
        return accepted(talker.gateway.http.get("/v1/models", params=query,
                                                headers={"anthropic-version": "2023-06-01"}), status)

    ids = [model["id"] for model in page()["data"]]
    assert len(ids) >= 2
    first, found = page(limit=1), []
    assert first["has_more"] is True and first["first_id"] == first["last_id"] == ids[0]
    listed = first
    while listed["data"]:
        found += [model["id"] for model in listed["data"]]
        listed = page(limit=1, after_id=listed["last_id"])
    assert found == ids and (listed["has_more"], listed["first_id"], listed["last_id"]) == (False, None, None)
    before = page(limit=1, before_id=ids[-1])
    assert [model["id"] for model in before["data"]] == [ids[-2]] and before["has_more"] is (len(ids) > 2)
    assert page(limit=1, before_id=ids[1])["has_more"] is False
    assert [model["id"] for model in page(after_id=ids[0])["data"]] == ids[1:]
    refusal = talker.gateway.http.get("/v1/models", params={"after_id": "none"},
                                      headers={"anthropic-version": "2023-06-01"})
    assert refusal.status_code == 400 and refusal.json()["error"] == {
        "type": "invalid_request_error", "message": "after_id: no model has this id"}
    assert [model["id"] for model in accepted(talker.gateway.http.get("/v1/models?limit=1"))["data"]] == ids


def test_a_name_shared_by_an_agent_and_a_service_means_the_agent(talker):
    accepted(talker.gateway.http.post("/extensions", json={
        "type": "agent", "name": "stub", "description": "d", "definition": {}, "enabled": True}), 201)
    try:
        response = accepted(talker.gateway.http.post("/v1/chat/completions", json={
            "model": "stub", "messages": [user("Who are you?")]}))
        assert response["metadata"]["thread_id"]
        other = accepted(talker.gateway.http.post("/v1/chat/completions", json={
            "model": talker.model, "messages": [user("Who are you?")]}))
        assert "metadata" not in other
    finally:
        talker.gateway.http.delete("/extensions/stub")


@pytest.mark.parametrize("path, param", [("/v1/chat/completions", "messages"), ("/v1/responses", "input")])
def test_an_agent_needs_a_question(talker, path, param):
    empty = "" if param == "input" else [user("")]
    error = accepted(talker.gateway.http.post(path, json={"model": "assistant", param: empty}), 400)["error"]
    assert error["param"] == param and error["message"].startswith(f"{param}: the last message must be")


def test_embeddings_are_passed_through(talker):
    result = accepted(talker.gateway.http.post("/v1/embeddings", json={"model": talker.model, "input": ["a"]}))
    assert result["model"] == talker.model and result["data"][0]["embedding"] == [0.5]
    assert talker.stub.requests[-1].path == "/v1/embeddings"
    assert talker.stub.requests[-1].json == {"model": "talker-1", "input": ["a"]}


def test_embeddings_are_in_base64_if_the_service_knows_only_numbers(talker):
    body = {"model": talker.model, "input": ["a"], "encoding_format": "base64"}
    result = accepted(talker.gateway.http.post("/v1/embeddings", json=body))
    assert talker.stub.requests[-1].json["encoding_format"] == "base64"
    assert struct.unpack("<1f", base64.b64decode(result["data"][0]["embedding"])) == (0.5,)


def test_embeddings_are_retried_like_answers(talker):
    no_delay = {"retry-after": "0"}
    talker.stub.script(Fault(429, body={}, headers=no_delay), Fault(503, body={}, headers=no_delay))
    result = accepted(talker.gateway.http.post("/v1/embeddings", json={"model": talker.model, "input": ["a"]}))
    assert result["data"][0]["embedding"] == [0.5] and len(talker.stub.requests) == 3
    talker.stub.script(*[Fault(503, body={}, headers=no_delay)] * 5)
    failed = talker.gateway.http.post("/v1/embeddings", json={"model": talker.model, "input": ["a"]})
    assert failed.status_code == 503 and len(talker.stub.requests) == 8, failed.text


def test_error_of_embeddings_names_the_parameter_that_the_service_names(talker):
    error = {"message": "must be at least 1", "type": "invalid_request_error", "param": "dimensions", "code": None}
    talker.stub.script(Fault(400, body={"error": error}))
    body = {"model": talker.model, "input": ["a"], "dimensions": -1}
    failed = accepted(talker.gateway.http.post("/v1/embeddings", json=body), 400)
    assert failed["error"]["param"] == "dimensions"


def test_agent_makes_no_embeddings(talker):
    result = accepted(talker.gateway.http.post("/v1/embeddings", json={"model": "assistant", "input": "a"}), 400)
    assert result["error"]["param"] == "model" and "agents make no embeddings" in result["error"]["message"]


def test_list_follows_every_change(own_talker, new_name):
    http = own_talker.gateway.http

    def listed():
        return [model["id"] for model in accepted(http.get("/v1/models"))["data"]]

    assert "assistant" in listed() and "live/one" not in listed()
    definition = {"kind": "model", "api": "openai-chat", "base_url": own_talker.stub.openai_url, "models": [{"id": "one"}]}
    service = {"type": "integration", "name": "live", "description": "", "enabled": True, "definition": definition}
    made = accepted(http.post("/extensions", json=service), 201)
    assert "live/one" in listed()
    accepted(http.patch(f"/extensions/{made['id']}", json={"definition": {**definition, "models": [{"id": "two"}]}}))
    assert "live/two" in listed() and "live/one" not in listed()
    agent = new_agent(own_talker.gateway, new_name("passer-by"))
    assert agent["name"] in listed()
    accepted(http.post(f"/extensions/{agent['id']}/toggle"))
    assert agent["name"] not in listed()
    accepted(http.patch("/settings", json={"default_model": "live/two"}))
    assert "live/two" in listed()
    assert http.delete(f"/extensions/{made['id']}").is_success
    assert not [name for name in listed() if name.startswith("live/")]
