"""The signals that the gateway raises itself (decisions, 11)."""

import pytest
import yaml

from checks import accepted
from knowledge import compiled, raw
from stubs.provider import Fault, Reply
from talker import MODEL, Talker, configuration
from tools import calls

# With the stub's usage of 10 tokens in and 5 out an answer costs 1.25 USD.
PRICE = {"input": 100_000, "output": 50_000, "cache_read": 0, "cache_write": 0}


@pytest.fixture
def watched(make_gateway, stub):
    gateway = make_gateway(config=configuration(stub))
    (gateway.data / "prices.yaml").write_text(yaml.safe_dump({MODEL: PRICE}))
    return Talker(gateway.start(), stub)


def asked(talker, *replies):
    talker.stub.script(*replies)
    thread = accepted(talker.gateway.http.post("/threads", json={"title": "Costs"}), 201)
    return accepted(talker.gateway.http.post("/chat", json={"content": "hi", "threadId": thread["id"]}), 201)


def said(talker, *replies):
    """A run whose model calls are answered so, to its end."""
    with talker.gateway.events() as events:
        events.run(asked(talker, *replies)["id"])


def signals(talker, kind):
    return accepted(talker.gateway.http.get("/signals", params={"kind": kind}))


def told(events, kind):
    """The next signal of the kind."""
    return events.until(lambda event: event["type"] == "signal" and event["signal"]["kind"] == kind)[-1]["signal"]


def next_signal(talker, kind, *replies):
    """The first signal of the kind that follows such a run."""
    with talker.gateway.events() as events:
        asked(talker, *replies)
        return told(events, kind)


REFUSED = Fault(401)


def test_a_provider_that_fails_is_told_once_until_it_answers(watched):
    signal = next_signal(watched, "provider-errors", REFUSED)
    assert (signal["kind"], signal["severity"], signal["value"]) == ("provider-errors", "warning", 1)
    assert "stub" in signal["message"]
    said(watched, REFUSED)
    assert len(signals(watched, "provider-errors")) == 1
    said(watched, Reply())
    next_signal(watched, "provider-errors", REFUSED)
    assert len(signals(watched, "provider-errors")) == 2


def test_a_day_that_costs_more_than_usual_is_told_once(watched):
    signal = next_signal(watched, "cost-spike", Reply())
    assert (signal["kind"], signal["severity"], signal["value"], signal["baseline"]) == \
        ("cost-spike", "warning", 1.25, 0)
    said(watched, Reply())
    assert len(signals(watched, "cost-spike")) == 1
    watched.gateway.restart()
    said(watched, Reply())
    assert len(signals(watched, "cost-spike")) == 1


def test_a_run_that_goes_on_is_told_as_soon_as_it_costs_more_than_usual(watched):
    watched.stub.script(calls(("Glob", {"pattern": "*"})))
    answer = watched.holds("half")
    with watched.gateway.events() as events:
        accepted(watched.gateway.http.post("/chat", json={"content": "hi"}), 201)
        assert told(events, "cost-spike")["value"] == 1.25
    answer.release()


def test_what_summaries_of_pages_cost_is_told(watched):
    raw(watched.gateway, "otters.md", "# Otters\n\n" + "They swim, and they eat what they find there. " * 20)
    with watched.gateway.events() as events:
        compiled(watched.gateway)
        assert told(events, "cost-spike")["value"] == 1.25


def test_three_failures_of_a_job_in_a_row_are_told(watched, name):
    job = name("job")
    accepted(watched.gateway.http.post("/extensions", json={
        "type": "job", "name": job, "description": "d", "enabled": True,
        "definition": {"agent_id": "assistant", "prompt_file": "gone.md"}}), 201)
    with watched.gateway.events() as events:
        for _ in range(3):
            accepted(watched.gateway.http.post(f"/run/{job}"), 202)
            events.until(lambda event: event["type"] == "job-finished")
        signal = told(events, "job-failing")
    assert signal["kind"] == "job-failing" and job in signal["message"] and signal["value"] == 3
