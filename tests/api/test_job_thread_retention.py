"""Threads of jobs do not grow for ever: older turns are summed up and deleted.

See docs/contract/jobs.md#starting-a-job.
"""

import pytest

from checks import accepted
from jobs import ended, new_job, run, thread, turns, wait_for
from stubs.provider import ProviderStub
from talker import Talker, configuration

MOST = 10


@pytest.fixture
def keeping(make_gateway):
    """A gateway that keeps ten turns of a job's thread."""
    with ProviderStub() as stub:
        gateway = make_gateway(config={**configuration(stub), "retention": {"turns_per_job_thread": MOST}}).start()
        stub.always(lambda request: "SUMMARY of the sheep." if asks_for_summary(request) else "Counted.")
        yield Talker(gateway, stub)


def asks_for_summary(request):
    return "Sum it up" in request.json["messages"][0]["content"]


def run_often(talker, job, count):
    for number in range(count):
        run(talker.gateway, job)
        ended(talker.gateway, job, count=number + 1)


def counts(talker, thread_id):
    return thread(talker.gateway, thread_id)["turn_count"]


def test_oldest_turns_go_after_they_were_summed_up(keeping):
    job = new_job(keeping.gateway, "count", prompt="Count the sheep.")
    first = run(keeping.gateway, job)["threadId"]
    ended(keeping.gateway, job)
    oldest = turns(keeping.gateway, first)[-1]
    run_often_more = MOST // 2
    for number in range(run_often_more):
        run(keeping.gateway, job)
        ended(keeping.gateway, job, count=number + 2)
    wait_for(lambda: counts(keeping, first) <= MOST)
    left = turns(keeping.gateway, first)
    assert len(left) == counts(keeping, first) and oldest["id"] not in [turn["id"] for turn in left]
    assert left[-2]["role"] == "user", "what is left begins with a question, after the last turn that was summed up"
    run(keeping.gateway, job)
    ended(keeping.gateway, job, count=run_often_more + 2)
    asked = [request for request in keeping.stub.requests if not asks_for_summary(request)][-1]
    assert any("SUMMARY of the sheep." in str(message["content"]) for message in asked.json["messages"])
    found = accepted(keeping.gateway.http.get("/turns/search", params={"q": "sheep", "agent_id": "assistant"}))
    assert oldest["id"] not in [turn["id"] for turn in found]


def test_thread_stays_short(keeping):
    job = new_job(keeping.gateway, "count", prompt="Count the sheep.")
    run_often(keeping, job, 3 * MOST)
    (row, *_) = accepted(keeping.gateway.http.get("/jobs/count/runs", params={"limit": 1}))
    wait_for(lambda: counts(keeping, row["thread_id"]) <= MOST)
    summaries = [request for request in keeping.stub.requests if asks_for_summary(request)]
    assert 1 <= len(summaries) < 3 * MOST


def test_thread_that_grows_while_it_is_shortened_stays_short(keeping):
    job = new_job(keeping.gateway, "count", prompt="Count the sheep.")
    few = MOST // 2
    run_often(keeping, job, few)
    keeping.answers("Counted.")
    summary = keeping.holds("SUMMARY of the sheep.")
    for number in range(few, few + 4):
        run(keeping.gateway, job)
        (row, *_) = ended(keeping.gateway, job, count=number + 1)
        assert summary.was_asked()
    summary.release()
    wait_for(lambda: counts(keeping, row["thread_id"]) <= MOST)


def test_threads_of_people_keep_all(keeping):
    made = accepted(keeping.gateway.http.post("/threads", json={"title": "mine"}), 201)
    for number in range(MOST):
        body = {"content": f"Question {number}?", "threadId": made["id"]}
        with keeping.gateway.events(made["id"]) as events:
            turn = accepted(keeping.gateway.http.post("/chat", json=body), 201)
            events.run(turn["id"])
    assert counts(keeping, made["id"]) == 2 * MOST


def test_next_run_continues_retention_after_a_kill(keeping):
    job = new_job(keeping.gateway, "count", prompt="Count the sheep.")
    run_often(keeping, job, MOST // 2 + 1)
    keeping.gateway.kill()
    keeping.gateway.start()
    run(keeping.gateway, job)
    (row, *_) = ended(keeping.gateway, job, count=MOST // 2 + 2)
    wait_for(lambda: counts(keeping, row["thread_id"]) <= MOST)
    assert row["status"] == "completed"


def test_setting_has_bounds(make_gateway):
    failed = make_gateway(config={"retention": {"turns_per_job_thread": 3}}).fails()
    assert "retention.turns_per_job_thread" in failed.stderr
