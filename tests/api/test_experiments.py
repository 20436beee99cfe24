"""The experiment log and its statistics, with values written directly into the database.

See docs/contract/proposals.md#experiments and docs/contract/proposals.md#confidence.
"""

import sqlite3

import pytest

from checks import UNKNOWN_ID, accepted, ids, is_id, is_timestamp, refused
from proposals import apply, reject, write

MEMBERS = {"id", "domain", "verdict", "metric", "value", "baseline", "delta", "unit", "higher_is_better", "iteration_id",
           "proposal", "reason", "notes", "duration_ms", "cost_usd", "created_at"}


@pytest.fixture(scope="module")
def decided_domains(gateway, new_name):
    """Two domains with experiments: the first has a keep and a discard, the second a keep."""
    one, two = new_name("one"), new_name("two")
    for agent, decide in ((one, apply), (one, reject), (two, apply)):
        accepted(decide(gateway, write(gateway, agent=agent)))
    return f"agent:{one}", f"agent:{two}"


def experiments(gateway, **filters):
    return accepted(gateway.http.get("/autoresearch/experiments", params=filters))


def confidence(gateway, domain="agent:numbers", **query):
    return accepted(gateway.http.get("/autoresearch/confidence", params={"domain": domain, **query}))


@pytest.fixture
def gateway_with_experiments(make_gateway):
    """Returns a function that starts a gateway with these experiments in the domain agent:numbers, each given as
    (verdict, value) or (verdict, value, metric)."""
    def make(*rows, higher_is_better=True):
        gateway = make_gateway().start()
        assert gateway.stop() == 0
        with sqlite3.connect(gateway.data / "gateway.db") as database:
            for number, (verdict, value, *metric) in enumerate(rows):
                database.execute(
                    "INSERT INTO experiments (id, domain, verdict, metric, value, higher_is_better, created_at) "
                    "VALUES (?, 'agent:numbers', ?, ?, ?, ?, 0)",
                    (f"row-{number}", verdict, metric[0] if metric else "quality", value, higher_is_better))
        database.close()
        return gateway.start()

    return make


def test_experiment_has_all_members(gateway, decided_domains):
    [newest, *_] = experiments(gateway)
    assert set(newest) == MEMBERS and is_id(newest["id"]) and is_timestamp(newest["created_at"])
    assert isinstance(newest["higher_is_better"], bool)
    assert accepted(gateway.http.get(f"/autoresearch/experiments/{newest['id']}")) == newest


def test_newest_is_first(gateway, decided_domains):
    rows = experiments(gateway, domain=decided_domains[0])
    assert [row["verdict"] for row in rows] == ["discard", "keep"]


def test_filters_narrow_the_list(gateway, decided_domains):
    one, two = decided_domains
    assert {row["domain"] for row in experiments(gateway, domain=two)} == {two}
    assert {row["verdict"] for row in experiments(gateway, verdict="keep")} == {"keep"}
    assert ids(experiments(gateway, domain=one, limit=1)) == ids(experiments(gateway, domain=one))[:1]
    assert [row["verdict"] for row in experiments(gateway, domain=one, verdict="keep")] == ["keep"]
    assert experiments(gateway, domain="agent:nobody") == []
    assert experiments(gateway, verdict="crash", domain=one) == []


def test_default_limit_is_fifty(gateway_with_experiments):
    gateway = gateway_with_experiments(*[("keep", 1)] * 60)
    assert len(experiments(gateway)) == 50 and len(experiments(gateway, limit=55)) == 55
    assert len(experiments(gateway, limit=5000)) == 60


def test_invalid_filters_are_refused(gateway):
    def get(**filters):
        return gateway.http.get("/autoresearch/experiments", params=filters)

    refused(get(verdict="maybe"), 400, "invalid verdict: maybe")
    for limit in ("0", "-1", "x", "1.5"):
        refused(get(limit=limit), 400, "limit must be a positive integer")


def test_unknown_experiment_is_not_found(gateway):
    for unknown in (UNKNOWN_ID, "nonsense"):
        refused(gateway.http.get(f"/autoresearch/experiments/{unknown}"), 404, "experiment not found")


def test_confidence_requires_a_domain(gateway):
    for query in ("", "?domain=", "?metric=quality"):
        refused(gateway.http.get(f"/autoresearch/confidence{query}"), 400, "domain parameter required")


def test_confidence_in_an_unknown_domain_is_zero(gateway):
    assert confidence(gateway, "agent:nobody") == {
        "domain": "agent:nobody", "metric": "quality",
        "confidence": {"confidence": 0, "sampleSize": 0, "mad": 0}, "consecutiveDiscards": 0}


def test_confidence_is_the_distance_of_the_best_value_in_spreads(gateway_with_experiments):
    gateway = gateway_with_experiments(("keep", 1), ("keep", 2), ("discard", 3), ("keep", 4), ("discard", 5))
    assert confidence(gateway) == {
        "domain": "agent:numbers", "metric": "quality",
        "confidence": {"confidence": 3, "sampleSize": 5, "mad": 1}, "consecutiveDiscards": 1}


def test_lower_can_be_better(gateway_with_experiments):
    rows = ("discard", 10), ("keep", 8), ("keep", 9), ("keep", 6), ("discard", 11)
    gateway = gateway_with_experiments(*rows, higher_is_better=False)
    assert confidence(gateway)["confidence"] == {"confidence": 4, "sampleSize": 5, "mad": 1}


def test_zero_variance_is_9999(gateway_with_experiments):
    assert confidence(gateway_with_experiments(*[("keep", 0.5)] * 3))["confidence"]["confidence"] == 9999


def test_confidence_of_fewer_than_three_values_or_without_a_kept_one_is_0(gateway_with_experiments):
    gateway = gateway_with_experiments(("keep", 1), ("keep", 2))
    assert confidence(gateway)["confidence"] == {"confidence": 0, "sampleSize": 2, "mad": 0.5}
    assert confidence(gateway_with_experiments(*[("discard", value) for value in range(9)]))["confidence"]["confidence"] == 0


def test_metrics_are_separate_and_crashes_count_for_all(gateway_with_experiments):
    gateway = gateway_with_experiments(("keep", 1, "speed"), ("discard", 2, "speed"), ("crash", None, "speed"), ("discard", 1),
                       ("keep", None, None), ("discard", None, None))
    speed, quality = confidence(gateway, metric="speed"), confidence(gateway)
    assert (speed["metric"], speed["confidence"]["sampleSize"], speed["consecutiveDiscards"]) == ("speed", 2, 2)
    assert (quality["confidence"]["sampleSize"], quality["consecutiveDiscards"]) == (1, 2)


def test_decisions_on_proposals_are_not_counted(gateway, decided_domains):
    assert confidence(gateway, decided_domains[0])["consecutiveDiscards"] == 0
