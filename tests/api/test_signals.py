"""Signals.

See docs/contract/apps.md#signals.
"""

import pytest

from checks import accepted, ids, is_id, is_timestamp, refused

MEMBERS = {"id", "kind", "severity", "message", "value", "baseline", "created_at"}


@pytest.fixture
def kind(new_name):
    return new_name("kind")


def post(gateway, **members):
    return gateway.http.post("/signals", json=members)


def raise_signal(gateway, kind, **members):
    return accepted(post(gateway, **{"kind": kind, "message": "Look at this.", **members}), 201)


def listed(gateway, **params):
    return accepted(gateway.http.get("/signals", params=params))


def test_signal_is_returned_in_full(gateway, kind):
    made = raise_signal(gateway, kind, severity="critical", value=12.5, baseline=3)
    assert set(made) == MEMBERS and is_id(made["id"]) and is_timestamp(made["created_at"])
    assert {name: made[name] for name in MEMBERS - {"id", "created_at"}} == {
        "kind": kind, "severity": "critical", "message": "Look at this.", "value": 12.5, "baseline": 3}


def test_only_kind_and_message_are_required(gateway, kind):
    made = raise_signal(gateway, kind)
    assert (made["severity"], made["value"], made["baseline"]) == ("info", None, None)


@pytest.mark.parametrize("members, error", [
    ({}, "kind is required"), ({"kind": "x"}, "message is required"), ({"message": "x"}, "kind is required"),
    ({"kind": "", "message": "x"}, "kind is required"), ({"kind": "x", "message": ""}, "message is required"),
    ({"kind": 1, "message": "x"}, "kind must be a string"), ({"kind": "x", "message": []}, "message must be a string"),
    ({"kind": "x", "message": "x", "severity": "loud"}, "invalid severity: loud"),
    ({"kind": "x", "message": "x", "severity": ""}, "invalid severity: "),
    ({"kind": "x", "message": "x", "severity": 1}, "severity must be a string"),
    ({"kind": "x", "message": "x", "value": "1"}, "value must be a number"),
    ({"kind": "x", "message": "x", "baseline": True}, "baseline must be a number")])
def test_invalid_members_are_named(gateway, members, error):
    refused(post(gateway, **members), 400, error)


def test_null_counts_as_omitted(gateway, kind):
    assert raise_signal(gateway, kind, severity=None, value=None)["severity"] == "info"


def test_signals_are_listed_newest_first(gateway, kind):
    made = [raise_signal(gateway, kind, message=str(number)) for number in range(3)]
    assert listed(gateway, kind=kind) == made[::-1]
    assert ids(listed(gateway))[:3] == ids(made[::-1])


def test_signals_are_filtered_by_kind_and_time(gateway, kind):
    first = raise_signal(gateway, kind)
    second = raise_signal(gateway, kind)
    while second["created_at"] == first["created_at"]:
        second = raise_signal(gateway, kind)
    later = ids(listed(gateway, kind=kind, since=first["created_at"]))
    assert second["id"] in later and first["id"] not in later
    assert listed(gateway, kind="nobody-raises-this") == []
    assert listed(gateway, since="2999-01-01") == []


def test_limit_applies(gateway, kind):
    made = [raise_signal(gateway, kind) for _ in range(3)]
    assert ids(listed(gateway, kind=kind, limit=2)) == ids(made[:0:-1])


def test_default_limit_is_a_hundred(own_gateway):
    for _ in range(101):
        raise_signal(own_gateway, "many")
    assert len(listed(own_gateway)) == 100
    assert len(listed(own_gateway, limit=5000)) == 101


@pytest.mark.parametrize("query, error", [
    ("limit=0", "limit must be a positive integer"), ("limit=x", "limit must be a positive integer"),
    ("since=yesterday", "since must be an ISO 8601 timestamp")])
def test_invalid_query_is_refused(gateway, query, error):
    refused(gateway.http.get(f"/signals?{query}"), 400, error)


def test_signal_is_sent_to_all_clients(gateway, thread, kind):
    with gateway.events(thread["id"]) as events:
        made = raise_signal(gateway, kind, severity="warning")
        event = events.until(lambda event: event["type"] == "signal" and event["signal"]["id"] == made["id"])[-1]
        assert event == {"type": "signal", "signal": made}


def test_signals_survive_a_restart(own_gateway):
    made = raise_signal(own_gateway, "disk-low")
    own_gateway.restart()
    assert listed(own_gateway) == [made]


def test_signals_need_the_token(gateway):
    refused(gateway.anonymous.get("/signals"), 401, "unauthorized")
    refused(gateway.anonymous.post("/signals", json={"kind": "x", "message": "x"}), 401, "unauthorized")
