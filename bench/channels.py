"""Channels: people in a messenger, with its API on loopback."""

import datetime
import sys
import time

from bench.harness import ROOT, Gateway, Row, folder, milliseconds

sys.path.insert(0, str(ROOT / "tests" / "api"))

from stubs.mail import AUTHSERV, PASSWORD, Dovecot, SmtpStub  # noqa: E402
from stubs.matrix import TOKEN as MATRIX_TOKEN, MatrixStub  # noqa: E402
from stubs.prosody import DOMAIN, PASSWORD as XMPP_PASSWORD, Prosody  # noqa: E402
from stubs.provider import ProviderStub, Reply  # noqa: E402
from stubs.telegram import TOKEN, TelegramStub  # noqa: E402

PEOPLE = range(1000, 1100)
IDLE_SECONDS = 30
SECONDS_UNTIL_IDLE = 6  # an XMPP connection polls for five seconds after it has sent something


def connect(gateway, telegram, name="telegram", **members):
    gateway.request("PUT", "/secrets/TELEGRAM", {"value": TOKEN})
    definition = {"kind": "channel", "service": "telegram", "token": "${secret:TELEGRAM}", "address": telegram.url,
                  "allow": [str(one) for one in PEOPLE], **members}
    gateway.request("POST", "/extensions", {"name": name, "type": "integration", "description": "people",
                                            "definition": definition, "enabled": True})


def until(condition, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"the channel did not get there within {seconds} s")
        time.sleep(0.01)


def delays(gateway, telegram):
    """Returns the delay from the end of each answer (the time of its turn) to its message."""
    sent = {message["chat"]: message["at"] for message in telegram.messages}
    for thread in gateway.request("GET", "/threads"):
        turns = gateway.request("GET", f"/threads/{thread['id']}/turns")
        question, answer = (next(turn for turn in turns if turn["role"] == role) for role in ("user", "assistant"))
        ended = datetime.datetime.fromisoformat(answer["created_at"]).timestamp()
        yield sent[int(question["metadata"]["channel"]["chat"])] - ended


def people():
    """100 people who write within four seconds; each answer is streamed as a draft"""
    with folder() as home, TelegramStub() as telegram, ProviderStub() as stub, Gateway(home, stub.port) as gateway:
        stub.always(Reply("An answer of ten words that comes in many pieces. " * 4, deltas=20, rate=10))
        connect(gateway, telegram)
        for one in PEOPLE:
            telegram.says(one, f"I am {one}.")
            time.sleep(0.04)
        until(lambda: len(telegram.messages) == len(PEOPLE))
        until(lambda: gateway.request("GET", "/channels")[0]["unsent"] == 0)
        found = sorted(delays(gateway, telegram))
        drafts = {}
        for sent_at, method, chat in telegram.times:
            if method == "sendMessageDraft":
                drafts.setdefault(chat, []).append(sent_at)
    gaps = [later - earlier for times in drafts.values() for earlier, later in zip(times, times[1:])]
    p99 = found[len(found) * 99 // 100 - 1]
    yield Row("channel: end of an answer to its message, p99", milliseconds(p99), "-", "-", "< 20 ms", p99 < 0.020)
    yield Row("channel: shortest time between two drafts of a chat", milliseconds(min(gaps)), "-", "-", ">= 990 ms",
              min(gaps) >= 0.990)


def idle_rows(kind, connect_one):
    """Three idle channels: the first also loads libcurl, the third shows the cost of one. `connect_one` adds one."""
    with folder() as home, Gateway(home) as gateway:
        is_connected = lambda: all(one["state"] == "connected" for one in gateway.request("GET", "/channels"))

        def memory_with(*names):
            """Adds channels, and returns the memory that is not mapped from files, because an idle gateway releases pages
            of its code."""
            for name in names:
                connect_one(gateway, name)
                until(is_connected)
            gateway.wait_until_quiet()
            return gateway.memory()["Anonymous"]

        more = -memory_with("first", "second") + memory_with("third")
        time.sleep(SECONDS_UNTIL_IDLE)
        cpu = gateway.cpu_seconds()
        time.sleep(IDLE_SECONDS)
        cpu = gateway.cpu_seconds() - cpu
    yield Row(f"three idle {kind}: CPU in {IDLE_SECONDS} s", milliseconds(cpu), "-", "-", "< 10 ms", cpu < 0.010)
    yield Row(f"idle {kind}: memory of a third one", f"{more / 1024:.0f} KiB", "-", "-", "< 200 KiB", more < 200 * 1024)


def idle():
    """A Telegram bot, a mail account on Dovecot with notifications of new mails, a Matrix account, an XMPP account"""
    with TelegramStub() as telegram:
        yield from idle_rows("channels", lambda gateway, name: connect(gateway, telegram, name))
    with Dovecot() as dovecot, SmtpStub() as smtp:
        account = {"service": "email", "token": "${secret:MAIL}", "smtp": smtp.url, "authserv_id": AUTHSERV}

        def connect_mail(gateway, name):
            gateway.request("PUT", "/secrets/MAIL", {"value": PASSWORD})
            connect(gateway, dovecot, name, **account, user=dovecot.mailbox().address, allow=["ann@example.net"])

        yield from idle_rows("mail channels", connect_mail)
    with MatrixStub() as matrix:
        def connect_matrix(gateway, name):
            gateway.request("PUT", "/secrets/MATRIX", {"value": MATRIX_TOKEN})
            connect(gateway, matrix, name, service="matrix", token="${secret:MATRIX}", allow=["@ann:example.org"])

        yield from idle_rows("Matrix channels", connect_matrix)
    with Prosody() as prosody:
        def connect_xmpp(gateway, name):
            prosody.register(name, XMPP_PASSWORD)
            gateway.request("PUT", "/secrets/XMPP", {"value": XMPP_PASSWORD})
            connect(gateway, prosody, name, service="xmpp", token="${secret:XMPP}", user=f"{name}@{DOMAIN}",
                    allow=[f"ann@{DOMAIN}"])

        yield from idle_rows("XMPP channels", connect_xmpp)


def channels():
    """100 people at once, and an idle channel"""
    yield from people()
    yield from idle()
