"""Email channels: Dovecot and Postfix on the loopback interface, and an SMTP stub with scripted failures.

See docs/contract/channels.md.
"""

import os
import random
import time

import pytest

from approvals import pending
from certificates import make_certificate
from channels import channel, connect, threads
from checks import accepted, refused
from jobs import wait_for
from mails import ANN, BOB, EVE, connect_email
from stubs.mail import AUTHSERV, PASSWORD, Dovecot, Postfix, SmtpStub, text_of, why_not
from tools import calls, turns_of

pytestmark = pytest.mark.skipif(bool(why_not("dovecot")), reason=why_not("dovecot"))


@pytest.fixture(scope="module")
def dovecot():
    with Dovecot() as server:
        yield server


@pytest.fixture
def box(dovecot):
    return dovecot.mailbox()


@pytest.fixture
def smtp():
    with SmtpStub() as stub:
        yield stub


@pytest.fixture
def connected(talking, dovecot, box, smtp):
    """A talker with an email channel."""
    box.receives(ANN, "Sent before the channel existed.")
    connect_email(talking, dovecot, box, smtp)
    return talking


def questions(talking, thread):
    return [turn for turn in sorted(turns_of(talking.gateway, thread, "user"), key=lambda turn: turn["created_at"])]


def test_mail_is_answered_in_its_thread(connected, box, smtp):
    connected.answers("**Four**, of course.\n\n.\nGrüße")
    asked = box.receives(f"Ann <{ANN}>", "What is two and two?", subject="Sums", references="<root@x> <before@x>")
    answer = smtp.mail("Four")
    assert answer["to"] == ANN and answer["subject"] == "Re: Sums" and answer["from"].addresses[0].addr_spec == box.address
    assert answer["in-reply-to"] == asked and answer["references"].split() == ["<root@x>", "<before@x>", asked]
    assert answer["auto-submitted"] == "auto-replied"
    assert answer.get_content_type() == "multipart/alternative"
    assert text_of(answer) == "**Four**, of course.\n\n.\nGrüße"
    assert "<strong>Four</strong>" in answer.get_body(preferencelist=("html",)).get_content()
    (thread,) = threads(connected.gateway)
    (question,) = questions(connected, thread)
    assert question["content"] == "What is two and two?"
    said = question["metadata"]["channel"]
    assert (said["service"], said["chat"], said["sender"], said["sender_name"]) == ("email", ANN, ANN, "Ann")
    wait_for(lambda: box.read() == ["Sums"])
    assert connected.request_count() == 1 and len(smtp.sent) == 1


IGNORED = {
    "unverified": {"verified": False},
    "verified elsewhere": {"authentication_results": "mx.evil.example; dkim=pass header.d=example.net"},
    "failed": {"authentication_results": f"{AUTHSERV}; dkim=fail header.d=example.net; spf=softfail smtp.mailfrom={ANN}"},
    "another domain": {"authentication_results": f"{AUTHSERV}; dkim=pass header.d=evil.example"},
    "in a comment": {"authentication_results": f"{AUTHSERV}; spf=fail (dkim=pass header.d=example.net) smtp.mailfrom=x"},
    "to another recipient": {"to": BOB},
    "an automatic reply": {"auto_submitted": "auto-replied"},
    "a list": {"precedence": "list"},
    "of a list": {"list_id": "<list.example.net>"},
    "a bounce": {"return_path": "<>"},
}


@pytest.mark.parametrize("fields", IGNORED.values(), ids=IGNORED)
def test_forged_automatic_and_misaddressed_mail_is_ignored(connected, box, smtp, fields):
    box.receives(ANN, "/status", subject="Silence", **fields)
    box.receives(ANN, "/help", subject="Good")
    smtp.mail("Commands:")
    wait_for(lambda: box.read() == ["Good"])
    assert len(smtp.sent) == 1 and connected.request_count() == 0


def test_mail_with_an_ambiguous_sender_is_ignored(connected, box, smtp):
    result = f"Authentication-Results: {AUTHSERV}; dkim=pass header.d=example.net\r\n"
    for fields in [f"From: {ANN}\r\nFrom: {EVE}\r\n", f"From: {EVE}, {ANN}\r\n", f"From: {ANN} <{EVE}>\r\n"]:
        box.deliver((result + fields + f"To: {box.address}\r\nSubject: x\r\n\r\n/status\r\n").encode())
    result = f"Authentication-Results: {AUTHSERV}; dkim=fail header.d=example.net\r\n" + result
    box.deliver((result + f"From: {ANN}\r\nTo: {box.address}\r\n\r\n/status\r\n").encode())
    box.receives(ANN, "/help")
    smtp.mail("Commands:")
    assert len(smtp.sent) == 1


def test_mails_of_a_person_share_one_thread(connected, box, smtp):
    for number in range(2):
        connected.answers(f"Answer {number}.")
        box.receives(ANN, f"Question {number}?", subject=f"Subject {number}")
        smtp.mail(f"Answer {number}.")
    (thread,) = threads(connected.gateway)
    assert [turn["content"] for turn in questions(connected, thread)] == [
        "Subject: Subject 0\n\nQuestion 0?",
        "Subject: Subject 1\n\nQuestion 1?",
    ]
    box.receives(ANN, "/new")
    smtp.mail("begins a new chat")
    connected.answers("Answer 2.")
    box.receives(ANN, "Question 2?")
    smtp.mail("Answer 2.")
    assert len(threads(connected.gateway)) == 2


def test_each_mail_thread_has_its_own_thread_with_topics(talking, dovecot, box, smtp):
    connect_email(talking, dovecot, box, smtp, threads="topic")
    talking.answers("Answer 0.")
    first = box.receives(ANN, "Question 0?", subject="One")
    answer = smtp.mail("Answer 0.")
    talking.answers("Answer 1.")
    box.receives(ANN, "Question 1?", subject="Two")
    smtp.mail("Answer 1.")
    for number, fields in [(2, {"references": f"{first} {answer['message-id']}"}), (3, {"in_reply_to": answer["message-id"]})]:
        talking.answers(f"Answer {number}.")
        box.receives(ANN, f"Question {number}?", subject="Re: One", **fields)
        smtp.mail(f"Answer {number}.")
    asked = sorted([turn["content"] for turn in questions(talking, thread)] for thread in threads(talking.gateway))
    assert asked == [["Subject: One\n\nQuestion 0?", "Question 2?", "Question 3?"], ["Subject: Two\n\nQuestion 1?"]]


def test_quoted_mails_and_signatures_are_removed(connected, box, smtp):
    connected.answers("Good.")
    box.receives(ANN, "Yes.\n\nOn Monday, Agent <a@example.org> wrote:\n> Shall I?\n\n-- \nAnn", in_reply_to="<x@example.org>")
    smtp.mail("Good.")
    assert connected.conversation()[-1][1] == "Yes."


def test_forwarded_mail_is_quoted_below_what_the_person_wrote(connected, box, smtp):
    connected.answers("Good.")
    text = "Sum it up.\n\n---------- Forwarded message ---------\nFrom: Bob <bob@example.net>\nSubject: Lunch\n\nAt noon?\n\n> Where?"
    box.receives(ANN, text, subject="Fwd: Lunch", references="<lunch@example.net>")
    assert smtp.mail("Good.")["subject"] == "Re: Lunch"
    own, forwarded = text.split("\n\n", 1)
    assert connected.conversation()[-1][1] == own + "\n\n" + "\n".join(f"> {line}" for line in forwarded.split("\n"))


def test_html_is_converted_to_text_and_attachments_are_kept(connected, box, smtp):
    connected.answers("I have them.")
    body = (
        f"Authentication-Results: {AUTHSERV}; dkim=pass header.d=example.net\r\nFrom: {ANN}\r\nTo: {box.address}\r\n"
        'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\n'
        "Content-Type: text/html; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
        "<p>Gr=FC=DFe, <b>see</b> these.</p>\r\n--b\r\n"
        "Content-Type: text/plain; charset=utf-8; name=note.txt\r\nContent-Disposition: attachment\r\n\r\nA note.\r\n--b\r\n"
        "Content-Type: audio/ogg\r\nContent-Disposition: attachment; filename*=utf-8''%C3%BCber.ogg\r\n"
        "Content-Transfer-Encoding: base64\r\n\r\nT2dnUw==\r\n--b--\r\n"
    )
    box.deliver(body.encode())
    smtp.mail("I have them.")
    (thread,) = threads(connected.gateway)
    (question,) = questions(connected, thread)
    assert question["content"] == "Grüße, **see** these."
    assert [(file["name"], file["size"]) for file in question["metadata"]["attachments"]] == [("note.txt", 7), ("über.ogg", 4)]


def test_copies_of_a_mail_are_answered_once(connected, box, smtp):
    connected.answers("Once.")
    for _ in range(3):
        box.receives(ANN, "Question?", message_id="<same@example.net>")
    smtp.mail("Once.")
    box.receives(ANN, "/help")
    smtp.mail("Commands:")
    assert len(smtp.sent) == 2 and connected.request_count() == 1


def test_permission_is_decided_by_a_number(connected, box, smtp):
    connected.stub.script(calls(("Write", {"path": "note.txt", "content": "hello"})), "Done with it.")
    asked = box.receives(ANN, "Write it.")
    request = smtp.mail("Answer with a number:")
    assert request["in-reply-to"] == asked and "note.txt" in text_of(request)
    number = next(line.split(".")[0] for line in text_of(request).splitlines() if line.endswith(". Deny"))
    reply = {"in_reply_to": request["message-id"], "subject": "Re: A question"}
    box.receives(EVE, number, **reply)
    box.receives(ANN, number, **reply, verified=False)
    box.receives(ANN, "/status", **reply)
    smtp.mail("Agent:")
    assert len(pending(connected.gateway)) == 1
    box.receives(ANN, f"{number}\n\nSent from my phone\n\nOn Monday Agent wrote:\n> 1. Allow once", **reply)
    smtp.mail("Done with it.")
    assert not pending(connected.gateway)
    smtp.mail("denied")


def test_stranger_is_paired_by_a_code(talking, dovecot, box, smtp):
    made = connect_email(talking, dovecot, box, smtp, allow=[], pairing=True)
    box.receives(BOB, "Hello?", verified=False)
    box.receives(f"Bob <{BOB}>", "Hello?")
    greeting = smtp.mail("does not know you")
    assert greeting["to"] == BOB and len(smtp.sent) == 1
    confirmed = accepted(talking.gateway.http.post("/channels/pair", json={"code": text_of(greeting)[-6:]}))
    assert confirmed == {"channel": made["name"], "sender": BOB, "name": "Bob"}
    smtp.mail("You are known now")
    talking.answers("Hello, Bob.")
    box.receives(BOB, "Hello again!")
    smtp.mail("Hello, Bob.")


def test_people_get_the_configured_notices(talking, dovecot, box, smtp):
    connect_email(talking, dovecot, box, smtp, notify=["signal"])
    accepted(talking.gateway.http.post("/signals", json={"kind": "backup-late", "message": "No backup."}), 201)
    notice = smtp.mail("No backup.")
    assert notice["to"] == ANN and notice["auto-submitted"] == "auto-generated" and notice["in-reply-to"] is None


# Failures.


def test_mail_that_may_be_a_duplicate_is_marked(connected, box, smtp):
    smtp.fails("lost")
    box.receives(ANN, "/help")
    first, second = smtp.until(lambda: len(smtp.sent) == 2 and smtp.sent)
    assert "twice" not in text_of(first) and text_of(second).endswith("(This message may have been sent twice.)")
    assert first["message-id"] == second["message-id"]


def test_mail_is_sent_again_after_a_temporary_failure(connected, box, smtp):
    smtp.fails("451 try again later")
    box.receives(ANN, "/help")
    smtp.mail("Commands:")
    assert len(smtp.attempts) == 2 and len(smtp.sent) == 1


def test_rejected_mail_causes_a_signal(connected, box, smtp):
    smtp.fails("554 no such user here")
    box.receives(ANN, "/help")
    wait_for(lambda: accepted(connected.gateway.http.get("/signals", params={"kind": "channel"})))
    (found,) = accepted(connected.gateway.http.get("/signals", params={"kind": "channel"}))
    assert "no such user here" in found["message"] and channel(connected.gateway)["unsent"] == 0


def test_wrong_password_is_reported_without_showing_it(talking, dovecot, box, smtp):
    talking.gateway.http.put("/secrets/WRONG", json={"value": "wrong-password"})
    connect(talking.gateway, dovecot, service="email", token="${secret:WRONG}", smtp=smtp.url, user=box.address,
            authserv_id=AUTHSERV, allow=[ANN])
    wait_for(lambda: channel(talking.gateway)["state"] == "failing")
    assert "refuses this user and password" in channel(talking.gateway)["error"]
    assert "wrong-password" not in talking.gateway.stderr


def test_lost_connection_is_restored(connected, dovecot, box, smtp):
    dovecot.kick(box)
    box.receives(ANN, "/help")
    smtp.mail("Commands:")
    assert channel(connected.gateway)["state"] == "connected"


@pytest.mark.skipif(os.getuid() != 0, reason="the server must be another user")
def test_mail_that_the_server_cannot_return_does_not_stop_those_after_it(connected, box, smtp):
    box.receives(ANN, "/help", subject="Good")
    smtp.mail("Commands:")
    wait_for(lambda: box.read() == ["Good"])
    name = box.deliver(b"Subject: Broken\r\n\r\n/status", mode=0)
    box.receives(ANN, "/stop")
    smtp.mail("Nothing is running.")
    assert len(smtp.sent) == 2 and not os.access(box.path / "new" / name, os.F_OK)


def test_renumbered_mails_are_answered_once(connected, dovecot, box, smtp):
    box.receives(ANN, "/help")
    smtp.mail("Commands:")
    wait_for(lambda: box.read() == ["A question"])
    (box.path / "dovecot-uidlist").unlink()
    for name in box.path.glob("dovecot*index*"):
        name.unlink()
    box.receives(ANN, "/status")
    dovecot.kick(box, may_be_gone=True)  # because its files are
    smtp.mail("Agent:")
    assert len(smtp.sent) == 2


def delete_uids(box, first_line=None):
    """Deletes the UIDs that the server has assigned. No client may be connected."""
    (box.path / "dovecot-uidlist").unlink()
    for name in box.path.glob("dovecot*index*"):
        name.unlink()
    if first_line:
        (box.path / "dovecot-uidlist").write_text(f"{first_line}\n")
        (box.path / "dovecot-uidlist").chmod(0o666)


@pytest.mark.parametrize("is_last", [False, True])
def test_unread_mail_from_before_the_channel_is_not_answered_when_it_is_renumbered(talking, dovecot, box, smtp, is_last):
    old = box.receives(ANN, "Sent before the channel existed.", age=3600)
    connect_email(talking, dovecot, box, smtp)
    talking.gateway.stop()
    validity = int((box.path / "dovecot-uidlist").read_text().split()[1][1:])
    box.receives(ANN, "/help")
    names = {is_last: next((box.path / "cur").iterdir()).name.partition(":")[0],
             not is_last: next((box.path / "new").iterdir()).name}
    delete_uids(box, f"3 V{validity + 1} N3\n1 :{names[False]}\n2 :{names[True]}")
    talking.gateway.start()
    smtp.mail("Commands:", seconds=40)
    # Mails are processed in order, so an answer to the older mail would have been sent by now.
    box.receives(ANN, "/status")
    smtp.mail("Agent:", seconds=40)
    assert [mail["message-id"] for mail in box.numbered_mails()].index(old) == is_last
    assert threads(talking.gateway) == [] and len(smtp.sent) == 2


def test_old_mail_that_is_moved_into_the_inbox_is_not_answered(connected, box, smtp):
    box.receives(ANN, "/stop", age=3 * 24 * 3600)
    box.receives(ANN, "/status", age=3600)
    box.receives(ANN, "/help")
    smtp.mail("Commands:")
    smtp.mail("Agent:")
    assert len(smtp.sent) == 2


def test_renumbered_mail_without_a_message_id_is_answered_once(connected, box, smtp):
    box.receives(ANN, "/help", message_id=None)
    smtp.mail("Commands:")
    wait_for(lambda: box.read() == ["A question"])
    connected.gateway.stop()
    delete_uids(box)
    for mail in (box.path / "cur").glob("*S"):
        mail.rename(box.path / "new" / mail.name.partition(":")[0])  # unread
    box.receives(ANN, "/status", subject="Another one")
    connected.gateway.start()
    smtp.mail("Agent:", seconds=40)
    wait_for(lambda: {"A question", "Another one"} <= set(box.read()))
    assert len([text for text in smtp.texts() if "Commands:" in text]) == 1


def test_new_mail_with_the_uid_of_an_answered_one_is_answered(connected, box, smtp):
    box.receives(ANN, "/help")
    smtp.mail("Commands:")
    wait_for(lambda: box.read() == ["A question"])
    connected.gateway.stop()
    validity = (box.path / "dovecot-uidlist").read_text().split()[1]
    delete_uids(box, f"3 {validity} N1")
    for mail in (box.path / "cur").iterdir():
        mail.unlink()
    box.receives(ANN, "/status")
    connected.gateway.start()
    smtp.mail("Agent:", seconds=40)
    assert (box.path / "dovecot-uidlist").read_text().split()[1] == validity


@pytest.mark.parametrize("phase", ["asked", "answering", "sending"])
def test_kill_loses_no_question_and_no_answer(connected, box, smtp, phase):
    held = connected.holds("Half of it")
    box.receives(ANN, "Tell me.", subject="")
    if phase == "asked":
        wait_for(lambda: len(threads(connected.gateway)) == 1)
    else:
        held.was_asked()
    if phase == "sending":
        smtp.fails("451 later")
        held.release(", and the rest.")
        smtp.until(lambda: smtp.attempts)
    connected.gateway.kill()
    connected.gateway.start()
    held.release()  # the model is called now if it was not before the kill
    connected.answers("The answer to what was not asked before the kill.")
    last = smtp.until(lambda: smtp.texts())[-1]
    (thread,) = threads(connected.gateway)
    assert [turn["content"] for turn in questions(connected, thread)] == ["Tell me."]
    if phase == "sending":
        assert last.startswith("Half of it, and the rest.") and "twice" in last
    assert len(smtp.sent) == 1
    wait_for(lambda: len(box.read()) == 1)


@pytest.mark.slow
def test_kills_at_random_times_lose_and_duplicate_nothing(connected, box, smtp):
    rounds = int(os.environ.get("AGW_CHANNEL_KILLS", "12"))
    rng = random.Random(rounds)
    connected.stub.always("An answer.")
    for number in range(rounds):
        box.receives(ANN, f"Question {number}?", subject="")
        time.sleep(rng.random() * 0.4)  # kills at random times are the point of the test
        connected.gateway.kill()
        connected.gateway.start()
    wait_for(lambda: channel(connected.gateway)["state"] == "connected")
    box.receives(ANN, "/help")
    smtp.mail("Commands:", seconds=60 + 3 * rounds)
    gateway = connected.gateway
    wait_for(lambda: channel(gateway)["open_questions"] == channel(gateway)["unsent"] == 0, 3 * rounds)

    asked = [turn["content"] for thread in threads(gateway) for turn in turns_of(gateway, thread, "user")]
    assert sorted(asked) == sorted(f"Question {number}?" for number in range(rounds))
    answers = [text for text in smtp.texts() if "Commands:" not in text]
    marked = [text for text in answers if "twice" in text]
    assert len(answers) - len(marked) <= rounds <= len(answers), answers


@pytest.mark.slow
def test_hundreds_of_mails_at_a_start_are_answered_in_order(talking, dovecot, box, smtp):
    made = connect_email(talking, dovecot, box, smtp)
    accepted(talking.gateway.http.post(f"/extensions/{made['id']}/toggle"))
    for number in range(300):
        text = f"Question {number}?"
        box.receives(ANN, text, subject="")
        box.receives(ANN if number % 2 else EVE, text, verified=number % 2 == 0)
    talking.stub.always("An answer.")
    accepted(talking.gateway.http.post(f"/extensions/{made['id']}/toggle"))
    (thread,) = wait_for(lambda: threads(talking.gateway))

    def asked():
        page = {"limit": 1000, "role": "user"}
        rows = accepted(talking.gateway.http.get(f"/threads/{thread['id']}/turns", params=page))
        return [turn["content"] for turn in reversed(rows)]

    wait_for(lambda: len(asked()) == 300, seconds=120)
    verified = [mail for mail in box.numbered_mails() if mail["from"] == ANN and mail["authentication-results"]]
    assert asked() == [mail.get_content().strip() for mail in verified]


# Real servers.


@pytest.mark.skipif(bool(why_not("postfix")), reason=why_not("postfix"))
def test_question_and_answer_pass_through_real_servers(talking, dovecot, box):
    ann = dovecot.mailbox()
    postfix = Postfix(dovecot.boxes).serves(box, ann)
    try:
        connect_email(talking, dovecot, box, postfix, allow=[ann.address])
        long = "\n".join(["A line.", ".", "..", "x" * 2000, "Grüße"])
        talking.answers(long)
        box.receives(ann.address, "Say much.")
        (answer,) = wait_for(ann.mails)
        assert text_of(answer) == long and answer["auto-submitted"] == "auto-replied"
        assert answer["return-path"] == f"<{box.address}>"
    finally:
        postfix.stop()


def test_untrusted_certificate_is_refused(talking, smtp, tmp_path):
    with Dovecot(certificate=make_certificate(tmp_path)) as dovecot:
        box = dovecot.mailbox()
        talking.gateway.http.put("/secrets/MAIL", json={"value": PASSWORD})
        members = {"service": "email", "token": "${secret:MAIL}", "smtp": smtp.url, "user": box.address, "authserv_id": AUTHSERV}
        connect(talking.gateway, dovecot, **members, address=dovecot.tls_url)
        connect(talking.gateway, dovecot, **members, address=f"imap://127.1:{dovecot.port}")
        listed = lambda: accepted(talking.gateway.http.get("/channels"))
        wait_for(lambda: all(one["state"] == "failing" for one in listed()))
        assert all("certificate" in one["error"] for one in listed()), listed()


DEFINITION = {
    "kind": "channel",
    "service": "email",
    "token": "${secret:T}",
    "address": "imaps://imap.example.org",
    "smtp": "smtp://smtp.example.org:587",
    "user": "agent@example.org",
    "authserv_id": "mx.example.org",
}


@pytest.mark.parametrize(
    "members, path, text",
    [
        ({"address": None}, "definition.address", "definition.address is required"),
        ({"smtp": None}, "definition.smtp", "definition.smtp is required"),
        ({"user": None}, "definition.user", "definition.user is required"),
        ({"authserv_id": None}, "definition.authserv_id", "definition.authserv_id is required"),
        ({"address": "https://imap.example.org"}, "definition.address", "must be an address such as imaps://"),
        ({"smtp": "imap://smtp.example.org"}, "definition.smtp", "must be an address such as smtps://"),
        ({"smtp": "smtp://me:secret@smtp.example.org"}, "definition.smtp", "must not hold a user name or password"),
        ({"user": "agent"}, "definition.from", "must be the account's mail address"),
        ({"from": "Agent <agent@example.org>"}, "definition.from", "must be the account's mail address"),
    ],
)
def test_invalid_definition_is_refused(gateway, members, path, text):
    definition = {name: value for name, value in {**DEFINITION, **members}.items() if value is not None}
    body = {"name": "mail", "type": "integration", "description": "A", "definition": definition}
    details = refused(gateway.http.post("/extensions", json=body), 400, "validation failed")["details"]
    assert any(one["path"] == path and text in one["message"] for one in details), details
