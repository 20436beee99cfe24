"""Failures of channels: rate limits, lost responses, rejected tokens, repeated updates, kills, many people.

See docs/contract/channels.md#exactly-once.
"""

import os
import random
import threading
import time

import pytest

from approvals import pending
from channels import ANN, BOB, EVE, channel, connect, threads
from checks import accepted
from gateway import HAS_ADDRESS_SANITIZER
from jobs import wait_for
from stubs.provider import Reply
from stubs.telegram import TOKEN
from tools import calls, turns_of


def test_rate_limit_is_respected(talking, telegram):
    connect(talking.gateway, telegram)
    telegram.fails("sendMessage", 429, "Too Many Requests: retry after 2", retry_after=2)
    talking.answers("At last.")
    telegram.says(ANN, "Hurry!")
    telegram.message("At last.")
    first, second = [at for at, method, _ in telegram.times if method == "sendMessage"]
    assert second - first > 1.9
    assert telegram.texts() == ["At last."]


def test_message_that_may_be_a_duplicate_is_marked(talking, telegram):
    connect(talking.gateway, telegram)
    telegram.fails("sendMessage", 0, "lost")
    talking.answers("Only once.")
    telegram.says(ANN, "Say it.")
    telegram.message("Only once.", count=2)
    assert telegram.texts() == ["Only once.", "Only once.\n\n(This message may have been sent twice.)"]


def test_rejected_message_causes_a_signal(talking, telegram):
    connect(talking.gateway, telegram)
    telegram.fails("sendMessage", 403, "Forbidden: bot was blocked by the user")
    telegram.says(ANN, "/help")
    wait_for(lambda: accepted(talking.gateway.http.get("/signals", params={"kind": "channel"})))
    (found,) = accepted(talking.gateway.http.get("/signals", params={"kind": "channel"}))
    assert "blocked by the user" in found["message"] and TOKEN not in found["message"]
    assert channel(talking.gateway)["unsent"] == 0


def test_token_that_another_program_polls_causes_a_signal(talking, telegram):
    telegram.is_polled_elsewhere = True
    connect(talking.gateway, telegram)
    wait_for(lambda: accepted(talking.gateway.http.get("/signals", params={"kind": "channel"})))
    (found,) = accepted(talking.gateway.http.get("/signals", params={"kind": "channel"}))
    assert "another program reads" in found["message"]
    assert channel(talking.gateway)["state"] == "failing"
    telegram.is_polled_elsewhere = False
    telegram.says(ANN, "/help")
    telegram.message("Commands:")
    assert channel(talking.gateway)["state"] == "connected" and channel(talking.gateway)["error"] is None


def test_refused_token_is_reported_without_showing_it(talking, telegram):
    talking.gateway.http.put("/secrets/TELEGRAM", json={"value": "999:wrong-token"})
    connect(talking.gateway, telegram)
    wait_for(lambda: channel(talking.gateway)["state"] == "failing")
    assert "does not accept the token" in channel(talking.gateway)["error"]
    assert "wrong-token" not in channel(talking.gateway)["error"]
    assert "wrong-token" not in talking.gateway.stderr


def test_repeated_update_is_answered_once(talking, telegram):
    connect(talking.gateway, telegram)
    talking.answers("Once.")
    telegram.says(ANN, "Question?")
    telegram.message("Once.")
    last = telegram.says(ANN, "/help")
    telegram.message("Commands:")
    telegram.wait_until_confirmed(last)
    telegram.sends_again(2)
    telegram.says(ANN, "/status")
    telegram.message("Mode:")
    assert talking.request_count() == 1 and len(telegram.messages) == 3


def test_changed_definition_takes_effect_at_once(talking, telegram):
    made = connect(talking.gateway, telegram)
    telegram.says(ANN, "/help")
    telegram.message("Commands:")
    definition = {**made["definition"], "allow": [str(BOB)]}
    accepted(talking.gateway.http.patch(f"/extensions/{made['id']}", json={"definition": definition}))
    telegram.says(ANN, "/status")
    telegram.says(BOB, "/status")
    assert telegram.message("Agent:")["chat"] == BOB
    assert talking.gateway.http.delete(f"/extensions/{made['id']}").is_success
    assert accepted(talking.gateway.http.get("/channels")) == []


def change_definition(gateway, made, **members):
    definition = {**made["definition"], **members}
    return accepted(gateway.http.patch(f"/extensions/{made['id']}", json={"definition": definition}))


@pytest.mark.parametrize("message", ["an answer", "a request"])
def test_message_that_is_being_sent_while_the_channel_changes_arrives_once(talking, telegram, message):
    made = connect(talking.gateway, telegram)
    is_sent, is_changed = threading.Event(), threading.Event()

    def hold_response():
        if telegram.messages and not is_sent.is_set():
            is_sent.set()
            assert is_changed.wait(20)

    telegram.on_step = hold_response
    talking.stub.script("An answer." if message == "an answer" else calls(("Write", {"path": "note.txt", "content": "x"})))
    telegram.says(ANN, "Tell me.")
    assert is_sent.wait(20)
    change_definition(talking.gateway, made, notify=["signal"])
    is_changed.set()
    telegram.says(ANN, "/help")
    telegram.message("Commands:")
    first, second = telegram.texts()
    assert "twice" not in first + second and "Commands:" in second


def test_request_that_is_too_long_is_mentioned_once_and_decided_on_the_page(talking, telegram):
    made = connect(talking.gateway, telegram)
    talking.stub.script(calls(("Write", {"path": "note.txt", "content": "word " * 25_000})), "Done with it.")
    telegram.says(ANN, "Write it.")
    notice = telegram.message("It is too long to be shown here: decide on the page.")
    assert not notice["buttons"]
    for notify in (["signal"], ["job.failed"]):
        change_definition(talking.gateway, made, notify=notify)
        telegram.says(ANN, "/help")
        telegram.message("Commands:", count=1 if notify == ["signal"] else 2)
    assert len([text for text in telegram.texts() if "too long" in text]) == 1
    (request,) = pending(talking.gateway)
    accepted(talking.gateway.http.post(f"/permissions/{request['id']}", json={"decision": "deny"}))
    telegram.message("Done with it.")
    telegram.until(lambda: "denied" in notice["text"])


@pytest.mark.parametrize("waiting", ["an answer", "an open question", "a request"])
def test_person_who_is_no_longer_allowed_gets_nothing(talking, telegram, waiting):
    made = connect(talking.gateway, telegram, allow=[str(ANN), str(BOB)])
    if waiting == "an open question":
        held = talking.holds("Half of it")
    else:
        telegram.fails("sendMessage", 429, "Too Many Requests: retry after 900", retry_after=900)
        reply = calls(("Write", {"path": "note.txt", "content": "x"})) if waiting == "a request" else "For Ann."
        talking.stub.script(reply, "Done.")
    telegram.says(ANN, "Tell me.")
    if waiting == "an open question":
        held.was_asked()
    else:
        wait_for(lambda: "sends again in 900000 ms" in talking.gateway.stderr)
    change_definition(talking.gateway, made, allow=[str(BOB)])
    if waiting == "an open question":
        held.release(", and the rest.")
    wait_for(lambda: channel(talking.gateway)["state"] == "connected")
    telegram.says(BOB, "/help")
    telegram.message("Commands:")
    wait_for(lambda: channel(talking.gateway)["open_questions"] == channel(talking.gateway)["unsent"] == 0)
    if waiting == "a request":
        (request,) = pending(talking.gateway)
        accepted(talking.gateway.http.post(f"/permissions/{request['id']}", json={"decision": "deny"}))
    (thread,) = threads(talking.gateway)
    wait_for(lambda: any(turn["content"] for turn in turns_of(talking.gateway, thread, "assistant")))
    telegram.says(BOB, "/help")
    telegram.message("Commands:", count=2)
    assert {message["chat"] for message in telegram.messages} == {BOB}


def test_person_who_is_allowed_again_decides_a_pending_request(talking, telegram):
    made = connect(talking.gateway, telegram, allow=[str(ANN), str(BOB)])
    talking.stub.script(calls(("Write", {"path": "note.txt", "content": "x"})), "Done.")
    telegram.says(ANN, "Write it.")
    asked = telegram.until(lambda: [message for message in telegram.messages if message["buttons"]])[0]
    for allow in ([BOB], [ANN, BOB]):
        change_definition(talking.gateway, made, allow=[str(person) for person in allow])
        telegram.says(BOB, "/help")
        telegram.message("Commands:", count=len(allow))
    press = telegram.presses(ANN, asked, "Deny")
    acknowledged = telegram.until(
        lambda: [one for one in telegram.of("answerCallbackQuery") if one["callback_query_id"] == press])
    assert acknowledged[0]["text"] == "Deny"
    telegram.until(lambda: "denied" in asked["text"])
    assert pending(talking.gateway) == []


@pytest.mark.parametrize("phase", ["asked", "answering", "sending"])
def test_kill_loses_no_question_and_no_answer(talking, telegram, phase):
    connect(talking.gateway, telegram)
    held = talking.holds("Half of it")
    telegram.says(ANN, "Tell me.")
    if phase == "asked":
        wait_for(lambda: len(threads(talking.gateway)) == 1)
    else:
        held.was_asked()
    if phase == "sending":
        telegram.fails("sendMessage", 500, "Internal Server Error")
        held.release(", and the rest.")
        telegram.until(lambda: telegram.of("sendMessage"))
    talking.gateway.kill()
    talking.gateway.start()
    held.release()  # the model is called now if it was not before the kill
    talking.answers("The answer to what was not asked before the kill.")
    last = telegram.until(lambda: telegram.messages)[-1]["text"]
    (thread,) = threads(talking.gateway)
    asked = [turn for turn in turns_of(talking.gateway, thread) if turn["role"] == "user"]
    assert [turn["content"] for turn in asked] == ["Tell me."]
    if phase == "sending":
        assert last.startswith("Half of it, and the rest.") and "twice" in last
    assert len(telegram.messages) == 1


def test_hundred_people_at_once_are_each_answered_once(talking, telegram):
    people = range(1000, 1100)
    connect(talking.gateway, telegram, allow=[str(one) for one in people], stream="draft")
    talking.stub.always("An answer in a few words.")
    for one in people:
        telegram.says(one, f"I am {one}.")
    telegram.until(lambda: len(telegram.messages) >= len(people), seconds=60)
    assert sorted(message["chat"] for message in telegram.messages) == list(people)


@pytest.mark.slow
def test_ten_thousand_messages_at_a_start_are_answered_in_order(talking, telegram):
    for number in range(10_000):
        telegram.says(ANN if number % 40 == 0 else EVE, f"Question {number}?")
    talking.stub.always("An answer.")
    connect(talking.gateway, telegram)
    (thread,) = wait_for(lambda: threads(talking.gateway))
    wanted = [f"Question {number}?" for number in range(0, 10_000, 40)]

    def questions():
        page = {"limit": 1000, "role": "user"}
        rows = accepted(talking.gateway.http.get(f"/threads/{thread['id']}/turns", params=page))
        return [turn["content"] for turn in reversed(rows)]

    wait_for(lambda: len(questions()) == len(wanted), seconds=120)
    assert questions() == wanted


class Killer:
    """Kills a gateway at a step, or shortly after it. `arm(n)` selects the n-th step from now."""

    def __init__(self, gateway, rng):
        self.gateway, self.rng = gateway, rng
        self._remaining = 0
        self._lock = threading.Lock()

    def arm(self, steps):
        with self._lock:
            self._remaining = steps

    def step(self):
        with self._lock:
            self._remaining -= 1
            is_last = self._remaining == 0
        if is_last:
            time.sleep(self.rng.choice([0, 0.02 * self.rng.random()]))  # random times are the point of the test
            self.gateway.process.kill()

    def revive(self):
        """Waits for the kill and restarts the gateway."""
        self.gateway.wait()
        self.gateway.kill()
        self.gateway.start()


@pytest.mark.slow
def test_kills_at_any_step_lose_and_duplicate_nothing(talking, telegram):
    rounds = int(os.environ.get("AGW_CHANNEL_KILLS", 20 if HAS_ADDRESS_SANITIZER else 200))
    people = range(1000, 1000 + rounds)
    rng = random.Random(rounds)
    killer = Killer(talking.gateway, rng)
    connect(talking.gateway, telegram, allow=[str(one) for one in people], stream="edit")
    talking.stub.always(lambda _: killer.step() or Reply("An answer in pieces.", deltas=3, rate=100))
    telegram.on_step = killer.step
    for one in people:
        killer.arm(rng.randint(1, 5))  # a question takes at least two of a poll, one of the model, two of a message
        telegram.says(one, f"I am {one}.")
        killer.revive()
    wait_for(lambda: {message["chat"] for message in telegram.messages} == set(people))
    wait_for(lambda: channel(talking.gateway)["open_questions"] == channel(talking.gateway)["unsent"] == 0)

    asked = [turn["content"] for thread in threads(talking.gateway) for turn in turns_of(talking.gateway, thread, "user")]
    assert sorted(asked) == [f"I am {one}." for one in people]
    for one in people:
        unmarked = [text for text in telegram.texts(one) if "twice" not in text]
        assert len(unmarked) <= 1, telegram.texts(one)
