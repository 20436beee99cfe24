"""Webhooks and events that trigger jobs.

See docs/contract/jobs.md#webhooks and docs/contract/jobs.md#events.
"""

import contextlib
import hashlib
import hmac
import json
import sqlite3

import pytest

import proposals
import tools
from checks import TRIES, UNKNOWN_ID, accepted, invalid, nested, refused
from extensions import toggle
from jobs import delete, ended, new_agent, new_extension, new_job, new_job_of_deleted_agent, rows, run, turns, wait_for
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


def after_all_events(gateway, new_name):
    """Waits until all events published so far have started their jobs."""
    watched = new_name("witness")
    witness = new_job(gateway, new_name("job"), event("extension.created", name=watched))
    new_extension(gateway, "theme", watched, {})
    ended_by_event(gateway, witness)


# Webhooks.


def test_webhook_starts_a_run_with_its_body(gateway, new_name):
    job = new_hook(gateway, new_name("hook"))
    response = accepted(call(gateway, job, {"action": "opened", "number": 7}), 202)
    assert response["job"] == job["name"] and response["status"] == "started" and response["dry"] is False
    row = ended(gateway, job)[0]
    assert (row["trigger"], row["status"], row["thread_id"]) == ("webhook", "completed", response["threadId"])
    answer, prompt, body = turns(gateway, response["threadId"])
    assert prompt["content"] == job["definition"]["prompt"] and body["role"] == "system"
    assert '{"action":"opened","number":7}' in body["content"]


def test_agent_sees_the_body_before_the_prompt(talker, new_name):
    job = new_hook(talker.gateway, new_name("hook"))
    talker.answers("Seen.")
    accepted(call(talker.gateway, job, {"city": "Athens"}), 202)
    ended(talker.gateway, job)
    conversation = " ".join(text for _, text in talker.conversation())
    assert conversation.index('{"city":"Athens"}') < conversation.index(job["definition"]["prompt"])


def test_webhook_without_a_body_starts_a_run(gateway, new_name):
    job = new_hook(gateway, new_name("hook"))
    response = accepted(call(gateway, job), 202)
    ended(gateway, job)
    assert len(turns(gateway, response["threadId"])) == 2


def test_job_without_a_webhook_trigger_is_not_found(gateway, new_name):
    theme = new_extension(gateway, "theme", new_name("theme"), {})
    for found in (new_job(gateway, new_name("job")), new_job(gateway, new_name("job"), event("turn.created", id="none")), theme):
        refused(call(gateway, found, {}), 404, "job not found")
    refused(call(gateway, {"name": UNKNOWN_ID}, {}), 404, "job not found")


def test_webhook_of_a_disabled_job_is_refused(gateway, new_name):
    job = new_hook(gateway, new_name("hook"), enabled=False)
    refused(call(gateway, job, {}), 409, "job is disabled")
    assert rows(gateway, job) == []


def test_bearer_token_is_required(gateway, new_name):
    job = new_hook(gateway, new_name("hook"), SECRET)
    body = b"{}"
    response = gateway.anonymous.post(f"/hooks/{job['name']}", content=body,
                                      headers={"X-Hub-Signature-256": signature(body)})
    refused(response, 401, "unauthorized")


def test_secret_requires_a_signature(gateway, new_name):
    job, body = new_hook(gateway, new_name("hook"), SECRET), b'{"a": 1}'
    for wrong in ({}, {"X-Hub-Signature-256": ""}, {"X-Hub-Signature-256": signature(body, "another")},
                  {"X-Hub-Signature-256": signature(body + b" ")},
                  {"X-Hub-Signature-256": signature(body).removeprefix("sha256=")},
                  {"X-Hub-Signature": signature(body)}):
        response = call(gateway, job, body, **wrong)
        refused(response, 401, "unauthorized")
        assert response.headers["www-authenticate"] == 'Bearer realm="agent-gateway"'
    assert rows(gateway, job) == []
    accepted(call(gateway, job, body, **{"X-Hub-Signature-256": signature(body)}), 202)
    ended(gateway, job)


def test_stored_response_requires_a_signature(gateway, new_name):
    job, body = new_hook(gateway, new_name("hook"), SECRET), b'{"a": 1}'
    key, signed = {"Idempotency-Key": new_name("key")}, {"X-Hub-Signature-256": signature(body)}
    first = accepted(call(gateway, job, body, **key, **signed), 202)
    for wrong in ({}, {"X-Hub-Signature-256": signature(body, "another")}):
        refused(call(gateway, job, body, **key, **wrong), 401, "unauthorized")
        refused(call(gateway, job, b'{"a": 2}', **key, **wrong), 401, "unauthorized")
    assert accepted(call(gateway, job, body, **key, **signed), 202) == first
    assert len(ended(gateway, job)) == 1


def test_signature_is_checked_first(gateway, new_name):
    job = new_hook(gateway, new_name("hook"), SECRET, enabled=False)
    refused(call(gateway, job, b"not JSON"), 401, "unauthorized")
    body = b"not JSON"
    refused(call(gateway, job, body, **{"X-Hub-Signature-256": signature(body)}), 400, "Invalid JSON")


@pytest.mark.parametrize("body, error", [(b"not JSON", "Invalid JSON"), (b"[1]", "Request body must be an object"),
                                         (b'"x"', "Request body must be an object")])
def test_body_must_be_a_json_object(gateway, new_name, body, error):
    job = new_hook(gateway, new_name("hook"))
    refused(call(gateway, job, body), 400, error)
    assert rows(gateway, job) == []


def test_body_of_10_mib_is_accepted_and_truncated_for_the_agent(gateway, new_name):
    job = new_hook(gateway, new_name("hook"))
    body = json.dumps({"text": "x" * (10 * 1024 * 1024 - 12)}).encode()
    assert len(body) == 10 * 1024 * 1024
    response = accepted(call(gateway, job, body), 202)
    ended(gateway, job)
    shown = turns(gateway, response["threadId"])[-1]["content"]
    assert len(shown) < 200_000 and "bytes left out" in shown
    refused(call(gateway, job, body + b" "), 413, "request body too large")


def test_webhook_during_a_run_is_refused(talker, new_name):
    job = new_hook(talker.gateway, new_name("hook"))
    answer = talker.holds("slow")
    accepted(call(talker.gateway, job, {}), 202)
    assert answer.was_asked()
    refused(call(talker.gateway, job, {}), 409, "job is already running")
    answer.release()
    ended(talker.gateway, job)


def test_webhook_for_a_missing_agent_is_refused_and_leaves_a_row(gateway, new_name):
    missing = new_name("gone")
    job = new_job_of_deleted_agent(gateway, new_name("hook"), missing, {"type": "webhook"})
    with gateway.events() as events:
        refused(call(gateway, job, {}), 400, "agent not found", agent_id=missing)
        event = events.until(lambda event: event["type"] == "job-finished" and event["run"]["job"] == job["name"])[-1]
    row = rows(gateway, job)[0]
    assert (row["status"], row["trigger"]) == ("failed", "webhook") and missing in row["error"]
    assert event == {"type": "job-finished", "threadId": None, "run": row}


# Events.


def test_extension_changes_start_jobs(gateway, new_name):
    watched = new_name("watched")
    jobs = {kind: new_job(gateway, new_name("job"), event(f"extension.{kind}", name=watched))
            for kind in ("created", "updated", "deleted")}
    made = new_extension(gateway, "theme", watched, {})
    new_extension(gateway, "theme", new_name("other"), {})
    row = ended_by_event(gateway, jobs["created"])[0]
    assert row["due_at"] is None and made["id"] in turns(gateway, row["thread_id"])[-1]["content"]
    accepted(toggle(gateway, made))
    ended_by_event(gateway, jobs["updated"])
    delete(gateway, made)
    ended_by_event(gateway, jobs["deleted"])
    assert [len(rows(gateway, job)) for job in jobs.values()] == [1, 1, 1]


def test_job_is_not_started_by_its_own_creation(own_gateway, new_name):
    job = new_job(own_gateway, new_name("job"), event("extension.created"))
    new_extension(own_gateway, "theme", new_name("theme"), {})
    ended_by_event(own_gateway, job)
    assert len(rows(own_gateway, job)) == 1


def test_new_threads_and_turns_start_jobs(gateway, new_name):
    agent = new_agent(gateway, new_name("agent"))
    threads = new_job(gateway, new_name("job"), event("thread.created", agent_id=agent["id"]))
    made = accepted(gateway.http.post("/threads", json={"agent_id": agent["id"]}), 201)
    ended_by_event(gateway, threads)
    job = new_job(gateway, new_name("job"), event("turn.created", thread_id=made["id"], role="system"))
    for role in ("user", "system"):
        accepted(gateway.http.post(f"/threads/{made['id']}/turns", json={"content": "noted", "role": role}), 201)
    ended_by_event(gateway, job)
    assert len(rows(gateway, job)) == 1 and len(rows(gateway, threads)) == 1


def test_finished_jobs_start_jobs(gateway, new_name):
    good, bad = new_job(gateway, new_name("job")), new_job(gateway, new_name("job"), prompt_file="gone.md")
    after_good = new_job(gateway, new_name("job"), event("job.completed", job=good["name"]))
    after_bad = new_job(gateway, new_name("job"), event("job.failed", job=bad["name"], trigger="manual"))
    run(gateway, good)
    run(gateway, bad)
    ended_by_event(gateway, after_good)
    ended_by_event(gateway, after_bad)
    assert len(rows(gateway, after_good)) == len(rows(gateway, after_bad)) == 1


def test_gateway_start_starts_jobs(own_gateway, new_name):
    job = new_job(own_gateway, new_name("job"), event("gateway.started"))
    # The gateway accepts requests before it publishes this event, so its first start may start the job, too.
    by_first_start = len(rows(own_gateway, job))
    own_gateway.restart()
    ended_by_event(own_gateway, job, by_first_start + 1)


def rename_table(gateway, name, to):
    with contextlib.closing(sqlite3.connect(gateway.data / "gateway.db")) as database:
        database.execute(f"ALTER TABLE {name} RENAME TO {to}")


@pytest.fixture
def without_due_times(own_gateway, new_name):
    """A job triggered by the start of the gateway, which runs but cannot read the due times of jobs."""
    job = new_job(own_gateway, new_name("job"), event("gateway.started"))
    own_gateway.stop()
    rename_table(own_gateway, "job_due_times", "mislaid")
    own_gateway.start()
    wait_for(lambda: "no job starts by itself until" in own_gateway.stderr)
    return job


def test_gateway_start_event_waits_for_a_readable_database(own_gateway, without_due_times):
    assert rows(own_gateway, without_due_times) == []
    rename_table(own_gateway, "mislaid", "job_due_times")
    ended_by_event(own_gateway, without_due_times)
    assert "jobs start by themselves from now on" in own_gateway.stderr
    assert own_gateway.stderr.count("no job starts by itself until") == 1


def test_gateway_with_unreadable_due_times_stops_immediately(own_gateway, without_due_times):
    assert rows(own_gateway, without_due_times) == []

    def seconds_to_stop():
        wait_for(lambda: "no job starts by itself until" in own_gateway.stderr)
        return own_gateway.seconds_to_stop()

    assert any(seconds_to_stop() < 2 for _ in range(TRIES))


def test_filter_must_match_in_every_member(gateway, new_name):
    watched = new_name("watched")
    misses = [new_job(gateway, new_name("job"), event("extension.created", name=watched, **filter)) for filter in
              ({"type": "agent"}, {"nothing_such": None}, {"enabled": "false"})]
    hit = new_job(gateway, new_name("job"), event("extension.created", name=watched, type="theme", enabled=False))
    new_extension(gateway, "theme", watched, {})
    ended_by_event(gateway, hit)
    assert [rows(gateway, job) for job in misses] == [[], [], []]


def test_proposal_events_start_a_job_once_each(own_gateway, new_name):
    made, applied, rejected = (new_job(own_gateway, new_name("job"), event(f"proposal.{kind}"), concurrency="queue")
                               for kind in ("created", "applied", "rejected"))
    paths = [proposals.write(own_gateway, target="notes/a.md"), proposals.write(own_gateway, target="notes/b.md")]
    assert len(accepted(own_gateway.http.get("/proposals"))) == 2
    ended_by_event(own_gateway, made, 2)
    accepted(proposals.apply(own_gateway, paths[0]))
    accepted(proposals.reject(own_gateway, paths[1]))
    ended_by_event(own_gateway, applied)
    ended_by_event(own_gateway, rejected)
    assert [len(rows(own_gateway, job)) for job in (made, applied, rejected)] == [2, 1, 1]


def test_deeply_nested_signal_starts_jobs(gateway, new_name):
    thread = accepted(gateway.http.post("/threads", json={}), 201)
    job = new_job(gateway, new_name("job"), event("turn.created", thread_id=thread["id"], role="system"))
    accepted(gateway.http.post(f"/threads/{thread['id']}/turns", json={
        "content": "deep", "role": "system", "metadata": {"x": nested(62)}}), 201)
    ended_by_event(gateway, job)


def test_number_in_a_filter_matches_in_any_notation(gateway, new_name):
    kind = new_name("kind")
    jobs = [new_job(gateway, new_name("job"), event(f"signal.{kind}", value=value)) for value in (3, 3.0, 3.5, "3")]
    accepted(gateway.http.post("/signals", json={"kind": kind, "message": "m", "value": 3}), 201)
    for job in jobs[:2]:
        ended_by_event(gateway, job)
    assert rows(gateway, jobs[2]) == rows(gateway, jobs[3]) == []


def test_nested_number_in_a_filter_matches_in_any_notation(gateway, new_name):
    thread = accepted(gateway.http.post("/threads", json={}), 201)
    jobs = [new_job(gateway, new_name("job"), event("turn.created", thread_id=thread["id"], metadata=metadata))
            for metadata in ({"a": 1.0, "b": [2.0]}, {"a": 1, "b": [2]}, {"a": 1.5, "b": [2]}, {"a": 1})]
    body = {"role": "user", "content": "x", "metadata": {"b": [2], "a": 1}}
    accepted(gateway.http.post(f"/threads/{thread['id']}/turns", json=body), 201)
    for job in jobs[:2]:
        ended_by_event(gateway, job)
    assert rows(gateway, jobs[2]) == rows(gateway, jobs[3]) == []


def test_disabled_job_ignores_events(gateway, new_name):
    watched = new_name("watched")
    off = new_job(gateway, new_name("job"), event("extension.created", name=watched), enabled=False)
    on = new_job(gateway, new_name("job"), event("extension.created", name=watched))
    new_extension(gateway, "theme", watched, {})
    ended_by_event(gateway, on)
    assert rows(gateway, off) == []


def test_job_never_triggers_itself(gateway, new_name):
    job = new_job(gateway, new_name("job"))
    accepted(gateway.http.patch(f"/extensions/{job['id']}", json={"trigger": event("job.completed", job=job["name"])}))
    turn_job = new_job(gateway, new_name("job"))
    run(gateway, turn_job)
    ended(gateway, turn_job)
    accepted(gateway.http.patch(f"/extensions/{turn_job['id']}",
                                json={"trigger": event("turn.created", thread_id=rows(gateway, turn_job)[0]["thread_id"])}))
    run(gateway, job)
    run(gateway, turn_job)
    ended(gateway, job)
    ended(gateway, turn_job, 2)
    after_all_events(gateway, new_name)
    assert len(rows(gateway, job)) == 1 and len(rows(gateway, turn_job)) == 2


@pytest.mark.parametrize("kind", ["thread.created", "turn.created"])
def test_job_is_not_triggered_by_its_agents_delegation(talker, new_name, kind):
    gateway = talker.gateway
    caller, helper = (tools.new_agent(gateway, new_name(role)) for role in ("caller", "helper"))
    filter = {"agent_id": helper["id"]} if kind == "thread.created" else {"content": f"Find {helper['name']} out."}
    job = new_job(gateway, new_name("job"), event(kind, **filter), agent_id=caller["id"], concurrency="queue")
    talker.stub.always("Done.")
    talker.stub.script(tools.calls(("Delegate", {"agent": helper["name"], "task": f"Find {helper['name']} out."})))
    run(gateway, job)
    assert ended(gateway, job)[0]["status"] == "completed"
    assert len(accepted(gateway.http.get("/threads", params={"agent_id": helper["id"]}))) == 1
    after_all_events(gateway, new_name)
    assert len(rows(gateway, job)) == 1


def test_job_is_not_triggered_by_a_job_its_agent_runs(talker, new_name):
    gateway = talker.gateway
    chore = new_job(gateway, new_name("chore"))
    caller = tools.new_agent(gateway, new_name("caller"))
    job = new_job(gateway, new_name("job"), event("job.completed", job=chore["name"]), agent_id=caller["id"],
                  concurrency="queue")
    talker.stub.always("Done.")
    talker.stub.script("Done.", tools.calls(("RunJob", {"job": chore["name"]})))
    run(gateway, chore)
    ended_by_event(gateway, job)
    assert [row["status"] for row in ended(gateway, chore, 2)] == ["completed", "completed"]
    after_all_events(gateway, new_name)
    assert len(rows(gateway, job)) == 1


MADE = "made-by-an-agent"
MADE_BY_AN_AGENT = [
    (event("proposal.created", title=MADE),
     ("Propose", {"type": "file", "title": MADE, "target": "notes/made.md", "content": "x"})),
    (event("extension.created", name=MADE),
     ("CreateExtension", {"type": "theme", "name": MADE, "description": "", "definition": {}})),
]


@pytest.mark.parametrize("trigger, call", MADE_BY_AN_AGENT)
def test_job_is_not_triggered_by_its_agents_extensions(own_talker, new_name, trigger, call):
    gateway = own_talker.gateway
    maker = tools.new_agent(gateway, new_name("maker"), stage="trusted")
    job = new_job(gateway, new_name("job"), trigger, agent_id=maker["id"], concurrency="queue")
    other = new_job(gateway, new_name("job"), trigger)
    own_talker.stub.always("Done.")
    own_talker.stub.script(tools.calls(call))
    run(gateway, job)
    ended_by_event(gateway, other)
    ended(gateway, job)
    after_all_events(gateway, new_name)
    assert len(rows(gateway, job)) == 1


@pytest.mark.parametrize("trigger, call", MADE_BY_AN_AGENT)
def test_job_is_triggered_by_its_agents_concurrent_chat(own_talker, new_name, trigger, call):
    gateway = own_talker.gateway
    maker = tools.new_agent(gateway, new_name("maker"), stage="trusted")
    job = new_job(gateway, new_name("job"), trigger, agent_id=maker["id"], concurrency="queue")
    own_talker.stub.always("Done.")
    held = own_talker.holds("Half of it")
    run(gateway, job)
    assert held.was_asked()
    tools.run_chat(own_talker, tools.new_thread(gateway, maker), tools.calls(call), "Done.")
    wait_for(lambda: [row["trigger"] for row in rows(gateway, job)] == ["event", "manual"])
    held.release()
    assert [row["status"] for row in ended(gateway, job, 2)] == ["completed", "completed"]


@pytest.mark.parametrize("kind, runs", [("job-failing", 3), ("provider-errors", 1)])
def test_job_is_not_triggered_by_its_own_signal(own_talker, new_name, kind, runs):
    gateway = own_talker.gateway
    other = new_job(gateway, new_name("job"), event(f"signal.{kind}"), prompt_file="gone.md")
    job = new_job(gateway, new_name("job"), event(f"signal.{kind}"), concurrency="queue")
    own_talker.stub.always(Fault(400, "bad request"))
    for number in range(runs):
        run(gateway, job)
        assert ended(gateway, job, number + 1)[0]["status"] == "failed"
    ended_by_event(gateway, other)
    after_all_events(gateway, new_name)
    assert len(rows(gateway, job)) == runs


@pytest.mark.parametrize("change", [{"enabled": False}, {"trigger": None}, {"trigger": {"type": "webhook"}}])
def test_job_is_not_started_by_the_change_that_removes_its_trigger(gateway, new_name, change):
    job = new_job(gateway, new_name("job"))
    accepted(gateway.http.patch(f"/extensions/{job['id']}", json={"trigger": event("extension.updated", name=job["name"])}))
    accepted(gateway.http.patch(f"/extensions/{job['id']}", json=change))
    after_all_events(gateway, new_name)
    assert rows(gateway, job) == []


def test_chain_ends_at_depth_5_with_a_reason(gateway, new_name):
    chain = [new_job(gateway, new_name("chain"))]
    for _ in range(7):
        chain.append(new_job(gateway, new_name("chain"), event("job.completed", job=chain[-1]["name"])))
    run(gateway, chain[0])
    for job in chain[:6]:
        assert ended(gateway, job)[0]["status"] == "completed"
    last = ended(gateway, chain[6])[0]
    assert last["status"] == "skipped" and "chain" in last["error"]
    assert rows(gateway, chain[7]) == []


def test_mutual_triggers_end(gateway, new_name):
    one = new_job(gateway, new_name("job"), concurrency="queue")
    other = new_job(gateway, new_name("job"), event("job.completed", job=one["name"]), concurrency="queue")
    accepted(gateway.http.patch(f"/extensions/{one['id']}", json={"trigger": event("job.completed", job=other["name"])}))
    run(gateway, one)
    wait_for(lambda: [row for row in rows(gateway, one) if row["status"] == "skipped"])
    assert [len(rows(gateway, job)) for job in (one, other)] == [4, 3]


@pytest.mark.parametrize("event", ["deploy.finished", "turn.deleted", "signal.", "", "TURN.CREATED"])
def test_trigger_with_an_unknown_event_is_refused_with_a_list(gateway, new_name, event):
    body = {"type": "job", "name": new_name("job"), "description": "Waits", "definition": {"agent_id": "assistant", "prompt": "Go"},
            "trigger_def": {"type": "event", "event": event}}
    problem, = invalid(gateway.http.post("/extensions", json=body), "trigger_def.event")
    assert problem["message"] == (
        "trigger_def.event must be one of extension.created, extension.updated, extension.deleted, thread.created, "
        "turn.created, proposal.created, proposal.applied, proposal.rejected, job.completed, job.failed, "
        "gateway.started, signal.<kind>")
