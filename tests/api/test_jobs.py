"""Jobs started manually: runs, rows, prompts, threads.

The offline librarian answers unless a model is named. A stub answers if an answer must be held back.

See docs/contract/jobs.md#starting-a-job.
"""

import concurrent.futures
import os

import pytest

from checks import TRIES, UNKNOWN_ID, accepted, at_once, ids, is_id, is_timestamp, refused
from jobs import (ROW, delete, ended, job_directory, new_agent, new_extension, new_job, new_job_of_deleted_agent, rows,
                  run, statuses, stop_run, thread, turns)
from stubs.provider import Reply


# POST /run/:job.


def test_starting_a_run_returns_202_with_its_thread(gateway, new_name):
    job = new_job(gateway, new_name("job"))
    started = run(gateway, job)
    assert set(started) == {"job", "dry", "threadId", "status"}
    assert (started["job"], started["dry"], started["status"]) == (job["name"], False, "started")
    assert is_id(started["threadId"])
    ended(gateway, job)


def test_starting_a_run_names_it(gateway, new_name):
    job = new_job(gateway, new_name("job"), concurrency="queue")
    named = [gateway.http.post(f"/run/{job['name']}").headers["X-Run-Id"] for _ in range(3)]
    assert named == [row["id"] for row in reversed(ended(gateway, job, 3))]


def test_job_is_found_by_id(gateway, new_name):
    job = new_job(gateway, new_name("job"))
    response = accepted(gateway.http.post(f"/run/{job['id']}"), 202)
    assert response["job"] == job["name"]
    ended(gateway, job)


def test_unknown_job_is_not_found(gateway, new_name):
    theme = new_extension(gateway, "theme", new_name("theme"), {})
    for unknown in ("nothing-of-that-name", UNKNOWN_ID, theme["name"], "assistant"):
        refused(gateway.http.post(f"/run/{unknown}"), 404, "job not found")
        refused(gateway.http.get(f"/jobs/{unknown}/runs"), 404, "job not found")


def test_disabled_job_can_be_run_manually(gateway, new_name):
    job = new_job(gateway, new_name("job"), enabled=False)
    run(gateway, job)
    assert statuses(ended(gateway, job)) == ["completed"]


@pytest.mark.parametrize("text, dry", [("true", True), ("1", True), ("false", False), ("0", False), ("", False)])
def test_dry_run_is_marked_in_response_and_row(gateway, new_name, text, dry):
    job = new_job(gateway, new_name("job"))
    assert run(gateway, job, dry=text)["dry"] is dry
    assert ended(gateway, job)[0]["dry"] is dry


@pytest.mark.parametrize("value", ["yes", "2", "True", "null"])
def test_invalid_dry_is_refused(gateway, new_name, value):
    job = new_job(gateway, new_name("job"))
    refused(gateway.http.post(f"/run/{job['name']}", params={"dry": value}), 400, "dry must be true or false")
    assert rows(gateway, job) == []


def test_unknown_or_disabled_agent_is_named(gateway, new_name):
    off = new_agent(gateway, new_name("off"), enabled=False)
    missing = new_name("gone")
    for agent, error in ((off["name"], "agent is disabled"), (missing, "agent not found")):
        job = (new_job(gateway, new_name("job"), agent_id=agent) if agent == off["name"] else
               new_job_of_deleted_agent(gateway, new_name("job"), agent))
        refused(gateway.http.post(f"/run/{job['name']}"), 400, error, agent_id=agent)
        owned = new_job(gateway, new_name("job"), owner_agent_id=agent)
        refused(gateway.http.post(f"/run/{owned['name']}"), 400, error, agent_id=agent)
        assert rows(gateway, job) == rows(gateway, owned) == []


def test_same_idempotency_key_starts_one_run(gateway, new_name):
    job = new_job(gateway, new_name("job"))
    headers = {"Idempotency-Key": job["id"]}
    responses = at_once(4, lambda _: accepted(gateway.http.post(f"/run/{job['name']}", headers=headers), 202))
    assert all(response == responses[0] for response in responses)
    assert len(ended(gateway, job)) == 1


# The row, the turns, the events.


def test_row_describes_the_run(talker, new_name):
    job = new_job(talker.gateway, new_name("job"))
    talker.stub.script(Reply("Done.", usage={"input": 7, "output": 3, "cache_read": 2, "cache_write": 1}))
    started = run(talker.gateway, job)
    row = ended(talker.gateway, job)[0]
    assert set(row) == ROW and is_id(row["id"])
    assert (row["job"], row["thread_id"], row["trigger"]) == (job["name"], started["threadId"], "manual")
    assert (row["status"], row["due_at"], row["error"]) == ("completed", None, None)
    assert is_timestamp(row["started_at"]) and is_timestamp(row["finished_at"])
    assert row["started_at"] <= row["finished_at"] and row["duration_ms"] >= 0
    assert set(row["usage"]) == {"input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"}
    assert row["usage"]["output_tokens"] == 3 and row["cost_usd"] == 0


def test_run_adds_prompt_and_answer_to_the_thread(talker, new_name):
    job = new_job(talker.gateway, new_name("job"), prompt="Count the sheep.")
    talker.answers("One", " sheep.")
    started = run(talker.gateway, job)
    row = ended(talker.gateway, job)[0]
    answer, prompt = turns(talker.gateway, started["threadId"])
    assert (prompt["role"], prompt["content"]) == ("user", "Count the sheep.")
    assert (answer["role"], answer["content"]) == ("assistant", "One sheep.")
    assert answer["metadata"]["run_id"] == row["id"] and answer["metadata"]["in_reply_to"] == prompt["id"]
    assert talker.conversation()[-1] == ("user", "Count the sheep.")


def test_run_events_lie_between_started_and_finished(talker, new_name):
    gateway, job = talker.gateway, new_job(talker.gateway, new_name("job"))
    talker.answers("first")
    thread_id = run(gateway, job)["threadId"]
    ended(gateway, job)
    talker.answers("Wo", "rk")
    with gateway.events(thread_id) as events:
        run(gateway, job)
        seen = events.until(lambda event: event["type"] == "job-finished")
    types = [event["type"] for event in seen]
    kept = [type for type in types if type in ("turn-created", "job-started", "run-started", "text-delta", "finish",
                                                  "job-finished")]
    assert kept == ["turn-created", "job-started", "run-started", "text-delta", "text-delta", "turn-created", "finish",
                    "job-finished"]
    started = seen[types.index("job-started")]
    assert started["threadId"] == thread_id and started["run"]["status"] == "started"
    finish = seen[types.index("finish")]
    prompt = seen[types.index("turn-created")]["turn"]
    assert finish["turnId"] == prompt["id"] and finish["runId"] == started["run"]["id"]
    assert seen[-1]["run"] == rows(gateway, job)[0]


def test_client_that_connects_after_the_response_gets_the_whole_run(talker, new_name):
    job = new_job(talker.gateway, new_name("job"))
    assert any(whole_run_was_seen(talker, job) for _ in range(TRIES))


def whole_run_was_seen(talker, job):
    """Runs the job and connects right after the response. Returns False if that took longer than the gateway waits."""
    answer = talker.holds("Wo")
    thread_id = run(talker.gateway, job)["threadId"]
    with talker.gateway.events(thread_id) as events:
        assert answer.was_asked()
        answer.release("rk")
        seen = events.until(lambda event: event["type"] == "job-finished")
    numbers = [event["seq"] for event in seen if "seq" in event]
    return seen[0]["type"] == "job-started" and numbers == list(range(1, len(numbers) + 1))


def test_run_can_be_stopped_before_a_client_connects(talker, new_name):
    job = new_job(talker.gateway, new_name("job"))
    answer = talker.holds("never said")
    thread_id = run(talker.gateway, job)["threadId"]
    stopped = accepted(talker.gateway.http.post("/chat/stop", json={"threadId": thread_id}))
    assert stopped == {"status": "stopped", "threadId": thread_id}
    assert ended(talker.gateway, job)[0]["status"] == "stopped"
    answer.release()


def test_runs_are_listed_newest_first(gateway, new_name):
    job = new_job(gateway, new_name("job"))
    for count in (1, 2, 3):
        run(gateway, job)
        ended(gateway, job, count)
    found = rows(gateway, job)
    assert len(found) == 3 and [row["started_at"] for row in found] == sorted((row["started_at"] for row in found),
                                                                             reverse=True)
    assert rows(gateway, job, limit=2) == found[:2]
    assert accepted(gateway.http.get(f"/jobs/{job['id']}/runs")) == found


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "ten", "1e3"])
def test_invalid_limit_is_refused(gateway, new_name, value):
    job = new_job(gateway, new_name("job"))
    response = gateway.http.get(f"/jobs/{job['name']}/runs", params={"limit": value})
    refused(response, 400, "limit must be a positive integer")


def test_rows_have_the_current_name_of_the_job(gateway, new_name):
    job = new_job(gateway, new_name("job"))
    run(gateway, job)
    ended(gateway, job)
    job = accepted(gateway.http.patch(f"/extensions/{job['id']}", json={"name": new_name("renamed")}))
    row = rows(gateway, job)[0]
    assert row["job"] == job["name"] == stop_run(gateway, row)["job"]
    summaries = accepted(gateway.http.get("/jobs"))
    assert next(found for found in summaries if found["id"] == job["id"])["last_run"]["job"] == job["name"]


def test_finished_event_has_the_current_name_of_the_job(streaming_job_run, new_name):
    gateway, job, _, answer = streaming_job_run
    job["name"] = new_name("renamed")
    witness = new_job(gateway, new_name("job"), {"type": "event", "event": "job.completed", "filter": {"job": job["name"]}})
    with gateway.events() as events:
        accepted(gateway.http.patch(f"/extensions/{job['id']}", json={"name": job["name"]}))
        answer.release()
        finished = events.until(lambda event: event["type"] == "job-finished")[-1]
    assert finished["run"]["job"] == job["name"]
    assert [row["trigger"] for row in ended(gateway, witness)] == ["event"]


def test_active_run_is_listed(streaming_job_run):
    gateway, job, row, _ = streaming_job_run
    assert (row["status"], row["finished_at"], row["duration_ms"], row["usage"]) == ("started", None, None, None)


def test_failing_model_fails_the_run(talker, new_name):
    job = new_job(talker.gateway, new_name("job"))
    talker.stub.script(Reply("Half", deltas=2, fault="error", after=1))
    run(talker.gateway, job)
    row = ended(talker.gateway, job)[0]
    assert row["status"] == "failed" and row["error"]


def test_unconfigured_model_fails_the_run(gateway, new_name):
    job = new_job(gateway, new_name("job"), model="openai/gpt-5")
    run(gateway, job)
    row = ended(gateway, job)[0]
    assert row["status"] == "failed" and "OPENAI_API_KEY" in row["error"]


# Prompts.


def test_prompt_file_is_read_at_each_run(gateway, new_name):
    job = new_job(gateway, new_name("job"), prompt_file="texts/task.md", prompt="not this")
    (job_directory(gateway, job) / "texts").mkdir()
    for count, text in enumerate(("the first text", "the second"), 1):
        (job_directory(gateway, job) / "texts" / "task.md").write_text(text)
        thread_id = run(gateway, job)["threadId"]
        ended(gateway, job, count)
        assert turns(gateway, thread_id)[1]["content"] == text


def test_missing_prompt_file_fails_the_run_and_is_named(gateway, new_name):
    job = new_job(gateway, new_name("job"), prompt_file="gone.md")
    with gateway.events() as events:
        assert run(gateway, job)["status"] == "started"
        event = events.until(lambda event: event["type"] == "job-finished" and event["run"]["job"] == job["name"])[-1]
    row = ended(gateway, job)[0]
    assert row["status"] == "failed" and "gone.md" in row["error"] and event["run"] == row


def test_run_without_its_prompt_file_ends_with_an_event(gateway, new_name):
    job = new_job(gateway, new_name("job"), prompt_file="gone.md")
    with gateway.events() as events:
        thread_id = run(gateway, job)["threadId"]
        events.until(lambda event: event["type"] == "job-finished" and event["run"]["job"] == job["name"])
        prompt = turns(gateway, thread_id)[-1]
        found = events.run(prompt["id"])
    row = ended(gateway, job)[0]
    assert [event["type"] for event in found] == ["error", "finish"]
    assert {event["runId"] for event in found} == {row["id"]} and found[0]["error"] == row["error"]
    assert found[1]["finishReason"] == "error" and prompt["content"] == job["description"]


@pytest.mark.parametrize("content", [b"GIF89a\x00\x01", b"x" * (1 << 20) + b"y", None], ids=["binary", "huge", "pipe"])
def test_binary_prompt_file_fails_the_run_and_is_named(gateway, new_name, content):
    job = new_job(gateway, new_name("job"), prompt_file="task.md")
    file = job_directory(gateway, job) / "task.md"
    os.mkfifo(file) if content is None else file.write_bytes(content)
    run(gateway, job)
    row = ended(gateway, job)[0]
    assert row["status"] == "failed" and row["error"].startswith("prompt file task.md: "), row


def test_prompt_file_outside_fails_the_run(gateway, new_name):
    job = new_job(gateway, new_name("job"), prompt_file="task.md")
    (job_directory(gateway, job) / "task.md").symlink_to(gateway.data / ".gateway-token")
    thread_id = run(gateway, job)["threadId"]
    row = ended(gateway, job)[0]
    assert row["status"] == "failed" and "task.md" in row["error"]
    assert gateway.token not in str(turns(gateway, thread_id))


def test_prompt_defaults_to_prompt_md_then_description(gateway, new_name):
    job = new_extension(gateway, "job", new_name("job"), {"agent_id": "assistant", "schedule": "0 0 1 1 *"})
    thread_id = run(gateway, job)["threadId"]
    ended(gateway, job)
    assert turns(gateway, thread_id)[1]["content"] == job["description"]
    (job_directory(gateway, job) / "prompt.md").write_text("from the file")
    run(gateway, job)
    ended(gateway, job, 2)
    assert turns(gateway, thread_id)[1]["content"] == "from the file"


def test_renamed_job_keeps_its_prompt_file(gateway, new_name):
    definition = {"agent_id": "assistant", "prompt_file": "task.md", "concurrency": "queue"}
    job = new_extension(gateway, "job", new_name("job"), definition, enabled=True)
    (job_directory(gateway, job) / "task.md").write_text("from the file")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        for number in range(40):
            body = {"name": f"{job['name']}-{number}"}
            renaming = pool.submit(gateway.http.patch, f"/extensions/{job['id']}", json=body)
            for _ in range(10):  # bounded, since each request adds a run to wait for
                thread_id = accepted(gateway.http.post(f"/run/{job['id']}"), 202)["threadId"]
                if renaming.done():
                    break
            accepted(renaming.result())
    found = ended(gateway, {"name": job["id"]})
    assert set(statuses(found)) == {"completed"}, [row["error"] for row in found if row["error"]]
    prompts = {turn["content"] for turn in turns(gateway, thread_id) if turn["role"] == "user"}
    assert prompts == {"from the file"}


def test_model_is_that_of_the_job_then_of_the_agent(talker, new_name):
    agent = new_agent(talker.gateway, new_name("agent"), model="stub/of-the-agent")
    plain = new_job(talker.gateway, new_name("job"), agent_id=agent["name"])
    special = new_job(talker.gateway, new_name("job"), agent_id=agent["id"], model="stub/of-the-job")
    for job, model in ((plain, "of-the-agent"), (special, "of-the-job")):
        talker.answers("Done.")
        run(talker.gateway, job)
        ended(talker.gateway, job)
        assert talker.asked_model() == model


# Threads.


def test_standalone_job_reuses_its_own_thread(gateway, new_name):
    job, other = new_job(gateway, new_name("job")), new_job(gateway, new_name("job"))
    first = run(gateway, job)["threadId"]
    ended(gateway, job)
    assert run(gateway, job)["threadId"] == first != run(gateway, other)["threadId"]
    ended(gateway, job, 2)
    made = thread(gateway, first)
    assistant = accepted(gateway.http.get("/extensions", params={"type": "agent", "source": "built-in"}))[0]
    assert made["job_id"] == job["id"] and made["agent_id"] == assistant["id"]
    assert ids(accepted(gateway.http.get("/threads", params={"job_id": job["name"]}))) == [first]


def test_own_thread_is_reused_after_a_restart(own_gateway, new_name):
    job = new_job(own_gateway, new_name("job"))
    first = run(own_gateway, job)["threadId"]
    ended(own_gateway, job)
    own_gateway.restart()
    assert run(own_gateway, job)["threadId"] == first
    ended(own_gateway, job, 2)


def test_deleted_thread_is_replaced(gateway, new_name):
    job = new_job(gateway, new_name("job"))
    first = run(gateway, job)["threadId"]
    ended(gateway, job)
    assert gateway.http.delete(f"/threads/{first}").status_code == 204
    assert run(gateway, job)["threadId"] != first
    ended(gateway, job, 2)


def test_fork_of_the_thread_does_not_replace_it(gateway, new_name):
    job = new_job(gateway, new_name("job"))
    first = run(gateway, job)["threadId"]
    ended(gateway, job)
    accepted(gateway.http.post(f"/threads/{first}/fork"), 201)
    assert run(gateway, job)["threadId"] == first
    ended(gateway, job, 2)


def test_owned_job_uses_the_owners_latest_active_thread(gateway, new_name):
    owner = new_agent(gateway, new_name("owner"))
    older, newer, archived = (accepted(gateway.http.post("/threads", json={"agent_id": owner["id"]}), 201)
                              for _ in range(3))
    accepted(gateway.http.patch(f"/threads/{archived['id']}", json={"archived": True}))
    job = new_job(gateway, new_name("job"), owner_agent_id=owner["name"])
    assert run(gateway, job)["threadId"] == newer["id"]
    ended(gateway, job)
    accepted(gateway.http.patch(f"/threads/{older['id']}", json={"title": "touched"}))
    assert run(gateway, job)["threadId"] == older["id"]
    ended(gateway, job, 2)
    assert turns(gateway, older["id"])[1]["content"] == job["definition"]["prompt"]


def test_job_without_its_owner_leaves_the_owners_thread(gateway, new_name):
    owner = new_agent(gateway, new_name("owner"))
    job = new_job(gateway, new_name("job"), owner_agent_id=owner["id"])
    owned = run(gateway, job)["threadId"]
    ended(gateway, job)
    delete(gateway, owner)
    definition = {member: value for member, value in job["definition"].items() if member != "owner_agent_id"}
    accepted(gateway.http.patch(f"/extensions/{job['id']}", json={"definition": definition}))
    own_thread = run(gateway, job)["threadId"]
    ended(gateway, job, 2)
    assert own_thread != owned and thread(gateway, own_thread)["agent_id"] != owner["id"]
    assert run(gateway, job)["threadId"] == own_thread
    ended(gateway, job, 3)


def test_standalone_job_keeps_its_thread_across_changes(gateway, new_name):
    first, second = new_agent(gateway, new_name("agent")), new_agent(gateway, new_name("agent"))
    job = new_job(gateway, new_name("job"), agent_id=first["id"])
    own_thread = run(gateway, job)["threadId"]
    ended(gateway, job)
    job = accepted(gateway.http.patch(f"/extensions/{job['id']}", json={
        "name": new_name("renamed"), "definition": {**job["definition"], "agent_id": second["id"]}}))
    assert run(gateway, job)["threadId"] == own_thread
    ended(gateway, job, 2)
    accepted(gateway.http.patch(f"/threads/{own_thread}", json={"title": "A title of mine"}))
    job = accepted(gateway.http.patch(f"/extensions/{job['id']}", json={"definition": {
        **job["definition"], "agent_id": first["id"]}}))
    assert run(gateway, job)["threadId"] == own_thread
    ended(gateway, job, 3)


def test_job_no_longer_owned_gets_its_own_thread(gateway, new_name):
    agent = new_agent(gateway, new_name("agent"))
    job = new_job(gateway, new_name("job"), agent_id=agent["id"], owner_agent_id=agent["id"])
    owned = run(gateway, job)["threadId"]
    ended(gateway, job)
    accepted(gateway.http.patch(f"/extensions/{job['id']}", json={"definition": {"agent_id": agent["id"], "prompt": "p"}}))
    own_thread = run(gateway, job)["threadId"]
    ended(gateway, job, 2)
    assert own_thread != owned and run(gateway, job)["threadId"] == own_thread
    ended(gateway, job, 3)


def test_owner_without_a_thread_gets_one(gateway, new_name):
    owner = new_agent(gateway, new_name("owner"))
    job = new_job(gateway, new_name("job"), owner_agent_id=owner["id"])
    made = thread(gateway, run(gateway, job)["threadId"])
    assert made["agent_id"] == owner["id"]
    ended(gateway, job)


def test_simultaneous_jobs_of_one_owner_create_one_thread(gateway, new_name):
    owner = new_agent(gateway, new_name("owner"))
    jobs = [new_job(gateway, new_name("job"), owner_agent_id=owner["id"]) for _ in range(6)]
    threads = {response["threadId"] for response in at_once(6, lambda number: run(gateway, jobs[number]))}
    assert len(threads) == 1
    for job in jobs:
        assert statuses(ended(gateway, job)) == ["completed"]


def test_thread_mode_is_neither_used_nor_changed(gateway, new_name):
    owner = new_agent(gateway, new_name("owner"))
    made = accepted(gateway.http.post("/threads", json={"agent_id": owner["id"]}), 201)
    job = new_job(gateway, new_name("job"), owner_agent_id=owner["id"], mode="act")
    run(gateway, job)
    ended(gateway, job)
    assert thread(gateway, made["id"])["mode"] == made["mode"] == "plan"
