"""Threads of jobs stay short: older turns are summarised and deleted.

See docs/contract/jobs.md#starting-a-job.
"""

import pytest

from checks import accepted
from jobs import ended, new_agent, new_job, run, thread, turns, wait_for
from stubs.provider import ProviderStub
from talker import Talker, configuration

MAX_TURNS = 10


@pytest.fixture
def retention_talker(make_gateway):
    """A gateway that keeps ten turns of each job's thread."""
    with ProviderStub() as stub:
        gateway = make_gateway(config={**configuration(stub), "retention": {"turns_per_job_thread": MAX_TURNS}}).start()
        stub.always(lambda request: "SUMMARY of the sheep." if asks_for_summary(request) else "Counted.")
        yield Talker(gateway, stub)


def asks_for_summary(request):
    return "Sum it up" in request.json["messages"][0]["content"]


def run_times(talker, job, count):
    for number in range(count):
        run(talker.gateway, job)
        ended(talker.gateway, job, count=number + 1)


def turn_count(talker, thread_id):
    return thread(talker.gateway, thread_id)["turn_count"]


def test_oldest_turns_are_deleted_after_they_were_summarised(retention_talker):
    job = new_job(retention_talker.gateway, "count", prompt="Count the sheep.")
    first = run(retention_talker.gateway, job)["threadId"]
    ended(retention_talker.gateway, job)
    oldest = turns(retention_talker.gateway, first)[-1]
    more_runs = MAX_TURNS // 2
    for number in range(more_runs):
        run(retention_talker.gateway, job)
        ended(retention_talker.gateway, job, count=number + 2)
    wait_for(lambda: turn_count(retention_talker, first) <= MAX_TURNS)
    remaining = turns(retention_talker.gateway, first)
    assert len(remaining) == turn_count(retention_talker, first)
    assert oldest["id"] not in [turn["id"] for turn in remaining]
    assert remaining[-2]["role"] == "user", "the remaining turns begin with a question, after the last summarised turn"
    run(retention_talker.gateway, job)
    ended(retention_talker.gateway, job, count=more_runs + 2)
    last_request = [request for request in retention_talker.stub.requests if not asks_for_summary(request)][-1]
    assert any("SUMMARY of the sheep." in str(message["content"]) for message in last_request.json["messages"])
    found = accepted(retention_talker.gateway.http.get("/turns/search", params={"q": "sheep", "agent_id": "assistant"}))
    assert oldest["id"] not in [turn["id"] for turn in found]


def test_thread_stays_short(retention_talker):
    job = new_job(retention_talker.gateway, "count", prompt="Count the sheep.")
    run_times(retention_talker, job, 3 * MAX_TURNS)
    (row, *_) = accepted(retention_talker.gateway.http.get("/jobs/count/runs", params={"limit": 1}))
    wait_for(lambda: turn_count(retention_talker, row["thread_id"]) <= MAX_TURNS)
    summaries = [request for request in retention_talker.stub.requests if asks_for_summary(request)]
    assert 1 <= len(summaries) < 3 * MAX_TURNS


def test_thread_that_grows_while_it_is_shortened_stays_short(retention_talker):
    job = new_job(retention_talker.gateway, "count", prompt="Count the sheep.")
    few = MAX_TURNS // 2
    run_times(retention_talker, job, few)
    retention_talker.answers("Counted.")
    summary = retention_talker.holds("SUMMARY of the sheep.")
    for number in range(few, few + 4):
        run(retention_talker.gateway, job)
        (row, *_) = ended(retention_talker.gateway, job, count=number + 1)
        assert summary.was_asked()
    summary.release()
    wait_for(lambda: turn_count(retention_talker, row["thread_id"]) <= MAX_TURNS)


def test_summary_does_not_keep_a_turn_that_is_deleted_while_it_is_written(retention_talker):
    gateway = retention_talker.gateway
    job = new_job(gateway, "count", prompt="Count the sheep.")
    few = MAX_TURNS // 2
    run_times(retention_talker, job, few)
    retention_talker.answers("Counted.")
    summary = retention_talker.holds("SUMMARY with the deleted turn.")
    run(gateway, job)
    (row, *_) = ended(gateway, job, count=few + 1)
    assert summary.was_asked()
    oldest = turns(gateway, row["thread_id"])[-1]
    assert gateway.http.delete(f"/turns/{oldest['id']}").status_code == 204
    summary.release()
    wait_for(lambda: turn_count(retention_talker, row["thread_id"]) <= MAX_TURNS)
    run(gateway, job)
    ended(gateway, job, count=few + 2)
    last_request = [request for request in retention_talker.stub.requests if not asks_for_summary(request)][-1]
    read = str(last_request.json["messages"])
    assert "SUMMARY of the sheep." in read and "the deleted turn" not in read


def ask_times(talker, thread_id, count):
    for number in range(count):
        body = {"content": f"Question {number}?", "threadId": thread_id}
        with talker.gateway.events(thread_id) as events:
            turn = accepted(talker.gateway.http.post("/chat", json=body), 201)
            events.run(turn["id"])


def test_threads_of_the_user_keep_all_turns(retention_talker):
    made = accepted(retention_talker.gateway.http.post("/threads", json={"title": "mine"}), 201)
    ask_times(retention_talker, made["id"], MAX_TURNS)
    assert turn_count(retention_talker, made["id"]) == 2 * MAX_TURNS


def test_thread_that_a_job_made_for_its_owner_keeps_all_turns(retention_talker):
    gateway = retention_talker.gateway
    report = new_job(gateway, "report", owner_agent_id=new_agent(gateway, "owner")["id"])
    owners = run(gateway, report)["threadId"]
    ended(gateway, report)
    assert thread(gateway, owners)["job_id"] == report["id"]
    ask_times(retention_talker, owners, MAX_TURNS)
    own = new_job(gateway, "count")
    run_times(retention_talker, own, MAX_TURNS // 2 + 1)
    (row, *_) = accepted(gateway.http.get("/jobs/count/runs"))
    wait_for(lambda: turn_count(retention_talker, row["thread_id"]) <= MAX_TURNS)
    assert turn_count(retention_talker, owners) == 2 * MAX_TURNS + 2


def test_next_run_continues_retention_after_a_kill(retention_talker):
    job = new_job(retention_talker.gateway, "count", prompt="Count the sheep.")
    run_times(retention_talker, job, MAX_TURNS // 2 + 1)
    retention_talker.gateway.kill()
    retention_talker.gateway.start()
    run(retention_talker.gateway, job)
    (row, *_) = ended(retention_talker.gateway, job, count=MAX_TURNS // 2 + 2)
    wait_for(lambda: turn_count(retention_talker, row["thread_id"]) <= MAX_TURNS)
    assert row["status"] == "completed"


def test_setting_has_a_minimum(make_gateway):
    failed = make_gateway(config={"retention": {"turns_per_job_thread": 3}}).fails()
    assert "retention.turns_per_job_thread" in failed.stderr
