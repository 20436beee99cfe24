"""Channels while the gateway's own database, files or disk fail: nothing is lost, and the channel recovers by itself.

See docs/contract/channels.md#exactly-once.
"""

import contextlib
import resource
import sqlite3

import pytest

from channels import ANN, channel, connect, threads
from checks import PATIENCE, accepted
from jobs import wait_for
from stubs.telegram import TOKEN
from talker import configuration
from tools import turns_of


@contextlib.contextmanager
def failing(gateway, statement):
    """Makes the statements on a table fail while the block runs."""
    with contextlib.closing(sqlite3.connect(gateway.data / "gateway.db", timeout=PATIENCE)) as database:
        database.execute(f"CREATE TRIGGER broken BEFORE {statement} BEGIN SELECT raise(ABORT, 'broken disk'); END")
        try:
            yield
        finally:
            database.execute("DROP TRIGGER broken")


def wait_until_failing(gateway, why):
    return wait_for(lambda: channel(gateway)["state"] == "failing" and why in channel(gateway)["error"])


def wait_until_well(gateway):
    wait_for(lambda: channel(gateway)["state"] == "connected" and channel(gateway)["error"] is None)
    wait_for(lambda: channel(gateway)["open_questions"] == channel(gateway)["unsent"] == 0)


@pytest.mark.parametrize("statement", [
    "INSERT ON channel_cursors", "INSERT ON channel_outbox", "UPDATE ON channel_outbox", "DELETE ON channel_outbox"])
def test_message_is_answered_once_the_database_works_again(talking, telegram, statement):
    gateway = talking.gateway
    connect(gateway, telegram)
    talking.stub.always("An answer.")
    telegram.says(ANN, "First?")
    telegram.message("An answer.")
    wait_until_well(gateway)
    with failing(gateway, statement):
        telegram.says(ANN, "Second?")
        wait_until_failing(gateway, "broken disk")
    telegram.message("An answer.", count=2)
    wait_until_well(gateway)
    telegram.says(ANN, "Third?")
    telegram.message("An answer.", count=3)
    (thread,) = threads(gateway)
    asked = [turn["content"] for turn in turns_of(gateway, thread, "user")]
    assert sorted(asked) == ["First?", "Second?", "Third?"] and telegram.texts() == ["An answer."] * 3


def test_channel_connects_once_descriptors_are_left(make_gateway, stub, telegram):
    gateway = make_gateway(config=configuration(stub)).start()
    connect(gateway, telegram)
    wait_until_failing(gateway, "there is no secret")
    usual = resource.prlimit(gateway.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(gateway.process.pid, resource.RLIMIT_NOFILE, (3, usual[1]))
    wait_until_failing(gateway, "Too many open files")
    resource.prlimit(gateway.process.pid, resource.RLIMIT_NOFILE, usual)
    assert gateway.http.put("/secrets/TELEGRAM", json={"value": TOKEN}).is_success
    telegram.says(ANN, "/help")
    telegram.message("Commands:", seconds=60)
    wait_until_well(gateway)
