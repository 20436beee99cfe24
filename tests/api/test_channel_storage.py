"""Channels while the gateway's own database, files or disk fail: nothing is lost, and the channel recovers by itself.

See docs/contract/channels.md#exactly-once.
"""

import contextlib
import os
import resource
import sqlite3

import pytest

from channels import ANN, channel, connect, threads
from checks import PATIENCE, accepted
from disks import fill, fill_with_the_log, small_disk
from gateway import HAS_ADDRESS_SANITIZER
from jobs import wait_for
from stubs.telegram import TOKEN
from talker import Talker, configuration
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


@pytest.mark.skipif(HAS_ADDRESS_SANITIZER, reason="UBSan needs descriptors to check an object")
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


def sends_file(telegram, size, caption="Look at it."):
    telegram.files["files/plan"] = os.urandom(size)
    document = {"file_id": "plan", "file_name": "plan.bin", "mime_type": "application/octet-stream", "file_size": size}
    telegram.says(ANN, document=document, caption=caption)


def check_question(gateway, text, size):
    """Checks that there is one question, with a file of that size, and no other file."""
    (thread,) = threads(gateway)
    (question,) = turns_of(gateway, thread, "user")
    assert question["content"] == text and len(question["metadata"]["attachments"]) == 1
    assert [file.stat().st_size for file in (gateway.data / "attachments").iterdir()] == [size]
    with contextlib.closing(sqlite3.connect(gateway.data / "gateway.db", timeout=PATIENCE)) as database:
        assert database.execute("SELECT count(*) FROM attachments").fetchone() == (1,)


def leave(gateway, size):
    """Frees that many bytes of a full disk; all of them with 0."""
    filling = gateway.data / "filling"
    os.truncate(filling, filling.stat().st_size - size if size else 0)


@pytest.fixture
def talking_on_small_disk(make_gateway, stub, tmp_path):
    with small_disk(tmp_path / "small", "size=24m") as small:
        data = small / "data"
        data.mkdir(mode=0o700)
        gateway = make_gateway(data=data, config=configuration(stub)).start()
        try:
            accepted(gateway.http.patch("/extensions/compile-knowledge", json={"enabled": False}))
            assert gateway.http.put("/secrets/TELEGRAM", json={"value": TOKEN}).is_success
            yield Talker(gateway, stub)
            gateway.close()
        finally:
            if gateway.running:
                gateway.kill()


def test_message_waits_while_its_file_does_not_fit_on_the_disk(talking_on_small_disk, telegram):
    gateway = talking_on_small_disk.gateway
    connect(gateway, telegram)
    talking_on_small_disk.answers("I looked.")
    fill(gateway)
    leave(gateway, 3 << 20)
    sends_file(telegram, 4 << 20)
    wait_for(lambda: channel(gateway)["state"] == "failing" or telegram.messages)
    assert not telegram.messages and "No space left on device" in channel(gateway)["error"]
    leave(gateway, 0)
    telegram.message("I looked.", seconds=60)
    check_question(gateway, "Look at it.", 4 << 20)
    wait_until_well(gateway)


def test_file_is_fetched_and_stored_once_although_its_message_does_not_fit(talking_on_small_disk, telegram):
    gateway = talking_on_small_disk.gateway
    connect(gateway, telegram)
    talking_on_small_disk.answers("I looked.")
    fill_with_the_log(gateway)
    leave(gateway, 400_000)
    text = "word " * 200_000
    sends_file(telegram, 1000, text)
    wait_until_failing(gateway, "full")
    leave(gateway, 0)
    telegram.message("I looked.", seconds=60)
    assert len(telegram.of("getFile")) == 1
    check_question(gateway, text, 1000)


def test_question_that_a_start_on_a_full_disk_left_is_answered(talking_on_small_disk, telegram):
    gateway = talking_on_small_disk.gateway
    connect(gateway, telegram)
    held = talking_on_small_disk.holds("Half of it")
    telegram.says(ANN, "Tell me.")
    held.was_asked()
    fill_with_the_log(gateway)
    gateway.kill()
    held.release()
    gateway.start()
    wait_for(lambda: "the disk is full: the stored part" in gateway.stderr)
    leave(gateway, 0)
    telegram.message("The gateway was ended before the answer was complete.", seconds=60)
    wait_until_well(gateway)
