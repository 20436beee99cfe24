"""Failures of XMPP channels: lost connections, kills, and malicious servers.

See docs/contract/channels.md#exactly-once.
"""

import os
import random
import socket
import threading
import time

import pytest

from channels import channel, connect, threads
from checks import accepted
from gateway import HAS_ADDRESS_SANITIZER
from jobs import wait_for
from stubs.prosody import ACCOUNT, DOMAIN, PASSWORD, Prosody
from stubs.xmpp_client import XmppPerson

ANN = f"ann@{DOMAIN}"


def join(talking, server, **members):
    talking.gateway.http.put("/secrets/XMPP", json={"value": PASSWORD})
    return connect(talking.gateway, server, service="xmpp", token="${secret:XMPP}", user=ACCOUNT, allow=[ANN], **members)


def is_connected(talking):
    return channel(talking.gateway)["state"] == "connected"


def questions_of(talking):
    asked = []
    for thread in threads(talking.gateway):
        page = {"limit": 1000, "role": "user"}
        rows = accepted(talking.gateway.http.get(f"/threads/{thread['id']}/turns", params=page))
        asked += [turn["content"] for turn in reversed(rows)]
    return asked


def test_messages_sent_while_the_channel_was_disabled_are_answered_in_order(talking):
    with Prosody() as server, XmppPerson(server, "ann") as ann:
        made = join(talking, server)
        wait_for(lambda: is_connected(talking))
        accepted(talking.gateway.http.post(f"/extensions/{made['id']}/toggle"))
        wanted = [f"Question {number}?" for number in range(250)]
        for text in wanted:
            ann.says(text)
        wait_for(lambda: server.waiting_messages() == len(wanted))
        talking.stub.always("An answer.")
        accepted(talking.gateway.http.post(f"/extensions/{made['id']}/toggle"))
        wait_for(lambda: len(questions_of(talking)) == len(wanted))
        assert questions_of(talking) == wanted
        wait_for(lambda: server.waiting_messages() == 0)


def test_connection_is_restored_after_the_server_was_down(talking):
    with Prosody() as server:
        join(talking, server)
        wait_for(lambda: is_connected(talking))
        server.stop()
        wait_for(lambda: channel(talking.gateway)["state"] == "failing")
        server.start()
        wait_for(lambda: is_connected(talking))
        with XmppPerson(server, "ann") as ann:
            talking.answers("Here again.")
            ann.says("Are you there?")
            ann.message("Here again.")


def test_server_without_stream_management_is_supported(talking):
    with Prosody(modules=("offline",)) as server, XmppPerson(server, "ann") as ann:
        join(talking, server)
        wait_for(lambda: is_connected(talking))
        talking.answers("It does.")
        ann.says("Does it work?")
        ann.message("It does.")


@pytest.mark.parametrize("phase", ["asked", "answering"])
def test_kill_loses_no_question_and_no_answer(talking, phase):
    with Prosody() as server, XmppPerson(server, "ann") as ann:
        join(talking, server)
        wait_for(lambda: is_connected(talking))
        held = talking.holds("Half of it")
        ann.says("Tell me.")
        if phase == "answering":
            held.was_asked()
        else:
            wait_for(lambda: len(threads(talking.gateway)) == 1)
        talking.gateway.kill()
        talking.gateway.start()
        held.release()  # the model is called now if it was not before the kill
        talking.answers("The answer to what was not asked before the kill.")
        ann.until(lambda: ann.messages)
        assert questions_of(talking) == ["Tell me."]
        assert len(ann.messages) == 1


@pytest.mark.slow
def test_kills_at_random_times_lose_and_duplicate_nothing(talking):
    rounds = int(os.environ.get("AGW_CHANNEL_KILLS", "12"))
    rng = random.Random(rounds)
    with Prosody() as server, XmppPerson(server, "ann") as ann:
        join(talking, server, stream="edit")
        wait_for(lambda: is_connected(talking))
        talking.stub.always("An answer.")
        for number in range(rounds):
            ann.says(f"Question {number}?")
            time.sleep(rng.random() * 0.15)  # kills at random times are the point of the test
            talking.gateway.kill()
            talking.gateway.start()
        wait_for(lambda: is_connected(talking))
        ann.says("/help")
        ann.message("Commands:", seconds=60 + 3 * rounds)
        wait_for(lambda: channel(talking.gateway)["open_questions"] == channel(talking.gateway)["unsent"] == 0, 3 * rounds)

        assert sorted(questions_of(talking)) == sorted(f"Question {number}?" for number in range(rounds))
        answers = [text for text in ann.texts() if "Commands:" not in text]
        marked = [text for text in answers if "twice" in text]
        assert len(answers) - len(marked) <= rounds <= len(answers), answers


# Malicious servers.

STREAM = ("<stream:stream from='localhost' id='s1' version='1.0' xmlns='jabber:client' "
          "xmlns:stream='http://etherx.jabber.org/streams'>")
LAUGHS = ("<?xml version='1.0'?><!DOCTYPE lolz [<!ENTITY lol0 'lol'>"
          + "".join(f"<!ENTITY lol{n} '{f'&lol{n - 1};' * 10}'>" for n in range(1, 10)) + "]>")


class HostileServer:
    """Accepts each connection and any password, then sends `attack`: endlessly, or once and a command after it."""

    def __init__(self, attack, prologue="<?xml version='1.0'?>", is_endless=False):
        self._attack, self._prologue, self._is_endless = attack.encode(), prologue, is_endless
        self.is_answered = False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"xmpp://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True, name="hostile").start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.close()

    def _serve(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._attack_client, args=(client,), daemon=True).start()

    def _attack_client(self, client):
        try:
            self._talk(client)
        except OSError:
            pass
        finally:
            client.close()

    def _talk(self, client):
        def until(part):
            received = b""
            while part not in received:
                more = client.recv(65536)
                if not more:
                    raise OSError("closed")
                received += more

        until(b"<stream:stream")
        client.sendall((self._prologue + STREAM + "<stream:features><mechanisms "
                        "xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><mechanism>PLAIN</mechanism></mechanisms>"
                        "</stream:features>").encode())
        until(b"</auth>")
        client.sendall(b"<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>")
        until(b"<stream:stream")
        client.sendall((self._prologue + STREAM + "<stream:features><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/>"
                        "</stream:features>").encode())
        until(b"</iq>")
        client.sendall(b"<iq type='result' id='_xmpp_bind1'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>"
                       b"<jid>agent@localhost/agent-gateway</jid></bind></iq>")
        until(b"<presence")
        client.sendall(self._attack)
        while self._is_endless:
            client.sendall(self._attack)
        client.sendall(f"<message from='{ANN}/x' to='{ACCOUNT}' type='chat'><body>/help</body></message>".encode())
        until(b"Commands:")
        self.is_answered = True
        until(b"for ever")


def memory_of(gateway):
    with open(f"/proc/{gateway.process.pid}/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))


MESSAGE = f"<message from='{ANN}/x' to='{ACCOUNT}' type='chat' id='b'>"


@pytest.mark.parametrize(
    "attack, options",
    [
        (MESSAGE + "<body>" + "x" * 100_000, {"is_endless": True}),
        (MESSAGE + "<a>" * 80_000, {"is_endless": True}),
        (MESSAGE + "<a>" * 70_000 + "</a>" * 70_000 + "</message>", {}),
        (MESSAGE + "<a " + " ".join(f"a{number}='x'" for number in range(40_000)) + "/></message>", {}),
        (MESSAGE + "<body>&lol9;</body></message>", {"prologue": LAUGHS}),
        ("<" * 1000, {}),
        ("</stream:stream>", {}),
        ("<iq type='get'/><message/><presence/><r xmlns='urn:xmpp:sm:3'/><enabled xmlns='urn:xmpp:sm:3'/>" * 1000, {}),
    ],
    ids=["long", "deep", "deep-but-closed", "attributes", "laughs", "no-xml", "end", "many"],
)
def test_hostile_server_affects_only_its_channel(talking, attack, options):
    before = memory_of(talking.gateway)
    with HostileServer(attack, **options) as server:
        join(talking, server)
        wait_for(lambda: channel(talking.gateway)["error"] or server.is_answered)
        assert talking.gateway.http.get("/health").is_success
        assert HAS_ADDRESS_SANITIZER or memory_of(talking.gateway) - before < 100 * 1024 * 1024


def test_flood_of_messages_is_not_buffered(talking):
    flood = "".join(f"<message from='eve@localhost/x' to='{ACCOUNT}' type='chat' id='f{n}'><body>{'x' * 500}</body></message>"
                    for n in range(100))
    before = memory_of(talking.gateway)
    with HostileServer(flood, is_endless=True) as server:
        join(talking, server)
        wait_for(lambda: is_connected(talking))
        for _ in range(200):
            assert talking.gateway.http.get("/health").is_success
        assert HAS_ADDRESS_SANITIZER or memory_of(talking.gateway) - before < 100 * 1024 * 1024
