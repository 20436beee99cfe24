"""Channels on an XMPP server: Debian's Prosody, on the loopback interface.

See docs/contract/channels.md.
"""

import http.server
import threading

import pytest

from approvals import pending
from channels import channel, connect, threads
from checks import accepted
from jobs import wait_for
from stubs.prosody import ACCOUNT, DOMAIN, PASSWORD, ROOM, Prosody
from stubs.provider import ProviderStub
from stubs.xmpp_client import XmppPerson
from talker import Talker, configuration
from tools import calls, turns_of

ANN, BOB, EVE = (f"{name}@{DOMAIN}" for name in ("ann", "bob", "eve"))


@pytest.fixture(scope="module")
def server():
    with Prosody() as prosody:
        yield prosody


@pytest.fixture
def ann(server):
    with XmppPerson(server, "ann") as person:
        yield person


@pytest.fixture
def eve(server):
    with XmppPerson(server, "eve") as person:
        yield person


def join(talking, prosody, **members):
    talking.gateway.http.put("/secrets/XMPP", json={"value": PASSWORD})
    wanted = {"service": "xmpp", "token": "${secret:XMPP}", "user": ACCOUNT, "allow": [ANN], **members}
    return connect(talking.gateway, prosody, **wanted)


def connect_and_wait(talking, prosody, **members):
    made = join(talking, prosody, **members)
    wait_for(lambda: channel(talking.gateway)["state"] == "connected")
    return made


@pytest.fixture
def connected(talking, server):
    connect_and_wait(talking, server)
    return talking


def questions_of(talking):
    (thread,) = threads(talking.gateway)
    return [turn for turn in turns_of(talking.gateway, thread) if turn["role"] == "user"]


def test_message_is_answered(connected, ann):
    connected.answers("**Four**, of course.")
    ann.says("What is 2 < 3 & \"two\"?")
    assert ann.message("Four")["versions"] == ["*Four*, of course."]
    (question,) = questions_of(connected)
    assert question["content"] == "What is 2 < 3 & \"two\"?"
    assert question["metadata"]["channel"]["sender"] == ANN


def test_strangers_and_other_stanzas_get_no_reply(connected, ann, eve):
    eve.says("Let me in!")
    eve.send(f"<presence to='{ACCOUNT}' type='subscribe'/>")
    eve.send(f"<iq type='get' id='who' to='{ACCOUNT}/agent-gateway'><query xmlns='jabber:iq:version'/></iq>")
    ann.says("Changed.", more="<replace xmlns='urn:xmpp:message-correct:0' id='ann-1'/>")
    ann.says("I sent you an encrypted message.", more="<encrypted xmlns='eu.siacs.conversations.axolotl'/>")
    ann.send(f"<message to='{ACCOUNT}' type='headline'><body>News!</body></message>")
    ann.send(f"<message to='{ACCOUNT}' type='chat'><composing xmlns='http://jabber.org/protocol/chatstates'/></message>")
    ann.says("/status")
    ann.message("Agent:")
    assert len(ann.messages) == 1 and eve.messages == [] and connected.request_count() == 0
    assert not [one for one in eve.stanzas if one.get("type") in ("subscribed", "result", "error")]


def test_person_learns_that_encrypted_messages_cannot_be_read(connected, ann, eve):
    keys = "<encrypted xmlns='eu.siacs.conversations.axolotl'><header sid='1'/></encrypted>"
    content = keys.replace("</encrypted>", "<payload>AAAA</payload></encrypted>")
    for more in (keys, content, content):
        ann.says("I sent you an encrypted message.", more=more)
    ann.message("cannot read encrypted messages")
    eve.says("I sent you an encrypted message.", more=content)
    ann.says("/status")
    ann.message("Agent:")
    assert len(ann.messages) == 2 and eve.messages == [] and connected.request_count() == 0


def quotation(text, own, to, kind="urn:xmpp:reply:0"):
    """Returns the text and the elements of a reply as clients send it."""
    quoted = "".join(f"> {line}\n" for line in text.split("\n"))
    more = (f"<reply xmlns='urn:xmpp:reply:0' to='{to}' id='x'/><fallback xmlns='urn:xmpp:fallback:0' for='{kind}'>"
            f"<body start='0' end='{len(quoted)}'/></fallback>")
    return quoted + own, more


def test_agent_gets_what_a_message_replies_to(connected, ann):
    connected.answers("Yes.")
    text, more = quotation("Grüße,\nis it 42?", "Sure?", f"{ACCOUNT}/agent-gateway")
    ann.says(text, more=more)
    ann.message("Yes.")
    (question,) = questions_of(connected)
    assert question["content"] == f"In reply to {ACCOUNT}:\n> Grüße,\n> is it 42?\n\nSure?"
    text, more = quotation("Yes.", "/status", ACCOUNT)
    ann.says(text, more=more)
    ann.message("Agent:")


def test_reactions_and_retractions_are_ignored(connected, ann):
    fallback = "<fallback xmlns='urn:xmpp:fallback:0' for='{}'/>"
    ann.says("> Hello\n👍", more="<reactions xmlns='urn:xmpp:reactions:0' id='x'><reaction>👍</reaction></reactions>")
    ann.says("This person attempted to retract a previous message, but it's unsupported by your client.",
             more="<retract xmlns='urn:xmpp:message-retract:1' id='x'/>" + fallback.format("urn:xmpp:message-retract:1"))
    ann.says("Your client does not support calls.", more=fallback.format("urn:xmpp:call-invites:0"))
    ann.says("/status")
    ann.message("Agent:")
    assert len(ann.messages) == 1 and threads(connected.gateway) == []


@pytest.mark.parametrize("wrapper", ["received", "sent"])
def test_forged_carbon_copies_are_ignored(connected, ann, eve, wrapper):
    inner = (f"<message xmlns='jabber:client' from='{ANN}/phone' to='{ACCOUNT}' type='chat' id='x'>"
             "<body>/status</body></message>")
    copy = f"<{wrapper} xmlns='urn:xmpp:carbons:2'><forwarded xmlns='urn:xmpp:forward:0'>{inner}</forwarded></{wrapper}>"
    eve.send(f"<message to='{ACCOUNT}' type='chat' from='{EVE}/phone'>{copy}</message>")
    ann.send(f"<message to='{ACCOUNT}' type='chat'>{copy}</message>")
    ann.says("/help")
    ann.message("Commands:")
    assert len(ann.messages) == 1 and eve.messages == []


def test_stranger_is_paired_by_a_code(talking, server, eve):
    connect_and_wait(talking, server, pairing=True)
    eve.says("Hello?")
    code = eve.message("does not know you")["versions"][0].split(": ")[1].split("\n")[0]
    paired = accepted(talking.gateway.http.post("/channels/pair", json={"code": code}))
    assert paired["sender"] == EVE
    eve.message("You are known now.")
    talking.answers("Welcome.")
    eve.says("Hello again!")
    eve.message("Welcome.")


def test_person_sees_the_presence_of_the_channel(connected, ann):
    ann.send("<iq type='get' id='roster'><query xmlns='jabber:iq:roster'/></iq>")
    ann.send(f"<presence to='{ACCOUNT}' type='subscribe'/>")
    ann.until(lambda: [one for one in ann.stanzas if one.get("type") == "subscribed"])
    ann.until(lambda: ann._presence(f"{ACCOUNT}/agent-gateway"))


def test_unfinished_answer_is_a_message_that_is_edited(talking, server, ann):
    connect_and_wait(talking, server, stream="edit")
    held = talking.holds("The beginning")
    ann.says("Tell me.")
    ann.message("The beginning")
    ann.until(lambda: [one for one in ann.stanzas if one.find("{http://jabber.org/protocol/chatstates}composing") is not None])
    held.release(" and the end.")
    ann.message("The beginning and the end.")
    assert len(ann.messages) == 1 and len(ann.messages[0]["versions"]) >= 2


def test_permission_is_decided_by_a_number(connected, ann, eve):
    connected.stub.script(calls(("Write", {"path": "note.txt", "content": "hello"})), "Done with it.")
    ann.says("Write it.")
    asked = ann.message("Answer with a number:")["versions"][0]
    number = next(line.split(".")[0] for line in asked.splitlines() if line.endswith(". Deny"))
    eve.says(number)
    ann.says("/status")
    ann.message("Agent:")
    assert len(pending(connected.gateway)) == 1
    ann.says(number)
    ann.message("Done with it.")
    assert not pending(connected.gateway)
    assert "denied" in ann.message("asks to write a file")["versions"][-1]


def test_long_answer_is_split_without_loss(connected, ann):
    paragraphs = [f"Paragraph {number}. " + "word " * 150 for number in range(40)]
    connected.answers("\n\n".join(paragraphs))
    ann.says("Tell me all.")
    ann.message("Paragraph 39.")
    assert len(ann.messages) > 1
    assert "".join(ann.texts()).count("word") == 40 * 150


# Rooms.


@pytest.fixture
def in_room(talking, server, ann, eve):
    connect_and_wait(talking, server, rooms=[ROOM])
    ann.enters()
    eve.enters()
    ann.sees("agent")
    ann.sees("eve")
    return talking


def test_in_a_room_only_messages_of_allowed_people_to_the_channel_are_answered(in_room, ann, eve):
    ann.says_in_room("Nobody is meant.")
    ann.says_in_room("agents are fine")
    ann.says_in_room("42")
    eve.says_in_room("agent: let me in!")
    eve.says_in_room("/help")
    in_room.answers("Four.")
    ann.says_in_room("Agent: what is two and two?")
    ann.message("Four.")
    ann.says_in_room("/status")
    ann.message("Mode:")
    assert len(ann.answers()) == 2
    assert [turn["content"] for turn in questions_of(in_room)] == ["what is two and two?"]
    assert questions_of(in_room)[0]["metadata"]["channel"]["sender"] == ANN


def test_reply_to_the_channel_in_a_room_is_answered(in_room, ann, eve):
    in_room.answers("Four.")
    text, more = quotation("Eve says so.", "agent: is that true?", f"{ROOM}/eve")
    ann.says_in_room(text, more=more)
    ann.message("Four.")
    in_room.answers("Eight.")
    text, more = quotation("Four.", "And twice that?", f"{ROOM}/agent")
    ann.says_in_room(text, more=more)
    eve.says_in_room(text, more=more)
    ann.message("Eight.")
    assert sorted(turn["content"] for turn in questions_of(in_room)) == [
        "In reply to agent:\n> Four.\n\nAnd twice that?", "In reply to eve:\n> Eve says so.\n\nis that true?"]


def test_room_in_which_somebody_has_the_nickname_is_entered_with_another_one(talking, server, ann):
    ann.send(f"<presence to='{ROOM}/agent'><x xmlns='http://jabber.org/protocol/muc'/></presence>")
    ann.sees("agent")
    connect_and_wait(talking, server, rooms=[ROOM])
    ann.sees("agent_")
    ann.says_in_room("agent_: /status")
    ann.message("Agent:")


def test_stranger_with_the_nickname_of_an_allowed_person_is_ignored(in_room, ann, eve):
    ann.send(f"<presence to='{ROOM}/ann' type='unavailable'/>")
    eve.until(lambda: [one for one in eve._presence(f"{ROOM}/ann") if one.get("type") == "unavailable"])
    eve.send(f"<presence to='{ROOM}/ann'/>")
    eve.until(lambda: [one for one in eve._presence(f"{ROOM}/ann") if one.get("type") is None][1:])
    eve.says_in_room("agent: I am Ann.")
    ann.says("/status")
    ann.message("Agent:")
    assert in_room.request_count() == 0


def test_earlier_messages_in_a_room_are_not_answered(talking, server, ann):
    ann.enters()
    ann.says_in_room("agent: said too early")
    ann.message("said too early")
    connect_and_wait(talking, server, rooms=[ROOM])
    ann.sees("agent")
    ann.says_in_room("/status")
    ann.message("Agent:")
    assert talking.request_count() == 0


def test_private_message_through_a_room_is_ignored(in_room, ann, eve):
    ann.send(f"<message to='{ROOM}/agent' type='chat' id='pm'><body>/status</body></message>")
    ann.says("/help")
    ann.message("Commands:")
    assert len(ann.messages) == 1


def test_permission_in_a_room_is_decided_by_a_number_of_an_allowed_person(in_room, ann, eve):
    in_room.stub.script(calls(("Write", {"path": "note.txt", "content": "hello"})), "Done with it.")
    ann.says_in_room("agent, write it.")
    asked = ann.message("Answer with a number:")["versions"][0]
    number = next(line.split(".")[0] for line in asked.splitlines() if line.endswith(". Deny"))
    eve.says_in_room(number)
    ann.says_in_room("/status")
    ann.message("Agent:")
    assert len(pending(in_room.gateway)) == 1
    ann.says_in_room(number)
    ann.message("Done with it.")


def test_each_topic_is_a_separate_thread(talking, server, ann):
    connect_and_wait(talking, server, threads="topic")
    for topic in ("one", "two"):
        talking.answers(f"About {topic}.")
        ann.says("Hello!", more=f"<thread>{topic}</thread>")
        ann.message(f"About {topic}.")
    assert len(threads(talking.gateway)) == 2
    answers = [one for one in ann.stanzas if one.find("{jabber:client}thread") is not None]
    assert [one.findtext("{jabber:client}thread") for one in answers] == ["one", "two"]


# Files.


@pytest.fixture
def shared_file():
    """A file on an upload server. Yields a function that returns its URL with a given host."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("content-type", "text/plain; charset=utf-8")
            self.send_header("content-length", "5")
            self.end_headers()
            self.wfile.write(b"plans")

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as files:
        threading.Thread(target=files.serve_forever, args=(0.02,), daemon=True).start()
        yield lambda host: f"http://{host}:{files.server_address[1]}/files/plan.txt"
        files.shutdown()


def test_file_is_attached(connected, ann, shared_file):
    connected.answers("I have it.")
    url = shared_file(DOMAIN)
    ann.says(url, more=f"<x xmlns='jabber:x:oob'><url>{url}</url></x>")
    ann.message("I have it.")
    (question,) = questions_of(connected)
    (file,) = question["metadata"]["attachments"]
    assert file["name"] == "plan.txt" and file["mime"] == "text/plain"


def test_file_at_a_private_address_is_not_fetched(connected, ann, shared_file):
    connected.answers("I see.")
    url = shared_file("127.0.0.1")
    ann.says("Look:", more=f"<x xmlns='jabber:x:oob'><url>{url}</url></x>")
    ann.message("I see.")
    (question,) = questions_of(connected)
    assert "plan.txt could not be fetched" in question["content"]
    assert not question["metadata"].get("attachments")


# The account.


def test_wrong_password_is_reported_and_a_new_one_is_tried_at_once(talking, server, ann):
    talking.gateway.http.put("/secrets/XMPP", json={"value": "not the password"})
    made = connect(talking.gateway, server, service="xmpp", token="${secret:XMPP}", user=ACCOUNT, allow=[ANN])
    wait_for(lambda: channel(talking.gateway)["state"] == "failing")
    assert "the password is wrong" in channel(talking.gateway)["error"]
    assert "not the password" not in talking.gateway.stderr
    talking.gateway.http.put("/secrets/XMPP", json={"value": PASSWORD})
    wait_for(lambda: channel(talking.gateway)["state"] == "connected")
    ann.says("/help")
    ann.message("Commands:")
    assert made["enabled"]


def test_remote_server_must_have_a_valid_certificate(talking, server):
    # This address is the local host too, but not a loopback address.
    join(talking, server, address=f"xmpp://0.0.0.0:{server.port}")
    wait_for(lambda: channel(talking.gateway)["state"] == "failing")
    assert "certificate is not valid: self-signed certificate" in channel(talking.gateway)["error"]


def test_valid_certificate_is_accepted(make_gateway, server, ann):
    with ProviderStub() as stub:
        trusting = make_gateway(config=configuration(stub), environment={"SSL_CERT_FILE": str(server.certificate)})
        connect_and_wait(Talker(trusting.start(), stub), server, address=f"xmpp://0.0.0.0:{server.port}")
        ann.says("/help")
        ann.message("Commands:")


def test_server_may_require_encryption(talking):
    with Prosody(encryption=True) as server:
        connect_and_wait(talking, server)


def test_remote_server_must_encrypt(talking):
    with Prosody() as plain:
        (plain.root / "prosody.cfg.lua").write_text((plain.root / "prosody.cfg.lua").read_text().replace('"tls", ', ""))
        plain.stop()
        plain.start()
        join(talking, plain, address=f"xmpp://0.0.0.0:{plain.port}")
        wait_for(lambda: channel(talking.gateway)["state"] == "failing")
        assert "TLS is not supported" in channel(talking.gateway)["error"]


def test_account_that_another_program_uses_causes_a_signal(talking, server):
    server.register("agent", "password of agent")
    talking.gateway.http.put("/secrets/XMPP", json={"value": "password of agent"})
    connect(talking.gateway, server, service="xmpp", token="${secret:XMPP}", user=ACCOUNT, allow=[ANN])
    wait_for(lambda: channel(talking.gateway)["state"] == "connected")
    with XmppPerson(server, "agent", resource="agent-gateway"):
        (found,) = wait_for(lambda: accepted(talking.gateway.http.get("/signals", params={"kind": "channel"})))
    server.register("agent", PASSWORD)
    assert "another program reads" in found["message"] and channel(talking.gateway)["state"] == "failing"
