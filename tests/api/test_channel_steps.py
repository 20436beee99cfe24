"""Kills at each step between the arrival of a message and the end of its answer, for each service: the question is
answered once, and a message that may be a duplicate says so.

See docs/contract/channels.md#exactly-once.
"""

import collections
import contextlib
import os
import random
import signal
import sqlite3
import subprocess

import pytest

from channels import channel, connect, threads
from jobs import wait_for
from kill_steps import Steps
from mails import connect_email
from stubs.mail import Dovecot, SmtpStub, why_not
from stubs.matrix import ACCOUNT as MATRIX_ACCOUNT, TOKEN as MATRIX_TOKEN, MatrixStub
from stubs.prosody import ACCOUNT as XMPP_ACCOUNT, DOMAIN, PASSWORD as XMPP_PASSWORD, Prosody
from stubs.telegram import TelegramStub
from stubs.xmpp_client import XmppPerson
from tools import turns_of

SAMPLES = int(os.environ.get("AGW_CHANNEL_STEPS", 8))  # 0: every step
MAX_NUMBER = 1000  # of people, rooms and steps
STATES = ["taken", "stored", "answered", "sent", "acknowledged"]


class Telegram:
    def __init__(self, talking, stack):
        self.stub = stack.enter_context(TelegramStub())
        connect(talking.gateway, self.stub, allow=[str(one) for one in range(1, MAX_NUMBER)])

    def says(self, number, text):
        self.stub.says(number, text)

    def texts(self, number):
        return self.stub.texts(number)


class Matrix:
    def __init__(self, talking, stack):
        self.stub = stack.enter_context(MatrixStub())
        talking.gateway.http.put("/secrets/MATRIX", json={"value": MATRIX_TOKEN})
        connect(talking.gateway, self.stub, service="matrix", token="${secret:MATRIX}", allow=["@ann:example.org"])

    def says(self, number, text):
        room = f"!room{number}:example.org"
        self.stub.members[room] = ["@ann:example.org", MATRIX_ACCOUNT]
        self.stub.says("@ann:example.org", text, room=room)

    def texts(self, number):
        return [one["body"] for one in self.stub.messages if one["room"] == f"!room{number}:example.org"]


class Mail:
    def __init__(self, talking, stack):
        if reason := why_not("dovecot"):
            pytest.skip(reason)
        dovecot = stack.enter_context(Dovecot())
        self.smtp, self.box = stack.enter_context(SmtpStub()), dovecot.mailbox()
        people = [f"p{number}@example.net" for number in range(MAX_NUMBER)]
        connect_email(talking, dovecot, self.box, self.smtp, allow=people)

    def says(self, number, text):
        self.box.receives(f"p{number}@example.net", text, subject="")

    def texts(self, number):
        return [text for mail, text in zip(list(self.smtp.sent), self.smtp.texts()) if mail["to"] == f"p{number}@example.net"]


class Xmpp:
    def __init__(self, talking, stack):
        self.stack = stack
        self.server = stack.enter_context(Prosody())
        self.people = {}
        talking.gateway.http.put("/secrets/XMPP", json={"value": XMPP_PASSWORD})
        connect(talking.gateway, self.server, service="xmpp", token="${secret:XMPP}", user=XMPP_ACCOUNT,
                allow=[f"p{number}@{DOMAIN}" for number in range(MAX_NUMBER)])

    def says(self, number, text):
        # Each question has its own person, so a late message cannot be taken for the answer to another question.
        if number not in self.people:
            name = f"p{number}"
            self.server.register(name, f"password of {name}")
            self.people[number] = self.stack.enter_context(XmppPerson(self.server, name))
        self.people[number].says(text)

    def texts(self, number):
        return self.people[number].texts()


def state_of(gateway, number, service):
    """Returns how far the question had been processed when the gateway was killed."""
    with contextlib.closing(sqlite3.connect(gateway.data / "gateway.db")) as database:
        [(stored,)] = database.execute("SELECT count(*) FROM turns WHERE content = ?", (f"Question {number}?",))
        [(unsent,)] = database.execute("SELECT count(*) FROM channel_outbox")
        [(open_questions,)] = database.execute("SELECT count(*) FROM channel_inbound WHERE is_answered = 0")
    if not stored:
        return "taken"
    if open_questions:
        return "stored"
    if unsent:
        return "sent" if service.texts(number) else "answered"
    return "acknowledged"


def is_settled(gateway):
    status = channel(gateway)
    return status["state"] == "connected" and status["open_questions"] == status["unsent"] == 0


def ask(gateway, steps, service, number, kill):
    """Sends a question and, after its answer, a command, whose reply shows that the answer was acknowledged. Returns
    whether the gateway was killed."""
    steps.arm(kill)
    service.says(number, f"Question {number}?")
    wait_for(lambda: not gateway.running or service.texts(number))
    if gateway.running:
        service.says(number, "/help")
        wait_for(lambda: not gateway.running or any("Commands:" in text for text in service.texts(number)))
    return steps.disarm(gateway.process)


def verify(gateway, service, number):
    """Checks that the question is stored once and answered once, except for answers marked as possible duplicates."""
    asked = [turn for thread in threads(gateway) for turn in turns_of(gateway, thread, "user")]
    assert [turn["content"] for turn in asked].count(f"Question {number}?") == 1
    kinds = collections.Counter("help" if "Commands:" in text else "answer"
                                for text in service.texts(number) if "twice" not in text)
    assert kinds["answer"] <= 1 and kinds["help"] <= 1, service.texts(number)


def test_kill_counts_before_the_process_has_ended(tmp_path):
    steps = Steps(None, tmp_path)
    process = subprocess.Popen(["sleep", "600"])
    try:
        steps.arm(2)
        assert not steps.disarm(process)
        steps.arm(1)
        with (tmp_path / "steps").open("r+b") as file:
            file.write(bytes(8))  # as the library leaves the number when it kills
        assert steps.disarm(process)
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()
    assert steps.disarm(process)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Telegram, Matrix, Mail, Xmpp])
def test_kill_at_each_step_loses_and_duplicates_nothing(talking, kill_at, tmp_path, kind):
    gateway = talking.gateway
    steps = Steps(kill_at, tmp_path)
    gateway.environment.update(steps.environment)
    gateway.restart()
    talking.stub.always("An answer.")
    seen = set()
    with contextlib.ExitStack() as stack:
        service = kind(talking, stack)
        wait_for(lambda: is_settled(gateway))
        before = steps.count
        assert not ask(gateway, steps, service, 1, 0)
        all_steps = range(1, steps.count - before + 1)
        rng = random.Random(len(all_steps))
        chosen = sorted(rng.sample(all_steps, SAMPLES)) if 0 < SAMPLES < len(all_steps) else all_steps
        for number, kill in enumerate(chosen, 2):
            if not ask(gateway, steps, service, number, kill):
                continue  # it took fewer steps this time
            assert gateway.wait() == -signal.SIGKILL, gateway.stderr
            state = state_of(gateway, number, service)
            seen.add(state)
            gateway.restart()
            wait_for(lambda: service.texts(number) and is_settled(gateway), 60)
            try:
                verify(gateway, service, number)
            except AssertionError as problem:
                raise AssertionError(f"killed at step {kill} of {len(all_steps)}, with the question {state}") from problem
        for number in range(1, len(chosen) + 2):
            verify(gateway, service, number)  # again, with messages that arrived late
    assert SAMPLES or seen == set(STATES)
