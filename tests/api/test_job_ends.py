"""Jobs: concurrent runs, how runs end, and the list of jobs.

See docs/contract/jobs.md#runs.
"""

import pytest

from checks import UNKNOWN_ID, accepted, at_once, ids, refused
from extensions import toggle
from jobs import (chat_stop, delete, ended, job_directory, new_agent, new_job, rows, run, statuses, stop_run, turns,
                  wait_for)
from threads import slow_writes
from tools import calls


# Concurrent runs.


def start_and_queue(talker, job):
    """Starts a run with a held answer, and another that waits for it. Returns that answer and the thread's id."""
    answer = talker.holds("first")
    thread_id = run(talker.gateway, job)["threadId"]
    assert answer.was_asked()
    assert run(talker.gateway, job)["status"] == "started"
    return answer, thread_id


def test_forbid_refuses_a_second_run(streaming_job_run):
    gateway, job, row, answer = streaming_job_run
    refused(gateway.http.post(f"/run/{job['name']}"), 409, "job is already running")
    assert ids(rows(gateway, job)) == [row["id"]]
    answer.release(" and the rest")
    assert statuses(ended(gateway, job)) == ["completed"]


def test_forbid_accepts_one_of_many_simultaneous_starts(talker, new_name):
    gateway, job = talker.gateway, new_job(talker.gateway, new_name("job"))
    answer = talker.holds("one")
    responses = at_once(8, lambda _: gateway.http.post(f"/run/{job['name']}").status_code)
    assert sorted(responses) == [202] + [409] * 7
    answer.release()
    assert statuses(ended(gateway, job)) == ["completed"]


def test_queue_runs_in_sequence(talker, new_name):
    gateway, job = talker.gateway, new_job(talker.gateway, new_name("job"), concurrency="queue")
    answer, _ = start_and_queue(talker, job)
    assert statuses(rows(gateway, job)) == ["queued", "started"]
    assert rows(gateway, job)[0]["started_at"] is None
    talker.answers("second")
    answer.release()
    second, first = ended(gateway, job, 2)
    assert statuses([second, first]) == ["completed", "completed"] and first["finished_at"] <= second["started_at"]


def test_row_of_a_queued_run_has_started_when_the_event_says_so(own_talker, new_name):
    gateway = own_talker.gateway
    job = new_job(gateway, new_name("job"), concurrency="queue")
    for _ in range(8):
        answer, _ = start_and_queue(own_talker, job)
        second = own_talker.holds("second")
        with gateway.events() as events, slow_writes(gateway):
            answer.release()
            started = events.until(lambda event: event["type"] == "job-started")[-1]["run"]
            assert rows(gateway, job, limit=1) == [started]
        second.release()
        ended(gateway, job, 2)


def test_queue_waits_across_threads(talker, new_name):
    gateway, owner = talker.gateway, new_agent(talker.gateway, new_name("owner"))
    job = new_job(gateway, new_name("job"), concurrency="queue", owner_agent_id=owner["id"])
    answer = talker.holds("first")
    first = run(gateway, job)["threadId"]
    assert answer.was_asked()
    newer = accepted(gateway.http.post("/threads", json={"agent_id": owner["id"], "title": "newer"}), 201)
    assert run(gateway, job)["threadId"] == newer["id"] != first
    assert statuses(rows(gateway, job)) == ["queued", "started"]
    talker.answers("second")
    answer.release()
    assert statuses(ended(gateway, job, 2)) == ["completed", "completed"]


def test_thousand_queued_runs_end_with_the_gateway(own_talker, new_name):
    gateway, job = own_talker.gateway, new_job(own_talker.gateway, new_name("job"), concurrency="queue")
    start_and_queue(own_talker, job)
    for _ in range(27):
        assert at_once(37, lambda _: gateway.http.post(f"/run/{job['name']}").status_code) == [202] * 37
    refused(gateway.http.post(f"/run/{job['name']}"), 409, "too many runs of the job wait")
    assert gateway.stop() == 0
    gateway.start()
    assert statuses(rows(gateway, job, limit=1000)) == ["stopped"] * 1000


def test_replace_stops_the_old_run(talker, new_name):
    gateway, job = talker.gateway, new_job(talker.gateway, new_name("job"), concurrency="replace")
    answer = talker.holds("old")
    run(gateway, job)
    assert answer.was_asked()
    talker.answers("new")
    run(gateway, job)
    assert answer.was_aborted()
    assert statuses(ended(gateway, job, 2)) == ["completed", "stopped"]


def chat_on_its_thread(talker, job):
    """Runs the job once and starts a chat on its thread. Returns the chat's answer, which is held back."""
    talker.answers("one")
    thread_id = run(talker.gateway, job)["threadId"]
    ended(talker.gateway, job)
    answer = talker.holds("a chat")
    accepted(talker.gateway.http.post("/chat", json={"threadId": thread_id, "content": "hello"}), 201)
    assert answer.was_asked()
    return answer


def test_each_start_and_each_end_has_its_event(talker, new_name):
    gateway = talker.gateway
    job = new_job(gateway, new_name("job"), concurrency="replace")
    with gateway.events() as events:
        for _ in range(5):
            at_once(10, lambda _: run(gateway, job))
        found = ended(gateway, job, 50)
        messages = events.drain()

    def announced(kind):
        return sorted(event["run"]["id"] for event in messages
                      if event["type"] == kind and event["run"]["job"] == job["name"])

    assert announced("job-started") == sorted(row["id"] for row in found if row["started_at"])
    assert announced("job-finished") == sorted(ids(found))


def test_run_waits_for_the_chat_on_its_thread(talker, new_name):
    gateway, job = talker.gateway, new_job(talker.gateway, new_name("job"))
    answer = chat_on_its_thread(talker, job)
    run(gateway, job)
    assert statuses(rows(gateway, job)) == ["queued", "completed"]
    talker.answers("two")
    answer.release()
    assert statuses(ended(gateway, job, 2)) == ["completed", "completed"]


def test_replace_immediately_ends_a_run_waiting_for_a_chat(talker, new_name):
    gateway, job = talker.gateway, new_job(talker.gateway, new_name("job"), concurrency="replace")
    answer = chat_on_its_thread(talker, job)
    run(gateway, job)
    run(gateway, job)
    wait_for(lambda: statuses(rows(gateway, job)) == ["queued", "stopped", "completed"])
    talker.answers("two")
    answer.release()
    assert statuses(ended(gateway, job, 3)) == ["completed", "stopped", "completed"]


def test_toggling_a_job_off_lets_its_run_finish(streaming_job_run):
    gateway, job, row, answer = streaming_job_run
    assert accepted(toggle(gateway, job))["enabled"] is False
    answer.release(" and the rest")
    assert statuses(ended(gateway, job)) == ["completed"]


# How runs end.


def test_run_is_stopped_by_its_id(streaming_job_run):
    gateway, job, row, answer = streaming_job_run
    with gateway.events(row["thread_id"]) as events:
        stopped = stop_run(gateway, row)
        events.until(lambda event: event["type"] == "stopped" and event["runId"] == row["id"])
    assert stopped["status"] == "stopped" and stopped["id"] == row["id"] and stopped["finished_at"]
    assert rows(gateway, job) == [stopped] == [stop_run(gateway, row)]
    assert answer.was_aborted()


def test_queued_run_is_stopped_without_starting(talker, new_name):
    gateway, job = talker.gateway, new_job(talker.gateway, new_name("job"), concurrency="queue")
    answer, _ = start_and_queue(talker, job)
    row = stop_run(gateway, rows(gateway, job)[0])
    assert (row["status"], row["started_at"], row["duration_ms"]) == ("stopped", None, None)
    assert statuses(rows(gateway, job)) == ["stopped", "started"]
    answer.release()
    assert statuses(ended(gateway, job, 2)) == ["stopped", "completed"]
    assert talker.request_count() == 1


def test_stopping_an_unknown_run_is_not_found(gateway):
    refused(gateway.http.post(f"/runs/{UNKNOWN_ID}/stop"), 404, "run not found")
    refused(gateway.http.post("/runs/x/stop"), 404, "run not found")


def test_chat_stop_stops_job_runs_of_the_thread(talker, new_name):
    gateway, job = talker.gateway, new_job(talker.gateway, new_name("job"), concurrency="queue")
    _, thread_id = start_and_queue(talker, job)
    assert chat_stop(gateway, thread_id)["status"] == "stopped"
    found = rows(gateway, job)
    assert statuses(found) == ["stopped", "stopped"] and found[0]["started_at"] is None
    assert talker.request_count() == 1


def test_run_exceeding_its_timeout_fails(talker, new_name):
    gateway = talker.gateway
    for seconds in 1, 4, 16:  # longer on a busy machine, where the answer may not start before the timeout
        talker.stub.reset()
        job = new_job(gateway, new_name("job"), timeout_s=seconds)
        answer = talker.holds("too slow")
        with gateway.events() as events:
            thread_id = run(gateway, job)["threadId"]
            seen = events.until(lambda event: event["type"] == "job-finished" and event["threadId"] == thread_id)
        seen = [event for event in seen if event.get("threadId") == thread_id]
        if any(event["type"] == "text-delta" for event in seen):
            break
    assert [event["type"] for event in seen if event["type"] in ("error", "finish", "stopped")] == ["error", "finish"]
    assert next(event for event in seen if event["type"] == "finish")["finishReason"] == "error"
    row = ended(gateway, job)[0]
    assert (row["status"], row["error"]) == ("failed", f"timed out after {seconds} s")
    assert answer.was_aborted()
    turn = turns(gateway, thread_id)[0]
    assert turn["content"] == "too slow" and turn["metadata"]["partial"] is True


def test_gateway_stop_stops_runs(own_talker, new_name):
    gateway, job = own_talker.gateway, new_job(own_talker.gateway, new_name("job"))
    answer = own_talker.holds("half")
    run(gateway, job)
    assert answer.was_asked()
    gateway.restart()
    assert statuses(rows(gateway, job)) == ["stopped"]


def test_killed_gateway_marks_runs_as_interrupted(own_talker, new_name):
    gateway, job = own_talker.gateway, new_job(own_talker.gateway, new_name("job"), concurrency="queue")
    _, thread_id = start_and_queue(own_talker, job)
    gateway.kill()
    gateway.start()
    found = rows(gateway, job)
    assert statuses(found) == ["interrupted", "interrupted"] and all(row["finished_at"] for row in found)
    metadata_of_answers = [turn["metadata"] for turn in turns(gateway, thread_id) if turn["role"] == "assistant"]
    assert [metadata["finish_reason"] for metadata in metadata_of_answers] == ["interrupted", "interrupted"]
    own_talker.answers("again")
    run(gateway, job)
    assert statuses(ended(gateway, job, 3))[0] == "completed"


def test_killed_run_records_its_cost(own_talker, new_name):
    gateway, job = own_talker.gateway, new_job(own_talker.gateway, new_name("job"))
    own_talker.stub.script(calls(("Glob", {"pattern": "*"})))
    answer = own_talker.holds("half")
    thread_id = run(gateway, job)["threadId"]
    assert answer.was_asked()
    gateway.kill()
    gateway.start()
    row = rows(gateway, job)[0]
    saved = next(turn["metadata"] for turn in turns(gateway, thread_id) if turn["role"] == "assistant")
    assert row["usage"] == saved["usage"] and (row["usage"]["input_tokens"], row["usage"]["output_tokens"]) == (10, 5)
    assert row["cost_usd"] == saved["cost_usd"]


@pytest.mark.parametrize("end, why", [
    (delete, "the agent was deleted before it could answer"),
    (toggle, "the agent was disabled before it could answer"),
], ids=["deleted", "disabled"])
def test_queued_run_fails_if_its_agent_disappears(talker, new_name, end, why):
    gateway, agent = talker.gateway, new_agent(talker.gateway, new_name("agent"))
    job = new_job(gateway, new_name("job"), agent_id=agent["id"], concurrency="queue")
    answer, _ = start_and_queue(talker, job)
    end(gateway, agent)
    answer.release()
    second, first = ended(gateway, job, 2)
    assert (second["status"], second["error"]) == ("failed", why) and first["status"] == "completed"


def test_queued_run_is_stopped_when_its_job_is_deleted(talker, new_name):
    gateway, job = talker.gateway, new_job(talker.gateway, new_name("job"), concurrency="queue")
    answer, thread_id = start_and_queue(talker, job)
    queued, active = rows(gateway, job)
    with gateway.events(thread_id) as events:
        delete(gateway, job)
        seen = events.until(lambda event: event["type"] == "job-finished")
        assert [event["runId"] for event in seen if event["type"] == "stopped"] == [queued["id"]]
        assert (seen[-1]["run"]["id"], seen[-1]["run"]["status"]) == (queued["id"], "stopped")
        answer.release()
        last = events.until(lambda event: event["type"] == "job-finished" and event["run"]["id"] == active["id"])[-1]
    assert last["run"]["status"] == "completed" and talker.request_count() == 1
    assert stop_run(gateway, queued)["started_at"] is None


def test_queued_run_continues_when_its_job_is_disabled(talker, new_name):
    gateway, job = talker.gateway, new_job(talker.gateway, new_name("job"), concurrency="queue")
    answer, _ = start_and_queue(talker, job)
    accepted(toggle(gateway, job))
    talker.answers("second")
    answer.release()
    assert statuses(ended(gateway, job, 2)) == ["completed", "completed"]


# GET /jobs.


def summary(gateway, job):
    return next(found for found in accepted(gateway.http.get("/jobs")) if found["id"] == job["id"])


def test_jobs_are_listed_with_their_schedule_and_runs(gateway, new_name):
    job = new_job(gateway, new_name("job"), schedule="30 4 * * *")
    before = summary(gateway, job)
    assert {"id", "name", "schedule", "next_due", "last_run", "success_rate"} <= set(before)
    assert (before["name"], before["schedule"]) == (job["name"], "30 4 * * *")
    assert before["last_run"] is None and before["success_rate"] is None
    assert len(before["next_due"]) == 5 and before["next_due"] == sorted(before["next_due"])
    assert all(due.endswith("T04:30:00.000Z") for due in before["next_due"])
    run(gateway, job)
    row = ended(gateway, job)[0]
    after = summary(gateway, job)
    assert after["last_run"] == row and after["success_rate"] == 1


def test_success_rate_counts_failures(gateway, new_name):
    job = new_job(gateway, new_name("job"), prompt_file="task.md")
    run(gateway, job)
    ended(gateway, job)
    assert summary(gateway, job)["success_rate"] == 0
    (job_directory(gateway, job) / "task.md").write_text("now it is there")
    run(gateway, job)
    ended(gateway, job, 2)
    assert summary(gateway, job)["success_rate"] == 0.5


def test_disabled_or_unscheduled_job_is_not_due(gateway, new_name):
    disabled = new_job(gateway, new_name("job"), schedule="* * * * *", enabled=False)
    assert summary(gateway, disabled)["next_due"] == []
    plain = summary(gateway, new_job(gateway, new_name("job")))
    assert plain["schedule"] is None and plain["next_due"] == []


def test_built_in_jobs_are_listed(make_gateway):
    found = {job["name"]: job["enabled"] for job in accepted(make_gateway().start().http.get("/jobs"))}
    assert found["compile-knowledge"] is True and found["self-reflect"] is False
