"""Jobs that several nodes could run."""

from checks import accepted, refused
from jobs import new_job
from test_changes import eventually
from tools import new_agent


def test_a_job_that_forbids_others_runs_at_one_node_at_a_time(nodes, stub):
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


def test_a_run_of_a_job_is_stopped_at_another_node(talking, stub):
    a, b = talking
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
