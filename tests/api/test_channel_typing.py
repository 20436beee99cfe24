"""Channels show that an agent is at work.

See docs/contract/channels.md#messages.
"""

import pytest

from channels import ANN, GROUP, channel, connect
from jobs import wait_for
from stubs import matrix as matrix_stub
from stubs.matrix import MatrixStub
from stubs.prosody import ACCOUNT, DOMAIN, PASSWORD, ROOM, Prosody
from stubs.xmpp_client import CLIENT, XmppPerson
from tools import calls

PERSON = "@ann:example.org"
STATES = "{http://jabber.org/protocol/chatstates}"


@pytest.fixture
def matrix(talking):
    with MatrixStub() as stub:
        talking.gateway.http.put("/secrets/MATRIX", json={"value": matrix_stub.TOKEN})
        connect(talking.gateway, stub, service="matrix", token="${secret:MATRIX}", allow=[PERSON])
        wait_for(lambda: channel(talking.gateway)["state"] == "connected")
        yield stub


@pytest.fixture
def prosody(talking):
    with Prosody() as server:
        talking.gateway.http.put("/secrets/XMPP", json={"value": PASSWORD})
        connect(talking.gateway, server, service="xmpp", token="${secret:XMPP}", user=ACCOUNT, allow=[f"ann@{DOMAIN}"],
                rooms=[ROOM])
        wait_for(lambda: channel(talking.gateway)["state"] == "connected")
        yield server


@pytest.mark.parametrize("place", [{}, {"chat": GROUP, "message_thread_id": 7, "is_topic_message": True}])
def test_telegram_shows_typing_until_the_answer(talking, telegram, place):
    connect(talking.gateway, telegram, threads="topic")
    held = talking.holds()
    telegram.says(ANN, "What is two and two?", **place)
    telegram.until(lambda: len(telegram.of("sendChatAction")) == 2)  # it is repeated
    held.release("Four.")
    telegram.message("Four.")
    topic = {"message_thread_id": 7} if place else {}
    wanted = {"action": "typing", "chat_id": place.get("chat", ANN), **topic}
    assert telegram.of("sendChatAction") == [wanted] * 2


def test_telegram_that_refuses_typing_gets_the_answer_and_no_more_of_it(talking, telegram):
    connect(talking.gateway, telegram)
    telegram.fails("sendChatAction", 429, "Too Many Requests: retry after 3", retry_after=3)
    held = talking.holds()
    telegram.says(ANN, "What is two and two?")
    telegram.until(lambda: telegram.of("sendChatAction"))
    held.release("Four.")
    telegram.message("Four.", seconds=3)
    assert len(telegram.of("sendChatAction")) == 1
    assert channel(talking.gateway)["state"] == "connected"
    assert "Too Many" not in talking.gateway.stderr


def test_matrix_shows_typing_until_the_answer(talking, matrix):
    held = talking.holds()
    matrix.says(PERSON, "What is two and two?")
    matrix.until(lambda: matrix.typing)
    held.release("Four.")
    matrix.until(lambda: len(matrix.typing) == 2)
    assert matrix.typing == [("!room:example.org", True), ("!room:example.org", False)]


def test_matrix_shows_no_typing_while_the_agent_waits_for_a_person(talking, matrix):
    talking.stub.script(calls(("Write", {"path": "note.txt", "content": "hello"})), "Done with it.")
    matrix.says(PERSON, "Write it.")
    asked = matrix.message("Answer with a number:")["body"]
    matrix.until(lambda: len(matrix.typing) == 2)
    number = next(line.split(".")[0] for line in asked.splitlines() if line.endswith(". Deny"))
    matrix.says(PERSON, number)
    matrix.message("Done with it.")
    matrix.until(lambda: len(matrix.typing) == 4)
    assert [is_typing for _, is_typing in matrix.typing] == [True, False] * 2


def states(person, sender):
    stanzas = [one for one in person.stanzas if one.tag == CLIENT + "message" and one.get("from").startswith(sender)]
    return [(child.tag.removeprefix(STATES), one.get("type")) for one in stanzas for child in one
            if child.tag.startswith(STATES)]


@pytest.mark.parametrize("is_room", [False, True])
def test_xmpp_shows_typing_until_the_answer(talking, prosody, is_room):
    with XmppPerson(prosody, "ann") as ann:
        sender = f"{ROOM}/agent" if is_room else ACCOUNT
        held = talking.holds()
        if is_room:
            ann.enters()
            ann.sees("agent")
            ann.says_in_room("agent: what is two and two?")
        else:
            ann.says("What is two and two?")
        kind = "groupchat" if is_room else "chat"
        ann.until(lambda: states(ann, sender) == [("composing", kind)])
        held.release("Four.")
        ann.message("Four.")
        ann.until(lambda: ("active", kind) in states(ann, sender))
