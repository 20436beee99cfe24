"""Work that one agent hands to another, or to a job (decisions, 4 and 13: Delegate, RunJob)."""

import pytest

from checks import accepted, refused
from jobs import ended, new_job, rows
from tools import asked, called, calls, new_agent, new_thread, of_kind, turns_of


def threads_of(gateway, agent):
    return accepted(gateway.http.get("/threads", params={"agent_id": agent["id"]}))


@pytest.fixture
def pair(talker, name):
    """A caller's thread, and another agent."""
    caller = new_agent(talker.gateway, name("caller"))
    return new_thread(talker.gateway, caller), new_agent(talker.gateway, name("helper"))


def delegate(agent, task="Find out."):
    return ("Delegate", {"agent": agent["name"], "task": task})


def test_the_answer_of_another_agent_comes_back(talker, pair):
    thread, helper = pair
    run = asked(talker, thread, calls(delegate(helper)), "It is 42.", "He says 42.")
    assert of_kind(run, "tool-end")[0]["output"] == "It is 42." and not of_kind(run, "tool-end")[0]["isError"]
    its = threads_of(talker.gateway, helper)[0]
    assert [(turn["role"], turn["content"]) for turn in turns_of(talker.gateway, its)] == [
        ("user", "Find out."), ("assistant", "It is 42.")]
    told = talker.stub.requests[1].json["messages"]
    assert [message["content"] for message in told if message["role"] != "system"] == ["Find out."]


@pytest.mark.parametrize("input, text", [({"agent": "nobody-at-all", "task": "x"}, "agent not found"),
                                         ({"agent": "dark", "task": "x"}, "agent not found")])
def test_an_agent_that_does_not_exist(talker, pair, input, text):
    end = called(talker, pair[0], "Delegate", input)
    assert end["isError"] and end["output"].startswith(text)


def test_a_disabled_agent(talker, pair):
    thread, helper = pair
    accepted(talker.gateway.http.post(f"/extensions/{helper['id']}/toggle"))
    end = called(talker, thread, *delegate(helper))
    assert end["isError"] and end["output"].startswith("agent is disabled")


def test_the_lower_stage_counts(talker, name):
    """A helper of a higher stage gets no more than its caller, one of a lower stage no more than it has."""
    gateway = talker.gateway
    caller = new_thread(gateway, new_agent(gateway, name("caller"), stage="operator"))
    high, low = (new_agent(gateway, name(stage), stage=stage) for stage in ("sovereign", "apprentice"))
    create = ("CreateExtension", {"type": "command", "name": name("made"), "description": "", "enabled": True,
                                  "definition": {"prompt": "x"}})
    asked(talker, caller, calls(delegate(high)), calls(create), "Done.", "Done.")
    assert gateway.http.get(f"/extensions/{create[1]['name']}").status_code == 404
    run = asked(talker, caller, calls(delegate(low)), calls(("Remember", {"text": "x"})), "Done.", "Done.")
    assert not of_kind(run, "tool-end")[0]["isError"]
    end = turns_of(gateway, threads_of(gateway, low)[0], "tool")[0]
    assert end["metadata"]["is_error"] and end["content"].startswith("permission denied:")


def test_an_agent_that_plans_goes_on_planning(talker, name):
    gateway = talker.gateway
    caller = new_thread(gateway, new_agent(gateway, name("caller")))
    planner = new_agent(gateway, name("planner"), mode="plan")
    asked(talker, caller, calls(delegate(planner)), calls(("Remember", {"text": "x"})), "Done.", "Done.")
    thread = threads_of(gateway, planner)[0]
    assert thread["mode"] == "plan" and "act mode" in turns_of(gateway, thread, "tool")[0]["content"]


def test_work_is_handed_down_three_runs_deep(talker, name):
    gateway = talker.gateway
    agents = [new_agent(gateway, name("link")) for _ in range(5)]
    thread = new_thread(gateway, agents[0])
    asked(talker, thread, *(calls(delegate(agent)) for agent in agents[1:]), *4 * ["Done."])
    assert threads_of(gateway, agents[3]) and not threads_of(gateway, agents[4])
    refused = turns_of(gateway, threads_of(gateway, agents[3])[0], "tool")[0]
    assert refused["content"].startswith("permission denied:") and "3" in refused["content"]


def test_stopping_the_caller_stops_the_helper(talker, pair):
    thread, helper = pair
    talker.stub.script(calls(delegate(helper), text="I ask."))
    held = talker.stub.hold("Half")
    with talker.gateway.events(thread["id"]) as events:
        turn = accepted(talker.gateway.http.post("/chat", json={"content": "a", "threadId": thread["id"]}), 201)
        assert held.was_asked()
        answer = accepted(talker.gateway.http.post("/chat/stop", json={"threadId": thread["id"]}))
        assert answer["status"] == "stopped"
        run = events.run(turn["id"])
    assert run[-1]["type"] == "stopped" and held.was_aborted()
    end = of_kind(run, "tool-end")[0]
    assert end["isError"] and end["output"].startswith("interrupted")
    partial = turns_of(talker.gateway, thread, "assistant")[0]
    assert partial["content"] == "I ask." and partial["metadata"]["partial"] is True
    assert [step["tool_call_ids"] for step in partial["metadata"]["steps"]] == [[end["toolCallId"]]]
    its = turns_of(talker.gateway, threads_of(talker.gateway, helper)[0], "assistant")[0]
    assert its["content"] == "Half" and its["metadata"]["finish_reason"] == "stopped"


def test_what_is_under_way_shows_its_calls(talker, pair):
    thread, helper = pair
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


def test_the_turns_of_a_run_under_way_cannot_be_deleted(talker, pair):
    thread, helper = pair
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


def test_a_job_is_run(talker, name):
    gateway = talker.gateway
    thread = new_thread(gateway, new_agent(gateway, name("caller")))
    job = new_job(gateway, name("chore"))
    talker.stub.always("Done.")
    end = called(talker, thread, "RunJob", {"job": job["name"]})
    assert not end["isError"] and job["name"] in end["output"]
    ended(gateway, job)
    assert [row["status"] for row in rows(gateway, job)] == ["completed"]
    missing = called(talker, thread, "RunJob", {"job": "no-such-job"})
    assert missing["isError"] and missing["output"] == "job not found"


def test_a_jobs_run_has_the_lower_stage_too(talker, name):
    gateway = talker.gateway
    caller = new_thread(gateway, new_agent(gateway, name("caller"), stage="operator"))
    high = new_agent(gateway, name("high"), stage="sovereign")
    job = new_job(gateway, name("chore"), agent_id=high["id"])
    made = name("made")
    create = ("CreateExtension", {"type": "command", "name": made, "description": "", "definition": {"prompt": "x"}})
    talker.stub.always("Done.")
    asked(talker, caller, calls(("RunJob", {"job": job["name"]})), lambda _: calls(create), "Done.")
    ended(gateway, job)
    assert gateway.http.get(f"/extensions/{made}").status_code == 404


def test_a_dry_run_does_nothing_but_say_what_it_would_have_done(talker, name):
    gateway = talker.gateway
    job = new_job(gateway, name("chore"), agent_id=new_agent(gateway, name("worker"))["id"])
    talker.stub.script(calls(("Remember", {"text": "x"}), ("SearchTurns", {"query": "zzz"})), "Done.")
    accepted(gateway.http.post(f"/run/{job['name']}", params={"dry": "true"}), 202)
    ended(gateway, job)
    remembered, searched = turns_of(gateway, {"id": rows(gateway, job)[0]["thread_id"]}, "tool")
    assert remembered["content"].startswith("dry run: ") and not remembered["metadata"]["is_error"]
    assert searched["content"] == "No turn matches."


def test_a_dry_run_calls_out_to_nobody(talker, name):
    gateway = talker.gateway
    job = new_job(gateway, name("chore"), agent_id=new_agent(gateway, name("worker"), stage="operator")["id"])
    talker.stub.script(calls(("WebFetch", {"url": "http://127.0.0.1:9/"}), ("WebSearch", {"query": "tea"})), "Done.")
    accepted(gateway.http.post(f"/run/{job['name']}", params={"dry": "true"}), 202)
    ended(gateway, job)
    for turn in turns_of(gateway, {"id": rows(gateway, job)[0]["thread_id"]}, "tool"):
        assert turn["content"].startswith("dry run: would have called Web") and not turn["metadata"]["is_error"]


def test_the_answer_of_a_dry_run_that_is_made_again_is_dry_too(talker, name):
    gateway = talker.gateway
    worker = new_agent(gateway, name("worker"), stage="operator")
    thread = new_thread(gateway, worker)
    job = new_job(gateway, name("chore"), agent_id=worker["id"], owner_agent_id=worker["id"])
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
