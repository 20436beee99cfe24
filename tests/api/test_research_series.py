"""Jobs with a member `research`: one iteration after the other, until the numbers are clear."""

import pytest

from checks import accepted
from jobs import ended, new_agent, run
from lab import BETTER, WORSE, Lab
from test_hooks import after_all_events, event
from tools import turns_of


@pytest.fixture
def lab(talker, name):
    return Lab(talker, name)


def new_series(lab, name, **plan):
    body = {"type": "job", "name": name("series"), "description": "Improve the asset", "enabled": True, "definition": {
        "agent_id": lab.agent["name"], "prompt": "Improve the asset", "research": {**lab.config, **plan}}}
    return accepted(lab.gateway.http.post("/extensions", json=body), 201)


def report(lab, job, status="completed"):
    """Runs the job to its end. Gives its row and what it says."""
    with lab.gateway.events() as events:
        started = accepted(lab.gateway.http.post(f"/run/{job['name']}"), 202)
        run = events.until(lambda event: event["type"] == "job-finished" and event["run"]["job"] == job["name"])
    assert run[-1]["run"]["status"] == status, run[-1]
    if status != "completed":
        return run[-1]["run"]
    return turns_of(lab.gateway, {"id": started["threadId"]}, "assistant")[-1]["content"]


def test_a_series_ends_when_discards_pile_up(lab, name):
    job = new_series(lab.measured_by(), name, max_discards=2)
    lab.talker.stub.script(BETTER, WORSE, WORSE)
    said = report(lab, job)
    assert [row["verdict"] for row in lab.experiments()] == ["discard", "discard", "keep"]
    assert "1. keep: better: quality went from 2 to 3" in said and "2 attempts in a row" in said


def test_a_series_ends_when_the_confidence_is_high(lab, name):
    job = new_series(lab.measured_by(), name)
    lab.talker.stub.script(*("word " * words for words in (3, 2, 4, 50, 60)))
    said = report(lab, job)
    assert len(lab.experiments()) == 5 and "clear enough" in said
    assert "clear enough" in report(lab, job) and len(lab.experiments()) == 5


def test_a_series_has_an_end(lab, name):
    job = new_series(lab.measured_by(), name, max_iterations=1)
    lab.talker.stub.script(BETTER)
    assert report(lab, job).endswith("That is all for now.") and len(lab.experiments()) == 1


def test_a_series_of_a_bad_config_fails(lab, name):
    lab.config["asset_path"] = "relative"
    error = report(lab, new_series(lab, name), "failed")["error"]
    assert error == "invalid domain config; asset_path must be absolute"


def test_an_agents_job_runs_no_benchmark(lab, name):
    body = {"type": "job", "name": name("series"), "description": "Improve", "enabled": True, "source": "agent",
            "owner_agent_id": lab.agent["name"],
            "definition": {"agent_id": lab.agent["name"], "prompt": "Improve", "research": lab.measured_by().config}}
    job = accepted(lab.gateway.http.post("/extensions", json=body), 201)
    lab.talker.stub.script("I am told to improve.")
    assert report(lab, job) == "I am told to improve." and lab.experiments() == []


@pytest.mark.parametrize("kind, stage", [("thread.created", "trusted"), ("turn.created", "trusted"),
                                         ("extension.updated", "trusted"), ("proposal.created", "operator")])
def test_a_series_does_not_trigger_its_job(talker, name, kind, stage):
    lab = Lab(talker, name, stage=stage).in_a_project(name).measured_by('echo "METRIC quality=$(date +%s%N)"\n')
    gateway = lab.gateway
    filter = {}
    if kind == "extension.updated":
        changed = new_agent(gateway, name("agent"))["name"]
        lab.config["asset_path"] = str(gateway.data / "agents" / changed / "agent.yaml")
        filter["name"] = changed
    if kind == "thread.created":
        filter["agent_id"] = lab.agent["id"]
    if kind == "turn.created":
        filter["content"] = "description: changed\n"
    # Another agent than the one that tries: only the iteration itself tells whose work it is.
    body = {"type": "job", "name": name("series"), "description": "Improve", "enabled": True,
            "trigger_def": event(kind, **filter), "definition": {
                "agent_id": new_agent(gateway, name("worker"))["id"], "prompt": "Improve", "concurrency": "queue",
                "research": {**lab.config, "max_iterations": 1}}}
    job = accepted(gateway.http.post("/extensions", json=body), 201)
    lab.talker.stub.script("description: changed\n")
    run(gateway, job)
    assert ended(gateway, job)[0]["status"] == "completed"
    assert [row["verdict"] for row in lab.experiments()] == ["keep"]
    after_all_events(gateway, name)
    assert len(ended(gateway, job)) == 1
