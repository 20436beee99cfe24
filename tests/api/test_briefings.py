"""Activity, briefings and the pulse.

See docs/contract/jobs.md#briefings.
"""

import pytest

from checks import UNKNOWN_ID, accepted, at_once, is_timestamp, refused
from jobs import ended, new_agent, new_job, run, turns, wait_for
from proposals import apply, reject, write
from stubs.provider import Fault
from talker import MODEL, Talker, configuration

BRIEFING = {"project_id", "generated_at", "stale", "summary", "threads", "jobs", "proposals", "costs", "highlights"}


def new_thread(gateway, **members):
    return accepted(gateway.http.post("/threads", json=members), 201)


def add_turn(gateway, thread, content, role="user"):
    body = {"content": content, "role": role}
    return accepted(gateway.http.post(f"/threads/{thread['id']}/turns", json=body), 201)


def activity(gateway, agent, **params):
    return accepted(gateway.http.get(f"/agents/{agent}/activity", params=params))


def briefing(gateway, **params):
    return accepted(gateway.http.get("/briefing", params=params))


def pulse(gateway):
    return accepted(gateway.http.get("/pulse/briefing"))


def test_briefing_counts_all_threads_and_lists_the_latest(gateway, new_name):
    home = gateway.home / new_name("project")
    home.mkdir()
    project = accepted(gateway.http.post("/projects", json={"name": home.name, "path": str(home)}), 201)
    made = [new_thread(gateway, project_id=project["id"], title=f"thread {number}") for number in range(23)]
    found = briefing(gateway, project_id=project["id"])
    assert found["summary"].startswith("In the last 24 hours: 23 chats changed, ")
    assert [entry["title"] for entry in found["threads"]] == [thread["title"] for thread in made[:2:-1]]


# GET /agents/:name/activity.


def test_activity_lists_turns_of_all_threads_newest_first(gateway, new_name):
    agent = new_agent(gateway, new_name("agent"))
    one, other = (new_thread(gateway, agent_id=agent["id"], title=title) for title in ("one", "other"))
    new = [add_turn(gateway, thread, f"turn {number}", role) for number, (thread, role) in
           enumerate([(one, "user"), (other, "system"), (one, "assistant"), (other, "tool")])]
    found = activity(gateway, agent["id"])
    assert [row["turn_id"] for row in found] == [turn["id"] for turn in new[::-1]]
    assert set(found[0]) == {"turn_id", "thread_id", "thread_title", "role", "snippet", "created_at"}
    newest = found[0]
    assert (newest["thread_id"], newest["thread_title"]) == (other["id"], "other")
    assert (newest["role"], newest["snippet"]) == ("tool", "turn 3") and is_timestamp(newest["created_at"])
    assert activity(gateway, agent["name"]) == found


@pytest.mark.parametrize("unsafe", ["%2e%2e", "a%2Fb", "a%5Cb", "..%2Fassistant"])
def test_name_with_path_separators_is_rejected(gateway, unsafe):
    refused(gateway.http.get(f"/agents/{unsafe}/activity"), 400, "invalid agent name")


def test_activity_is_limited(gateway, new_name):
    agent = new_agent(gateway, new_name("agent"))
    threads = [new_thread(gateway, agent_id=agent["id"]) for _ in range(3)]
    made = [add_turn(gateway, threads[number % 3], f"{number}") for number in range(24)]
    newest = [turn["id"] for turn in made[::-1]]
    assert [row["turn_id"] for row in activity(gateway, agent["id"])] == newest[:20]
    assert [row["turn_id"] for row in activity(gateway, agent["id"], limit=2)] == newest[:2]
    assert [row["turn_id"] for row in activity(gateway, agent["id"], limit=5000)] == newest


def test_renaming_a_thread_does_not_hide_newer_turns(gateway, new_name):
    agent = new_agent(gateway, new_name("agent"))
    old, new = (new_thread(gateway, agent_id=agent["id"]) for _ in range(2))
    add_turn(gateway, old, "old")
    latest = add_turn(gateway, new, "new")
    accepted(gateway.http.patch(f"/threads/{old['id']}", json={"title": "renamed"}))
    assert activity(gateway, agent["id"], limit=1)[0]["turn_id"] == latest["id"]


def test_snippets_have_150_characters(gateway, new_name):
    agent = new_agent(gateway, new_name("agent"))
    thread = new_thread(gateway, agent_id=agent["id"])
    for content in ("\u00e9\U0001f600" * 100, "x" * 150, "x" * 151):
        add_turn(gateway, thread, content)
        assert activity(gateway, agent["id"], limit=1)[0]["snippet"] == content[:150]


def test_snippet_continues_after_nul(gateway, new_name):
    agent = new_agent(gateway, new_name("agent"))
    thread = new_thread(gateway, agent_id=agent["id"])
    for content in ("before\x00behind", "\x00" + "\u00e9\U0001f600" * 100):
        add_turn(gateway, thread, content)
        assert activity(gateway, agent["id"], limit=1)[0]["snippet"] == content[:150]


def test_agent_without_threads_has_no_activity(gateway, new_name):
    assert activity(gateway, new_agent(gateway, new_name("agent"))["name"]) == []


def test_activity_of_an_unknown_agent_is_not_found(gateway):
    for unknown in (UNKNOWN_ID, "nobody", "dark"):
        refused(gateway.http.get(f"/agents/{unknown}/activity", params={"limit": "x"}), 404, "agent not found")


@pytest.mark.parametrize("name", ["%2E%2E", "a%2Fb", "a%5Cb", "..%2F..%2Fetc"])
def test_invalid_agent_name_is_refused(gateway, name):
    refused(gateway.http.get(f"{gateway.url}/agents/{name}/activity?limit=x"), 400, "invalid agent name")


@pytest.mark.parametrize("value", ["0", "-1", "x"])
def test_invalid_limit_is_refused(gateway, value):
    response = gateway.http.get("/agents/assistant/activity", params={"limit": value})
    refused(response, 400, "limit must be a positive integer")


# GET /briefing.


def test_first_briefing_is_generated_at_once(own_gateway, new_name):
    thread = new_thread(own_gateway, title="Plans for May")
    job = new_job(own_gateway, new_name("job"))
    run(own_gateway, job)
    row = ended(own_gateway, job)[0]
    accepted(own_gateway.http.post("/signals", json={"kind": "disk-low", "message": "The disk is nearly full."}), 201)
    found = briefing(own_gateway)
    assert set(found) == BRIEFING and found["stale"] is False and found["project_id"] is None
    assert is_timestamp(found["generated_at"]) and found["summary"] and found["costs"] == 0
    assert {"id": thread["id"], "title": "Plans for May", "at": thread["updated_at"]} in found["threads"]
    assert [(entry["id"], entry["at"]) for entry in found["jobs"]] == [(row["id"], row["finished_at"])]
    assert job["name"] in found["jobs"][0]["title"] and found["proposals"] == []
    assert found["highlights"] == ["The disk is nearly full."]


def test_briefing_is_cached_until_something_changes(own_gateway):
    first = briefing(own_gateway)
    assert briefing(own_gateway) == first
    new_thread(own_gateway, title="something new")
    stale = briefing(own_gateway)
    assert stale == {**first, "stale": True}
    refreshed = wait_for(lambda: [found for found in [briefing(own_gateway)] if not found["stale"]])[0]
    assert [entry["title"] for entry in refreshed["threads"]] == ["something new"]
    assert refreshed["generated_at"] > first["generated_at"]


def test_project_briefing_covers_its_threads_only(own_gateway):
    (own_gateway.home / "work").mkdir()
    project = accepted(own_gateway.http.post("/projects", json={"name": "work", "path": str(own_gateway.home / "work")}), 201)
    inside = new_thread(own_gateway, project_id=project["id"], title="inside")
    new_thread(own_gateway, title="outside")
    found = briefing(own_gateway, project_id=project["id"])
    assert found["project_id"] == project["id"]
    assert [entry["id"] for entry in found["threads"]] == [inside["id"]]
    assert len(briefing(own_gateway)["threads"]) == 2


def test_briefing_of_an_unknown_project_is_not_found(gateway):
    refused(gateway.http.get("/briefing", params={"project_id": UNKNOWN_ID}), 404, "project not found")


def test_model_writes_the_refreshed_briefing(own_talker):
    gateway = own_talker.gateway
    plain = briefing(gateway)["summary"]
    own_talker.answers("All is well.")
    new_thread(gateway, title="Harvest")
    briefing(gateway)
    found = wait_for(lambda: [found for found in [briefing(gateway)] if not found["stale"]])[0]
    assert found["summary"] == "All is well." != plain
    assert "Harvest" in own_talker.conversation()[-1][1]


def test_model_calls_for_a_briefing_do_not_make_it_stale(make_gateway, stub):
    gateway = make_gateway(config=configuration(stub))
    (gateway.data / "prices.yaml").write_text(f"{MODEL}: {{input: 10, output: 10}}\n")
    talker = Talker(gateway.start(), stub)
    briefing(gateway)
    talker.answers("All is well.")
    new_thread(gateway, title="Harvest")
    briefing(gateway)
    found = wait_for(lambda: [found for found in [briefing(gateway)] if found["summary"] == "All is well."])[0]
    cost = accepted(gateway.http.get("/costs"))["today"]
    assert (found["stale"], found["costs"]) == (False, cost) and cost > 0


# GET /pulse/briefing.


def test_pulse_falls_back_to_the_summary(own_gateway):
    found = pulse(own_gateway)
    assert set(found) == {"prose", "highlights", "proposalCount", "selfReflectAvailable"}
    assert found["prose"] == briefing(own_gateway)["summary"]
    assert (found["highlights"], found["proposalCount"], found["selfReflectAvailable"]) == ([], 0, False)


def test_pending_proposals_are_counted_and_named(own_gateway):
    path, decided = write(own_gateway, title="A clearer soul"), write(own_gateway)
    accepted(reject(own_gateway, decided))
    assert pulse(own_gateway)["proposalCount"] == 1
    assert briefing(own_gateway)["proposals"] == [
        {"id": path.removeprefix("/proposals/"), "title": "A clearer soul", "at": "2026-01-02T03:04:05.678Z"}]
    accepted(apply(own_gateway, path))
    assert pulse(own_gateway)["proposalCount"] == 0
    wait_for(lambda: briefing(own_gateway)["proposals"] == [])


def test_signals_become_highlights(own_gateway):
    for message in ("first", "second"):
        accepted(own_gateway.http.post("/signals", json={"kind": "cost-spike", "message": message}), 201)
    assert pulse(own_gateway)["highlights"] == ["second", "first"]


def test_day_with_many_signals_is_reported_in_full(own_gateway):
    messages = [f"signal {number}" for number in range(30)]
    for message in messages:
        accepted(own_gateway.http.post("/signals", json={"kind": "cost-spike", "message": message}), 201)
    assert pulse(own_gateway)["highlights"] == messages[::-1]


def test_self_reflect_works_without_a_model(own_gateway):
    new_thread(own_gateway, title="Plans for May")
    response = accepted(own_gateway.http.post("/run/self-reflect"), 202)
    job = {"name": "self-reflect"}
    assert ended(own_gateway, job)[0]["status"] == "completed"
    reflection = turns(own_gateway, response["threadId"])[0]
    assert reflection["role"] == "assistant"
    assert "Plans for May" in reflection["content"] and len(reflection["content"]) <= 900
    found = pulse(own_gateway)
    assert found["prose"] == reflection["content"] and found["selfReflectAvailable"] is True


def test_self_reflect_with_a_model_has_up_to_1000_characters(own_talker):
    gateway = own_talker.gateway
    own_talker.answers("\u00e9" * 1500)
    accepted(gateway.http.post("/run/self-reflect"), 202)
    ended(gateway, {"name": "self-reflect"})
    found = pulse(gateway)
    assert found["prose"] == "\u00e9" * 1000 and found["selfReflectAvailable"] is True


def test_failed_reflection_does_not_count(own_talker):
    gateway = own_talker.gateway
    own_talker.stub.script(Fault(400, "refused"))
    accepted(gateway.http.post("/run/self-reflect"), 202)
    assert ended(gateway, {"name": "self-reflect"})[0]["status"] == "failed"
    assert pulse(gateway)["selfReflectAvailable"] is False


def test_reflection_survives_later_failures(own_talker):
    gateway, job = own_talker.gateway, {"name": "self-reflect"}
    own_talker.answers("A good day.")
    run(gateway, job)
    ended(gateway, job)
    for count in range(2, 23):
        own_talker.stub.script(Fault(400, "refused"))
        run(gateway, job)
        assert ended(gateway, job, count)[0]["status"] == "failed"
    found = pulse(gateway)
    assert found["prose"] == "A good day." and found["selfReflectAvailable"] is True


def test_regenerated_reflection_replaces_the_first(own_talker):
    gateway, job = own_talker.gateway, {"name": "self-reflect"}
    own_talker.answers("A good day.")
    thread_id = run(gateway, job)["threadId"]
    ended(gateway, job)
    own_talker.answers("A bad day.")
    accepted(gateway.http.post(f"/turns/{turns(gateway, thread_id)[0]['id']}/regenerate"), 201)
    wait_for(lambda: turns(gateway, thread_id)[0]["content"] == "A bad day.")
    assert pulse(gateway)["prose"] == "A bad day."


# Jobs that fail repeatedly.


def test_simultaneous_failures_are_signalled_once(own_gateway, new_name):
    job = new_job(own_gateway, new_name("job"), prompt_file="gone.md", concurrency="queue")
    at_once(8, lambda _: run(own_gateway, job))
    ended(own_gateway, job, 8)
    found = wait_for(lambda: accepted(own_gateway.http.get("/signals", params={"kind": "job-failing"})))
    assert len(found) == 1 and found[0]["value"] == 3


def test_three_failures_in_a_row_are_signalled_once(own_gateway, new_name):
    job = new_job(own_gateway, new_name("job"), prompt_file="gone.md")
    for count in range(1, 6):
        run(own_gateway, job)
        ended(own_gateway, job, count)
    found = wait_for(lambda: accepted(own_gateway.http.get("/signals", params={"kind": "job-failing"})))
    assert len(found) == 1 and found[0]["value"] == 3 and job["name"] in found[0]["message"]
