"""Signals raised by the gateway itself.

See docs/contract/apps.md#signals.
"""

import pytest
import yaml

from checks import accepted
from knowledge import compile_sources, raw
from stubs.provider import Fault, Reply
from talker import MODEL, Talker, configuration
from tools import calls

# The stub reports 10 input and 5 output tokens, so that an answer costs 1.25 USD.
PRICE = {"input": 100_000, "output": 50_000, "cache_read": 0, "cache_write": 0}


@pytest.fixture
def priced_talker(make_gateway, stub):
    gateway = make_gateway(config=configuration(stub))
    (gateway.data / "prices.yaml").write_text(yaml.safe_dump({MODEL: PRICE}))
    return Talker(gateway.start(), stub)


def start_chat(talker, *replies):
    talker.stub.script(*replies)
    thread = accepted(talker.gateway.http.post("/threads", json={"title": "Costs"}), 201)
    return accepted(talker.gateway.http.post("/chat", json={"content": "hi", "threadId": thread["id"]}), 201)


def complete_chat(talker, *replies):
    """Completes a run in which the model gives these replies."""
    with talker.gateway.events() as events:
        events.run(start_chat(talker, *replies)["id"])


def signals(talker, kind):
    return accepted(talker.gateway.http.get("/signals", params={"kind": kind}))


def next_signal_event(events, kind):
    """Waits for the next signal of the kind."""
    return events.until(lambda event: event["type"] == "signal" and event["signal"]["kind"] == kind)[-1]["signal"]


def next_signal(talker, kind, *replies):
    """Starts a run in which the model gives these replies, and waits for the first signal of the kind."""
    with talker.gateway.events() as events:
        start_chat(talker, *replies)
        return next_signal_event(events, kind)


REFUSED = Fault(401)


def test_failing_provider_is_signalled_once_until_it_answers(priced_talker):
    signal = next_signal(priced_talker, "provider-errors", REFUSED)
    assert (signal["kind"], signal["severity"], signal["value"]) == ("provider-errors", "warning", 1)
    assert "stub" in signal["message"]
    complete_chat(priced_talker, REFUSED)
    assert len(signals(priced_talker, "provider-errors")) == 1
    complete_chat(priced_talker, Reply())
    next_signal(priced_talker, "provider-errors", REFUSED)
    assert len(signals(priced_talker, "provider-errors")) == 2


def test_unusually_expensive_day_is_signalled_once(priced_talker):
    signal = next_signal(priced_talker, "cost-spike", Reply())
    assert (signal["kind"], signal["severity"], signal["value"], signal["baseline"]) == \
        ("cost-spike", "warning", 1.25, 0)
    complete_chat(priced_talker, Reply())
    assert len(signals(priced_talker, "cost-spike")) == 1
    priced_talker.gateway.restart()
    complete_chat(priced_talker, Reply())
    assert len(signals(priced_talker, "cost-spike")) == 1


def test_expensive_run_is_signalled_while_it_runs(priced_talker):
    priced_talker.stub.script(calls(("Glob", {"pattern": "*"})))
    answer = priced_talker.holds("half")
    with priced_talker.gateway.events() as events:
        accepted(priced_talker.gateway.http.post("/chat", json={"content": "hi"}), 201)
        assert next_signal_event(events, "cost-spike")["value"] == 1.25
    answer.release()


def test_cost_of_page_summaries_is_signalled(priced_talker):
    raw(priced_talker.gateway, "otters.md", "# Otters\n\n" + "They swim, and they eat what they find there. " * 20)
    with priced_talker.gateway.events() as events:
        compile_sources(priced_talker.gateway)
        assert next_signal_event(events, "cost-spike")["value"] == 1.25


def test_three_failures_of_a_job_in_a_row_are_signalled(priced_talker, new_name):
    job = new_name("job")
    accepted(priced_talker.gateway.http.post("/extensions", json={
        "type": "job", "name": job, "description": "d", "enabled": True,
        "definition": {"agent_id": "assistant", "prompt_file": "gone.md"}}), 201)
    with priced_talker.gateway.events() as events:
        for _ in range(3):
            accepted(priced_talker.gateway.http.post(f"/run/{job}"), 202)
            events.until(lambda event: event["type"] == "job-finished")
        signal = next_signal_event(events, "job-failing")
    assert signal["kind"] == "job-failing" and job in signal["message"] and signal["value"] == 3
