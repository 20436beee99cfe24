"""The tool loop: calls of models, their results, and what models see of them.

See docs/contract/tools.md#calls.
"""

import json

import pytest

from checks import accepted
from events import text_of
from extensions import patch
from stubs.provider import Fault, Reply
from tools import run_chat, call_tool, calls, new_agent, new_bound_agent, new_thread, of_kind, turns_of

WIRE_FORMATS = ("anthropic", "chat", "responses")


def search(query):
    return ("SearchTurns", {"query": query})


@pytest.fixture
def agent(talker, new_name):
    return new_agent(talker.gateway, new_name("worker"))


@pytest.fixture
def thread(talker, agent):
    return new_thread(talker.gateway, agent)


# Reasoning.


def test_metadata_has_the_beginning_of_the_reasoning(talker, thread):
    run_chat(talker, thread, Reply("Plums.", reasoning="Hm. " * 20_000))
    metadata = turns_of(talker.gateway, thread)[-1]["metadata"]
    assert metadata["reasoning_ms"] >= 0 and metadata["reasoning"] == "Hm. " * 8192 + "…"
    run_chat(talker, thread, "Pears.")
    assert not {"reasoning", "reasoning_ms"} & set(turns_of(talker.gateway, thread)[-1]["metadata"])


# One call, from the model and back.


def test_tool_is_called_and_its_result_returned(talker, thread):
    run = run_chat(talker, thread, calls(search("otters"), text="Let me look."), "There is nothing.")
    assert [event["type"] for event in run] == ["text-delta", "tool-start", "tool-end", "text-delta", "text-delta",
                                                "finish"]
    assert text_of(run) == "Let me look.\n\nThere is nothing."
    messages = talker.stub.requests[1].json["messages"]
    assert messages[-2]["role"] == "assistant" and messages[-2]["content"] == "Let me look."
    assert json.loads(messages[-2]["tool_calls"][0]["function"]["arguments"]) == {"query": "otters"}
    assert messages[-1]["role"] == "tool" and messages[-1]["content"] == "No turn matches."
    assert messages[-1]["tool_call_id"] == messages[-2]["tool_calls"][0]["id"]


def test_events_of_a_call(talker, thread):
    run = run_chat(talker, thread, calls((*search("otters"), "call_abc")), "Done.")
    start, end = of_kind(run, "tool-start")[0], of_kind(run, "tool-end")[0]
    assert (start["toolCallId"], start["toolName"], start["input"]) == ("call_abc", "SearchTurns", {"query": "otters"})
    assert (end["toolCallId"], end["toolName"], end["isError"]) == ("call_abc", "SearchTurns", False)
    assert end["output"] == "No turn matches." and isinstance(end["durationMs"], int)
    assert [event["seq"] for event in run] == list(range(1, len(run) + 1))


def test_each_call_is_a_turn_with_role_tool(talker, thread):
    run = run_chat(talker, thread, calls((*search("otters"), "call_abc")), "Done.")
    _, tool, answer = turns_of(talker.gateway, thread)
    assert (tool["role"], tool["content"]) == ("tool", "No turn matches.")
    assert {key: tool["metadata"][key] for key in ("run_id", "tool_call_id", "tool_name", "input", "is_error")} == {
        "run_id": run[0]["runId"], "tool_call_id": "call_abc", "tool_name": "SearchTurns", "input": {"query": "otters"},
        "is_error": False}
    assert isinstance(tool["metadata"]["duration_ms"], int)
    assert answer["role"] == "assistant" and answer["content"] == "Done."


def test_steps_have_text_positions_in_code_points(talker, thread):
    run_chat(talker, thread, calls((*search("a"), "one"), (*search("b"), "two"), text="Größe 🦦"),
          calls((*search("c"), "three")), calls((*search("d"), "four"), text="More."), "Done.")
    answer = turns_of(talker.gateway, thread, "assistant")[0]
    assert answer["content"] == "Größe 🦦\n\nMore.\n\nDone."
    assert answer["metadata"]["steps"] == [{"text_end": 7, "tool_call_ids": ["one", "two"]},
                                           {"text_end": 7, "tool_call_ids": ["three"]},
                                           {"text_end": 14, "tool_call_ids": ["four"]}]


def test_calls_of_models_and_tools_have_start_times_and_durations(talker, thread):
    usage = {"input": 100, "output": 7, "cache_read": 30, "cache_write": 0}
    run_chat(talker, thread, calls((*search("otters"), "one"), usage=usage), Reply("Done.", usage=usage))
    _, tool, answer = turns_of(talker.gateway, thread)
    first, second = answer["metadata"]["model_calls"]
    assert {key: first[key] for key in ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")} == {
        "input_tokens": 100, "output_tokens": 7, "cache_read_tokens": 30, "cache_write_tokens": 0}
    assert first["model"] == answer["metadata"]["model"]
    assert 0 <= first["at_ms"] and first["at_ms"] + first["duration_ms"] <= tool["metadata"]["at_ms"] + 1
    assert tool["metadata"]["at_ms"] + tool["metadata"]["duration_ms"] <= second["at_ms"] + 1
    assert second["at_ms"] + second["duration_ms"] <= answer["metadata"]["duration_ms"] + 1
    assert "waited_ms" not in tool["metadata"]


def test_usage_and_cost_are_summed_over_steps(talker, thread):
    usage = {"input": 100, "output": 7, "cache_read": 3, "cache_write": 0}
    run = run_chat(talker, thread, calls(search("a"), usage=usage), calls(search("b"), usage=usage), Reply("Done.", usage=usage))
    expected = {"input_tokens": 300, "output_tokens": 21, "cache_read_tokens": 9, "cache_write_tokens": 0}
    assert run[-1]["usage"] == expected
    assert turns_of(talker.gateway, thread, "assistant")[0]["metadata"]["usage"] == expected


def test_tools_are_offered_sorted_and_by_mode(talker, new_name):
    acting = new_thread(talker.gateway, new_agent(talker.gateway, new_name("acting")))
    run_chat(talker, acting, "Done.")
    offered = [tool["function"]["name"] for tool in talker.stub.requests[-1].json["tools"]]
    assert offered == sorted(offered) and {"SearchTurns", "Remember"} <= set(offered)
    planning = new_thread(talker.gateway, new_agent(talker.gateway, new_name("planning"), mode="plan"))
    run_chat(talker, planning, "Done.")
    offered = {tool["function"]["name"] for tool in talker.stub.requests[-1].json.get("tools", [])}
    assert offered <= {"Read", "Glob", "Grep", "WebFetch", "WebSearch"}


# Invalid calls are returned to the model, and the run continues.


def test_unknown_tool_is_an_error(talker, thread):
    end = call_tool(talker, thread, "Fly", {})
    offered = ", ".join(tool["function"]["name"] for tool in talker.stub.requests[-1].json["tools"])
    assert end["isError"] and end["output"] == f"there is no tool Fly; the tools are: {offered}"


@pytest.mark.parametrize("tool", ["", "no spaces, please", "x" * 5000, "../../etc", "Größe"])
def test_invalid_tool_name_does_not_end_the_run(talker, thread, tool):
    run = run_chat(talker, thread, calls((tool, {})), "Done.")
    assert run[-1]["finishReason"] == "stop"
    assert all(end["isError"] for end in of_kind(run, "tool-end"))


@pytest.mark.parametrize("arguments", ["{\"query\": ", "otters", "[1, 2]", "\"x\"", "{" * 500])
def test_arguments_must_be_a_json_object(talker, thread, arguments):
    end = call_tool(talker, thread, "SearchTurns", arguments)
    assert end["isError"] and end["output"].startswith("invalid input: the arguments are not a JSON object")


@pytest.mark.parametrize("arguments, problem", [
    ('{"query": ', 'incomplete JSON, after 10 bytes of {"query": '),
    ('{"query": "a" "limit": 1}', 'syntax error, after 14 bytes of {"query": "a" "limit": 1}'),
    ('["a"]', 'another value, after 0 bytes of ["a"]'),
    ('{"query": "' + 5000 * "a" + '" oops}', f"syntax error, after 5013 bytes of …{248 * 'a'}" '" oops}')])
def test_model_is_told_where_its_arguments_are_broken(talker, thread, arguments, problem):
    end = call_tool(talker, thread, "SearchTurns", arguments)
    assert end["output"] == f"invalid input: the arguments are not a JSON object of at most 56 levels: {problem}"
    assert end["output"] in talker.stub.requests[-1].json["messages"][-1]["content"]


@pytest.mark.parametrize("levels", [56, 57, 64])
def test_deeply_nested_arguments_leave_the_thread_usable(talker, thread, levels):
    end = call_tool(talker, thread, "SearchTurns", '{"nested":' * (levels - 1) + "{}" + "}" * (levels - 1))
    problem = "query is required" if levels <= 56 else "the arguments are not a JSON object of at most 56 levels: "
    assert end["isError"] and end["output"].startswith(f"invalid input: {problem}")
    assert of_kind(run_chat(talker, thread, "Yes."), "finish")[0]["finishReason"] == "stop"
    http = talker.gateway.http
    accepted(http.get("/turns/search", params={"q": "invalid", "agent_id": thread["agent_id"]}))
    fork = accepted(http.post(f"/threads/{thread['id']}/fork"), 201)
    assert len(turns_of(talker.gateway, fork)) == len(turns_of(talker.gateway, thread)) == 5


def test_tool_output_is_kept_in_full(talker, new_name):
    thread = new_thread(talker.gateway, new_agent(talker.gateway, new_name("printer"), "trusted"))
    end = call_tool(talker, thread, "Bash", {"command": "printf '漢%.0s' $(seq 99000)"})
    assert not end["isError"] and end["output"].count("漢") == 99_000 and "left out" not in end["output"]


@pytest.mark.parametrize("input, problem", [
    ({}, "query is required"), ({"query": 5}, "query must be of type string"),
    ({"query": "a", "limit": 0}, "limit must be at least 1"),
    ({"query": "a", "other": 1}, "other is not a member of this tool's input")])
def test_input_that_violates_the_schema_is_an_error(talker, thread, input, problem):
    end = call_tool(talker, thread, "SearchTurns", input)
    assert end["isError"] and end["output"] == f"invalid input: {problem}"


@pytest.mark.parametrize("tool, input", [
    ("SearchTurns", {"query": "otters", "limit": "3"}),
    ("Tasks", {"items": '[{"text": "Swim", "status": "active"}]'})])
def test_json_in_a_string_is_taken_for_the_required_type(talker, thread, tool, input):
    assert not call_tool(talker, thread, tool, input)["isError"]


def test_tool_forbidden_by_the_stage_is_refused(talker, new_name):
    thread = new_thread(talker.gateway, new_agent(talker.gateway, new_name("novice"), stage="apprentice"))
    end = call_tool(talker, thread, "Remember", {"text": "x"})
    assert end["isError"] and end["output"].startswith("permission denied:") and "operator" in end["output"]


def test_tool_forbidden_by_the_mode_is_refused(talker, new_name):
    thread = new_thread(talker.gateway, new_agent(talker.gateway, new_name("planner"), mode="plan"))
    end = call_tool(talker, thread, "Remember", {"text": "x"})
    assert end["isError"] and end["output"].startswith("permission denied:") and "act mode" in end["output"]


def test_tool_that_the_agent_lacks_is_refused(talker, new_name):
    thread = new_thread(talker.gateway, new_agent(talker.gateway, new_name("narrow"), tools=["SearchTurns"]))
    assert call_tool(talker, thread, "Remember", {"text": "x"})["output"].startswith("permission denied:")
    assert not call_tool(talker, thread, "SearchTurns", {"query": "x"})["isError"]


@pytest.mark.parametrize("scopes, has, denied", [
    (["read"], {"Read", "ListExtensions"}, ("Write", {"path": "a.txt", "content": "a"})),
    (["write", "network", "invoices"], {"Write", "Propose", "WebFetch"}, ("Bash", {"command": "true"})),
    (["invoices"], {"Read", "Write", "Bash", "WebFetch"}, None)])
def test_capability_scopes_limit_the_tools(talker, new_name, scopes, has, denied):
    thread = new_thread(talker.gateway, new_bound_agent(talker.gateway, new_name, scopes=scopes))
    end = call_tool(talker, thread, *(denied or search("otters")))
    tools = {tool["function"]["name"] for tool in talker.stub.requests[0].json["tools"]}
    assert has <= tools
    if denied:
        assert denied[0] not in tools and end["isError"]
        assert end["output"].startswith(f"permission denied: {denied[0]} needs the scope")


@pytest.mark.parametrize("capability", ["read-only", "workspace", "network"])
def test_built_in_capability_grants_each_listed_tool(talker, new_name, capability):
    found = accepted(talker.gateway.http.get("/extensions", params={"type": "capability"}))
    listed = next(record["definition"]["tools"] for record in found if record["name"] == capability)
    agent = new_agent(talker.gateway, new_name("bound"), "sovereign", capabilities=[capability])
    talker.says(new_thread(talker.gateway, agent), "hello", answer="hello")
    tools = {tool["function"]["name"] for tool in talker.stub.requests[0].json.get("tools", [])}
    assert tools == set(listed)


def rename_before(talker, agent, renamed, call):
    """Returns a reply of the model that makes the call after the agent was renamed."""
    def rename_and_call(_):
        accepted(patch(talker.gateway, agent, name=renamed))
        return calls(call)

    return rename_and_call


@pytest.mark.parametrize("tool, input, path, text", [
    ("Remember", {"text": "likes tea"}, "notes.md", "- likes tea\n"),
    ("Write", {"path": "tea.md", "content": "likes tea"}, "workspace/tea.md", "likes tea"),
    ("Bash", {"command": "printf tea > tea.md"}, "workspace/tea.md", "tea"),
    ("Read", {"path": "../agent.yaml"}, "agent.yaml", None),
    ("Ingest", {"thread": "this", "title": "Tea"}, "knowledge/raw/thread-tea.md", None),
])
def test_agent_renamed_during_a_run_keeps_its_directory(talker, agent, thread, new_name, tool, input, path, text):
    renamed = new_name("renamed")
    run = run_chat(talker, thread, rename_before(talker, agent, renamed, (tool, input)), "Done.")
    end = of_kind(run, "tool-end")[0]
    assert not end["isError"], end["output"]
    agents = talker.gateway.data / "agents"
    assert text in (None, (agents / renamed / path).read_text())
    assert (agents / renamed / path).exists() and not (agents / agent["name"]).exists()


def test_agent_renamed_during_a_run_finds_its_knowledge(talker, agent, thread, new_name):
    renamed = new_name("renamed")
    renames = rename_before(talker, agent, renamed, ("SearchKnowledge", {"query": "zorbling"}))

    def rename_and_write(request):
        search = renames(request)
        page = talker.gateway.data / "agents" / renamed / "knowledge" / "kettles.md"
        page.parent.mkdir(exist_ok=True)
        page.write_text("# Kettles\n\nThe zorbling kettle is blue.\n")
        return search

    run = run_chat(talker, thread, rename_and_write, "Done.")
    assert "Kettles" in of_kind(run, "tool-end")[0]["output"]


def test_lowered_stage_applies_at_once(talker, agent, thread):
    def demote(_):
        accepted(talker.gateway.http.patch(f"/agents/{agent['name']}/stage",
                                           json={"stage": "apprentice", "reason": "for a test"}))
        return calls(("Remember", {"text": "x"}))

    run = run_chat(talker, thread, demote, "Done.")
    assert of_kind(run, "tool-end")[0]["output"].startswith("permission denied:")


# End of the loop.


def test_run_ends_after_max_steps_model_calls(talker, new_name):
    thread = new_thread(talker.gateway, new_agent(talker.gateway, new_name("short"), max_steps=3))
    run = run_chat(talker, thread, *(calls(search(word)) for word in "abcd"))
    assert run[-1]["finishReason"] == "max-steps" and len(talker.stub.requests) == 3
    assert turns_of(talker.gateway, thread, "assistant")[0]["metadata"]["finish_reason"] == "max-steps"
    talker.stub.reset()


def test_model_is_told_of_its_last_step(talker, new_name):
    thread = new_thread(talker.gateway, new_agent(talker.gateway, new_name("short"), max_steps=3))
    run = run_chat(talker, thread, calls(search("a")), calls(search("b")), "One is left.")
    assert run[-1]["finishReason"] == "stop"
    *earlier, last = [request.json["messages"][-1]["content"] for request in talker.stub.requests]
    assert "This is the last step of this answer" in last and not any("last step" in text for text in earlier)


def test_default_max_steps_is_50(talker, thread):
    run = run_chat(talker, thread, *(calls(search(f"word{number}")) for number in range(51)))
    assert run[-1]["finishReason"] == "max-steps" and len(talker.stub.requests) == 50
    talker.stub.reset()


def test_same_call_three_times_in_a_row_ends_the_run(talker, thread):
    run = run_chat(talker, thread, *3 * [calls(search("a"))])
    assert [event["type"] for event in run[-2:]] == ["error", "finish"] and run[-1]["finishReason"] == "error"
    assert "three times in a row" in run[-2]["error"]


def test_input_members_in_another_order_are_the_same_call(talker, thread):
    one, other = {"query": "a", "limit": 2}, {"limit": 2.0, "query": "a"}
    run = run_chat(talker, thread, *(calls(("SearchTurns", input)) for input in (one, other, one)))
    assert run[-1]["finishReason"] == "error" and "three times in a row" in run[-2]["error"]


def test_same_call_with_another_in_between_continues(talker, thread):
    run = run_chat(talker, thread, *(calls(search(word)) for word in "aabaab"), "Done.")
    assert run[-1]["finishReason"] == "stop"


def test_truncated_answer_makes_no_calls(talker, thread):
    run = run_chat(talker, thread, calls(search("a"), text="I will", stop="length"))
    assert run[-1]["finishReason"] == "length" and not of_kind(run, "tool-start")


def test_two_hundred_calls_at_once_are_all_answered(talker, thread):
    run = run_chat(talker, thread, calls(*(search(f"word{number}") for number in range(200))), "Done.")
    assert run[-1]["finishReason"] == "stop" and len(of_kind(run, "tool-end")) == 200
    results = [message for message in talker.stub.requests[-1].json["messages"] if message["role"] == "tool"]
    called = [call["id"] for call in talker.stub.requests[-1].json["messages"][-201]["tool_calls"]]
    assert [result["tool_call_id"] for result in results] == called
    assert len(turns_of(talker.gateway, thread, "tool")) == 200


def test_budget_is_checked_before_each_model_call(make_gateway, stub, new_name):
    gateway = make_gateway(config={"providers": {"stub": {"kind": "openai", "base_url": stub.openai_url,
                                                          "default_model": "m"}}})
    (gateway.data / "prices.yaml").write_text("stub/m: {input: 100000, output: 0, cache_read: 0, cache_write: 0}\n")
    gateway.start()

    class talker:
        pass

    talker.gateway, talker.stub = gateway, stub
    thread = new_thread(gateway, new_agent(gateway, new_name("poor"), budget_usd_per_day=1.5))
    run = run_chat(talker, thread, *(calls(search(word)) for word in "abcd"))
    assert run[-1]["finishReason"] == "budget" and len(stub.requests) == 2 and run[-1]["costUsd"] == 2
    assert len(turns_of(gateway, thread, "tool")) == 2
    assert accepted(gateway.http.get("/costs"))["today"] == 2


def test_fallback_that_answered_is_used_for_the_rest_of_the_run(make_gateway, stub, new_name):
    gateway = make_gateway(config={"providers": {"stub": {"kind": "openai", "base_url": stub.openai_url,
                                                          "default_model": "m"}}}).start()

    class talker:
        pass

    talker.gateway, talker.stub = gateway, stub
    agent = new_agent(gateway, new_name("worker"), model="stub/first", fallback_models=["stub/second"])
    quota_exceeded = Fault(429, kind="insufficient_quota", message="You exceeded your current quota")
    run = run_chat(talker, new_thread(gateway, agent), quota_exceeded, calls(search("a")), "Done.")
    assert run[-1]["model"] == "stub/second"
    assert [request.json["model"] for request in stub.requests] == ["first", "second", "second"]


# Earlier runs as sent to models.


def test_later_run_includes_earlier_calls(talker, thread):
    run_chat(talker, thread, calls((*search("a"), "one"), text="First."), calls((*search("b"), "two")), "Done.")
    run_chat(talker, thread, "And now?", content="Go on.")
    messages = [message for message in talker.stub.requests[-1].json["messages"] if message["role"] != "system"]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant", "tool", "assistant", "user"]
    assert messages[1]["content"] == "First." and messages[1]["tool_calls"][0]["id"] == messages[2]["tool_call_id"] == "one"
    assert messages[3]["tool_calls"][0]["id"] == messages[4]["tool_call_id"] == "two"
    assert messages[5]["content"] == "Done."


def test_reused_call_ids_are_kept_apart(talker, thread):
    for _ in range(2):
        run_chat(talker, thread, calls((*search("a"), "same")), calls((*search("b"), "same")), "Done.")
    run_chat(talker, thread, "Well.")
    messages = talker.stub.requests[-1].json["messages"]
    used = [call["id"] for message in messages for call in message.get("tool_calls") or []]
    assert len(used) == len(set(used)) == 4
    earlier = talker.stub.requests[-2].json["messages"]
    earlier_ids = [call["id"] for message in earlier for call in message.get("tool_calls") or []]
    assert len(earlier_ids) == len(set(earlier_ids)) == 4, "also within the second run"
    assert [message["tool_call_id"] for message in messages if message["role"] == "tool"] == used


def test_call_with_a_deleted_turn_is_omitted(talker, thread):
    run_chat(talker, thread, calls((*search("a"), "one"), (*search("b"), "two")), "Done.")
    gone, kept = turns_of(talker.gateway, thread, "tool")
    assert talker.gateway.http.delete(f"/turns/{gone['id']}").status_code == 204
    run_chat(talker, thread, "Well.")
    messages = talker.stub.requests[-1].json["messages"]
    remaining = [kept["metadata"]["tool_call_id"]]
    assert [message["tool_call_id"] for message in messages if message["role"] == "tool"] == remaining
    assert [call["id"] for message in messages for call in message.get("tool_calls") or []] == remaining


def test_regenerated_answer_omits_calls_of_the_old_one(talker, thread):
    run_chat(talker, thread, calls(search("a")), "Done.")
    question = turns_of(talker.gateway, thread, "user")[0]
    talker.stub.script("Anew.")
    with talker.gateway.events(thread["id"]) as events:
        accepted(talker.gateway.http.post(f"/turns/{question['id']}/regenerate"), 201)
        events.run(question["id"])
    assert all(message["role"] in ("system", "user") for message in talker.stub.requests[-1].json["messages"])


# Every wire format.


@pytest.mark.parametrize("wire", WIRE_FORMATS + ("ollama",))
def test_every_wire_format_calls_tools(make_gateway, stub, new_name, wire):
    providers = {"anthropic": {"kind": "anthropic", "base_url": stub.base_url},
                 "chat": {"kind": "openai", "api": "chat", "base_url": stub.openai_url},
                 "responses": {"kind": "openai", "api": "responses", "base_url": stub.openai_url},
                 "ollama": {"kind": "ollama", "base_url": stub.base_url}}
    gateway = make_gateway(config={"providers": {"stub": {**providers[wire], "default_model": "m"}}}).start()

    class talker:
        pass

    talker.gateway, talker.stub = gateway, stub
    thread = new_thread(gateway, new_agent(gateway, new_name("worker")))
    run = run_chat(talker, thread, calls(search("a"), text="Hm.", reasoning="I think"), "Done.")
    assert run[-1]["finishReason"] == "stop" and text_of(run) == "Hm.\n\nDone."
    assert of_kind(run, "tool-end")[0]["output"] == "No turn matches."
    assert "No turn matches." in stub.requests[1].body.decode()
    if wire in ("anthropic", "responses"):
        mark = "stub-signature" if wire == "anthropic" else "encrypted_content"
        assert mark in stub.requests[1].body.decode(), "its reasoning is sent back within the run"
    run_chat(talker, thread, "Well.", content="Go on.")
    assert "No turn matches." in stub.requests[2].body.decode()


# Kills.


def test_kill_during_a_call_leaves_a_usable_thread(own_talker, new_name):
    gateway = own_talker.gateway
    thread = new_thread(gateway, new_agent(gateway, new_name("worker")))
    own_talker.stub.script(calls((*search("a"), "one"), text="Look."))
    held = own_talker.stub.hold("Half")
    accepted(gateway.http.post("/chat", json={"content": "Do it.", "threadId": thread["id"]}), 201)
    assert held.was_asked()
    gateway.kill()
    gateway.start()
    answer = turns_of(gateway, thread, "assistant")[0]
    assert answer["metadata"]["finish_reason"] == "interrupted" and answer["content"].startswith("Look.")
    assert answer["metadata"]["steps"] == [{"text_end": 5, "tool_call_ids": ["one"]}]
    run_chat(own_talker, thread, "Well.")
    messages = own_talker.stub.requests[-1].json["messages"]
    assert [message["tool_call_id"] for message in messages if message["role"] == "tool"] == ["one"]
