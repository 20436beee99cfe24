"""Files and pictures that agents and people send to each other through messengers and email.

See docs/contract/channels.md#messages.
"""

from email.message import EmailMessage

import httpx
import pytest

from channels import ANN, channel, connect, threads
from checks import accepted
from jobs import wait_for
from mails import ANN as ANN_BY_MAIL
from mails import connect_email
from stubs.mail import AUTHSERV, Dovecot, SmtpStub, text_of, why_not
from stubs.matrix import TOKEN, MatrixStub
from stubs.prosody import ACCOUNT, DOMAIN, PASSWORD, Prosody
from stubs.xmpp_client import XmppPerson
from tools import calls, turns_of

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


@pytest.fixture
def workspace(talking):
    """The working directory of the agent, with a few files."""
    directory = talking.gateway.data / "agents" / "assistant" / "workspace"
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "plan.png").write_bytes(PICTURE)
    (directory / "Grüße.txt").write_text("Grüße\n")
    return directory


def send_files(talking, *paths, answer="Here they are."):
    talking.stub.script(calls(*[("SendFile", {"path": path}, f"call-{path}") for path in paths]), answer)


def results(talking):
    (thread,) = threads(talking.gateway)
    return [turn["content"] for turn in turns_of(talking.gateway, thread, "tool")]


def test_files_follow_the_answer_on_telegram(talking, telegram, workspace):
    connect(talking.gateway, telegram)
    send_files(talking, "plan.png", "Grüße.txt")
    telegram.says(ANN, "Send them.")
    telegram.until(lambda: len(telegram.messages) == 3)
    answer, picture, note = telegram.messages
    assert answer["text"] == "Here they are." and {one["chat"] for one in telegram.messages} == {ANN}
    assert picture["file"] == ("photo", "plan.png", "image/png", PICTURE)
    assert note["file"][:2] == ("document", "Grüße.txt") and note["file"][3] == "Grüße\n".encode()


def test_files_follow_the_answer_on_matrix(talking, workspace):
    with MatrixStub() as matrix:
        talking.gateway.http.put("/secrets/MATRIX", json={"value": TOKEN})
        connect(talking.gateway, matrix, service="matrix", token="${secret:MATRIX}", allow=["@ann:example.org"])
        wait_for(lambda: channel(talking.gateway)["state"] == "connected")
        send_files(talking, "plan.png", "Grüße.txt")
        matrix.says("@ann:example.org", "Send them.")
        matrix.until(lambda: len(matrix.messages) == 3)
        _, picture, note = [message["content"] for message in matrix.messages]
        assert (picture["msgtype"], picture["body"], picture["info"]["mimetype"]) == ("m.image", "plan.png", "image/png")
        assert matrix.media["example.org", picture["url"].rpartition("/")[2]] == PICTURE
        assert (note["msgtype"], note["filename"]) == ("m.file", "Grüße.txt")


def connect_xmpp(talking, prosody):
    talking.gateway.http.put("/secrets/XMPP", json={"value": PASSWORD})
    connect(talking.gateway, prosody, service="xmpp", token="${secret:XMPP}", user=ACCOUNT, allow=[f"ann@{DOMAIN}"])
    wait_for(lambda: channel(talking.gateway)["state"] == "connected")


def test_files_follow_the_answer_on_xmpp(talking, workspace):
    with Prosody(accepts_files=True) as prosody, XmppPerson(prosody, "ann") as ann:
        connect_xmpp(talking, prosody)
        send_files(talking, "plan.png", "Grüße.txt")
        ann.says("Send them.")
        ann.message("Here they are.")
        picture, note = (ann.message("http://", count=number)["versions"][-1] for number in (1, 2))
        assert httpx.get(picture).content == PICTURE and httpx.get(note).content == "Grüße\n".encode()
        shown = [stanza.findtext("{jabber:x:oob}x/{jabber:x:oob}url") for stanza in ann.stanzas]
        assert [url for url in shown if url] == [picture, note]


def test_server_that_does_not_accept_files_causes_a_signal(talking, workspace):
    with Prosody() as prosody, XmppPerson(prosody, "ann") as ann:
        connect_xmpp(talking, prosody)
        send_files(talking, "plan.png")
        ann.says("Send it.")
        ann.message("Here they are.")
        (found,) = wait_for(lambda: accepted(talking.gateway.http.get("/signals", params={"kind": "channel"})))
        assert "does not accept files" in found["message"] and len(ann.texts()) == 1


@pytest.mark.skipif(bool(why_not("dovecot")), reason=why_not("dovecot"))
def test_files_are_attached_to_the_reply(talking, workspace):
    with Dovecot() as dovecot, SmtpStub() as smtp:
        box = dovecot.mailbox()
        connect_email(talking, dovecot, box, smtp)
        send_files(talking, "plan.png", "Grüße.txt")
        box.receives(ANN_BY_MAIL, "Send them.")
        mail = smtp.mail("Here they are.")
        files = [(part.get_filename(), part.get_content_type(), part.get_content()) for part in mail.iter_attachments()]
        assert files[0] == ("plan.png", "image/png", PICTURE)
        assert files[1][:2] == ("Grüße.txt", "text/plain") and len(files) == 2 and len(smtp.sent) == 1
        assert text_of(mail) == "Here they are."


@pytest.mark.skipif(bool(why_not("dovecot")), reason=why_not("dovecot"))
def test_answer_arrives_without_files_that_the_mail_server_refuses(talking, workspace):
    with Dovecot() as dovecot, SmtpStub() as smtp:
        box = dovecot.mailbox()
        connect_email(talking, dovecot, box, smtp)
        send_files(talking, "plan.png")
        smtp.fails("552 5.3.4 message size exceeds fixed limit")
        box.receives(ANN_BY_MAIL, "Send them.")
        mail = smtp.mail("Here they are.")
        assert not list(mail.iter_attachments()) and "message size exceeds fixed limit" in text_of(mail)
        assert len(smtp.attempts) == 2 and smtp.attempts[0]["message-id"] == mail["message-id"]


@pytest.mark.skipif(bool(why_not("dovecot")), reason=why_not("dovecot"))
def test_mail_with_a_logo_is_answered_by_a_model_without_vision(talking):
    with Dovecot() as dovecot, SmtpStub() as smtp:
        box = dovecot.mailbox()
        connect_email(talking, dovecot, box, smtp)
        talking.answers("Four.")
        mail = EmailMessage()
        mail["Authentication-Results"] = f"{AUTHSERV}; dkim=pass header.d=example.net"
        mail["From"], mail["To"] = ANN_BY_MAIL, box.address
        mail.set_content('<p>Two and two?</p><img src="cid:logo@example.net">', subtype="html")
        mail.add_related(PICTURE, "image", "png", cid="<logo@example.net>", filename="logo.png", disposition="inline")
        box.deliver(mail)
        smtp.mail("Four.")
        assert "[The file logo.png (image/png) is attached, but cannot be shown to you.]" in talking.conversation()[-1][1]


def test_only_files_that_the_agent_may_read_are_sent(talking, telegram, workspace):
    connect(talking.gateway, telegram)
    (talking.gateway.home / ".ssh").mkdir(exist_ok=True)
    (talking.gateway.home / ".ssh" / "id_ed25519").write_text("a key")
    (workspace / "link").symlink_to(talking.gateway.home / ".ssh" / "id_ed25519")
    (workspace / "empty").write_bytes(b"")
    send_files(talking, "~/.ssh/id_ed25519", "link", "/etc/passwd", "missing.txt", "empty", ".", answer="I could not.")
    telegram.says(ANN, "Send them all.")
    telegram.message("I could not.")
    (thread,) = threads(talking.gateway)
    wait_for(lambda: channel(talking.gateway)["unsent"] == 0)
    assert len(telegram.messages) == 1 and len(results(talking)) == 6
    assert not any("It is sent" in result for result in results(talking))


def test_file_of_a_chat_outside_messengers_is_not_sent(talking, telegram, workspace):
    connect(talking.gateway, telegram)
    wait_for(lambda: channel(talking.gateway)["state"] == "connected")
    thread = accepted(talking.gateway.http.post("/threads", json={}), 201)
    accepted(talking.gateway.http.patch(f"/threads/{thread['id']}", json={"mode": "act"}))
    send_files(talking, "plan.png")
    accepted(talking.gateway.http.post("/chat", json={"content": "Send it.", "threadId": thread["id"]}), 201)
    wait_for(lambda: turns_of(talking.gateway, thread, "assistant"))
    assert "came from no messenger" in results(talking)[0] and not telegram.messages


def test_file_is_sent_again_after_a_failure(talking, telegram, workspace):
    connect(talking.gateway, telegram)
    telegram.fails("sendPhoto", 500, "Internal Server Error")
    send_files(talking, "plan.png")
    telegram.says(ANN, "Send it.")
    telegram.until(lambda: len(telegram.messages) == 2)
    assert telegram.messages[1]["file"][3] == PICTURE and telegram.messages[1]["text"] == ""


def test_tool_is_offered_only_with_a_channel(talking, telegram):
    def offered():
        prompt = accepted(talking.gateway.http.get("/agents/assistant/prompt", params={"mode": "act"}))
        return "SendFile" in [tool["name"] for tool in prompt["tools"]]

    assert not offered()
    connect(talking.gateway, telegram)
    assert offered()
