"""Webhooks and events that start jobs (decisions, 7)."""

import contextlib
import hashlib
import hmac
import json
import sqlite3

import pytest

import proposals
import tools
from checks import TRIES, UNKNOWN_ID, accepted, nested, refused
from extensions import toggle
from jobs import delete, ended, new_agent, new_extension, new_job, rows, run, turns, wait_for
from stubs.provider import Fault

SECRET = "It's a Secret to Everybody"


def signature(body, secret=SECRET):
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def new_hook(gateway, name, secret=None, **members):
    return new_job(gateway, name, {"type": "webhook", **({"secret": secret} if secret else {})}, **members)


def call(gateway, job, body=None, **headers):
    content = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
    return gateway.http.post(f"/hooks/{job['name']}", content=content, headers=headers)


def event(event_name, /, **filter):
    return {"type": "event", "event": event_name, **({"filter": filter} if filter else {})}


def ended_by_event(gateway, job, count=1):
    found = ended(gateway, job, count)
    assert all(row["trigger"] == "event" for row in found), found
    return found


def after_all_events(gateway, name):
    """Returns when what has happened until now has started whatever waited for it."""
    watched = name("witness")
    witness = new_job(gateway, name("job"), event("extension.created", name=watched))
    new_extension(gateway, "theme", watched, {})
    ended_by_event(gateway, witness)


# Webhooks.


def test_a_webhook_starts_a_run_with_its_body(gateway, name):
    job = new_hook(gateway, name("hook"))
    answer = accepted(call(gateway, job, {"action": "opened", "number": 7}), 202)
    assert answer["job"] == job["name"] and answer["status"] == "started" and answer["dry"] is False
    row = ended(gateway, job)[0]
    assert (row["trigger"], row["status"], row["thread_id"]) == ("webhook", "completed", answer["threadId"])
    said, asked, body = turns(gateway, answer["threadId"])
    assert asked["content"] == job["definition"]["prompt"] and body["role"] == "system"
    assert '{"action":"opened","number":7}' in body["content"]


def test_the_agent_is_shown_the_body_before_the_prompt(talker, name):
    job = new_hook(talker.gateway, name("hook"))
    talker.answers("Seen.")
    accepted(call(talker.gateway, job, {"city": "Athens"}), 202)
    ended(talker.gateway, job)
    told = " ".join(text for _, text in talker.conversation())
    assert told.index('{"city":"Athens"}') < told.index(job["definition"]["prompt"])


def test_a_webhook_without_a_body_starts_a_run_too(gateway, name):
    job = new_hook(gateway, name("hook"))
    answer = accepted(call(gateway, job), 202)
    ended(gateway, job)
    assert len(turns(gateway, answer["threadId"])) == 2


def test_a_job_without_a_webhook_trigger_is_not_found(gateway, name):
    theme = new_extension(gateway, "theme", name("theme"), {})
    for found in (new_job(gateway, name("job")), new_job(gateway, name("job"), event("turn.created", id="none")), theme):
        refused(call(gateway, found, {}), 404, "job not found")
    refused(call(gateway, {"name": UNKNOWN_ID}, {}), 404, "job not found")


def test_a_disabled_job_is_told(gateway, name):
    job = new_hook(gateway, name("hook"), enabled=False)
    refused(call(gateway, job, {}), 409, "job is disabled")
    assert rows(gateway, job) == []


def test_the_bearer_is_needed(gateway, name):
    job = new_hook(gateway, name("hook"), SECRET)
    body = b"{}"
    response = gateway.anonymous.post(f"/hooks/{job['name']}", content=body,
                                      headers={"X-Hub-Signature-256": signature(body)})
    refused(response, 401, "unauthorized")


def test_a_secret_demands_a_signature(gateway, name):
    job, body = new_hook(gateway, name("hook"), SECRET), b'{"a": 1}'
    for wrong in ({}, {"X-Hub-Signature-256": ""}, {"X-Hub-Signature-256": signature(body, "another")},
                  {"X-Hub-Signature-256": signature(body + b" ")},
                  {"X-Hub-Signature-256": signature(body).removeprefix("sha256=")},
                  {"X-Hub-Signature": signature(body)}):
        refused(call(gateway, job, body, **wrong), 401, "unauthorized")
    assert rows(gateway, job) == []
    accepted(call(gateway, job, body, **{"X-Hub-Signature-256": signature(body)}), 202)
    ended(gateway, job)


def test_a_kept_answer_is_for_those_who_sign(gateway, name):
    job, body = new_hook(gateway, name("hook"), SECRET), b'{"a": 1}'
    key, signed = {"Idempotency-Key": name("key")}, {"X-Hub-Signature-256": signature(body)}
    first = accepted(call(gateway, job, body, **key, **signed), 202)
    for wrong in ({}, {"X-Hub-Signature-256": signature(body, "another")}):
        refused(call(gateway, job, body, **key, **wrong), 401, "unauthorized")
        refused(call(gateway, job, b'{"a": 2}', **key, **wrong), 401, "unauthorized")
    assert accepted(call(gateway, job, body, **key, **signed), 202) == first
    assert len(ended(gateway, job)) == 1


def test_the_signature_is_checked_before_all_else(gateway, name):
    job = new_hook(gateway, name("hook"), SECRET, enabled=False)
    refused(call(gateway, job, b"not JSON"), 401, "unauthorized")
    body = b"not JSON"
    refused(call(gateway, job, body, **{"X-Hub-Signature-256": signature(body)}), 400, "Invalid JSON")


@pytest.mark.parametrize("body, error", [(b"not JSON", "Invalid JSON"), (b"[1]", "Request body must be an object"),
                                         (b'"x"', "Request body must be an object")])
def test_a_body_that_is_no_json_object_is_refused(gateway, name, body, error):
    job = new_hook(gateway, name("hook"))
    refused(call(gateway, job, body), 400, error)
    assert rows(gateway, job) == []


def test_a_body_of_10_mib_is_taken_and_shown_in_part_and_a_larger_one_is_refused(gateway, name):
    job = new_hook(gateway, name("hook"))
    body = json.dumps({"text": "x" * (10 * 1024 * 1024 - 12)}).encode()
    assert len(body) == 10 * 1024 * 1024
    answer = accepted(call(gateway, job, body), 202)
    ended(gateway, job)
    shown = turns(gateway, answer["threadId"])[-1]["content"]
    assert len(shown) < 200_000 and "bytes left out" in shown
    refused(call(gateway, job, body + b" "), 413, "request body too large")


def test_a_webhook_while_the_job_runs_is_refused(talker, name):
    job = new_hook(talker.gateway, name("hook"))
    answer = talker.holds("slow")
    accepted(call(talker.gateway, job, {}), 202)
    assert answer.was_asked()
    refused(call(talker.gateway, job, {}), 409, "job is already running")
    answer.release()
    ended(talker.gateway, job)


def test_a_webhook_for_an_agent_that_is_gone_is_refused_and_leaves_a_row(gateway, name):
    job = new_hook(gateway, name("hook"), agent_id="nobody")
    with gateway.events() as events:
        refused(call(gateway, job, {}), 400, "agent not found", agent_id="nobody")
        told = events.until(lambda event: event["type"] == "job-finished" and event["run"]["job"] == job["name"])[-1]
    row = rows(gateway, job)[0]
    assert (row["status"], row["trigger"]) == ("failed", "webhook") and "nobody" in row["error"]
    assert told == {"type": "job-finished", "threadId": None, "run": row}


# Events.


def test_an_extensions_changes_start_jobs(gateway, name):
    watched = name("watched")
    jobs = {kind: new_job(gateway, name("job"), event(f"extension.{kind}", name=watched))
            for kind in ("created", "updated", "deleted")}
    made = new_extension(gateway, "theme", watched, {})
    new_extension(gateway, "theme", name("other"), {})
    row = ended_by_event(gateway, jobs["created"])[0]
    assert row["due_at"] is None and made["id"] in turns(gateway, row["thread_id"])[-1]["content"]
    accepted(toggle(gateway, made))
    ended_by_event(gateway, jobs["updated"])
    delete(gateway, made)
    ended_by_event(gateway, jobs["deleted"])
    assert [len(rows(gateway, job)) for job in jobs.values()] == [1, 1, 1]


def test_a_job_does_not_start_with_its_own_making(own, name):
    job = new_job(own, name("job"), event("extension.created"))
    new_extension(own, "theme", name("theme"), {})
    ended_by_event(own, job)
    assert len(rows(own, job)) == 1


def test_a_new_thread_and_a_new_turn_start_jobs(gateway, name):
    agent = new_agent(gateway, name("agent"))
    threads = new_job(gateway, name("job"), event("thread.created", agent_id=agent["id"]))
    made = accepted(gateway.http.post("/threads", json={"agent_id": agent["id"]}), 201)
    ended_by_event(gateway, threads)
    job = new_job(gateway, name("job"), event("turn.created", thread_id=made["id"], role="system"))
    for role in ("user", "system"):
        accepted(gateway.http.post(f"/threads/{made['id']}/turns", json={"content": "noted", "role": role}), 201)
    ended_by_event(gateway, job)
    assert len(rows(gateway, job)) == 1 and len(rows(gateway, threads)) == 1


def test_the_ends_of_jobs_start_jobs(gateway, name):
    good, bad = new_job(gateway, name("job")), new_job(gateway, name("job"), prompt_file="gone.md")
    after_good = new_job(gateway, name("job"), event("job.completed", job=good["name"]))
    after_bad = new_job(gateway, name("job"), event("job.failed", job=bad["name"], trigger="manual"))
    run(gateway, good)
    run(gateway, bad)
    ended_by_event(gateway, after_good)
    ended_by_event(gateway, after_bad)
    assert len(rows(gateway, after_good)) == len(rows(gateway, after_bad)) == 1


def test_the_gateways_start_starts_jobs(own, name):
    job = new_job(own, name("job"), event("gateway.started"))
    assert rows(own, job) == []
    own.restart()
    ended_by_event(own, job)


def rename_table(gateway, name, to):
    with contextlib.closing(sqlite3.connect(gateway.data / "gateway.db")) as database:
        database.execute(f"ALTER TABLE {name} RENAME TO {to}")


@pytest.fixture
def without_due_times(own, name):
    """A gateway, and a job of its start, that cannot read its due times."""
    job = new_job(own, name("job"), event("gateway.started"))
    own.stop()
    rename_table(own, "job_due_times", "mislaid")
    own.start()
    wait_for(lambda: "no job starts by itself until" in own.stderr)
    return job


def test_the_start_starts_jobs_once_the_database_can_be_read(own, without_due_times):
    assert rows(own, without_due_times) == []
    rename_table(own, "mislaid", "job_due_times")
    ended_by_event(own, without_due_times)
    assert "jobs start by themselves from now on" in own.stderr
    assert own.stderr.count("no job starts by itself until") == 1


def test_a_gateway_that_cannot_read_its_due_times_stops_at_once(own, without_due_times):
    assert rows(own, without_due_times) == []

    def seconds_to_stop():
        wait_for(lambda: "no job starts by itself until" in own.stderr)
        return own.seconds_to_stop()

    assert any(seconds_to_stop() < 2 for _ in range(TRIES))


def test_a_filter_must_match_in_every_member(gateway, name):
    watched = name("watched")
    misses = [new_job(gateway, name("job"), event("extension.created", name=watched, **filter)) for filter in
              ({"type": "agent"}, {"nothing_such": None}, {"enabled": "false"})]
    hit = new_job(gateway, name("job"), event("extension.created", name=watched, type="theme", enabled=False))
    new_extension(gateway, "theme", watched, {})
    ended_by_event(gateway, hit)
    assert [rows(gateway, job) for job in misses] == [[], [], []]


def test_a_proposals_events_start_a_job_once_each(own, name):
    made, applied, rejected = (new_job(own, name("job"), event(f"proposal.{kind}"), concurrency="queue")
                               for kind in ("created", "applied", "rejected"))
    paths = [proposals.write(own, target="notes/a.md"), proposals.write(own, target="notes/b.md")]
    assert len(accepted(own.http.get("/proposals"))) == 2
    ended_by_event(own, made, 2)
    accepted(proposals.apply(own, paths[0]))
    accepted(proposals.reject(own, paths[1]))
    ended_by_event(own, applied)
    ended_by_event(own, rejected)
    assert [len(rows(own, job)) for job in (made, applied, rejected)] == [2, 1, 1]


def test_what_nests_as_deep_as_can_be_sent_starts_jobs(gateway, name):
    thread = accepted(gateway.http.post("/threads", json={}), 201)
    job = new_job(gateway, name("job"), event("turn.created", thread_id=thread["id"], role="system"))
    accepted(gateway.http.post(f"/threads/{thread['id']}/turns", json={
        "content": "deep", "role": "system", "metadata": {"x": nested(62)}}), 201)
    ended_by_event(gateway, job)


def test_a_number_of_a_filter_may_be_written_in_any_way(gateway, name):
    kind = name("kind")
    jobs = [new_job(gateway, name("job"), event(f"signal.{kind}", value=value)) for value in (3, 3.0, 3.5, "3")]
    accepted(gateway.http.post("/signals", json={"kind": kind, "message": "m", "value": 3}), 201)
    for job in jobs[:2]:
        ended_by_event(gateway, job)
    assert rows(gateway, jobs[2]) == rows(gateway, jobs[3]) == []


def test_a_number_deep_in_a_filter_may_be_written_in_any_way_too(gateway, name):
    thread = accepted(gateway.http.post("/threads", json={}), 201)
    jobs = [new_job(gateway, name("job"), event("turn.created", thread_id=thread["id"], metadata=metadata))
            for metadata in ({"a": 1.0, "b": [2.0]}, {"a": 1, "b": [2]}, {"a": 1.5, "b": [2]}, {"a": 1})]
    body = {"role": "user", "content": "x", "metadata": {"b": [2], "a": 1}}
    accepted(gateway.http.post(f"/threads/{thread['id']}/turns", json=body), 201)
    for job in jobs[:2]:
        ended_by_event(gateway, job)
    assert rows(gateway, jobs[2]) == rows(gateway, jobs[3]) == []


def test_a_disabled_job_hears_no_events(gateway, name):
    watched = name("watched")
    off = new_job(gateway, name("job"), event("extension.created", name=watched), enabled=False)
    on = new_job(gateway, name("job"), event("extension.created", name=watched))
    new_extension(gateway, "theme", watched, {})
    ended_by_event(gateway, on)
    assert rows(gateway, off) == []


def test_a_job_never_triggers_itself(gateway, name):
    job = new_job(gateway, name("job"))
    accepted(gateway.http.patch(f"/extensions/{job['id']}", json={"trigger": event("job.completed", job=job["name"])}))
    turned = new_job(gateway, name("job"))
    run(gateway, turned)
    ended(gateway, turned)
    accepted(gateway.http.patch(f"/extensions/{turned['id']}",
                                json={"trigger": event("turn.created", thread_id=rows(gateway, turned)[0]["thread_id"])}))
    run(gateway, job)
    run(gateway, turned)
    ended(gateway, job)
    ended(gateway, turned, 2)
    after_all_events(gateway, name)
    assert len(rows(gateway, job)) == 1 and len(rows(gateway, turned)) == 2


@pytest.mark.parametrize("kind", ["thread.created", "turn.created"])
def test_a_job_does_not_trigger_itself_by_what_its_agent_delegates(talker, name, kind):
    gateway = talker.gateway
    caller, helper = (tools.new_agent(gateway, name(role)) for role in ("caller", "helper"))
    filter = {"agent_id": helper["id"]} if kind == "thread.created" else {"content": f"Find {helper['name']} out."}
    job = new_job(gateway, name("job"), event(kind, **filter), agent_id=caller["id"], concurrency="queue")
    talker.stub.always("Done.")
    talker.stub.script(tools.calls(("Delegate", {"agent": helper["name"], "task": f"Find {helper['name']} out."})))
    run(gateway, job)
    assert ended(gateway, job)[0]["status"] == "completed"
    assert len(accepted(gateway.http.get("/threads", params={"agent_id": helper["id"]}))) == 1
    after_all_events(gateway, name)
    assert len(rows(gateway, job)) == 1


def test_a_job_does_not_trigger_itself_by_a_job_that_its_agent_runs(talker, name):
    gateway = talker.gateway
    chore = new_job(gateway, name("chore"))
    caller = tools.new_agent(gateway, name("caller"))
    job = new_job(gateway, name("job"), event("job.completed", job=chore["name"]), agent_id=caller["id"],
                  concurrency="queue")
    talker.stub.always("Done.")
    talker.stub.script("Done.", tools.calls(("RunJob", {"job": chore["name"]})))
    run(gateway, chore)
    ended_by_event(gateway, job)
    assert [row["status"] for row in ended(gateway, chore, 2)] == ["completed", "completed"]
    after_all_events(gateway, name)
    assert len(rows(gateway, job)) == 1


MADE = "made-by-an-agent"
MADE_BY_AN_AGENT = [
    (event("proposal.created", title=MADE),
     ("Propose", {"type": "file", "title": MADE, "target": "notes/made.md", "content": "x"})),
    (event("extension.created", name=MADE),
     ("CreateExtension", {"type": "theme", "name": MADE, "description": "", "definition": {}})),
]


@pytest.mark.parametrize("trigger, call", MADE_BY_AN_AGENT)
def test_a_job_does_not_trigger_itself_by_what_its_agent_makes(own_talker, name, trigger, call):
    gateway = own_talker.gateway
    maker = tools.new_agent(gateway, name("maker"), stage="trusted")
    job = new_job(gateway, name("job"), trigger, agent_id=maker["id"], concurrency="queue")
    other = new_job(gateway, name("job"), trigger)
    own_talker.stub.always("Done.")
    own_talker.stub.script(tools.calls(call))
    run(gateway, job)
    ended_by_event(gateway, other)
    ended(gateway, job)
    after_all_events(gateway, name)
    assert len(rows(gateway, job)) == 1


@pytest.mark.parametrize("trigger, call", MADE_BY_AN_AGENT)
def test_a_job_is_triggered_by_what_its_agent_makes_in_a_chat_meanwhile(own_talker, name, trigger, call):
    gateway = own_talker.gateway
    maker = tools.new_agent(gateway, name("maker"), stage="trusted")
    job = new_job(gateway, name("job"), trigger, agent_id=maker["id"], concurrency="queue")
    own_talker.stub.always("Done.")
    held = own_talker.holds("Half of it")
    run(gateway, job)
    assert held.was_asked()
    tools.asked(own_talker, tools.new_thread(gateway, maker), tools.calls(call), "Done.")
    wait_for(lambda: [row["trigger"] for row in rows(gateway, job)] == ["event", "manual"])
    held.release()
    assert [row["status"] for row in ended(gateway, job, 2)] == ["completed", "completed"]


@pytest.mark.parametrize("kind, runs", [("job-failing", 3), ("provider-errors", 1)])
def test_a_job_does_not_trigger_itself_by_a_signal(own_talker, name, kind, runs):
    gateway = own_talker.gateway
    other = new_job(gateway, name("job"), event(f"signal.{kind}"), prompt_file="gone.md")
    job = new_job(gateway, name("job"), event(f"signal.{kind}"), concurrency="queue")
    own_talker.stub.always(Fault(400, "bad request"))
    for number in range(runs):
        run(gateway, job)
        assert ended(gateway, job, number + 1)[0]["status"] == "failed"
    ended_by_event(gateway, other)
    after_all_events(gateway, name)
    assert len(rows(gateway, job)) == runs


@pytest.mark.parametrize("change", [{"enabled": False}, {"trigger": None}, {"trigger": {"type": "webhook"}}])
def test_a_job_is_not_started_by_what_ends_its_waiting(gateway, name, change):
    job = new_job(gateway, name("job"))
    accepted(gateway.http.patch(f"/extensions/{job['id']}", json={"trigger": event("extension.updated", name=job["name"])}))
    accepted(gateway.http.patch(f"/extensions/{job['id']}", json=change))
    after_all_events(gateway, name)
    assert rows(gateway, job) == []


def test_a_chain_ends_at_depth_5_and_says_so(gateway, name):
    chain = [new_job(gateway, name("chain"))]
    for _ in range(7):
        chain.append(new_job(gateway, name("chain"), event("job.completed", job=chain[-1]["name"])))
    run(gateway, chain[0])
    for job in chain[:6]:
        assert ended(gateway, job)[0]["status"] == "completed"
    last = ended(gateway, chain[6])[0]
    assert last["status"] == "skipped" and "chain" in last["error"]
    assert rows(gateway, chain[7]) == []


def test_two_jobs_that_trigger_each_other_come_to_an_end(gateway, name):
    one = new_job(gateway, name("job"), concurrency="queue")
    other = new_job(gateway, name("job"), event("job.completed", job=one["name"]), concurrency="queue")
    accepted(gateway.http.patch(f"/extensions/{one['id']}", json={"trigger": event("job.completed", job=other["name"])}))
    run(gateway, one)
    wait_for(lambda: [row for row in rows(gateway, one) if row["status"] == "skipped"])
    assert [len(rows(gateway, job)) for job in (one, other)] == [4, 3]
