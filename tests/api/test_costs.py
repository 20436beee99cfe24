"""Costs of models, and budgets.

See docs/contract/system.md#costs and docs/contract/system.md#budgets.
"""

import datetime
import os

import pytest
import yaml

from checks import accepted, refused
from jobs import ended, new_job, run
from stubs.provider import Reply, ToolCall
from talker import MODEL, Talker, configuration

MEMBERS = {"today", "week", "month", "by_agent", "by_model", "unpriced", "days", "by_thread"}
OMITTED_IF_EMPTY = {"saved", "cached", "by_client", "by_job", "budget"}
# The stub reports 10 input and 5 output tokens, so that an answer costs 1.25 USD.
PRICE = {"input": 100_000, "output": 50_000, "cache_read": 0, "cache_write": 0}
ANSWER_COST = 1.25


@pytest.fixture
def make_priced_talker(make_gateway, stub):
    """Returns a function that starts a gateway whose stubbed model has a price."""
    def make(**settings):
        gateway = make_gateway(config={**configuration(stub), **settings})
        (gateway.data / "prices.yaml").write_text(yaml.safe_dump({MODEL: PRICE}))
        return Talker(gateway.start(), stub)
    return make


def costs(gateway, **params):
    report = accepted(gateway.http.get("/costs", params=params))
    assert MEMBERS <= set(report) <= MEMBERS | OMITTED_IF_EMPTY, report
    assert all(report.get(member, True) for member in OMITTED_IF_EMPTY), report
    return report


def agent_named(gateway, name, **definition):
    body = {"type": "agent", "name": name, "description": "d", "definition": definition, "enabled": True}
    return accepted(gateway.http.post("/extensions", json=body), 201)


def thread_of(gateway, agent, title="Sums"):
    return accepted(gateway.http.post("/threads", json={"agent_id": agent, "title": title}), 201)


def run_events(talker, thread, content="hello"):
    """Sends a message and returns the events of its run. Checks that it finishes exactly once."""
    with talker.gateway.events(thread["id"]) as events:
        turn = accepted(talker.gateway.http.post("/chat", json={"content": content, "threadId": thread["id"]}), 201)
        run = events.run(turn["id"])
    assert [event["type"] for event in run].count("finish") == 1
    return run


def link_to_nowhere(path):
    path.symlink_to("nowhere")


@pytest.mark.parametrize("make, why", [(os.mkdir, "it is no regular file"), (os.mkfifo, "it is no regular file"),
                                       (link_to_nowhere, "No such file or directory")])
def test_price_file_must_be_a_regular_file(make_gateway, make, why):
    gateway = make_gateway(config="")
    make(gateway.data / "prices.yaml")
    failed = gateway.fails()
    assert failed.status == 2
    assert f"{gateway.data / 'prices.yaml'}: cannot be read: {why}" in failed.stderr


@pytest.mark.parametrize("text", [", b\n", "a: {input: 1, output: 1}\n---\nb: {input: 1, output: 1}\n"])
def test_price_file_must_be_one_document(make_gateway, text):
    gateway = make_gateway(config="")
    (gateway.data / "prices.yaml").write_text(text)
    failed = gateway.fails()
    assert failed.status == 2 and f"{gateway.data / 'prices.yaml'}:" in failed.stderr
    assert "yaml: must be one document" in failed.stderr


def test_new_gateway_has_no_costs(own_gateway):
    report = costs(own_gateway)
    assert (report["today"], report["week"], report["month"]) == (0, 0, 0)
    assert all(report[member] == [] for member in ("by_agent", "by_model", "unpriced", "by_thread"))


def test_series_has_thirty_days_oldest_first(own_gateway):
    today = datetime.datetime.now(datetime.timezone.utc).date()
    expected = [{"date": str(today - datetime.timedelta(days=29 - n)), "cost": 0} for n in range(30)]
    assert costs(own_gateway)["days"] == expected


def test_costs_add_up_by_agent_model_and_thread(make_priced_talker):
    talker = make_priced_talker()
    gateway = talker.gateway
    scribe = agent_named(gateway, "scribe")
    dear, cheap = thread_of(gateway, "scribe", "Dear"), thread_of(gateway, "assistant", "Cheap")
    for thread in (dear, dear, cheap):
        talker.says(thread, "hello", answer="hi")
    for period in ({}, {"period": "today"}, {"period": "week"}, {"period": "month"}):
        report = costs(gateway, **period)
        assert report["today"] == report["week"] == report["month"] == 3 * ANSWER_COST
        assert [(row["name"], row["cost"]) for row in report["by_agent"]] == [
            ("scribe", 2 * ANSWER_COST), ("assistant", ANSWER_COST)]
        assert report["by_agent"][0]["agent_id"] == scribe["id"]
        assert report["by_model"] == [{"model": MODEL, "cost": 3 * ANSWER_COST}]
        assert report["by_thread"] == [{"thread_id": dear["id"], "title": "Dear", "cost": 2 * ANSWER_COST},
                                       {"thread_id": cheap["id"], "title": "Cheap", "cost": ANSWER_COST}]
        assert report["days"][-1]["cost"] == 3 * ANSWER_COST and report["unpriced"] == []


def test_costs_of_a_job_are_those_of_its_own_threads(make_priced_talker):
    talker = make_priced_talker(budget_usd_per_day=100)
    gateway = talker.gateway
    job = new_job(gateway, "digest")
    talker.stub.script(Reply("done"))
    run(gateway, job)
    ended(gateway, job)
    report = costs(gateway)
    assert report["by_job"] == [{"job_id": job["id"], "name": "digest", "cost": ANSWER_COST}]
    assert report["budget"] == 100


def test_costs_survive_a_restart(make_priced_talker):
    talker = make_priced_talker()
    talker.says(thread_of(talker.gateway, "assistant"), "hello", answer="hi")
    before = costs(talker.gateway)
    assert costs(talker.gateway.restart()) == before and before["today"] == ANSWER_COST


def test_costs_match_the_turns(make_priced_talker):
    talker = make_priced_talker()
    thread = thread_of(talker.gateway, "assistant")
    talker.says(thread, "hello", answer="hi")
    turn = accepted(talker.gateway.http.get(f"/threads/{thread['id']}/turns"))[0]
    assert turn["metadata"]["cost_usd"] == costs(talker.gateway)["today"] == ANSWER_COST


def test_model_without_a_price_is_free_and_listed(make_gateway, stub):
    provider = {"kind": "openai", "base_url": stub.openai_url, "default_model": "talker-1", "api_key_env": "STUB_KEY"}
    gateway = make_gateway(config={"providers": {"stub": provider}}, environment={"STUB_KEY": "k"}).start()
    talker = Talker(gateway, stub)
    talker.says(thread_of(gateway, "assistant"), "hello", answer="hi")
    report = costs(gateway)
    assert report["today"] == 0 and report["by_model"] == [{"model": MODEL, "cost": 0}]
    assert report["unpriced"] == [MODEL]


def test_model_with_a_new_price_is_no_longer_listed_as_unpriced(make_gateway, stub):
    gateway = make_gateway(config=configuration(stub)).start()
    talker = Talker(gateway, stub)
    talker.says(thread_of(gateway, "assistant"), "hello", answer="hi")
    talker.says(thread_of(gateway, "assistant"), "hello", answer="hi", model="stub/other")
    assert costs(gateway)["unpriced"] == ["stub/other", MODEL]
    (gateway.data / "prices.yaml").write_text(yaml.safe_dump({MODEL: PRICE}))
    gateway.restart()
    assert costs(gateway)["unpriced"] == ["stub/other"]


def test_huge_token_counts_do_not_overflow(make_priced_talker, stub):
    talker = make_priced_talker()
    usage = {"input": 2**63 - 1, "output": 2**63 - 1, "cache_read": 0, "cache_write": 0}
    stub.script(Reply(tool_calls=[ToolCall("Glob", {"pattern": "*"})], usage=usage), Reply(usage=usage))
    finish = run_events(talker, thread_of(talker.gateway, "assistant"))[-1]
    assert finish["usage"]["input_tokens"] == finish["usage"]["output_tokens"] > 0


def test_invalid_period_is_refused(gateway):
    refused(gateway.http.get("/costs?period=year"), 400, "invalid period: year")
    refused(gateway.http.get("/costs?period=Today"), 400, "invalid period: Today")
    assert accepted(gateway.http.get("/costs?period=")).keys() >= MEMBERS


def test_costs_require_the_token(gateway):
    refused(gateway.anonymous.get("/costs"), 401, "unauthorized")


def test_days_follow_the_hosts_time_zone(make_gateway):
    # At any time, one of these zones has a different date than UTC.
    now = datetime.datetime.now(datetime.timezone.utc)
    for zone, hours in (("Etc/GMT-14", 14), ("Etc/GMT+12", -12)):
        gateway = make_gateway(environment={"TZ": zone}).start()
        assert costs(gateway)["days"][-1]["date"] == str((now + datetime.timedelta(hours=hours)).date())


# Budgets.


def test_agent_over_budget_calls_no_model(make_priced_talker):
    talker = make_priced_talker()
    agent_named(talker.gateway, "thrifty", budget_usd_per_day=1)
    thread = thread_of(talker.gateway, "thrifty")
    talker.says(thread, "hello", answer="hi")
    before = talker.request_count()
    run = run_events(talker, thread)
    assert [event["type"] for event in run] == ["finish"]
    assert run[-1]["finishReason"] == "budget"
    assert run[-1]["costUsd"] == 0 and talker.request_count() == before
    talker.says(thread_of(talker.gateway, "assistant"), "hello", answer="hi")


def test_zero_budget_allows_no_call(make_priced_talker):
    talker = make_priced_talker()
    agent_named(talker.gateway, "poor", budget_usd_per_day=0)
    assert run_events(talker, thread_of(talker.gateway, "poor"))[-1]["finishReason"] == "budget"
    assert talker.request_count() == 0


def test_summary_that_spends_the_budget_is_the_last_call(make_priced_talker):
    talker = make_priced_talker()
    agent_named(talker.gateway, "thrifty", budget_usd_per_day=1)
    thread = thread_of(talker.gateway, "thrifty")
    for number in range(28):
        body = {"role": "user", "content": f"Note {number}. " + "x" * 3000}
        accepted(talker.gateway.http.post(f"/threads/{thread['id']}/turns", json=body), 201)
    last = run_events(talker, thread)[-1]
    assert last["finishReason"] == "budget" and last["costUsd"] == ANSWER_COST
    assert talker.request_count() == 1 and "Sum it up" in talker.system()


def test_global_budget_applies_to_all_agents(make_priced_talker):
    talker = make_priced_talker(budget_usd_per_day=2)
    agent_named(talker.gateway, "scribe")
    talker.says(thread_of(talker.gateway, "scribe"), "hello", answer="hi")
    talker.says(thread_of(talker.gateway, "assistant"), "hello", answer="hi")
    for agent in ("scribe", "assistant"):
        assert run_events(talker, thread_of(talker.gateway, agent))[-1]["finishReason"] == "budget"


def test_spent_budget_survives_a_restart_and_can_be_raised(make_priced_talker):
    talker = make_priced_talker()
    agent = agent_named(talker.gateway, "thrifty", budget_usd_per_day=1)
    thread = thread_of(talker.gateway, "thrifty")
    talker.says(thread, "hello", answer="hi")
    talker.gateway.restart()
    assert run_events(talker, thread)[-1]["finishReason"] == "budget"
    change = {"definition": {"budget_usd_per_day": 100}}
    accepted(talker.gateway.http.patch(f"/extensions/{agent['id']}", json=change))
    talker.says(thread, "hello", answer="hi")


def test_report_has_the_share_of_cached_input(make_priced_talker):
    talker = make_priced_talker()
    assert "cached" not in report_of(talker)
    thread = accepted(talker.gateway.http.post("/threads", json={"title": "a title"}), 201)
    for usage in ({"input": 100, "output": 1, "cache_read": 0, "cache_write": 0},
                  {"input": 100, "output": 1, "cache_read": 600, "cache_write": 0}):
        talker.stub.script(Reply("Yes.", usage=usage))
        with talker.gateway.events(thread["id"]) as events:
            body = {"content": "Well?", "threadId": thread["id"]}
            events.run(accepted(talker.gateway.http.post("/chat", json=body), 201)["id"])
    assert report_of(talker)["cached"] == 0.75


def report_of(talker):
    return accepted(talker.gateway.http.get("/costs"))
