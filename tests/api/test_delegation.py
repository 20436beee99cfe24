"""Work that an agent delegates to another agent or to a job: Delegate and RunJob.

See docs/contract/agents.md#delegation.
"""

import pytest

from checks import accepted, refused
from jobs import ended, new_job, rows
from stubs.provider import ToolCall
from tools import run_chat, call_tool, calls, new_agent, new_bound_agent, new_thread, of_kind, turns_of


def threads_of(gateway, agent):
    return accepted(gateway.http.get("/threads", params={"agent_id": agent["id"]}))


@pytest.fixture
def caller_and_helper(talker, new_name):
    """A thread of the calling agent, and the agent that it delegates to."""
    caller = new_agent(talker.gateway, new_name("caller"))
    return new_thread(talker.gateway, caller), new_agent(talker.gateway, new_name("helper"))


def delegate(agent, task="Find out."):
    return ("Delegate", {"agent": agent["name"], "task": task})


def test_answer_of_another_agent_is_returned(talker, caller_and_helper):
    thread, helper = caller_and_helper
    run = run_chat(talker, thread, calls(delegate(helper)), "It is 42.", "He says 42.")
    assert of_kind(run, "tool-end")[0]["output"] == "It is 42." and not of_kind(run, "tool-end")[0]["isError"]
    helper_thread = threads_of(talker.gateway, helper)[0]
    assert [(turn["role"], turn["content"]) for turn in turns_of(talker.gateway, helper_thread)] == [
        ("user", "Find out."), ("assistant", "It is 42.")]
    messages = talker.stub.requests[1].json["messages"]
    assert [message["content"] for message in messages if message["role"] != "system"] == ["Find out."]


@pytest.mark.parametrize("input, text", [({"agent": "nobody-at-all", "task": "x"}, "agent not found"),
                                         ({"agent": "dark", "task": "x"}, "agent not found")])
def test_unknown_agent_is_a_tool_error(talker, caller_and_helper, input, text):
    end = call_tool(talker, caller_and_helper[0], "Delegate", input)
    assert end["isError"] and end["output"].startswith(text)


def test_disabled_agent_is_a_tool_error(talker, caller_and_helper):
    thread, helper = caller_and_helper
    accepted(talker.gateway.http.post(f"/extensions/{helper['id']}/toggle"))
    end = call_tool(talker, thread, *delegate(helper))
    assert end["isError"] and end["output"].startswith("agent is disabled")


def test_lower_stage_applies(talker, new_name):
    """A helper with a higher stage is limited to its caller's; one with a lower stage keeps its own."""
    gateway = talker.gateway
    caller = new_thread(gateway, new_agent(gateway, new_name("caller"), stage="operator"))
    high, low = (new_agent(gateway, new_name(stage), stage=stage) for stage in ("sovereign", "apprentice"))
    create = ("CreateExtension", {"type": "command", "name": new_name("made"), "description": "", "enabled": True,
                                  "definition": {"prompt": "x"}})
    run_chat(talker, caller, calls(delegate(high)), calls(create), "Done.", "Done.")
    assert gateway.http.get(f"/extensions/{create[1]['name']}").status_code == 404
    run = run_chat(talker, caller, calls(delegate(low)), calls(("Remember", {"text": "x"})), "Done.", "Done.")
    assert not of_kind(run, "tool-end")[0]["isError"]
    end = turns_of(gateway, threads_of(gateway, low)[0], "tool")[0]
    assert end["metadata"]["is_error"] and end["content"].startswith("permission denied:")


def test_stage_of_a_capability_applies_to_the_helper(talker, new_name):
    gateway = talker.gateway
    caller = new_thread(gateway, new_bound_agent(gateway, new_name, stage="operator"))
    helper = new_agent(gateway, new_name("helper"), stage="sovereign")
    made = new_name("made")
    create = ("CreateExtension", {"type": "command", "name": made, "description": "", "definition": {"prompt": "x"}})
    run_chat(talker, caller, calls(delegate(helper)), calls(create), "Done.", "Done.")
    created, = turns_of(gateway, threads_of(gateway, helper)[0], "tool")
    assert created["content"].startswith("staged as proposal")
    assert gateway.http.get(f"/extensions/{made}").status_code == 404


def test_stage_lowered_during_a_run_applies_to_the_helper(talker, new_name):
    gateway = talker.gateway
    caller, helper = (new_agent(gateway, new_name(name), stage="sovereign") for name in ("caller", "helper"))
    thread = new_thread(gateway, caller)
    made = new_name("made")
    answer = talker.stub.hold(tool_calls=[ToolCall(*delegate(helper))])
    create = {"type": "command", "name": made, "description": "", "definition": {"prompt": "x"}}
    talker.stub.script(calls(("CreateExtension", create)), "Done.", "Done.")
    with gateway.events(thread["id"]) as events:
        turn = accepted(gateway.http.post("/chat", json={"content": "a", "threadId": thread["id"]}), 201)
        assert answer.was_asked()
        lower = {"stage": "operator", "reason": "for a test"}
        accepted(gateway.http.patch(f"/agents/{caller['name']}/stage", json=lower))
        answer.release()
        events.run(turn["id"])
    created, = turns_of(gateway, threads_of(gateway, helper)[0], "tool")
    assert created["content"].startswith("staged as proposal")
    assert gateway.http.get(f"/extensions/{made}").status_code == 404


def test_plan_mode_is_inherited(talker, new_name):
    gateway = talker.gateway
    caller = new_thread(gateway, new_agent(gateway, new_name("caller")))
    planner = new_agent(gateway, new_name("planner"), mode="plan")
    run_chat(talker, caller, calls(delegate(planner)), calls(("Remember", {"text": "x"})), "Done.", "Done.")
    thread = threads_of(gateway, planner)[0]
    assert thread["mode"] == "plan" and "act mode" in turns_of(gateway, thread, "tool")[0]["content"]


def test_delegation_is_limited_to_three_levels(talker, new_name):
    gateway = talker.gateway
    agents = [new_agent(gateway, new_name("link")) for _ in range(5)]
    thread = new_thread(gateway, agents[0])
    run_chat(talker, thread, *(calls(delegate(agent)) for agent in agents[1:]), *4 * ["Done."])
    assert threads_of(gateway, agents[3]) and not threads_of(gateway, agents[4])
    refused = turns_of(gateway, threads_of(gateway, agents[3])[0], "tool")[0]
    assert refused["content"].startswith("permission denied:") and "3" in refused["content"]


def test_stopping_the_caller_stops_the_helper(talker, caller_and_helper):
    thread, helper = caller_and_helper
    talker.stub.script(calls(delegate(helper), text="I ask."))
    held = talker.stub.hold("Half")
    with talker.gateway.events() as events:
        turn = accepted(talker.gateway.http.post("/chat", json={"content": "a", "threadId": thread["id"]}), 201)
        events.until(lambda event: event["type"] == "text-delta" and event["delta"] == "Half")
        answer = accepted(talker.gateway.http.post("/chat/stop", json={"threadId": thread["id"]}))
        assert answer["status"] == "stopped"
        run = events.run(turn["id"])
    assert run[-1]["type"] == "stopped" and held.was_aborted()
    end = of_kind(run, "tool-end")[0]
    assert end["isError"] and end["output"].startswith("interrupted")
    partial = turns_of(talker.gateway, thread, "assistant")[0]
    assert partial["content"] == "I ask." and partial["metadata"]["partial"] is True
    assert [step["tool_call_ids"] for step in partial["metadata"]["steps"]] == [[end["toolCallId"]]]
    helper_answer = turns_of(talker.gateway, threads_of(talker.gateway, helper)[0], "assistant")[0]
    assert helper_answer["content"] == "Half" and helper_answer["metadata"]["finish_reason"] == "stopped"


def test_active_run_shows_its_calls(talker, caller_and_helper):
    thread, helper = caller_and_helper
    talker.stub.script(calls((*delegate(helper), "the_call")))
    held = talker.stub.hold("Half")
    with talker.gateway.events(thread["id"]) as events:
        turn = accepted(talker.gateway.http.post("/chat", json={"content": "a", "threadId": thread["id"]}), 201)
        assert held.was_asked()
        active = accepted(talker.gateway.http.get(f"/threads/{thread['id']}"))["active_run"]
        assert active["tools"] == [{"toolCallId": "the_call", "toolName": "Delegate", "input": delegate(helper)[1]}]
        talker.stub.script("Done.")
        held.release()
        events.run(turn["id"])


def test_turns_of_an_active_run_cannot_be_deleted(talker, caller_and_helper):
    thread, helper = caller_and_helper
    talker.stub.script(calls(("SearchTurns", {"query": "a"})), calls(delegate(helper)))
    held = talker.stub.hold("Half")
    with talker.gateway.events(thread["id"]) as events:
        turn = accepted(talker.gateway.http.post("/chat", json={"content": "a", "threadId": thread["id"]}), 201)
        assert held.was_asked()
        made = turns_of(talker.gateway, thread, "tool")[0]
        refused(talker.gateway.http.delete(f"/turns/{made['id']}"), 409, "turn is in use")
        talker.stub.script("Done.")
        held.release()
        events.run(turn["id"])
    assert talker.gateway.http.delete(f"/turns/{made['id']}").status_code == 204


def test_run_job_starts_a_job(talker, new_name):
    gateway = talker.gateway
    thread = new_thread(gateway, new_agent(gateway, new_name("caller")))
    job = new_job(gateway, new_name("chore"))
    talker.stub.always("Done.")
    end = call_tool(talker, thread, "RunJob", {"job": job["name"]})
    assert not end["isError"] and job["name"] in end["output"]
    ended(gateway, job)
    assert [row["status"] for row in rows(gateway, job)] == ["completed"]
    missing = call_tool(talker, thread, "RunJob", {"job": "no-such-job"})
    assert missing["isError"] and missing["output"] == "job not found"


def test_lower_stage_applies_to_a_job_run(talker, new_name):
    gateway = talker.gateway
    caller = new_thread(gateway, new_agent(gateway, new_name("caller"), stage="operator"))
    high = new_agent(gateway, new_name("high"), stage="sovereign")
    job = new_job(gateway, new_name("chore"), agent_id=high["id"])
    made = new_name("made")
    create = ("CreateExtension", {"type": "command", "name": made, "description": "", "definition": {"prompt": "x"}})
    talker.stub.always("Done.")
    run_chat(talker, caller, calls(("RunJob", {"job": job["name"]})), lambda _: calls(create), "Done.")
    ended(gateway, job)
    assert gateway.http.get(f"/extensions/{made}").status_code == 404


def test_dry_run_only_describes_its_actions(talker, new_name):
    gateway = talker.gateway
    job = new_job(gateway, new_name("chore"), agent_id=new_agent(gateway, new_name("worker"))["id"])
    talker.stub.script(calls(("Remember", {"text": "x"}), ("SearchTurns", {"query": "zzz"})), "Done.")
    accepted(gateway.http.post(f"/run/{job['name']}", params={"dry": "true"}), 202)
    ended(gateway, job)
    remembered, searched = turns_of(gateway, {"id": rows(gateway, job)[0]["thread_id"]}, "tool")
    assert remembered["content"].startswith("dry run: ") and not remembered["metadata"]["is_error"]
    assert searched["content"] == "No turn matches."


def test_dry_run_makes_no_outbound_request(talker, new_name):
    gateway = talker.gateway
    job = new_job(gateway, new_name("chore"), agent_id=new_agent(gateway, new_name("worker"), stage="operator")["id"])
    talker.stub.script(calls(("WebFetch", {"url": "http://127.0.0.1:9/"}), ("WebSearch", {"query": "tea"})), "Done.")
    accepted(gateway.http.post(f"/run/{job['name']}", params={"dry": "true"}), 202)
    ended(gateway, job)
    for turn in turns_of(gateway, {"id": rows(gateway, job)[0]["thread_id"]}, "tool"):
        assert turn["content"].startswith("dry run: would have called Web") and not turn["metadata"]["is_error"]


def test_regenerated_dry_run_stays_dry(talker, new_name):
    gateway = talker.gateway
    worker = new_agent(gateway, new_name("worker"), stage="operator")
    thread = new_thread(gateway, worker)
    job = new_job(gateway, new_name("chore"), agent_id=worker["id"], owner_agent_id=worker["id"])
    note = calls(("Remember", {"text": "x"}))
    talker.stub.script(note, "Done.", note, "Done again.")
    accepted(gateway.http.post(f"/run/{job['name']}", params={"dry": "true"}), 202)
    ended(gateway, job)
    question = turns_of(gateway, thread, "user")[0]
    with gateway.events(thread["id"]) as events:
        accepted(gateway.http.post(f"/turns/{question['id']}/regenerate"), 201)
        events.run(question["id"])
    remembered = turns_of(gateway, thread, "tool")
    assert len(remembered) == 2 and all(turn["content"].startswith("dry run: ") for turn in remembered), remembered
