"""The tool loop: what models ask for, what becomes of it, and what they are told (decisions, 5, 6, 13)."""

import json

import pytest

from checks import accepted
from events import text_of
from extensions import patch
from stubs.provider import Fault, Reply
from tools import asked, called, calls, new_agent, new_bound_agent, new_thread, of_kind, turns_of

WIRES = ("anthropic", "chat", "responses")


def search(query):
    return ("SearchTurns", {"query": query})


@pytest.fixture
def agent(talker, name):
    return new_agent(talker.gateway, name("worker"))


@pytest.fixture
def thread(talker, agent):
    return new_thread(talker.gateway, agent)


# One call, from the model and back to it.


def test_a_tool_is_called_and_its_result_is_given_back(talker, thread):
    run = asked(talker, thread, calls(search("otters"), text="Let me look."), "There is nothing.")
    assert [event["type"] for event in run] == ["text-delta", "tool-start", "tool-end", "text-delta", "text-delta",
                                                "finish"]
    assert text_of(run) == "Let me look.\n\nThere is nothing."
    told = talker.stub.requests[1].json["messages"]
    assert told[-2]["role"] == "assistant" and told[-2]["content"] == "Let me look."
    assert json.loads(told[-2]["tool_calls"][0]["function"]["arguments"]) == {"query": "otters"}
    assert told[-1]["role"] == "tool" and told[-1]["content"] == "No turn matches."
    assert told[-1]["tool_call_id"] == told[-2]["tool_calls"][0]["id"]


def test_the_events_of_a_call(talker, thread):
    run = asked(talker, thread, calls((*search("otters"), "call_abc")), "Done.")
    start, end = of_kind(run, "tool-start")[0], of_kind(run, "tool-end")[0]
    assert (start["toolCallId"], start["toolName"], start["input"]) == ("call_abc", "SearchTurns", {"query": "otters"})
    assert (end["toolCallId"], end["toolName"], end["isError"]) == ("call_abc", "SearchTurns", False)
    assert end["output"] == "No turn matches." and isinstance(end["durationMs"], int)
    assert [event["seq"] for event in run] == list(range(1, len(run) + 1))


def test_each_call_is_a_turn_of_role_tool(talker, thread):
    run = asked(talker, thread, calls((*search("otters"), "call_abc")), "Done.")
    _, tool, answer = turns_of(talker.gateway, thread)
    assert (tool["role"], tool["content"]) == ("tool", "No turn matches.")
    assert {key: tool["metadata"][key] for key in ("run_id", "tool_call_id", "tool_name", "input", "is_error")} == {
        "run_id": run[0]["runId"], "tool_call_id": "call_abc", "tool_name": "SearchTurns", "input": {"query": "otters"},
        "is_error": False}
    assert isinstance(tool["metadata"]["duration_ms"], int)
    assert answer["role"] == "assistant" and answer["content"] == "Done."


def test_steps_say_where_in_the_text_the_calls_stood_in_code_points(talker, thread):
    asked(talker, thread, calls((*search("a"), "one"), (*search("b"), "two"), text="Größe 🦦"),
          calls((*search("c"), "three")), calls((*search("d"), "four"), text="More."), "Done.")
    answer = turns_of(talker.gateway, thread, "assistant")[0]
    assert answer["content"] == "Größe 🦦\n\nMore.\n\nDone."
    assert answer["metadata"]["steps"] == [{"text_end": 7, "tool_call_ids": ["one", "two"]},
                                           {"text_end": 7, "tool_call_ids": ["three"]},
                                           {"text_end": 14, "tool_call_ids": ["four"]}]


def test_usage_and_cost_are_sums_over_the_steps(talker, thread):
    usage = {"input": 100, "output": 7, "cache_read": 3, "cache_write": 0}
    run = asked(talker, thread, calls(search("a"), usage=usage), calls(search("b"), usage=usage), Reply("Done.", usage=usage))
    expected = {"input_tokens": 300, "output_tokens": 21, "cache_read_tokens": 9, "cache_write_tokens": 0}
    assert run[-1]["usage"] == expected
    assert turns_of(talker.gateway, thread, "assistant")[0]["metadata"]["usage"] == expected


def test_tools_are_offered_sorted_and_only_where_the_mode_has_them(talker, name):
    acting = new_thread(talker.gateway, new_agent(talker.gateway, name("acting")))
    asked(talker, acting, "Done.")
    offered = [tool["function"]["name"] for tool in talker.stub.requests[-1].json["tools"]]
    assert offered == sorted(offered) and {"SearchTurns", "Remember"} <= set(offered)
    planning = new_thread(talker.gateway, new_agent(talker.gateway, name("planning"), mode="plan"))
    asked(talker, planning, "Done.")
    offered = {tool["function"]["name"] for tool in talker.stub.requests[-1].json.get("tools", [])}
    assert offered <= {"Read", "Glob", "Grep", "WebFetch", "WebSearch"}


# What is wrong with a call goes back to the model, and the run goes on.


def test_a_tool_that_does_not_exist(talker, thread):
    end = called(talker, thread, "Fly", {})
    assert end["isError"] and end["output"] == "there is no tool Fly"


@pytest.mark.parametrize("tool", ["", "no spaces, please", "x" * 5000, "../../etc", "Größe"])
def test_a_name_that_is_none(talker, thread, tool):
    run = asked(talker, thread, calls((tool, {})), "Done.")
    assert run[-1]["finishReason"] == "stop"
    assert all(end["isError"] for end in of_kind(run, "tool-end"))


@pytest.mark.parametrize("arguments", ["{\"query\": ", "otters", "[1, 2]", "\"x\"", "{" * 500])
def test_arguments_that_are_no_json_object(talker, thread, arguments):
    end = called(talker, thread, "SearchTurns", arguments)
    assert end["isError"] and end["output"].startswith("invalid input: the arguments are not a JSON object")


@pytest.mark.parametrize("levels", [56, 57, 64])
def test_arguments_that_nest_deep_leave_their_thread_as_usable_as_others(talker, thread, levels):
    end = called(talker, thread, "SearchTurns", '{"nested":' * (levels - 1) + "{}" + "}" * (levels - 1))
    problem = "query is required" if levels <= 56 else "the arguments are not a JSON object of at most 56 levels: {"
    assert end["isError"] and end["output"].startswith(f"invalid input: {problem}")
    assert of_kind(asked(talker, thread, "Yes."), "finish")[0]["finishReason"] == "stop"
    http = talker.gateway.http
    accepted(http.get("/turns/search", params={"q": "invalid", "agent_id": thread["agent_id"]}))
    fork = accepted(http.post(f"/threads/{thread['id']}/fork"), 201)
    assert len(turns_of(talker.gateway, fork)) == len(turns_of(talker.gateway, thread)) == 5


def test_all_that_a_tool_gives_is_kept_whole(talker, name):
    thread = new_thread(talker.gateway, new_agent(talker.gateway, name("printer"), "trusted"))
    end = called(talker, thread, "Bash", {"command": "printf '漢%.0s' $(seq 99000)"})
    assert not end["isError"] and end["output"].count("漢") == 99_000 and "left out" not in end["output"]


@pytest.mark.parametrize("input, problem", [
    ({}, "query is required"), ({"query": 5}, "query must be of type string"),
    ({"query": "a", "limit": 0}, "limit must be at least 1"),
    ({"query": "a", "other": 1}, "other is not a member of this tool's input")])
def test_input_that_does_not_fit_the_schema(talker, thread, input, problem):
    end = called(talker, thread, "SearchTurns", input)
    assert end["isError"] and end["output"] == f"invalid input: {problem}"


def test_a_tool_that_the_stage_does_not_allow(talker, name):
    thread = new_thread(talker.gateway, new_agent(talker.gateway, name("novice"), stage="apprentice"))
    end = called(talker, thread, "Remember", {"text": "x"})
    assert end["isError"] and end["output"].startswith("permission denied:") and "operator" in end["output"]


def test_a_tool_that_the_mode_does_not_allow(talker, name):
    thread = new_thread(talker.gateway, new_agent(talker.gateway, name("planner"), mode="plan"))
    end = called(talker, thread, "Remember", {"text": "x"})
    assert end["isError"] and end["output"].startswith("permission denied:") and "act mode" in end["output"]


def test_a_tool_that_the_agent_does_not_have(talker, name):
    thread = new_thread(talker.gateway, new_agent(talker.gateway, name("narrow"), tools=["SearchTurns"]))
    assert called(talker, thread, "Remember", {"text": "x"})["output"].startswith("permission denied:")
    assert not called(talker, thread, "SearchTurns", {"query": "x"})["isError"]


@pytest.mark.parametrize("scopes, has, denied", [
    (["read"], {"Read", "ListExtensions"}, ("Write", {"path": "a.txt", "content": "a"})),
    (["write", "network", "invoices"], {"Write", "Propose", "WebFetch"}, ("Bash", {"command": "true"})),
    (["invoices"], {"Read", "Write", "Bash", "WebFetch"}, None)])
def test_an_agent_has_only_tools_of_the_scopes_of_its_capabilities(talker, name, scopes, has, denied):
    thread = new_thread(talker.gateway, new_bound_agent(talker.gateway, name, scopes=scopes))
    end = called(talker, thread, *(denied or search("otters")))
    tools = {tool["function"]["name"] for tool in talker.stub.requests[0].json["tools"]}
    assert has <= tools
    if denied:
        assert denied[0] not in tools and end["isError"]
        assert end["output"].startswith(f"permission denied: {denied[0]} needs the scope")


@pytest.mark.parametrize("capability", ["read-only", "workspace", "network"])
def test_an_agent_with_a_built_in_capability_has_each_tool_that_it_lists(talker, name, capability):
    found = accepted(talker.gateway.http.get("/extensions", params={"type": "capability"}))
    listed = next(record["definition"]["tools"] for record in found if record["name"] == capability)
    agent = new_agent(talker.gateway, name("bound"), "sovereign", capabilities=[capability])
    talker.says(new_thread(talker.gateway, agent), "hello", answer="hello")
    tools = {tool["function"]["name"] for tool in talker.stub.requests[0].json.get("tools", [])}
    assert tools == set(listed)


def renames_first(talker, agent, renamed, call):
    """What the model answers with when it is asked: the call, once the agent has another name."""
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
def test_an_agent_that_is_renamed_while_it_works_has_its_own_directory(talker, agent, thread, name, tool, input, path,
                                                                       text):
    renamed = name("renamed")
    run = asked(talker, thread, renames_first(talker, agent, renamed, (tool, input)), "Done.")
    end = of_kind(run, "tool-end")[0]
    assert not end["isError"], end["output"]
    agents = talker.gateway.data / "agents"
    assert text in (None, (agents / renamed / path).read_text())
    assert (agents / renamed / path).exists() and not (agents / agent["name"]).exists()


def test_an_agent_that_is_renamed_while_it_works_finds_its_own_knowledge(talker, agent, thread, name):
    renamed = name("renamed")
    renames = renames_first(talker, agent, renamed, ("SearchKnowledge", {"query": "zorbling"}))

    def rename_and_write(request):
        search = renames(request)
        page = talker.gateway.data / "agents" / renamed / "knowledge" / "kettles.md"
        page.parent.mkdir(exist_ok=True)
        page.write_text("# Kettles\n\nThe zorbling kettle is blue.\n")
        return search

    run = asked(talker, thread, rename_and_write, "Done.")
    assert "Kettles" in of_kind(run, "tool-end")[0]["output"]


def test_a_stage_that_is_taken_away_counts_at_once(talker, agent, thread):
    def demote(_):
        accepted(talker.gateway.http.patch(f"/agents/{agent['name']}/stage",
                                           json={"stage": "apprentice", "reason": "for a test"}))
        return calls(("Remember", {"text": "x"}))

    run = asked(talker, thread, demote, "Done.")
    assert of_kind(run, "tool-end")[0]["output"].startswith("permission denied:")


# Ends of the loop.


def test_after_max_steps_model_calls_the_run_ends(talker, name):
    thread = new_thread(talker.gateway, new_agent(talker.gateway, name("short"), max_steps=3))
    run = asked(talker, thread, *(calls(search(word)) for word in "abcd"))
    assert run[-1]["finishReason"] == "max-steps" and len(talker.stub.requests) == 3
    assert turns_of(talker.gateway, thread, "assistant")[0]["metadata"]["finish_reason"] == "max-steps"
    talker.stub.reset()


def test_without_a_limit_of_its_own_an_agent_has_50_steps(talker, thread):
    run = asked(talker, thread, *(calls(search(f"word{number}")) for number in range(51)))
    assert run[-1]["finishReason"] == "max-steps" and len(talker.stub.requests) == 50
    talker.stub.reset()


def test_the_same_call_three_times_in_a_row_ends_the_run(talker, thread):
    run = asked(talker, thread, *3 * [calls(search("a"))])
    assert [event["type"] for event in run[-2:]] == ["error", "finish"] and run[-1]["finishReason"] == "error"
    assert "three times in a row" in run[-2]["error"]


def test_the_same_input_in_another_order_is_the_same(talker, thread):
    one, other = {"query": "a", "limit": 2}, {"limit": 2.0, "query": "a"}
    run = asked(talker, thread, *(calls(("SearchTurns", input)) for input in (one, other, one)))
    assert run[-1]["finishReason"] == "error" and "three times in a row" in run[-2]["error"]


def test_the_same_call_with_another_between_goes_on(talker, thread):
    run = asked(talker, thread, *(calls(search(word)) for word in "aabaab"), "Done.")
    assert run[-1]["finishReason"] == "stop"


def test_an_answer_that_is_cut_off_calls_nothing(talker, thread):
    run = asked(talker, thread, calls(search("a"), text="I will", stop="length"))
    assert run[-1]["finishReason"] == "length" and not of_kind(run, "tool-start")


def test_200_calls_at_once_are_all_answered(talker, thread):
    run = asked(talker, thread, calls(*(search(f"word{number}") for number in range(200))), "Done.")
    assert run[-1]["finishReason"] == "stop" and len(of_kind(run, "tool-end")) == 200
    results = [message for message in talker.stub.requests[-1].json["messages"] if message["role"] == "tool"]
    asked_for = [call["id"] for call in talker.stub.requests[-1].json["messages"][-201]["tool_calls"]]
    assert [result["tool_call_id"] for result in results] == asked_for
    assert len(turns_of(talker.gateway, thread, "tool")) == 200


def test_a_budget_is_looked_at_before_each_model_call(make_gateway, stub, name):
    gateway = make_gateway(config={"providers": {"stub": {"kind": "openai", "base_url": stub.openai_url,
                                                          "default_model": "m"}}})
    (gateway.data / "prices.yaml").write_text("stub/m: {input: 100000, output: 0, cache_read: 0, cache_write: 0}\n")
    gateway.start()

    class talker:
        pass

    talker.gateway, talker.stub = gateway, stub
    thread = new_thread(gateway, new_agent(gateway, name("poor"), budget_usd_per_day=1.5))
    run = asked(talker, thread, *(calls(search(word)) for word in "abcd"))
    assert run[-1]["finishReason"] == "budget" and len(stub.requests) == 2 and run[-1]["costUsd"] == 2
    assert len(turns_of(gateway, thread, "tool")) == 2
    assert accepted(gateway.http.get("/costs"))["today"] == 2


def test_a_fallback_that_answered_goes_on(make_gateway, stub, name):
    gateway = make_gateway(config={"providers": {"stub": {"kind": "openai", "base_url": stub.openai_url,
                                                          "default_model": "m"}}}).start()

    class talker:
        pass

    talker.gateway, talker.stub = gateway, stub
    agent = new_agent(gateway, name("worker"), model="stub/first", fallback_models=["stub/second"])
    used_up = Fault(429, kind="insufficient_quota", message="You exceeded your current quota")
    run = asked(talker, new_thread(gateway, agent), used_up, calls(search("a")), "Done.")
    assert run[-1]["model"] == "stub/second"
    assert [request.json["model"] for request in stub.requests] == ["first", "second", "second"]


# What models are told of earlier runs.


def test_a_later_run_is_told_of_the_calls_before(talker, thread):
    asked(talker, thread, calls((*search("a"), "one"), text="First."), calls((*search("b"), "two")), "Done.")
    asked(talker, thread, "And now?", content="Go on.")
    told = [message for message in talker.stub.requests[-1].json["messages"] if message["role"] != "system"]
    assert [message["role"] for message in told] == ["user", "assistant", "tool", "assistant", "tool", "assistant", "user"]
    assert told[1]["content"] == "First." and told[1]["tool_calls"][0]["id"] == told[2]["tool_call_id"] == "one"
    assert told[3]["tool_calls"][0]["id"] == told[4]["tool_call_id"] == "two"
    assert told[5]["content"] == "Done."


def test_ids_that_a_service_uses_again_are_told_apart(talker, thread):
    for _ in range(2):
        asked(talker, thread, calls((*search("a"), "same")), calls((*search("b"), "same")), "Done.")
    asked(talker, thread, "Well.")
    told = talker.stub.requests[-1].json["messages"]
    used = [call["id"] for message in told for call in message.get("tool_calls") or []]
    assert len(used) == len(set(used)) == 4
    while_answering = [call["id"] for message in talker.stub.requests[-2].json["messages"] for call in message.get("tool_calls") or []]
    assert len(while_answering) == len(set(while_answering)) == 4, "also while the later answer is in the making"
    assert [message["tool_call_id"] for message in told if message["role"] == "tool"] == used


def test_a_call_whose_turn_was_deleted_is_not_told(talker, thread):
    asked(talker, thread, calls((*search("a"), "one"), (*search("b"), "two")), "Done.")
    gone, kept = turns_of(talker.gateway, thread, "tool")
    assert talker.gateway.http.delete(f"/turns/{gone['id']}").status_code == 204
    asked(talker, thread, "Well.")
    told = talker.stub.requests[-1].json["messages"]
    left = [kept["metadata"]["tool_call_id"]]
    assert [message["tool_call_id"] for message in told if message["role"] == "tool"] == left
    assert [call["id"] for message in told for call in message.get("tool_calls") or []] == left


def test_a_regenerated_answer_is_told_nothing_of_the_calls_of_the_old_one(talker, thread):
    asked(talker, thread, calls(search("a")), "Done.")
    question = turns_of(talker.gateway, thread, "user")[0]
    talker.stub.script("Anew.")
    with talker.gateway.events(thread["id"]) as events:
        accepted(talker.gateway.http.post(f"/turns/{question['id']}/regenerate"), 201)
        events.run(question["id"])
    assert all(message["role"] in ("system", "user") for message in talker.stub.requests[-1].json["messages"])


# Every wire format.


@pytest.mark.parametrize("wire", WIRES + ("ollama",))
def test_every_wire_format_calls_tools(make_gateway, stub, name, wire):
    providers = {"anthropic": {"kind": "anthropic", "base_url": stub.base_url},
                 "chat": {"kind": "openai", "api": "chat", "base_url": stub.openai_url},
                 "responses": {"kind": "openai", "api": "responses", "base_url": stub.openai_url},
                 "ollama": {"kind": "ollama", "base_url": stub.base_url}}
    gateway = make_gateway(config={"providers": {"stub": {**providers[wire], "default_model": "m"}}}).start()

    class talker:
        pass

    talker.gateway, talker.stub = gateway, stub
    thread = new_thread(gateway, new_agent(gateway, name("worker")))
    run = asked(talker, thread, calls(search("a"), text="Hm.", reasoning="I think"), "Done.")
    assert run[-1]["finishReason"] == "stop" and text_of(run) == "Hm.\n\nDone."
    assert of_kind(run, "tool-end")[0]["output"] == "No turn matches."
    assert "No turn matches." in stub.requests[1].body.decode()
    if wire in ("anthropic", "responses"):
        mark = "stub-signature" if wire == "anthropic" else "encrypted_content"
        assert mark in stub.requests[1].body.decode(), "what it thought is given back within the run"
    asked(talker, thread, "Well.", content="Go on.")
    assert "No turn matches." in stub.requests[2].body.decode()


# A gateway that is killed.


def test_a_kill_in_the_middle_of_a_call_leaves_a_thread_that_can_go_on(own_talker, name):
    gateway = own_talker.gateway
    thread = new_thread(gateway, new_agent(gateway, name("worker")))
    own_talker.stub.script(calls((*search("a"), "one"), text="Look."))
    held = own_talker.stub.hold("Half")
    accepted(gateway.http.post("/chat", json={"content": "Do it.", "threadId": thread["id"]}), 201)
    assert held.was_asked()
    gateway.kill()
    gateway.start()
    answer = turns_of(gateway, thread, "assistant")[0]
    assert answer["metadata"]["finish_reason"] == "interrupted" and answer["content"].startswith("Look.")
    assert answer["metadata"]["steps"] == [{"text_end": 5, "tool_call_ids": ["one"]}]
    asked(own_talker, thread, "Well.")
    told = own_talker.stub.requests[-1].json["messages"]
    assert [message["tool_call_id"] for message in told if message["role"] == "tool"] == ["one"]
