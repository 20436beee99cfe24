"""Iterations of the same domain or the same asset run one after the other.

See docs/contract/proposals.md#iterations.
"""

import pytest

from checks import accepted
from research import OLD, Research


@pytest.fixture
def research(talker, new_name):
    return Research(talker, new_name)


def test_iterations_of_a_domain_or_an_asset_run_in_order(research):
    research.measured_by()
    held = research.talker.holds("one two")
    research.talker.stub.script("one two three four", "one two three four five")
    with research.gateway.events() as events:
        started = [accepted(research.post(), 202)]
        assert held.was_asked()
        started += [accepted(research.post(), 202), accepted(research.post(domain="another"), 202)]
        held.release(" three")
        ends = [ended_iteration(events) for _ in started]
    assert [end["iterationId"] for end in ends] == [each["iterationId"] for each in started]
    assert [(end["experiment"]["baseline"], end["experiment"]["value"]) for end in ends] == [(2, 3), (3, 4), (4, 5)]


def ended_iteration(events):
    return events.until(lambda event: event["type"] == "iteration-step" and event["step"] == "ended")[-1]


def test_waiting_iteration_is_recorded_when_the_gateway_stops(own_talker, new_name):
    research = Research(own_talker, new_name).measured_by()
    held = research.talker.holds("one two")
    started = [accepted(research.post(), 202)]
    assert held.was_asked()
    started += [accepted(research.post(), 202)]
    research.gateway.restart()
    held.release()
    rows = research.experiments()
    assert {row["iteration_id"] for row in rows} == {each["iterationId"] for each in started}
    assert {(row["verdict"], row["reason"]) for row in rows} == {("crash", "it was stopped")}
    assert research.asset.read_text() == OLD
