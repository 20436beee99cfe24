"""Jobs with a member `research`: iterations until the confidence is high or a limit is reached.

See docs/contract/proposals.md#iterations.
"""

import pytest

from checks import accepted
from jobs import ended, new_agent, run
from research import BETTER, WORSE, Research
from test_hooks import after_all_events, event
from tools import turns_of


@pytest.fixture
def research(talker, new_name):
    return Research(talker, new_name)


def new_series(research, new_name, **plan):
    body = {"type": "job", "name": new_name("series"), "description": "Improve the asset", "enabled": True, "definition": {
        "agent_id": research.agent["name"], "prompt": "Improve the asset", "research": {**research.config, **plan}}}
    return accepted(research.gateway.http.post("/extensions", json=body), 201)


def report(research, job, status="completed"):
    """Runs the job to its end. Returns its row and its output."""
    with research.gateway.events() as events:
        started = accepted(research.gateway.http.post(f"/run/{job['name']}"), 202)
        run = events.until(lambda event: event["type"] == "job-finished" and event["run"]["job"] == job["name"])
    assert run[-1]["run"]["status"] == status, run[-1]
    if status != "completed":
        return run[-1]["run"]
    return turns_of(research.gateway, {"id": started["threadId"]}, "assistant")[-1]["content"]


def test_series_ends_after_repeated_discards(research, new_name):
    job = new_series(research.measured_by(), new_name, max_discards=2)
    research.talker.stub.script(BETTER, WORSE, WORSE)
    output = report(research, job)
    assert [row["verdict"] for row in research.experiments()] == ["discard", "discard", "keep"]
    assert "1. keep: better: quality went from 2 to 3" in output and "2 attempts in a row" in output


def test_series_ends_when_the_confidence_is_high(research, new_name):
    job = new_series(research.measured_by(), new_name)
    research.talker.stub.script(*("word " * words for words in (3, 2, 4, 50, 60)))
    output = report(research, job)
    assert len(research.experiments()) == 5 and "clear enough" in output
    assert "clear enough" in report(research, job) and len(research.experiments()) == 5


def test_series_ends_at_max_iterations(research, new_name):
    job = new_series(research.measured_by(), new_name, max_iterations=1)
    research.talker.stub.script(BETTER)
    assert report(research, job).endswith("That is all for now.") and len(research.experiments()) == 1


def test_series_continues_after_a_concurrent_iteration(research, new_name):
    job = new_series(research.measured_by(), new_name, max_iterations=2)
    held = research.talker.holds("one two")
    research.talker.stub.script("one two three four", "one two three four five")
    with research.gateway.events() as events:
        accepted(research.gateway.http.post(f"/run/{job['name']}"), 202)
        assert held.was_asked()
        accepted(research.post(), 202)
        held.release(" three")
        ended_run = events.until(lambda event: event["type"] == "job-finished" and event["run"]["job"] == job["name"])[-1]
    assert ended_run["run"]["status"] == "completed"
    assert [row["value"] for row in research.experiments()] == [5, 4, 3]


def test_series_with_an_invalid_config_fails(research, new_name):
    research.config["asset_path"] = "relative"
    error = report(research, new_series(research, new_name), "failed")["error"]
    assert error == "invalid domain config; asset_path must be absolute"


def test_job_of_an_agent_runs_no_benchmark(research, new_name):
    body = {"type": "job", "name": new_name("series"), "description": "Improve", "enabled": True, "source": "agent",
            "owner_agent_id": research.agent["name"],
            "definition": {"agent_id": research.agent["name"], "prompt": "Improve", "research": research.measured_by().config}}
    job = accepted(research.gateway.http.post("/extensions", json=body), 201)
    research.talker.stub.script("I am told to improve.")
    assert report(research, job) == "I am told to improve." and research.experiments() == []


@pytest.mark.parametrize("kind, stage", [("thread.created", "trusted"), ("turn.created", "trusted"),
                                         ("extension.updated", "trusted"), ("proposal.created", "operator")])
def test_series_does_not_trigger_its_own_job(talker, new_name, kind, stage):
    research = Research(talker, new_name, stage=stage).in_a_project(new_name).measured_by('echo "METRIC quality=$(date +%s%N)"\n')
    gateway = research.gateway
    filter = {}
    if kind == "extension.updated":
        changed = new_agent(gateway, new_name("agent"))["name"]
        research.config["asset_path"] = str(gateway.data / "agents" / changed / "agent.yaml")
        filter["name"] = changed
    if kind == "thread.created":
        filter["agent_id"] = research.agent["id"]
    if kind == "turn.created":
        filter["content"] = "description: changed\n"
    # The agent of the job is not the one of the iteration: only the iteration itself knows which job caused it.
    body = {"type": "job", "name": new_name("series"), "description": "Improve", "enabled": True,
            "trigger_def": event(kind, **filter), "definition": {
                "agent_id": new_agent(gateway, new_name("worker"))["id"], "prompt": "Improve", "concurrency": "queue",
                "research": {**research.config, "max_iterations": 1}}}
    job = accepted(gateway.http.post("/extensions", json=body), 201)
    research.talker.stub.script("description: changed\n")
    run(gateway, job)
    assert ended(gateway, job)[0]["status"] == "completed"
    assert [row["verdict"] for row in research.experiments()] == ["keep"]
    after_all_events(gateway, new_name)
    assert len(ended(gateway, job)) == 1
