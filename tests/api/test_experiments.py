"""The experiment log and what its numbers say (decisions, 8). Values come from a database that was filled by hand."""

import sqlite3

import pytest

from checks import UNKNOWN_ID, accepted, ids, is_id, is_timestamp, refused
from proposals import apply, reject, write

MEMBERS = {"id", "domain", "verdict", "metric", "value", "baseline", "delta", "unit", "higher_is_better", "iteration_id",
           "proposal", "reason", "notes", "duration_ms", "cost_usd", "created_at"}


@pytest.fixture(scope="module")
def decided(gateway, name):
    """Two domains with experiments: of the first keep and discard, of the second a keep."""
    one, two = name("one"), name("two")
    for agent, decide in ((one, apply), (one, reject), (two, apply)):
        accepted(decide(gateway, write(gateway, agent=agent)))
    return f"agent:{one}", f"agent:{two}"


def experiments(gateway, **filters):
    return accepted(gateway.http.get("/autoresearch/experiments", params=filters))


def confidence(gateway, domain="agent:numbers", **query):
    return accepted(gateway.http.get("/autoresearch/confidence", params={"domain": domain, **query}))


@pytest.fixture
def measured(make_gateway):
    """Makes a gateway whose log has these rows of the domain agent:numbers, as (verdict, value) or (verdict, value,
    metric)."""
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


def test_an_experiment_has_all_its_members(gateway, decided):
    [newest, *_] = experiments(gateway)
    assert set(newest) == MEMBERS and is_id(newest["id"]) and is_timestamp(newest["created_at"])
    assert isinstance(newest["higher_is_better"], bool)
    assert accepted(gateway.http.get(f"/autoresearch/experiments/{newest['id']}")) == newest


def test_the_newest_comes_first(gateway, decided):
    rows = experiments(gateway, domain=decided[0])
    assert [row["verdict"] for row in rows] == ["discard", "keep"]


def test_filters_narrow_the_list(gateway, decided):
    one, two = decided
    assert {row["domain"] for row in experiments(gateway, domain=two)} == {two}
    assert {row["verdict"] for row in experiments(gateway, verdict="keep")} == {"keep"}
    assert ids(experiments(gateway, domain=one, limit=1)) == ids(experiments(gateway, domain=one))[:1]
    assert [row["verdict"] for row in experiments(gateway, domain=one, verdict="keep")] == ["keep"]
    assert experiments(gateway, domain="agent:nobody") == []
    assert experiments(gateway, verdict="crash", domain=one) == []


def test_fifty_are_listed_without_a_limit(measured):
    gateway = measured(*[("keep", 1)] * 60)
    assert len(experiments(gateway)) == 50 and len(experiments(gateway, limit=55)) == 55
    assert len(experiments(gateway, limit=5000)) == 60


def test_bad_filters_are_named(gateway):
    def get(**filters):
        return gateway.http.get("/autoresearch/experiments", params=filters)

    refused(get(verdict="maybe"), 400, "invalid verdict: maybe")
    for limit in ("0", "-1", "x", "1.5"):
        refused(get(limit=limit), 400, "limit must be a positive integer")


def test_an_unknown_experiment_is_not_found(gateway):
    for unknown in (UNKNOWN_ID, "nonsense"):
        refused(gateway.http.get(f"/autoresearch/experiments/{unknown}"), 404, "experiment not found")


def test_a_confidence_needs_a_domain(gateway):
    for query in ("", "?domain=", "?metric=quality"):
        refused(gateway.http.get(f"/autoresearch/confidence{query}"), 400, "domain parameter required")


def test_of_an_unknown_domain_all_is_zero(gateway):
    assert confidence(gateway, "agent:nobody") == {
        "domain": "agent:nobody", "metric": "quality",
        "confidence": {"confidence": 0, "sampleSize": 0, "mad": 0}, "consecutiveDiscards": 0}


def test_confidence_is_the_best_kept_values_distance_in_spreads(measured):
    gateway = measured(("keep", 1), ("keep", 2), ("discard", 3), ("keep", 4), ("discard", 5))
    assert confidence(gateway) == {
        "domain": "agent:numbers", "metric": "quality",
        "confidence": {"confidence": 3, "sampleSize": 5, "mad": 1}, "consecutiveDiscards": 1}


def test_lower_may_be_better(measured):
    gateway = measured(("discard", 10), ("keep", 8), ("keep", 9), ("keep", 6), ("discard", 11), higher_is_better=False)
    assert confidence(gateway)["confidence"] == {"confidence": 4, "sampleSize": 5, "mad": 1}


def test_without_variance_it_is_9999(measured):
    assert confidence(measured(*[("keep", 0.5)] * 3))["confidence"]["confidence"] == 9999


def test_with_fewer_than_three_values_or_none_kept_it_is_0(measured):
    assert confidence(measured(("keep", 1), ("keep", 2)))["confidence"] == {"confidence": 0, "sampleSize": 2, "mad": 0.5}
    assert confidence(measured(*[("discard", value) for value in range(9)]))["confidence"]["confidence"] == 0


def test_metrics_are_apart_and_crashes_count_for_all(measured):
    gateway = measured(("keep", 1, "speed"), ("discard", 2, "speed"), ("crash", None, "speed"), ("discard", 1),
                       ("keep", None, None), ("discard", None, None))
    speed, quality = confidence(gateway, metric="speed"), confidence(gateway)
    assert (speed["metric"], speed["confidence"]["sampleSize"], speed["consecutiveDiscards"]) == ("speed", 2, 2)
    assert (quality["confidence"]["sampleSize"], quality["consecutiveDiscards"]) == (1, 2)


def test_decisions_on_proposals_are_not_counted(gateway, decided):
    assert confidence(gateway, decided[0])["consecutiveDiscards"] == 0
