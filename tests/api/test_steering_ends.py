"""The end of steered answers by stops, interrupting messages and kills; and steering of runs that no message started.

See docs/contract/chat.md#while-an-answer-is-in-progress.
"""

import contextlib
import random
import sqlite3
import threading

import httpx
import pytest

from checks import accepted, refused
from events import text_of
from jobs import new_job, rows, wait_for
from jobs import run as run_job
from steering import Run, answers_to, chat, glob, messages_of, new_thread, regenerate, roles, steer, stored
from tools import calls, new_agent, run_chat, turns_of


# Stopping and interrupting.


def test_stop_drops_a_message_that_waits(talker, running):
    turn = steer(talker.gateway, running.thread)
    accepted(talker.gateway.http.post("/chat/stop", json={"threadId": running.thread["id"]}))
    assert running.events.run(turn["id"])[-1]["type"] == "stopped"
    assert stored(talker.gateway, turn)["metadata"] == {"delivery": "steer"}


def test_stop_keeps_a_message_in_the_answer_it_joined(talker, running):
    turn = steer(talker.gateway, running.thread)
    running.step()
    accepted(talker.gateway.http.post("/chat/stop", json={"threadId": running.thread["id"]}))
    assert running.events.run(running.turn["id"])[-1]["type"] == "stopped"
    assert stored(talker.gateway, turn)["metadata"]["after_step"] == 1
    talker.stub.reset()
    talker.says(running.thread, "And now?", answer="That is all.")
    assert [text for role, text in talker.conversation() if role == "user"] == [
        "Which animals swim?", "Only the otters.", "And now?"]


def test_interrupt_stops_the_answer_and_is_answered_next(talker, running):
    aborted = running.held
    talker.stub.script("Stopped, then.")
    turn = chat(talker.gateway, running.thread, "Something else.", "interrupt")
    assert running.events.run(running.turn["id"])[-1]["type"] == "stopped"
    assert aborted.was_aborted()
    assert text_of(running.events.run(turn["id"])) == "Stopped, then."
    assert talker.conversation()[-1] == ("user", "Something else.")
    partial = answers_to(talker.gateway, running.turn)[0]
    assert partial["content"] == "Step 1." and partial["metadata"]["partial"] is True


def test_interrupt_leaves_the_queue_in_its_order(talker, running):
    waiting = chat(talker.gateway, running.thread, "And birds?")
    talker.stub.script("Ducks.", "Something.")
    turn = chat(talker.gateway, running.thread, "Something else.", "interrupt")
    assert text_of(running.events.run(waiting["id"])) == "Ducks."
    assert text_of(running.events.run(turn["id"])) == "Something."


def test_interrupt_without_an_active_answer_is_a_question(talker):
    run = run_chat(talker, new_thread(talker.gateway), "Hello.", delivery="interrupt")
    assert text_of(run) == "Hello."


def test_refused_interrupt_does_not_stop_the_answer(talker, running):
    body = {"content": "x", "threadId": running.thread["id"], "delivery": "interrupt", "attachments": ["none"]}
    refused(talker.gateway.http.post("/chat", json=body), 404, "file not found")
    running.step()
    assert running.finish()[-1]["type"] == "finish"


# Runs that no message started.


def test_run_of_a_job_is_steered(talker, new_name):
    job = new_job(talker.gateway, new_name("counter"))
    held = talker.stub.hold("I count.", tool_calls=[glob()])
    thread_id = run_job(talker.gateway, job)["threadId"]
    assert held.was_asked()
    turn = steer(talker.gateway, {"id": thread_id}, "Count twice.")
    talker.stub.script("Counted.")
    held.release()
    row = wait_for(lambda: [row for row in rows(talker.gateway, job) if row["status"] == "completed"])[0]
    assert talker.conversation()[-1] == ("user", "Count twice.")
    assert answers_to(talker.gateway, turn) == [] and row["error"] is None


def test_message_after_the_end_of_a_dry_run_is_answered_dry(talker, new_name):
    agent = new_agent(talker.gateway, new_name("dry"), "operator")
    job = new_job(talker.gateway, new_name("rehearsal"), agent_id=agent["id"])
    held = talker.stub.hold("I see.")
    thread_id = run_job(talker.gateway, job, dry=True)["threadId"]
    assert held.was_asked()
    turn = steer(talker.gateway, {"id": thread_id}, "Note it.", agentId=agent["id"])
    with talker.gateway.events(thread_id) as events:
        talker.stub.script(calls(("WebFetch", {"url": "http://127.0.0.1:1/"})), "Noted.")
        held.release()
        run = events.run(turn["id"])
        assert [event["output"] for event in run if event["type"] == "tool-end"][0].startswith("dry run: ")
    run = regenerate(talker, turn, calls(("WebFetch", {"url": "http://127.0.0.1:1/"})), "Noted.")
    assert [event["output"] for event in run if event["type"] == "tool-end"][0].startswith("dry run: ")


def test_delegated_run_is_steered_on_its_own_thread(talker, new_name):
    caller, helper = (new_agent(talker.gateway, new_name(name)) for name in ("caller", "helper"))
    thread = new_thread(talker.gateway, agent_id=caller["id"])
    talker.stub.script(calls(("Delegate", {"agent": helper["name"], "task": "Find out."})))
    held = talker.stub.hold("I look.", tool_calls=[glob()])
    with talker.gateway.events(thread["id"]) as events:
        question = chat(talker.gateway, thread, "Ask him.")
        assert held.was_asked()
        helper_thread = accepted(talker.gateway.http.get("/threads", params={"agent_id": helper["id"]}))[0]
        steer(talker.gateway, helper_thread, "Look twice.")
        talker.stub.script("It is 42.", "He says 42.")
        held.release()
        assert text_of(events.run(question["id"])).endswith("He says 42.")
    assert messages_of(talker.stub.requests[-2])[-1] == ("user", "Look twice.")


# Kills.


def location(gateway, turn):
    """Returns where a steered message is after a kill: `run` or `queue`. Asserts that it is in exactly one of them."""
    metadata = stored(gateway, turn)["metadata"]
    own_answers = answers_to(gateway, turn)
    assert metadata["delivery"] == "steer"
    if "run_id" in metadata:
        assert own_answers == [] and metadata["after_step"] >= 1
        return "run"
    assert len(own_answers) == 1 and own_answers[0]["metadata"]["finish_reason"] == "interrupted"
    return "queue"


def kill_and_restart(talker, thread):
    talker.gateway.kill()
    talker.stub.reset()
    talker.gateway.start()
    assert accepted(talker.gateway.http.get(f"/threads/{thread['id']}"))["active_run"] is None


@pytest.fixture
def own_running(own_talker):
    thread = new_thread(own_talker.gateway)
    with own_talker.gateway.events(thread["id"]) as events:
        yield Run(own_talker, thread, events)


def test_kill_before_the_boundary_leaves_the_message_in_the_queue(own_talker, own_running):
    turn = steer(own_talker.gateway, own_running.thread)
    kill_and_restart(own_talker, own_running.thread)
    assert location(own_talker.gateway, turn) == "queue"
    assert len(answers_to(own_talker.gateway, own_running.turn)) == 1


def test_kill_during_a_tool_leaves_the_message_in_the_queue(own_talker, new_name):
    agent = new_agent(own_talker.gateway, new_name("slow"))
    thread = new_thread(own_talker.gateway, agent_id=agent["id"])
    own_talker.stub.script(calls(("Bash", {"command": "sleep 60"})))
    with own_talker.gateway.events(thread["id"]) as events:
        chat(own_talker.gateway, thread, "Wait.")
        events.until(lambda event: event["type"] == "tool-start")
        turn = steer(own_talker.gateway, thread)
        kill_and_restart(own_talker, thread)
    assert location(own_talker.gateway, turn) == "queue"


def test_kill_after_the_boundary_leaves_the_message_in_the_answer(own_talker, own_running):
    turn = steer(own_talker.gateway, own_running.thread)
    own_running.step()
    kill_and_restart(own_talker, own_running.thread)
    assert location(own_talker.gateway, turn) == "run"
    own_talker.says(own_running.thread, "Go on.", answer="Gladly.")
    assert roles(own_talker.conversation())[:4] == ["user", "assistant", "tool", "user"]
    assert [text for role, text in own_talker.conversation() if role == "user"] == [
        "Which animals swim?", "Only the otters.", "Go on."]


def test_kill_after_several_boundaries_leaves_each_message_in_its_place(own_talker, own_running):
    first = steer(own_talker.gateway, own_running.thread, "one")
    own_running.step()
    second = steer(own_talker.gateway, own_running.thread, "two")
    own_running.step()
    third = steer(own_talker.gateway, own_running.thread, "three")
    kill_and_restart(own_talker, own_running.thread)
    assert [location(own_talker.gateway, turn) for turn in (first, second, third)] == ["run", "run", "queue"]
    own_talker.says(own_running.thread, "Go on.", answer="Gladly.")
    assert [text for role, text in own_talker.conversation() if role == "user"] == [
        "Which animals swim?", "one", "two", "three", "Go on."]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_kill_at_any_moment_around_a_boundary_keeps_each_message_once(own_talker):
    """In each round, messages are sent, a step ends and the gateway is killed at the same time. The next kill comes later
    if the last one was before the boundary, otherwise sooner, so that the kills gather around it."""
    gateway, rng = own_talker.gateway, random.Random(28)
    locations, delay = set(), 0.01
    for _ in range(14):
        thread = new_thread(gateway)
        sent = []
        with gateway.events(thread["id"]) as events:
            run = Run(own_talker, thread, events)
            sent = [steer(gateway, thread, f"message {number}") for number in range(20)]
            own_talker.stub.hold("Next.")
            killer = threading.Timer(delay, gateway.kill)
            run.held.release()
            killer.start()
            killer.join()
        own_talker.stub.reset()
        gateway.start()
        found = [location(gateway, turn) for turn in sent]
        assert len(set(found)) == 1, "a boundary takes all that wait, or none"
        locations |= set(found)
        delay *= rng.uniform(1.2, 2.5) if found[0] == "queue" else rng.uniform(0.3, 0.8)
        own_talker.says(thread, "Go on.", answer="Gladly.")
        texts = [text for role, text in own_talker.conversation() if role == "user"]
        assert texts == ["Which animals swim?", *(turn["content"] for turn in sent), "Go on."]
    with contextlib.closing(sqlite3.connect(f"file:{gateway.data / 'gateway.db'}?mode=ro", uri=True)) as database:
        assert database.execute("PRAGMA quick_check").fetchone() == ("ok",)
    assert locations == {"run", "queue"}, "the kills came before and after the boundary"


# A kill around a message that interrupts.


def test_kill_after_an_interrupt_ends_both_answers_once(own_talker, own_running):
    gateway, thread = own_talker.gateway, own_running.thread
    second = own_talker.stub.hold("Instead.")
    turn = chat(gateway, thread, "Something else.", "interrupt")
    assert second.was_asked()
    kill_and_restart(own_talker, thread)
    before, = answers_to(gateway, own_running.turn)
    assert before["content"] == "Step 1." and before["metadata"]["partial"] is True
    after, = answers_to(gateway, turn)
    assert after["metadata"]["finish_reason"] == "interrupted"
    own_talker.says(thread, "Go on.", answer="Gladly.")
    assert [text for role, text in own_talker.conversation() if role == "user"] == [
        "Which animals swim?", "Something else.", "Go on."]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_kill_at_any_moment_around_an_interrupt_keeps_an_acknowledged_message_once(own_talker):
    """An acknowledged message is there once, with one answer; any other is there once or not at all. The kills gather
    around the acknowledgement, as above."""
    gateway, rng = own_talker.gateway, random.Random(29)
    outcomes, delay = set(), 0.005
    for _ in range(14):
        thread = new_thread(gateway)
        with gateway.events(thread["id"]) as events:
            run = Run(own_talker, thread, events)
            own_talker.stub.hold("Instead.")
            killer = threading.Timer(delay, gateway.kill)
            killer.start()
            try:
                sent = chat(gateway, thread, "Something else.", "interrupt")
            except httpx.HTTPError:
                sent = None
            killer.join()
        own_talker.stub.reset()
        gateway.start()
        outcomes.add(sent is not None)
        delay *= rng.uniform(1.2, 2.5) if sent is None else rng.uniform(0.3, 0.8)
        user_turns = turns_of(gateway, thread, "user")
        assert len(user_turns) <= 2 and user_turns[0]["id"] == run.turn["id"]
        assert sent is None or [turn["id"] for turn in user_turns[1:]] == [sent["id"]]
        assert [len(answers_to(gateway, turn)) for turn in user_turns] == [1] * len(user_turns), "each run has ended once"
        assert accepted(gateway.http.get(f"/threads/{thread['id']}"))["active_run"] is None
        own_talker.says(thread, "Go on.", answer="Gladly.")
        texts = [text for role, text in own_talker.conversation() if role == "user"]
        assert texts == [*(turn["content"] for turn in user_turns), "Go on."]
    assert outcomes == {True, False}, "the kills came before and after the acknowledgement"
