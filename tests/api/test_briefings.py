"""Activity, briefing and pulse (specification, Jobs, briefings, activity; decisions, 7)."""

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


def test_a_briefing_counts_all_and_shows_the_latest(gateway, name):
    home = gateway.home / name("project")
    home.mkdir()
    project = accepted(gateway.http.post("/projects", json={"name": home.name, "path": str(home)}), 201)
    made = [new_thread(gateway, project_id=project["id"], title=f"thread {number}") for number in range(23)]
    found = briefing(gateway, project_id=project["id"])
    assert found["summary"].startswith("In the last 24 hours: 23 threads changed, ")
    assert [entry["title"] for entry in found["threads"]] == [thread["title"] for thread in made[:2:-1]]


# GET /agents/:name/activity.


def test_activity_is_the_turns_of_all_threads_newest_first(gateway, name):
    agent = new_agent(gateway, name("agent"))
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
def test_a_name_that_could_leave_the_agents_directory_is_rejected(gateway, unsafe):
    refused(gateway.http.get(f"/agents/{unsafe}/activity"), 400, "invalid agent name")


def test_activity_is_limited(gateway, name):
    agent = new_agent(gateway, name("agent"))
    threads = [new_thread(gateway, agent_id=agent["id"]) for _ in range(3)]
    made = [add_turn(gateway, threads[number % 3], f"{number}") for number in range(24)]
    newest = [turn["id"] for turn in made[::-1]]
    assert [row["turn_id"] for row in activity(gateway, agent["id"])] == newest[:20]
    assert [row["turn_id"] for row in activity(gateway, agent["id"], limit=2)] == newest[:2]
    assert [row["turn_id"] for row in activity(gateway, agent["id"], limit=5000)] == newest


def test_a_thread_that_was_only_renamed_hides_no_newer_turn(gateway, name):
    agent = new_agent(gateway, name("agent"))
    old, new = (new_thread(gateway, agent_id=agent["id"]) for _ in range(2))
    add_turn(gateway, old, "old")
    latest = add_turn(gateway, new, "new")
    accepted(gateway.http.patch(f"/threads/{old['id']}", json={"title": "renamed"}))
    assert activity(gateway, agent["id"], limit=1)[0]["turn_id"] == latest["id"]


def test_snippets_are_150_characters(gateway, name):
    agent = new_agent(gateway, name("agent"))
    thread = new_thread(gateway, agent_id=agent["id"])
    for content in ("\u00e9\U0001f600" * 100, "x" * 150, "x" * 151):
        add_turn(gateway, thread, content)
        assert activity(gateway, agent["id"], limit=1)[0]["snippet"] == content[:150]


def test_a_snippet_goes_on_behind_a_nul(gateway, name):
    agent = new_agent(gateway, name("agent"))
    thread = new_thread(gateway, agent_id=agent["id"])
    for content in ("before\x00behind", "\x00" + "\u00e9\U0001f600" * 100):
        add_turn(gateway, thread, content)
        assert activity(gateway, agent["id"], limit=1)[0]["snippet"] == content[:150]


def test_an_agent_without_threads_has_no_activity(gateway, name):
    assert activity(gateway, new_agent(gateway, name("agent"))["name"]) == []


def test_activity_of_no_agent_is_not_found(gateway):
    for unknown in (UNKNOWN_ID, "nobody", "dark"):
        refused(gateway.http.get(f"/agents/{unknown}/activity", params={"limit": "x"}), 404, "agent not found")


@pytest.mark.parametrize("name", ["%2E%2E", "a%2Fb", "a%5Cb", "..%2F..%2Fetc"])
def test_a_name_that_no_agent_can_have_is_refused(gateway, name):
    refused(gateway.http.get(f"{gateway.url}/agents/{name}/activity?limit=x"), 400, "invalid agent name")


@pytest.mark.parametrize("nonsense", ["0", "-1", "x"])
def test_a_limit_with_nonsense_is_refused(gateway, nonsense):
    response = gateway.http.get("/agents/assistant/activity", params={"limit": nonsense})
    refused(response, 400, "limit must be a positive integer")


# GET /briefing.


def test_the_first_briefing_is_made_at_once(own, name):
    thread = new_thread(own, title="Plans for May")
    job = new_job(own, name("job"))
    run(own, job)
    row = ended(own, job)[0]
    accepted(own.http.post("/signals", json={"kind": "disk-low", "message": "The disk is nearly full."}), 201)
    found = briefing(own)
    assert set(found) == BRIEFING and found["stale"] is False and found["project_id"] is None
    assert is_timestamp(found["generated_at"]) and found["summary"] and found["costs"] == 0
    assert {"id": thread["id"], "title": "Plans for May", "at": thread["updated_at"]} in found["threads"]
    assert [(entry["id"], entry["at"]) for entry in found["jobs"]] == [(row["id"], row["finished_at"])]
    assert job["name"] in found["jobs"][0]["title"] and found["proposals"] == []
    assert found["highlights"] == ["The disk is nearly full."]


def test_a_briefing_is_served_again_until_something_changes(own):
    first = briefing(own)
    assert briefing(own) == first
    new_thread(own, title="something new")
    stale = briefing(own)
    assert stale == {**first, "stale": True}
    anew = wait_for(lambda: [found for found in [briefing(own)] if not found["stale"]])[0]
    assert [entry["title"] for entry in anew["threads"]] == ["something new"]
    assert anew["generated_at"] > first["generated_at"]


def test_a_projects_briefing_tells_of_its_threads_only(own):
    (own.home / "work").mkdir()
    project = accepted(own.http.post("/projects", json={"name": "work", "path": str(own.home / "work")}), 201)
    inside = new_thread(own, project_id=project["id"], title="inside")
    new_thread(own, title="outside")
    found = briefing(own, project_id=project["id"])
    assert found["project_id"] == project["id"]
    assert [entry["id"] for entry in found["threads"]] == [inside["id"]]
    assert len(briefing(own)["threads"]) == 2


def test_a_briefing_of_no_project_is_not_found(gateway):
    refused(gateway.http.get("/briefing", params={"project_id": UNKNOWN_ID}), 404, "project not found")


def test_the_model_writes_a_briefing_that_is_made_anew(own_talker):
    gateway = own_talker.gateway
    plain = briefing(gateway)["summary"]
    own_talker.answers("All is well.")
    new_thread(gateway, title="Harvest")
    briefing(gateway)
    found = wait_for(lambda: [found for found in [briefing(gateway)] if not found["stale"]])[0]
    assert found["summary"] == "All is well." != plain
    assert "Harvest" in own_talker.conversation()[-1][1]


def test_what_the_model_took_for_a_briefing_does_not_make_it_stale(make_gateway, stub):
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


def test_the_pulse_tells_the_summary_while_nothing_was_reflected(own):
    found = pulse(own)
    assert set(found) == {"prose", "highlights", "proposalCount", "selfReflectAvailable"}
    assert found["prose"] == briefing(own)["summary"]
    assert (found["highlights"], found["proposalCount"], found["selfReflectAvailable"]) == ([], 0, False)


def test_proposals_that_wait_are_counted_and_named(own):
    path, decided = write(own, title="A clearer soul"), write(own)
    accepted(reject(own, decided))
    assert pulse(own)["proposalCount"] == 1
    assert briefing(own)["proposals"] == [
        {"id": path.removeprefix("/proposals/"), "title": "A clearer soul", "at": "2026-01-02T03:04:05.678Z"}]
    accepted(apply(own, path))
    assert pulse(own)["proposalCount"] == 0
    wait_for(lambda: briefing(own)["proposals"] == [])


def test_signals_become_highlights(own):
    for message in ("first", "second"):
        accepted(own.http.post("/signals", json={"kind": "cost-spike", "message": message}), 201)
    assert pulse(own)["highlights"] == ["second", "first"]


def test_a_day_of_many_signals_is_told_whole(own):
    messages = [f"signal {number}" for number in range(30)]
    for message in messages:
        accepted(own.http.post("/signals", json={"kind": "cost-spike", "message": message}), 201)
    assert pulse(own)["highlights"] == messages[::-1]


def test_self_reflect_works_without_a_model(own):
    new_thread(own, title="Plans for May")
    answer = accepted(own.http.post("/run/self-reflect"), 202)
    job = {"name": "self-reflect"}
    assert ended(own, job)[0]["status"] == "completed"
    said = turns(own, answer["threadId"])[0]
    assert said["role"] == "assistant" and "Plans for May" in said["content"] and len(said["content"]) <= 900
    found = pulse(own)
    assert found["prose"] == said["content"] and found["selfReflectAvailable"] is True


def test_self_reflect_with_a_model_is_told_in_up_to_1000_characters(own_talker):
    gateway = own_talker.gateway
    own_talker.answers("\u00e9" * 1500)
    accepted(gateway.http.post("/run/self-reflect"), 202)
    ended(gateway, {"name": "self-reflect"})
    found = pulse(gateway)
    assert found["prose"] == "\u00e9" * 1000 and found["selfReflectAvailable"] is True


def test_a_reflection_that_failed_does_not_count(own_talker):
    gateway = own_talker.gateway
    own_talker.stub.script(Fault(400, "refused"))
    accepted(gateway.http.post("/run/self-reflect"), 202)
    assert ended(gateway, {"name": "self-reflect"})[0]["status"] == "failed"
    assert pulse(gateway)["selfReflectAvailable"] is False


def test_a_reflection_stays_however_often_it_failed_since(own_talker):
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


def test_a_reflection_that_was_made_again_counts_instead_of_the_first(own_talker):
    gateway, job = own_talker.gateway, {"name": "self-reflect"}
    own_talker.answers("A good day.")
    thread_id = run(gateway, job)["threadId"]
    ended(gateway, job)
    own_talker.answers("A bad day.")
    accepted(gateway.http.post(f"/turns/{turns(gateway, thread_id)[0]['id']}/regenerate"), 201)
    wait_for(lambda: turns(gateway, thread_id)[0]["content"] == "A bad day.")
    assert pulse(gateway)["prose"] == "A bad day."


# Jobs that fail again and again.


def test_failures_at_the_same_time_are_signalled_once(own, name):
    job = new_job(own, name("job"), prompt_file="gone.md", concurrency="queue")
    at_once(8, lambda _: run(own, job))
    ended(own, job, 8)
    found = wait_for(lambda: accepted(own.http.get("/signals", params={"kind": "job-failing"})))
    assert len(found) == 1 and found[0]["value"] == 3


def test_three_failures_in_a_row_are_signalled_once(own, name):
    job = new_job(own, name("job"), prompt_file="gone.md")
    for count in range(1, 6):
        run(own, job)
        ended(own, job, count)
    found = wait_for(lambda: accepted(own.http.get("/signals", params={"kind": "job-failing"})))
    assert len(found) == 1 and found[0]["value"] == 3 and job["name"] in found[0]["message"]
