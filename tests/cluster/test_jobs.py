"""Jobs that several nodes could run."""

import pytest

from checks import accepted, refused
from jobs import new_job
from stubs.provider import Reply
from test_changes import eventually
from test_events import ask
from tools import new_agent, turns_of


def test_a_job_that_forbids_concurrency_runs_at_one_node_at_a_time(nodes, stub):
    a, b = nodes
    agent = new_agent(a, "worker")
    job = new_job(a, "lonely", agent_id=agent["id"], concurrency="forbid")
    eventually(lambda: b.http.get(f"/extensions/{job['id']}").status_code, 200)

    def runs():
        return [run["status"] for run in accepted(b.http.get("/jobs/lonely/runs"))]
    held = stub.hold("one ", "two")
    accepted(a.http.post("/run/lonely"), 202)
    eventually(runs, ["started"])
    refused(b.http.post("/run/lonely"), 409, "job is already running")
    held.release()
    eventually(runs, ["completed"])
    stub.hold("three").release()
    accepted(b.http.post("/run/lonely"), 202)
    eventually(runs, ["completed", "completed"])


def test_a_run_of_a_job_is_stopped_at_another_node(linked_nodes, stub):
    a, b = linked_nodes
    job = new_job(a, "worker")
    eventually(lambda: b.http.get(f"/extensions/{job['id']}").status_code, 200)
    stub.hold("one ", "two")
    with b.events() as there:
        accepted(a.http.post("/run/worker"), 202)
        there.until(lambda event: event["type"] == "text-delta")
        [run] = accepted(b.http.get("/jobs/worker/runs"))
        assert accepted(b.http.post(f"/runs/{run['id']}/stop"))["status"] == "stopped"
        there.until(lambda event: event["type"] == "job-finished")
    assert [run["status"] for run in accepted(a.http.get("/jobs/worker/runs"))] == ["stopped"]


def known_job(a, b, **members):
    """Creates a job, and waits until both nodes know it."""
    job = new_job(a, "worker", **members)
    eventually(lambda: b.http.get(f"/extensions/{job['id']}").status_code, 200)
    return job


def run_until_half(node, stub):
    """Has the node run the job until half of the answer has arrived. Returns the paused answer."""
    held = stub.hold("one ", "two")
    with node.events() as events:
        accepted(node.http.post("/run/worker"), 202)
        events.until(lambda event: event["type"] == "text-delta")
    return held


def statuses(node):
    """Returns the statuses of the job's runs, newest first."""
    return [run["status"] for run in accepted(node.http.get("/jobs/worker/runs"))]


def test_runs_of_a_job_wait_for_each_other_whichever_node_they_are_started_at(nodes, stub):
    a, b = nodes
    known_job(a, b, concurrency="queue")
    held = run_until_half(a, stub)
    for node in (b, b, a, b):
        accepted(node.http.post("/run/worker"), 202)
    assert statuses(a) == statuses(b) == ["queued"] * 4 + ["started"]
    stub.always(Reply(text="Done."))
    held.release()
    eventually(lambda: statuses(a), ["completed"] * 5)
    runs = accepted(a.http.get("/jobs/worker/runs"))
    for later, earlier in zip(runs, runs[1:]):
        assert earlier["finished_at"] <= later["started_at"]


@pytest.mark.parametrize("started_at", [0, 1])
def test_a_run_replaces_those_of_all_nodes(nodes, stub, started_at):
    a, b = nodes
    known_job(a, b, concurrency="replace")
    run_until_half(a, stub)
    stub.always(Reply(text="Done."))
    accepted(b.http.post("/run/worker"), 202)
    accepted(nodes[started_at].http.post("/run/worker"), 202)
    eventually(lambda: (statuses(a)[0], statuses(a)[-1]), ("completed", "stopped"))
    assert statuses(a)[1] in ("completed", "stopped")


def test_a_queued_run_that_waits_for_another_node_is_stopped(nodes, stub):
    a, b = nodes
    known_job(a, b, concurrency="queue")
    run_until_half(a, stub)
    accepted(b.http.post("/run/worker"), 202)
    waiting = accepted(b.http.get("/jobs/worker/runs"))[0]
    assert accepted(b.http.post(f"/runs/{waiting['id']}/stop"))["status"] == "stopped"
    assert statuses(a) == ["stopped", "started"]


def test_queued_runs_begin_once_the_node_of_the_first_is_taken_over(nodes, stub):
    a, b = nodes
    known_job(a, b, concurrency="queue")
    run_until_half(a, stub)
    stub.always(Reply(text="Done."))
    accepted(b.http.post("/run/worker"), 202)
    a.kill()
    eventually(lambda: statuses(b), ["completed", "interrupted"])


def test_a_job_whose_thread_is_answered_at_another_node_waits(nodes, stub):
    a, b = nodes
    known_job(a, b)
    stub.hold("Done.").release()
    thread = accepted(a.http.post("/run/worker"), 202)["threadId"]
    eventually(lambda: statuses(b), ["completed"])
    held = stub.hold("one ", "two")
    with a.events(thread) as events:
        ask(a, {"id": thread})
        events.until(lambda event: event["type"] == "text-delta")
    stub.always(Reply(text="Done."))
    accepted(b.http.post("/run/worker"), 202)
    assert statuses(b) == ["queued", "completed"]
    held.release()
    eventually(lambda: statuses(b), ["completed", "completed"])
    assert turns_of(a, {"id": thread}, "assistant")[0]["content"] in ("Done.", "one two")
