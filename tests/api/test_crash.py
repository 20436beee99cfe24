"""kill -9 at any time: acknowledged writes survive, and other writes are complete or absent.

See docs/contract/process.md#after-a-kill.
"""

import os
import random
import sqlite3
import threading
import time
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

import http_client
from checks import PATIENCE, accepted, ids
from jobs import wait_for

ROUNDS = 8
WRITERS = 6
CONNECTION_ERRORS = (httpx.TransportError, RuntimeError)


class Ledger:
    """The writes that the gateway acknowledged, and those in flight when it was killed."""

    def __init__(self):
        self.lock = threading.Lock()
        self.threads, self.turns, self.extensions, self.questions = {}, {}, {}, {}
        self.deleted = set()
        self.unanswered = []
        self.count = 0
        self.reached = threading.Event()
        self.target = 0

    def expect(self, more):
        self.target = self.count + more
        self.reached.clear()

    def note(self, kind, record):
        with self.lock:
            kind[record["id"]] = record
            self.count += 1
            if self.count >= self.target:
                self.reached.set()

    def add_unanswered(self, request):
        with self.lock:
            self.unanswered.append(request)


class Writer:
    """A client that writes continuously until the gateway is killed."""

    def __init__(self, gateway, ledger, seed):
        self.gateway, self.ledger, self.random = gateway, ledger, random.Random(seed)
        self.http = http_client.new_client(base_url=gateway.url, headers=gateway.authorization)
        self.thread = None

    def run(self):
        with self.http:
            while True:
                try:
                    self.random.choice([self.new_thread, self.new_thread_without_key, self.new_turn, self.new_turn,
                                        self.new_extension, self.toggle_extension, self.delete_extension, self.ask])()
                except CONNECTION_ERRORS:
                    return

    def post(self, path, body):
        """Posts with a new key, so that a request without a response can be sent again after the restart."""
        request = (path, body, str(uuid.uuid4()))
        try:
            return accepted(send(self.http, request), 201)
        except CONNECTION_ERRORS:
            self.ledger.add_unanswered(request)
            raise

    def new_thread(self):
        self.thread = self.post("/threads", {"title": str(uuid.uuid4()), "agent_id": "crash"})
        self.ledger.note(self.ledger.threads, self.thread)

    def new_thread_without_key(self):
        body = {"title": str(uuid.uuid4()), "agent_id": "crash"}
        thread = accepted(self.http.post("/threads", json=body), 201)
        self.ledger.note(self.ledger.threads, thread)

    def new_turn(self):
        if self.thread is None:
            self.new_thread()
        body = {"content": f"durable {uuid.uuid4()}", "role": "user", "metadata": {"n": self.random.random()}}
        self.ledger.note(self.ledger.turns, self.post(f"/threads/{self.thread['id']}/turns", body))

    def new_extension(self):
        body = {"type": "theme", "name": f"crash-{uuid.uuid4().hex}", "description": "", "definition": {"dark": True}}
        self.extension = self.post("/extensions", body)
        self.ledger.note(self.ledger.extensions, self.extension)

    def toggle_extension(self):
        """Toggles the writer's own extension. Both values are valid while the request is in flight."""
        extension = getattr(self, "extension", None)
        if extension is None:
            return
        self.ledger.extensions[extension["id"]] = None
        self.extension = accepted(self.http.post(f"/extensions/{extension['id']}/toggle"))
        self.ledger.note(self.ledger.extensions, self.extension)

    def delete_extension(self):
        extension = getattr(self, "extension", None)
        if extension is None:
            return
        self.extension = None
        self.ledger.extensions[extension["id"]] = None
        assert self.http.delete(f"/extensions/{extension['id']}").status_code == 204
        self.ledger.deleted.add(extension["id"])

    def ask(self):
        self.ledger.note(self.ledger.questions, self.post("/chat", {"content": "hello"}))


def send(client, request):
    path, body, key = request
    return client.post(path, json=body, headers={"Idempotency-Key": key})


def write_and_kill(gateway, ledger, number):
    """Runs writers, kills the gateway while they write, and restarts it."""
    rng = random.Random(number)
    ledger.expect(rng.randint(20, 200))
    with ThreadPoolExecutor(WRITERS) as pool:
        writers = [pool.submit(Writer(gateway, ledger, number * WRITERS + each).run) for each in range(WRITERS)]
        assert ledger.reached.wait(PATIENCE), f"only {ledger.count} of {ledger.target} writes were acknowledged"
        gateway.kill()
    for writer in writers:
        writer.result()
    gateway.start()


def all_turns(gateway, thread_id):
    return accepted(gateway.http.get(f"/threads/{thread_id}/turns", params={"limit": 1000}))


def compare(gateway, ledger):
    """Checks that the gateway has everything it acknowledged."""
    threads = {found["id"]: found for found in accepted(gateway.http.get("/threads", params={"agent_id": "crash"}))}
    assert set(ledger.threads) <= set(threads)
    turns = {turn["id"]: turn for thread in threads for turn in all_turns(gateway, thread)}
    assert {key: turns.get(key) for key in ledger.turns} == ledger.turns
    for thread in threads.values():
        assert thread["turn_count"] == len([turn for turn in turns.values() if turn["thread_id"] == thread["id"]])
    extensions = {found["id"]: found for found in accepted(gateway.http.get("/extensions"))}
    assert not ledger.deleted & set(extensions)
    for key, record in ledger.extensions.items():
        assert record is None or extensions.get(key) == record
    return threads, turns


def compare_answers(gateway, ledger):
    """Checks that every question is stored and has at most one answer."""
    for question in ledger.questions.values():
        found = all_turns(gateway, question["thread_id"])
        assert question["id"] in ids(found)
        replies = [turn for turn in found if turn["role"] == "assistant"]
        assert len(replies) <= 1
        for turn in replies:
            metadata = turn["metadata"]
            assert metadata["in_reply_to"] == question["id"]
            assert metadata["finish_reason"] == "stop" or metadata["partial"] is True
        assert accepted(gateway.http.get(f"/threads/{question['thread_id']}"))["active_run"] is None


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_kill_9_loop_loses_no_acknowledged_write(make_gateway):
    gateway, ledger = make_gateway().start(), Ledger()
    for number in range(ROUNDS):
        write_and_kill(gateway, ledger, number)
        compare(gateway, ledger)
    compare_answers(gateway, ledger)

    # Requests without a response can be repeated with their keys, and each is then executed exactly once.
    for request in ledger.unanswered:
        accepted(send(gateway.http, request), 201)
    threads, turns = compare(gateway, ledger)
    for written in (Counter(thread["title"] for thread in threads.values()),
                    Counter(turn["content"] for turn in turns.values())):
        assert set(written.values()) == {1}

    # The index has the same content as the table.
    found = accepted(gateway.http.get("/turns/search", params={"q": "durable", "agent_id": "crash", "limit": 1000}))
    assert set(ids(found)) <= set(turns) and len(found) == min(1000, len(turns))

    assert gateway.stop() == 0
    with sqlite3.connect(gateway.data / "gateway.db") as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_kill_9_during_the_first_start_leaves_a_usable_directory(make_gateway):
    gateway = make_gateway()
    for files in range(8):
        gateway.launch()
        while gateway.running and files_of(gateway) < files and not gateway.has_printed():
            pass
        gateway.kill()
    gateway.start()
    accepted(gateway.http.post("/threads", json={}), 201)
    assert len(accepted(gateway.http.get("/extensions"))) == 25


def files_of(gateway):
    return len(list(gateway.data.iterdir())) if gateway.data.exists() else 0


def test_temporary_files_of_a_kill_are_removed_later(make_gateway):
    gateway = make_gateway().start()
    assert gateway.stop() == 0
    old, young = ".agw-0123456789abcdef.tmp", ".agw-fedcba9876543210.tmp"
    places = ["", "attachments", "checkpoints", "agents", "agents/assistant", "jobs/compile-knowledge", "knowledge/wiki"]
    for directory in (gateway.data / place for place in places):
        directory.mkdir(exist_ok=True, parents=True)
        for name in (old, young):
            (directory / name).write_text("half")
        os.utime(directory / old, (time.time() - 7200,) * 2)
    gateway.start()
    wait_for(lambda: not list(gateway.data.glob(f"**/{old}")))
    assert len(list(gateway.data.glob(f"**/{young}"))) == len(places)
