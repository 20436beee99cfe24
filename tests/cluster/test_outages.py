"""PostgreSQL is down for longer than requests wait; once it is back, everything continues by itself."""

import contextlib
import datetime
import os
import signal
import time

import pytest

from channels import ANN, connect
from checks import PATIENCE, accepted
from jobs import new_job, rows
from stubs.provider import Reply
from stubs.telegram import TOKEN, TelegramStub
from test_changes import eventually, new_extension
from test_events import answering, log_of
from test_node_apps import run_app, wait_until_running
from tools import turns_of



@pytest.fixture
def telegram():
    with TelegramStub() as stub:
        yield stub


@contextlib.contextmanager
def outage(server):
    server.stop()
    try:
        yield
    finally:
        server.start()


def add_channel(node, telegram):
    """Adds a channel, and waits until it is connected."""
    assert node.http.put("/secrets/TELEGRAM", json={"value": TOKEN}).status_code == 204
    connect(node, telegram)
    eventually(lambda: [channel["state"] for channel in accepted(node.http.get("/channels"))], ["connected"])


def wait_for_log(node, words, count=1):
    eventually(lambda: log_of(node).count(words) >= count, True)


def test_a_job_whose_end_could_not_be_stored_ends_and_starts_again(make_node, server, stub):
    stub.always(Reply(text="Done."))
    a = make_node("a").start()
    workspace = a.data / "agents" / "assistant" / "workspace"
    wait_for_go = "touch began; until test -e go; do sleep 0.05; done; exit 1"
    job = new_job(a, "lonely", concurrency="forbid", precheck=wait_for_go)
    accepted(a.http.post("/run/lonely"), 202)
    eventually((workspace / "began").exists, True)
    with outage(server):
        (workspace / "go").touch()
        wait_for_log(a, "the end of a run of the job lonely is not stored yet")
    eventually(lambda: [row["status"] for row in rows(a, job)], ["skipped"])
    accepted(a.http.post("/run/lonely"), 202)
    eventually(lambda: [row["status"] for row in rows(a, job)], ["skipped", "skipped"])


def test_a_job_that_could_not_start_starts_once_the_database_is_back(make_node, server, stub):
    stub.always(Reply(text="Done."))
    a = make_node("a").start()
    workspace = a.data / "agents" / "assistant" / "workspace"
    job = new_job(a, "lonely", precheck="touch began; until test -e go; do sleep 0.05; done")
    accepted(a.http.post("/run/lonely"), 202)
    eventually((workspace / "began").exists, True)
    with outage(server):
        (workspace / "go").touch()
        wait_for_log(a, "a run of the job lonely waits for the database")
    eventually(lambda: [row["status"] for row in rows(a, job)], ["completed"])


def test_each_due_time_has_its_row_despite_an_outage(make_node, server, stub):
    stub.always(Reply(text="Done."))
    a = make_node("a").start()
    job = new_job(a, "ticking", {"type": "cron", "expression": "* * * * * *"}, concurrency="forbid")
    eventually(lambda: bool(rows(a, job)), True)
    began = time.monotonic()
    with outage(server):
        wait_for_log(a, "the job ticking is due and waits")
    back = datetime.datetime.now(datetime.UTC).isoformat()
    eventually(lambda: max(row["due_at"] for row in rows(a, job)) > back, True)
    accepted(a.http.patch(f"/extensions/{job['id']}", json={"enabled": False}))

    def gaps():
        times = sorted(datetime.datetime.fromisoformat(row["due_at"]) for row in rows(a, job, limit=200))
        return [later for earlier, later in zip(times, times[1:]) if later - earlier != datetime.timedelta(seconds=1)]
    eventually(gaps, [])
    warnings = log_of(a).count("what other nodes change is not seen until")
    assert warnings <= 1 + (time.monotonic() - began) // 60, "each minute at most"


def test_a_channel_continues_after_an_outage(make_node, server, stub, telegram):
    stub.always(Reply(text="Four."))
    a = make_node("a").start()
    add_channel(a, telegram)
    with outage(server):
        telegram.says(ANN, "What is two and two?")
        wait_for_log(a, "could not handle a message", count=4)
    telegram.message("Four.", seconds=PATIENCE)
    telegram.says(ANN, "And now?")
    telegram.message("Four.", count=2, seconds=PATIENCE)
    assert len(telegram.texts()) == 2


def test_an_answer_that_could_not_be_stored_for_a_channel_is_sent_later(make_node, server, stub, telegram):
    a = make_node("a").start()
    add_channel(a, telegram)
    held = stub.hold("Here ", "it is.")
    with a.events() as events:
        telegram.says(ANN, "Where is it?")
        events.until(lambda event: event["type"] == "text-delta")
        with outage(server):
            held.release()
            wait_for_log(a, "cannot store the answer")
    telegram.message("Here it is.", seconds=PATIENCE)
    assert telegram.texts() == ["Here it is."]


def test_the_next_leader_replies_to_what_a_killed_one_had_received(make_node, messages, stub, telegram):
    a, b = (make_node(name, events=messages.url()).start() for name in ("a", "b"))
    assert b.http.put("/secrets/TELEGRAM", json={"value": TOKEN}).status_code == 204
    add_channel(a, telegram)
    stub.hold("Half ", "of it")
    with a.events() as events:
        telegram.says(ANN, "Where is it?")
        events.until(lambda event: event["type"] == "text-delta")
    a.kill()
    sent = telegram.message("The gateway was ended before the answer was complete", seconds=PATIENCE)
    assert sent["chat"] == ANN
    stub.always(Reply(text="Here it is."))
    telegram.says(ANN, "Where is it?")
    telegram.message("Here it is.", seconds=PATIENCE)
    assert len(telegram.texts()) == 2


def test_a_gateway_stops_quickly_during_an_outage(make_node, server, stub):
    a = make_node("a").start()
    with answering(a, stub):
        with outage(server):
            began = time.monotonic()
            assert a.stop() == 0
            assert time.monotonic() - began < 20, "without waiting for the server once for each write"
    a.start()
    eventually(lambda: [len(turns_of(a, thread, "assistant")) for thread in accepted(a.http.get("/threads"))], [1])


def test_a_crash_of_an_app_during_an_outage_is_seen_at_other_nodes(make_neighbour, server):
    a, b = (make_neighbour(name).start() for name in ("a", "b"))
    run_app(a, "web", b)
    before = wait_until_running("web", a, b)
    with outage(server):
        os.kill(before, signal.SIGKILL)
        wait_for_log(a, "other nodes do not know yet how a program of this one is")
    wait_until_running("web", a, b, before=before)


def test_a_name_freed_at_another_node_can_be_used_at_once(make_node, server, database):
    """An update of the database without a notification simulates a change that this node has not seen yet."""
    a = make_node("a").start()
    old = new_extension(a, "command", "hello", {"prompt": "Say hello."})
    renamed = "name = 'farewell', updated_at = updated_at + 1"
    server.psql(database, f"UPDATE extensions SET {renamed} WHERE id = '{old['id']}'")
    new = new_extension(a, "command", "hello", {"prompt": "Say hello again."})
    found = {record["name"]: record["id"] for record in accepted(a.http.get("/extensions", params={"type": "command"}))}
    assert (found["hello"], found["farewell"]) == (new["id"], old["id"])
