"""Channels at a Matrix homeserver on loopback.

See docs/contract/channels.md.
"""

import contextlib
import os
import random
import sqlite3
import time

import pytest

from approvals import pending
from channels import channel, connect, threads
from checks import PATIENCE, accepted
from jobs import wait_for
from stubs.matrix import ACCOUNT, TOKEN, MatrixStub
from tools import calls, turns_of

ANN, EVE = "@ann:example.org", "@eve:example.org"
ROOM = "!room:example.org"


@pytest.fixture
def matrix():
    with MatrixStub() as stub:
        yield stub


@pytest.fixture
def reading(talking, matrix):
    """A channel that has read what was said before it existed."""
    talking.gateway.http.put("/secrets/MATRIX", json={"value": TOKEN})
    matrix.says(ANN, "Said before the channel existed.")
    connect(talking.gateway, matrix, service="matrix", token="${secret:MATRIX}", allow=[ANN])
    wait_for(lambda: channel(talking.gateway)["state"] == "connected")
    return talking


def test_message_is_answered_in_its_room(reading, matrix):
    reading.answers("**Four**, of course.")
    matrix.says(ANN, "What is two and two?")
    answer = matrix.message("Four")
    assert answer["room"] == ROOM and "<strong>Four</strong>" in answer["html"]
    assert matrix.bodies() == ["**Four**, of course."]
    (thread,) = threads(reading.gateway)
    (question,) = [turn for turn in turns_of(reading.gateway, thread) if turn["role"] == "user"]
    assert question["content"] == "What is two and two?" and question["metadata"]["channel"]["sender"] == ANN


def test_each_thread_of_a_room_is_one_with_topics(talking, matrix):
    talking.gateway.http.put("/secrets/MATRIX", json={"value": TOKEN})
    connect(talking.gateway, matrix, service="matrix", token="${secret:MATRIX}", allow=[ANN], threads="topic")
    wait_for(lambda: channel(talking.gateway)["state"] == "connected")
    for number, topic in enumerate([None, "$plans", "$plans"]):
        talking.answers(f"Answer {number}.")
        relation = {"m.relates_to": {"rel_type": "m.thread", "event_id": topic}} if topic else {}
        matrix.says(ANN, f"Question {number}?", **relation)
        assert (matrix.message(f"Answer {number}.")["to"] or {}).get("event_id") == topic
    asked = [sorted(turn["content"] for turn in turns_of(talking.gateway, thread, "user")) for thread in threads(talking.gateway)]
    assert sorted(asked) == [["Question 0?"], ["Question 1?", "Question 2?"]]


def test_strangers_notices_and_changes_get_silence(reading, matrix):
    matrix.says(EVE, "Let me in!")
    matrix.says(ANN, "What another program says.", msgtype="m.notice")
    matrix.says(ANN, "* Changed.", **{"m.relates_to": {"rel_type": "m.replace", "event_id": "$event1"}})
    matrix.event(ANN, {"ciphertext": "…"}, kind="m.room.encrypted")
    matrix.says(ANN, "/status")
    matrix.message("Agent:")
    assert len(matrix.messages) == 1 and reading.request_count() == 0


def test_room_is_joined_when_somebody_who_is_answered_invites(reading, matrix):
    matrix.invites(EVE, "!eve:example.org")
    matrix.invites(ANN, "!ann:example.org")
    matrix.until(lambda: matrix.joined)
    matrix.says(ANN, "/help", room="!ann:example.org")
    matrix.message("Commands:")
    assert matrix.joined == ["!ann:example.org"]


def test_permission_is_given_by_a_number(reading, matrix):
    reading.stub.script(calls(("Write", {"path": "note.txt", "content": "hello"})), "Done with it.")
    matrix.members[ROOM] = [ANN, EVE, ACCOUNT]
    matrix.says(ANN, "Write it.")
    asked = matrix.message("Answer with a number:")["body"]
    number = next(line.split(".")[0] for line in asked.splitlines() if line.endswith(". Deny"))
    matrix.says(EVE, number)
    matrix.says(EVE, "/status")
    assert len(pending(reading.gateway)) == 1
    matrix.says(ANN, number)
    matrix.message("Done with it.")
    assert not pending(reading.gateway)
    assert "denied" in matrix.message("asks to write a file")["body"]


def test_unfinished_answer_is_a_message_that_is_edited(talking, matrix):
    talking.gateway.http.put("/secrets/MATRIX", json={"value": TOKEN})
    connect(talking.gateway, matrix, service="matrix", token="${secret:MATRIX}", allow=[ANN], stream="draft")
    wait_for(lambda: channel(talking.gateway)["state"] == "connected")
    held = talking.holds("The beginning")
    matrix.says(ANN, "Tell me.")
    matrix.message("The beginning")
    held.release(" and the end.")
    matrix.message("The beginning and the end.")
    assert len(matrix.messages) == 1 and matrix.messages[0]["edits"] >= 1


def test_file_comes_along(reading, matrix):
    matrix.media["example.org", "abc"] = b"\x89PNG picture"
    reading.answers("I have it.")
    content = {"msgtype": "m.file", "body": "plan.bin", "url": "mxc://example.org/abc", "info": {"mimetype": "text/plain"}}
    matrix.event(ANN, content)
    matrix.message("I have it.")
    (thread,) = threads(reading.gateway)
    (question,) = [turn for turn in turns_of(reading.gateway, thread) if turn["role"] == "user"]
    assert [file["name"] for file in question["metadata"]["attachments"]] == ["plan.bin"]


def test_what_the_server_leaves_out_is_read_too(talking, matrix):
    matrix.page = 10
    talking.gateway.http.put("/secrets/MATRIX", json={"value": TOKEN})
    made = connect(talking.gateway, matrix, service="matrix", token="${secret:MATRIX}", allow=[ANN])
    wait_for(lambda: channel(talking.gateway)["state"] == "connected")
    accepted(talking.gateway.http.post(f"/extensions/{made['id']}/toggle"))
    wanted = [f"Question {number}?" for number in range(250)]
    for text in wanted:
        matrix.says(ANN, text)
    talking.stub.always("An answer.")
    accepted(talking.gateway.http.post(f"/extensions/{made['id']}/toggle"))
    (thread,) = wait_for(lambda: threads(talking.gateway))

    def questions():
        page = {"limit": 1000, "role": "user"}
        rows = accepted(talking.gateway.http.get(f"/threads/{thread['id']}/turns", params=page))
        return [turn["content"] for turn in reversed(rows)]

    wait_for(lambda: len(questions()) == len(wanted))
    assert questions() == wanted


@pytest.mark.parametrize("moment", ["asked", "answering", "sending"])
def test_kill_loses_no_question_and_no_answer(reading, matrix, moment):
    held = reading.holds("Half of it")
    matrix.says(ANN, "Tell me.")
    if moment == "asked":
        wait_for(lambda: len(threads(reading.gateway)) == 1)
    else:
        held.was_asked()
    if moment == "sending":
        matrix.fails(500, "M_UNKNOWN")
        held.release(", and the rest.")
        wait_for(lambda: not matrix.is_failing)
    reading.gateway.kill()
    reading.gateway.start()
    held.release()  # if the model was not asked before the kill, it is asked now
    reading.answers("The answer to what was not asked before the kill.")
    matrix.until(lambda: matrix.messages)
    (thread,) = threads(reading.gateway)
    asked = [turn for turn in turns_of(reading.gateway, thread) if turn["role"] == "user"]
    assert [turn["content"] for turn in asked] == ["Tell me."]
    wait_for(lambda: channel(reading.gateway)["unsent"] == 0)
    assert len(matrix.messages) == 1
    if moment == "sending":
        assert matrix.bodies()[0].startswith("Half of it, and the rest.")


@pytest.mark.slow
def test_kills_at_any_moment_lose_and_double_nothing(reading, matrix):
    rounds = int(os.environ.get("AGW_CHANNEL_KILLS", "12"))
    chance = random.Random(rounds)
    reading.stub.always("An answer.")
    for number in range(rounds):
        matrix.says(ANN, f"Question {number}?")
        time.sleep(chance.random() * 0.15)  # the kill's moment, which is the point of the test
        reading.gateway.kill()
        reading.gateway.start()
    wait_for(lambda: channel(reading.gateway)["state"] == "connected")
    matrix.says(ANN, "/help")
    matrix.until(lambda: any("Commands:" in body for body in matrix.bodies()), seconds=60 + 3 * rounds)
    wait_for(lambda: channel(reading.gateway)["open_questions"] == channel(reading.gateway)["unsent"] == 0, 3 * rounds)

    (thread,) = threads(reading.gateway)
    page = {"limit": 1000, "role": "user"}
    asked = accepted(reading.gateway.http.get(f"/threads/{thread['id']}/turns", params=page))
    assert sorted(turn["content"] for turn in asked) == sorted(f"Question {number}?" for number in range(rounds))
    answers = [body for body in matrix.bodies() if "Commands:" not in body]
    marked = [body for body in answers if "twice" in body]
    assert len(answers) - len(marked) <= rounds <= len(answers), answers


def test_stranger_is_let_in_by_a_code(talking, matrix):
    talking.gateway.http.put("/secrets/MATRIX", json={"value": TOKEN})
    connect(talking.gateway, matrix, service="matrix", token="${secret:MATRIX}", allow=[], pairing=True)
    wait_for(lambda: channel(talking.gateway)["state"] == "connected")
    room = "!eve:example.org"
    matrix.members[room] = [EVE, ACCOUNT]
    matrix.says("", "Said by nobody.", room=room)
    matrix.says(EVE, "Let me in!", room=room)
    code = matrix.message("does not know you")["body"].partition("agw pair ")[2]
    matrix.says(EVE, "/help", room=room)
    # Messages are handled in their order: once the next stranger has a code, nobody will answer that one.
    other, their_room = "@mallory:example.org", "!mallory:example.org"
    matrix.members[their_room] = [other, ACCOUNT]
    matrix.says(other, "Let me in too!", room=their_room)
    matrix.until(lambda: sum("agw pair " in text for text in matrix.bodies()) == 2)
    confirmed = accepted(talking.gateway.http.post("/channels/pair", json={"code": code}))
    assert confirmed["sender"] == EVE
    matrix.message("You are known now")
    matrix.says(EVE, "/status", room=room)
    matrix.message("Agent:")
    assert not any("Commands:" in text for text in matrix.bodies()) and talking.request_count() == 0


@pytest.mark.slow
def test_flood_of_a_stranger_leaves_questions_in_order(reading, matrix):
    wanted = [f"Question {number}?" for number in range(0, 4_000, 40)]
    reading.stub.always("An answer.")
    for number in range(4_000):
        matrix.says(EVE if number % 40 else ANN, f"Question {number}?")
    (thread,) = wait_for(lambda: threads(reading.gateway))

    def questions():
        page = {"limit": 1000, "role": "user"}
        rows = accepted(reading.gateway.http.get(f"/threads/{thread['id']}/turns", params=page))
        return [turn["content"] for turn in reversed(rows)]

    wait_for(lambda: len(questions()) == len(wanted), 120)
    assert questions() == wanted


def test_rate_limit_is_kept(reading, matrix):
    matrix.fails(429, "M_LIMIT_EXCEEDED", retry_after_ms=300)
    matrix.says(ANN, "/help")
    matrix.message("Commands:")
    assert len(matrix.messages) == 1


@pytest.mark.parametrize(("limit", "pause"), [
    ({"retry_after_ms": 10 ** 18}, "1800000 ms"), ({"retry_after_ms": 9.5e300}, "1800000 ms"),
    ({"headers": {"Retry-After": "86400"}}, "1800000 ms"), ({"retry_after_ms": 1234567.5}, "1234568 ms"),
], ids=["huge", "absurd", "header", "no integer"])
def test_server_may_not_ask_to_wait_for_ever(reading, matrix, limit, pause):
    matrix.fails(429, "M_LIMIT_EXCEEDED", **limit)
    matrix.says(ANN, "/help")
    wait_for(lambda: f"sends again in {pause}: the server answered 429" in reading.gateway.stderr)


@pytest.mark.parametrize("status", [502, 504])
def test_message_that_a_proxy_says_has_failed_is_sent_once(reading, matrix, status):
    matrix.fails(status, "M_UNKNOWN", is_taken=True, headers={"Retry-After": "1"})
    matrix.says(ANN, "/help")
    matrix.message("Commands:")
    wait_for(lambda: channel(reading.gateway)["unsent"] == 0)
    assert len(matrix.messages) == 1 and "twice" not in matrix.bodies()[0]


@pytest.mark.parametrize("is_killed", [False, True], ids=["goes on", "is killed"])
def test_unfinished_answer_that_has_failed_at_a_proxy_is_shown_once(talking, matrix, is_killed):
    talking.gateway.http.put("/secrets/MATRIX", json={"value": TOKEN})
    connect(talking.gateway, matrix, service="matrix", token="${secret:MATRIX}", allow=[ANN], stream="edit")
    wait_for(lambda: channel(talking.gateway)["state"] == "connected")
    matrix.fails(502, "M_UNKNOWN", is_taken=True, retry_after_ms=600_000 if is_killed else 1)
    held = talking.holds("The beginning")
    matrix.says(ANN, "Tell me.")
    matrix.message("The beginning")
    if is_killed:
        wait_for(lambda: not matrix.is_failing)
        talking.gateway.kill()
        talking.gateway.start()
        held.release()
        matrix.message("The gateway was ended")
    else:
        held.release(" and the end.")
        matrix.message("The beginning and the end.")
    wait_for(lambda: channel(talking.gateway)["unsent"] == 0)
    assert len(matrix.messages) == 1


def test_invitation_that_cannot_be_accepted_now_is_accepted_later(reading, matrix):
    matrix.fails_at("join", 429, "M_LIMIT_EXCEEDED", retry_after_ms=1)
    matrix.invites(ANN, "!new:example.org")
    wait_for(lambda: matrix.joined == ["!new:example.org"])


def test_what_cannot_be_read_now_is_read_later(talking, matrix):
    matrix.page = 3
    talking.gateway.http.put("/secrets/MATRIX", json={"value": TOKEN})
    made = connect(talking.gateway, matrix, service="matrix", token="${secret:MATRIX}", allow=[ANN])
    wait_for(lambda: channel(talking.gateway)["state"] == "connected")
    accepted(talking.gateway.http.post(f"/extensions/{made['id']}/toggle"))
    for number in range(9):
        matrix.says(ANN, f"Question {number}?")
    talking.stub.always("An answer.")
    matrix.fails_at("messages", 503, "M_UNKNOWN")
    accepted(talking.gateway.http.post(f"/extensions/{made['id']}/toggle"))
    wait_for(lambda: len(matrix.messages) == 9, 60)
    (thread,) = threads(talking.gateway)
    asked = [turn["content"] for turn in turns_of(talking.gateway, thread) if turn["role"] == "user"]
    assert sorted(asked) == [f"Question {number}?" for number in range(9)]


def test_lost_answer_of_the_server_doubles_nothing(reading, matrix):
    matrix.fails(0, "lost")
    matrix.says(ANN, "/help")
    matrix.message("Commands:")
    wait_for(lambda: channel(reading.gateway)["unsent"] == 0)
    assert len(matrix.messages) == 1 and "twice" not in matrix.bodies()[0]


def test_refused_token_is_reported(talking, matrix):
    talking.gateway.http.put("/secrets/MATRIX", json={"value": "syt_wrong"})
    connect(talking.gateway, matrix, service="matrix", token="${secret:MATRIX}", allow=[ANN])
    wait_for(lambda: channel(talking.gateway)["state"] == "failing")
    assert "M_UNKNOWN_TOKEN" in channel(talking.gateway)["error"]


def number_of_deny(matrix):
    """The number of the answer `Deny`."""
    asked = matrix.message("Answer with a number:")["body"]
    return next(line.split(".")[0] for line in asked.splitlines() if line.endswith(". Deny"))


def test_late_number_gets_the_reason_why_it_decides_nothing(reading, matrix):
    reading.stub.script(calls(("Write", {"path": "note.txt", "content": "hello"})), "Done with it.", "Three what?")
    matrix.says(ANN, "Write it.")
    number = number_of_deny(matrix)
    (request,) = pending(reading.gateway)
    accepted(reading.gateway.http.post(f"/permissions/{request['id']}", json={"decision": "deny"}))
    matrix.message("Done with it.")
    matrix.says(ANN, f"{number} yes")
    assert "write a file" in matrix.message("If you meant to say that to the agent")["body"]
    (thread,) = threads(reading.gateway)
    assert len([turn for turn in turns_of(reading.gateway, thread) if turn["role"] == "user"]) == 1
    matrix.says(ANN, number)
    matrix.message("Three what?")


def test_pending_request_can_be_decided_after_a_change_of_the_settings(reading, matrix):
    reading.stub.script(calls(("Write", {"path": "note.txt", "content": "hello"})), "Done with it.")
    matrix.says(ANN, "Write it.")
    number = number_of_deny(matrix)
    (made,) = [one for one in accepted(reading.gateway.http.get("/extensions", params={"type": "integration"}))
               if one["definition"].get("kind") == "channel"]
    definition = {**made["definition"], "notify": ["signal"]}
    accepted(reading.gateway.http.patch(f"/extensions/{made['id']}", json={"definition": definition}))
    matrix.says(ANN, number)
    matrix.message("Done with it.")
    assert not pending(reading.gateway) and "denied" in matrix.message("asks to write a file")["body"]


def test_code_of_a_stranger_holds_after_another_one_was_let_in(talking, matrix):
    talking.gateway.http.put("/secrets/MATRIX", json={"value": TOKEN})
    connect(talking.gateway, matrix, service="matrix", token="${secret:MATRIX}", allow=[], pairing=True)
    wait_for(lambda: channel(talking.gateway)["state"] == "connected")
    codes = {}
    for person in (EVE, "@bob:example.org"):
        room = f"!{person[1:4]}:example.org"
        matrix.members[room] = [person, ACCOUNT]
        matrix.says(person, "Let me in!", room=room)
        said = matrix.until(lambda: [one for one in matrix.messages if one["room"] == room])[0]
        codes[person] = said["body"].partition("agw pair ")[2]
    for person, code in codes.items():
        assert accepted(talking.gateway.http.post("/channels/pair", json={"code": code}))["sender"] == person
    matrix.until(lambda: len([text for text in matrix.bodies() if "You are known now" in text]) == 2)


def test_late_number_is_told_so_although_that_cannot_be_stored_at_first(reading, matrix):
    reading.stub.script(calls(("Write", {"path": "note.txt", "content": "hello"})), "Done with it.")
    matrix.says(ANN, "Write it.")
    number = number_of_deny(matrix)
    (request,) = pending(reading.gateway)
    accepted(reading.gateway.http.post(f"/permissions/{request['id']}", json={"decision": "deny"}))
    matrix.message("Done with it.")
    wait_for(lambda: channel(reading.gateway)["unsent"] == 0)
    with contextlib.closing(sqlite3.connect(reading.gateway.data / "gateway.db", timeout=PATIENCE)) as database:
        database.execute("CREATE TRIGGER full BEFORE INSERT ON channel_outbox BEGIN SELECT raise(ABORT, 'no room'); END")
        matrix.says(ANN, number)
        wait_for(lambda: "could not handle a message" in reading.gateway.stderr)
        database.execute("DROP TRIGGER full")
    matrix.until(lambda: any("If you meant to say that to the agent" in text for text in matrix.bodies()), seconds=40)
    (thread,) = threads(reading.gateway)
    assert len([turn for turn in turns_of(reading.gateway, thread) if turn["role"] == "user"]) == 1
