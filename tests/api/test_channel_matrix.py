"""Channels on a Matrix homeserver, which is a stub.

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
def connected(talking, matrix):
    """A talker with a Matrix channel, which has skipped the messages sent before it was created."""
    talking.gateway.http.put("/secrets/MATRIX", json={"value": TOKEN})
    matrix.says(ANN, "Said before the channel existed.")
    connect(talking.gateway, matrix, service="matrix", token="${secret:MATRIX}", allow=[ANN])
    wait_for(lambda: channel(talking.gateway)["state"] == "connected")
    return talking


def test_message_is_answered_in_its_room(connected, matrix):
    connected.answers("**Four**, of course.")
    matrix.says(ANN, "What is two and two?")
    answer = matrix.message("Four")
    assert answer["room"] == ROOM and "<strong>Four</strong>" in answer["html"]
    assert matrix.bodies() == ["**Four**, of course."]
    (thread,) = threads(connected.gateway)
    (question,) = [turn for turn in turns_of(connected.gateway, thread) if turn["role"] == "user"]
    assert question["content"] == "What is two and two?" and question["metadata"]["channel"]["sender"] == ANN


def test_each_thread_of_a_room_has_its_own_thread_with_topics(talking, matrix):
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


def test_strangers_notices_and_edits_are_ignored(connected, matrix):
    matrix.says(EVE, "Let me in!")
    matrix.says(ANN, "What another program says.", msgtype="m.notice")
    matrix.says(ANN, "* Changed.", **{"m.relates_to": {"rel_type": "m.replace", "event_id": "$event1"}})
    matrix.event(ANN, {"ciphertext": "…"}, kind="m.room.encrypted")
    matrix.says(ANN, "/status")
    matrix.message("Agent:")
    assert len(matrix.messages) == 1 and connected.request_count() == 0


def test_own_quotation_at_the_beginning_of_a_reply_is_kept(connected, matrix):
    connected.answers("Yes.")
    text = "> It is 42.\n\nSure?"
    matrix.says(ANN, text, **{"m.relates_to": {"m.in_reply_to": {"event_id": "$gone"}}})
    matrix.message("Yes.")
    (thread,) = threads(connected.gateway)
    assert [turn["content"] for turn in turns_of(connected.gateway, thread, "user")] == [text]


def test_permission_is_decided_by_a_number(connected, matrix):
    connected.stub.script(calls(("Write", {"path": "note.txt", "content": "hello"})), "Done with it.")
    matrix.members[ROOM] = [ANN, EVE, ACCOUNT]
    matrix.says(ANN, "Write it.")
    asked = matrix.message("Answer with a number:")["body"]
    number = next(line.split(".")[0] for line in asked.splitlines() if line.endswith(". Deny"))
    matrix.says(EVE, number)
    matrix.says(EVE, "/status")
    assert len(pending(connected.gateway)) == 1
    matrix.says(ANN, number)
    matrix.message("Done with it.")
    assert not pending(connected.gateway)
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


def test_file_is_attached(connected, matrix):
    matrix.media["example.org", "abc"] = b"\x89PNG picture"
    connected.answers("I have it.")
    content = {"msgtype": "m.file", "body": "plan.bin", "url": "mxc://example.org/abc", "info": {"mimetype": "text/plain"}}
    matrix.event(ANN, content)
    matrix.message("I have it.")
    (thread,) = threads(connected.gateway)
    (question,) = [turn for turn in turns_of(connected.gateway, thread) if turn["role"] == "user"]
    assert [file["name"] for file in question["metadata"]["attachments"]] == ["plan.bin"]


@pytest.mark.parametrize("place", ["just before", "in an earlier batch"])
def test_agent_gets_what_a_message_replies_to(connected, matrix, place):
    room = "!group:example.org"
    matrix.members[room] = [ANN, EVE, ACCOUNT]
    matrix.media["example.org", "plan"] = b"The plan"
    content = {"msgtype": "m.file", "body": "This is it.\nOr is it?", "filename": "plan.txt",
               "url": "mxc://example.org/plan", "info": {"mimetype": "text/plain"}}
    original = matrix.event(EVE, content, room=room)
    if place == "in an earlier batch":
        matrix.until(lambda: matrix.synced_from == matrix.event_count)
    connected.answers("A plan.")
    matrix.says(ANN, "What is that?", room=room, **{"m.relates_to": {"m.in_reply_to": {"event_id": original}}})
    matrix.message("A plan.")
    (thread,) = threads(connected.gateway)
    (question,) = turns_of(connected.gateway, thread, "user")
    assert question["content"] == f"In reply to {EVE}:\n> This is it.\n> Or is it?\n\nWhat is that?"
    assert [file["name"] for file in question["metadata"]["attachments"]] == ["plan.txt"]


@pytest.mark.parametrize("relation", [
    {"rel_type": "m.thread", "event_id": "$event1", "is_falling_back": True, "m.in_reply_to": {"event_id": "$event1"}},
    {"m.in_reply_to": {"event_id": "$gone"}},
])
def test_message_without_a_known_original_has_only_its_text(connected, matrix, relation):
    connected.answers("Yes.")
    matrix.says(ANN, "> <@eve:example.org> Shall I?\n\nSure?", **{"m.relates_to": relation})
    matrix.message("Yes.")
    (thread,) = threads(connected.gateway)
    assert [turn["content"] for turn in turns_of(connected.gateway, thread, "user")] == ["Sure?"]


def test_reply_of_a_stranger_causes_no_request(connected, matrix):
    matrix.says(EVE, "Yes.", **{"m.relates_to": {"m.in_reply_to": {"event_id": "$gone"}}})
    connected.answers("Here.")
    matrix.says(ANN, "Hello?")
    matrix.message("Here.")
    assert matrix.events_read == []


def test_messages_beyond_the_first_page_are_read(talking, matrix):
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


@pytest.mark.parametrize("phase", ["asked", "answering", "sending"])
def test_kill_loses_no_question_and_no_answer(connected, matrix, phase):
    held = connected.holds("Half of it")
    matrix.says(ANN, "Tell me.")
    if phase == "asked":
        wait_for(lambda: len(threads(connected.gateway)) == 1)
    else:
        held.was_asked()
    if phase == "sending":
        matrix.fails(500, "M_UNKNOWN")
        held.release(", and the rest.")
        wait_for(lambda: not matrix.is_failing)
    connected.gateway.kill()
    connected.gateway.start()
    held.release()  # the model is called now if it was not before the kill
    connected.answers("The answer to what was not asked before the kill.")
    matrix.until(lambda: matrix.messages)
    (thread,) = threads(connected.gateway)
    asked = [turn for turn in turns_of(connected.gateway, thread) if turn["role"] == "user"]
    assert [turn["content"] for turn in asked] == ["Tell me."]
    wait_for(lambda: channel(connected.gateway)["unsent"] == 0)
    assert len(matrix.messages) == 1
    if phase == "sending":
        assert matrix.bodies()[0].startswith("Half of it, and the rest.")


@pytest.mark.slow
def test_kills_at_random_times_lose_and_duplicate_nothing(connected, matrix):
    rounds = int(os.environ.get("AGW_CHANNEL_KILLS", "12"))
    rng = random.Random(rounds)
    connected.stub.always("An answer.")
    for number in range(rounds):
        matrix.says(ANN, f"Question {number}?")
        time.sleep(rng.random() * 0.15)  # kills at random times are the point of the test
        connected.gateway.kill()
        connected.gateway.start()
    wait_for(lambda: channel(connected.gateway)["state"] == "connected")
    matrix.says(ANN, "/help")
    matrix.until(lambda: any("Commands:" in body for body in matrix.bodies()), seconds=60 + 3 * rounds)
    gateway = connected.gateway
    wait_for(lambda: channel(gateway)["open_questions"] == channel(gateway)["unsent"] == 0, 3 * rounds)

    (thread,) = threads(connected.gateway)
    page = {"limit": 1000, "role": "user"}
    asked = accepted(connected.gateway.http.get(f"/threads/{thread['id']}/turns", params=page))
    assert sorted(turn["content"] for turn in asked) == sorted(f"Question {number}?" for number in range(rounds))
    answers = [body for body in matrix.bodies() if "Commands:" not in body]
    marked = [body for body in answers if "twice" in body]
    assert len(answers) - len(marked) <= rounds <= len(answers), answers


def test_stranger_is_paired_by_a_code(talking, matrix):
    talking.gateway.http.put("/secrets/MATRIX", json={"value": TOKEN})
    connect(talking.gateway, matrix, service="matrix", token="${secret:MATRIX}", allow=[], pairing=True)
    wait_for(lambda: channel(talking.gateway)["state"] == "connected")
    room = "!eve:example.org"
    matrix.members[room] = [EVE, ACCOUNT]
    matrix.says("", "Said by nobody.", room=room)
    matrix.says(EVE, "Let me in!", room=room)
    code = matrix.message("does not know you")["body"].partition("agw pair ")[2]
    matrix.says(EVE, "/help", room=room)
    # Messages are processed in order: once the next stranger has a code, an answer to Eve would have been sent.
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
def test_flood_by_a_stranger_does_not_reorder_questions(connected, matrix):
    wanted = [f"Question {number}?" for number in range(0, 4_000, 40)]
    connected.stub.always("An answer.")
    for number in range(4_000):
        matrix.says(EVE if number % 40 else ANN, f"Question {number}?")
    (thread,) = wait_for(lambda: threads(connected.gateway))

    def questions():
        page = {"limit": 1000, "role": "user"}
        rows = accepted(connected.gateway.http.get(f"/threads/{thread['id']}/turns", params=page))
        return [turn["content"] for turn in reversed(rows)]

    wait_for(lambda: len(questions()) == len(wanted), 120)
    assert questions() == wanted


def test_channel_begins_anew_if_the_server_no_longer_knows_the_position(connected, matrix):
    connected.answers("Four.")
    matrix.says(ANN, "What is two and two?")
    matrix.message("Four.")
    connected.gateway.stop()
    matrix.says(ANN, "Said meanwhile.")
    matrix.token = "restored-"
    connected.gateway.start()
    matrix.until(lambda: matrix.synced_from == matrix.event_count)
    connected.answers("Six.")
    matrix.says(ANN, "And two?")
    matrix.message("Six.")
    (thread,) = threads(connected.gateway)
    asked = sorted(turn["content"] for turn in turns_of(connected.gateway, thread, "user"))
    assert asked == ["And two?", "What is two and two?"]


def test_rate_limit_is_respected(connected, matrix):
    matrix.fails(429, "M_LIMIT_EXCEEDED", retry_after_ms=300)
    matrix.says(ANN, "/help")
    matrix.message("Commands:")
    assert len(matrix.messages) == 1


@pytest.mark.parametrize(("limit", "pause"), [
    ({"retry_after_ms": 10 ** 18}, "1800000 ms"), ({"retry_after_ms": 9.5e300}, "1800000 ms"),
    ({"headers": {"Retry-After": "86400"}}, "1800000 ms"), ({"retry_after_ms": 1234567.5}, "1234568 ms"),
], ids=["huge", "absurd", "header", "no integer"])
def test_delay_that_the_server_requests_is_limited(connected, matrix, limit, pause):
    matrix.fails(429, "M_LIMIT_EXCEEDED", **limit)
    matrix.says(ANN, "/help")
    wait_for(lambda: f"sends again in {pause}: the server answered 429" in connected.gateway.stderr)


@pytest.mark.parametrize("status", [502, 504])
def test_message_with_an_error_of_a_proxy_is_sent_once(connected, matrix, status):
    matrix.fails(status, "M_UNKNOWN", is_taken=True, headers={"Retry-After": "1"})
    matrix.says(ANN, "/help")
    matrix.message("Commands:")
    wait_for(lambda: channel(connected.gateway)["unsent"] == 0)
    assert len(matrix.messages) == 1 and "twice" not in matrix.bodies()[0]


@pytest.mark.parametrize("is_killed", [False, True], ids=["goes on", "is killed"])
def test_unfinished_answer_with_an_error_of_a_proxy_is_shown_once(talking, matrix, is_killed):
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


def test_joining_is_retried_after_a_failure(connected, matrix):
    matrix.fails_at("join", 429, "M_LIMIT_EXCEEDED", retry_after_ms=1)
    matrix.invites(ANN, "!new:example.org")
    wait_for(lambda: matrix.joined == ["!new:example.org"])


def test_reading_older_messages_is_retried_after_a_failure(talking, matrix):
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


def test_lost_response_of_the_server_duplicates_nothing(connected, matrix):
    matrix.fails(0, "lost")
    matrix.says(ANN, "/help")
    matrix.message("Commands:")
    wait_for(lambda: channel(connected.gateway)["unsent"] == 0)
    assert len(matrix.messages) == 1 and "twice" not in matrix.bodies()[0]


def test_refused_token_is_reported(talking, matrix):
    talking.gateway.http.put("/secrets/MATRIX", json={"value": "syt_wrong"})
    connect(talking.gateway, matrix, service="matrix", token="${secret:MATRIX}", allow=[ANN])
    wait_for(lambda: channel(talking.gateway)["state"] == "failing")
    assert "M_UNKNOWN_TOKEN" in channel(talking.gateway)["error"]


def number_of_deny(matrix):
    """Returns the number of the option `Deny`."""
    asked = matrix.message("Answer with a number:")["body"]
    return next(line.split(".")[0] for line in asked.splitlines() if line.endswith(". Deny"))


def test_late_number_gets_the_reason_why_it_has_no_effect(connected, matrix):
    connected.stub.script(calls(("Write", {"path": "note.txt", "content": "hello"})), "Done with it.", "Three what?")
    matrix.says(ANN, "Write it.")
    number = number_of_deny(matrix)
    (request,) = pending(connected.gateway)
    accepted(connected.gateway.http.post(f"/permissions/{request['id']}", json={"decision": "deny"}))
    matrix.message("Done with it.")
    matrix.says(ANN, f"{number} yes")
    assert "write a file" in matrix.message("If you meant to say that to the agent")["body"]
    (thread,) = threads(connected.gateway)
    assert len([turn for turn in turns_of(connected.gateway, thread) if turn["role"] == "user"]) == 1
    matrix.says(ANN, number)
    matrix.message("Three what?")


def test_pending_request_can_be_decided_after_a_change_of_the_settings(connected, matrix):
    connected.stub.script(calls(("Write", {"path": "note.txt", "content": "hello"})), "Done with it.")
    matrix.says(ANN, "Write it.")
    number = number_of_deny(matrix)
    (made,) = [one for one in accepted(connected.gateway.http.get("/extensions", params={"type": "integration"}))
               if one["definition"].get("kind") == "channel"]
    definition = {**made["definition"], "notify": ["signal"]}
    accepted(connected.gateway.http.patch(f"/extensions/{made['id']}", json={"definition": definition}))
    matrix.says(ANN, number)
    matrix.message("Done with it.")
    assert not pending(connected.gateway) and "denied" in matrix.message("asks to write a file")["body"]


def test_permission_is_asked_for_while_the_channel_connects(connected, matrix):
    held = connected.stub.hold(tool_calls=calls(("Write", {"path": "note.txt", "content": "hello"})).tool_calls)
    matrix.says(ANN, "Write it.")
    assert held.was_asked()
    (made,) = [one for one in accepted(connected.gateway.http.get("/extensions", params={"type": "integration"}))
               if one["definition"].get("kind") == "channel"]
    definition = {**made["definition"], "notify": ["signal"]}
    accepted(connected.gateway.http.patch(f"/extensions/{made['id']}", json={"definition": definition}))
    assert channel(connected.gateway)["state"] == "connecting"
    held.release()
    connected.answers("Done with it.")
    matrix.says(ANN, number_of_deny(matrix))
    matrix.message("Done with it.")
    assert "denied" in matrix.message("asks to write a file")["body"]


def test_code_stays_valid_after_another_stranger_was_paired(talking, matrix):
    talking.gateway.http.put("/secrets/MATRIX", json={"value": TOKEN})
    connect(talking.gateway, matrix, service="matrix", token="${secret:MATRIX}", allow=[], pairing=True)
    wait_for(lambda: channel(talking.gateway)["state"] == "connected")
    codes = {}
    for person in (EVE, "@bob:example.org"):
        room = f"!{person[1:4]}:example.org"
        matrix.members[room] = [person, ACCOUNT]
        matrix.says(person, "Let me in!", room=room)
        greeting = matrix.until(lambda: [one for one in matrix.messages if one["room"] == room])[0]
        codes[person] = greeting["body"].partition("agw pair ")[2]
    for person, code in codes.items():
        assert accepted(talking.gateway.http.post("/channels/pair", json={"code": code}))["sender"] == person
    matrix.until(lambda: len([text for text in matrix.bodies() if "You are known now" in text]) == 2)


def test_reply_to_a_late_number_is_sent_although_storing_it_fails_at_first(connected, matrix):
    connected.stub.script(calls(("Write", {"path": "note.txt", "content": "hello"})), "Done with it.")
    matrix.says(ANN, "Write it.")
    number = number_of_deny(matrix)
    (request,) = pending(connected.gateway)
    accepted(connected.gateway.http.post(f"/permissions/{request['id']}", json={"decision": "deny"}))
    matrix.message("Done with it.")
    wait_for(lambda: channel(connected.gateway)["unsent"] == 0)
    with contextlib.closing(sqlite3.connect(connected.gateway.data / "gateway.db", timeout=PATIENCE)) as database:
        database.execute("CREATE TRIGGER full BEFORE INSERT ON channel_outbox BEGIN SELECT raise(ABORT, 'no room'); END")
        matrix.says(ANN, number)
        wait_for(lambda: "could not handle a message" in connected.gateway.stderr)
        database.execute("DROP TRIGGER full")
    matrix.until(lambda: any("If you meant to say that to the agent" in text for text in matrix.bodies()), seconds=40)
    (thread,) = threads(connected.gateway)
    assert len([turn for turn in turns_of(connected.gateway, thread) if turn["role"] == "user"]) == 1
