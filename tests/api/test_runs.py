"""Active runs: stopping, queueing, catching up, shutdown and kills.

A stub serves as the model; tests script its answers and can pause them.

See docs/contract/chat.md#stopping and docs/contract/chat.md#catching-up.
"""

import contextlib
import signal
import sqlite3

import pytest

from checks import accepted, at_once, ids, refused
from events import ENDS, RUN_KINDS, text_of, wait_for_text
from extensions import toggle
from jobs import wait_for
from stubs.provider import Reply, ToolCall

METADATA = {"run_id", "model", "usage", "cost_usd", "finish_reason", "duration_ms", "in_reply_to", "steps"}
NO_USAGE = dict.fromkeys(("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"), 0)


def new_thread(gateway, **members):
    """Creates a thread with a title, so that no model is asked for one."""
    return accepted(gateway.http.post("/threads", json={"title": "a title", **members}), 201)


def ask(gateway, thread, content="a question", **members):
    return accepted(gateway.http.post("/chat", json={"content": content, "threadId": thread["id"], **members}), 201)


def stop(gateway, thread):
    return accepted(gateway.http.post("/chat/stop", json={"threadId": thread["id"]}))


def turns(gateway, thread):
    return accepted(gateway.http.get(f"/threads/{thread['id']}/turns"))


@pytest.fixture
def streaming_run(talker):
    """A run that has streamed "Once upon" and is paused there: thread, turn, events, answer."""
    gateway, thread = talker.gateway, new_thread(talker.gateway)
    answer = talker.holds("Once", " upon")
    with gateway.events(thread["id"]) as events:
        turn = ask(gateway, thread)
        wait_for_text(events, turn, "Once upon")
        yield thread, turn, events, answer
    answer.release()


# Requests to the model, and its answers.


def test_answer_is_streamed_and_stored(talker):
    thread = new_thread(talker.gateway)
    talker.answers("Gr\u00fc\u00df", "e \U0001f600", "\n\n", "aus  der", " Stub\u0000")
    with talker.gateway.events(thread["id"]) as events:
        turn = ask(talker.gateway, thread)
        run = events.run(turn["id"])
    assert run[-1]["finishReason"] == "stop"
    newest = turns(talker.gateway, thread)[0]
    assert newest["content"] == text_of(run) == "Gr\u00fc\u00dfe \U0001f600\n\naus  der Stub\u0000"
    assert newest["metadata"]["model"] == run[-1]["model"] == talker.model


def test_model_gets_the_thread_in_order(talker):
    thread = new_thread(talker.gateway)
    for role, content in (("user", "one"), ("assistant", "two"), ("user", "three"), ("assistant", "four")):
        body = {"content": content, "role": role}
        accepted(talker.gateway.http.post(f"/threads/{thread['id']}/turns", json=body), 201)
    talker.says(thread, "five", answer="six")
    talker.says(thread, "seven", answer="eight")
    assert talker.conversation() == [("user", "one"), ("assistant", "two"), ("user", "three"), ("assistant", "four"),
                                     ("user", "five"), ("assistant", "six"), ("user", "seven")]


@pytest.mark.parametrize("content", ["", " ", "\n\t", "\u3000\u00a0\u200b"])
def test_blank_message_is_described(talker, content):
    """Services refuse conversations that don't end with a question."""
    thread = new_thread(talker.gateway)
    turn = talker.says(thread, content, answer="yes?")
    assert turn["content"] == content
    assert talker.conversation() == [("user", "(an empty message)")]
    talker.says(thread, "hello", answer="yes")
    assert talker.conversation()[-2:] == [("assistant", "yes?"), ("user", "hello")]


def test_superseded_turns_are_not_sent_to_the_model(talker):
    thread = new_thread(talker.gateway)
    first = talker.says(thread, "one", answer="wrong")
    talker.says(thread, "two", answer="also wrong")
    talker.answers("right")
    with talker.gateway.events(thread["id"]) as events:
        accepted(talker.gateway.http.post(f"/turns/{first['id']}/regenerate"), 201)
        events.run(first["id"])
    assert talker.conversation() == [("user", "one")]
    talker.says(thread, "three", answer="four")
    assert talker.conversation() == [("user", "one"), ("assistant", "right"), ("user", "three")]


def test_deleted_turns_are_not_sent_to_the_model(talker):
    thread = new_thread(talker.gateway)
    first = talker.says(thread, "secret", answer="I see")
    talker.gateway.http.delete(f"/turns/{first['id']}")
    talker.says(thread, "again", answer="yes")
    assert "secret" not in str(talker.conversation())


def test_answering_agent_provides_prompt_and_model(talker, new_name):
    body = {"type": "agent", "name": new_name("poet"), "description": "", "enabled": True,
            "definition": {"systemPrompt": "Speak only in verse.", "model": f"{talker.provider}/verse-1"}}
    poet = accepted(talker.gateway.http.post("/extensions", json=body), 201)
    thread = new_thread(talker.gateway)
    talker.says(thread, "hello", answer="O!", agentId=poet["name"])
    assert "Speak only in verse." in talker.system() and talker.asked_model() == "verse-1"
    talker.says(thread, "hello", answer="plain")
    assert "Speak only in verse." not in talker.system() and talker.asked_model() == talker.model.split("/")[1]
    talker.says(thread, "hello", answer="O!", agentId=poet["id"], model=f"{talker.provider}/chosen-1")
    assert talker.asked_model() == "chosen-1"


def test_agent_limits_are_sent_to_the_model(talker, new_name):
    body = {"type": "agent", "name": new_name("curt"), "description": "", "enabled": True,
            "definition": {"max_output_tokens": 77, "temperature": 0.25}}
    agent = accepted(talker.gateway.http.post("/extensions", json=body), 201)
    talker.says(new_thread(talker.gateway, agent_id=agent["id"]), "hello", answer="yes")
    request = talker.stub.requests[-1].json
    assert request["temperature"] == 0.25 and 77 in (request.get("max_tokens"), request.get("max_completion_tokens"))


@pytest.mark.parametrize("limit", ["max_steps", "max_output_tokens"])
def test_huge_limit_counts_as_none(talker, new_name, limit):
    body = {"type": "agent", "name": new_name("endless"), "description": "", "enabled": True, "definition": {limit: 1e30}}
    agent = accepted(talker.gateway.http.post("/extensions", json=body), 201)
    talker.says(new_thread(talker.gateway, agent_id=agent["id"]), "hello", answer="yes")


def test_changed_agent_applies_to_its_next_run(talker, new_name):
    body = {"type": "agent", "name": new_name("changing"), "description": "", "enabled": True,
            "definition": {"systemPrompt": "The first words."}}
    agent = accepted(talker.gateway.http.post("/extensions", json=body), 201)
    thread = new_thread(talker.gateway, agent_id=agent["id"])
    talker.says(thread, "hello", answer="a")
    assert "The first words." in talker.system()
    change = {"definition": {"systemPrompt": "The second words."}}
    accepted(talker.gateway.http.patch(f"/extensions/{agent['id']}", json=change))
    talker.says(thread, "hello", answer="b")
    assert "The second words." in talker.system() and "The first words." not in talker.system()


# Stop.


def test_run_can_be_stopped_in_the_middle(talker, streaming_run):
    thread, turn, events, answer = streaming_run
    assert stop(talker.gateway, thread) == {"status": "stopped", "threadId": thread["id"]}
    run = events.run(turn["id"])
    assert [event["type"] for event in run if event["type"] in ENDS] == ["stopped"]
    assert run[-1]["type"] == "stopped" and [event["seq"] for event in run] == list(range(1, len(run) + 1))
    newest = turns(talker.gateway, thread)[0]
    assert newest["id"] == run[-1]["assistantTurnId"] and newest["content"] == text_of(run) == "Once upon"
    assert newest["metadata"]["partial"] is True and newest["metadata"]["in_reply_to"] == turn["id"]
    assert answer.was_aborted(), "the request to the model must be aborted"
    assert stop(talker.gateway, thread)["status"] == "idle"
    events.drain()
    assert events.run_so_far(turn["id"]) == run


def test_stop_at_the_end_of_the_answer_reports_the_outcome(talker):
    for _ in range(40):
        thread = new_thread(talker.gateway)
        answer = talker.holds("Once")
        with talker.gateway.events(thread["id"]) as events:
            turn = ask(talker.gateway, thread)
            wait_for_text(events, turn, "Once")
            answer.release()
            status = stop(talker.gateway, thread)["status"]
            end = events.run(turn["id"])[-1]["type"]
        assert (status, end) in (("stopped", "stopped"), ("idle", "finish"))


def test_run_without_output_can_be_stopped(talker):
    thread = new_thread(talker.gateway)
    answer = talker.holds()
    with talker.gateway.events(thread["id"]) as events:
        turn = ask(talker.gateway, thread)
        assert answer.was_asked()
        assert stop(talker.gateway, thread)["status"] == "stopped"
        run = events.run(turn["id"])
    assert [event["type"] for event in run] == ["stopped"] and run[-1]["assistantTurnId"] is None
    assert ids(turns(talker.gateway, thread)) == [turn["id"]]


def test_stopping_drops_queued_messages(talker, streaming_run):
    thread, turn, events, _ = streaming_run
    waiting = [ask(talker.gateway, thread, f"waiting {number}") for number in range(3)]
    count = talker.request_count()
    assert stop(talker.gateway, thread)["status"] == "stopped"
    for dropped in waiting:
        run = events.run(dropped["id"])
        assert [event["type"] for event in run] == ["stopped"] and run[0]["assistantTurnId"] is None
    events.run(turn["id"])
    assert talker.request_count() == count
    assert stop(talker.gateway, thread)["status"] == "idle"
    assert [found["role"] for found in turns(talker.gateway, thread)].count("assistant") == 1


def test_simultaneous_stops_are_all_answered_and_end_the_run_once(talker, streaming_run):
    thread, turn, events, _ = streaming_run
    responses = [found["status"] for found in at_once(8, lambda _: stop(talker.gateway, thread))]
    assert "stopped" in responses and set(responses) <= {"stopped", "idle"}
    events.run(turn["id"])
    events.drain()
    assert [event["type"] for event in events.run_so_far(turn["id"]) if event["type"] in ENDS] == ["stopped"]


def test_thread_answers_again_after_a_stop(talker, streaming_run):
    thread, turn, events, _ = streaming_run
    stop(talker.gateway, thread)
    events.run(turn["id"])
    talker.says(thread, "go on", answer="and they lived happily")
    assert ("assistant", "Once upon") in talker.conversation()


def test_disconnecting_client_does_not_stop_the_run(talker, streaming_run):
    thread, turn, events, answer = streaming_run
    events.close()
    with talker.gateway.events(thread["id"]) as reconnected:
        answer.release(" a time")
        assert reconnected.run(turn["id"])[-1]["type"] == "finish"
    assert turns(talker.gateway, thread)[0]["content"] == "Once upon a time"


# The queue.


def test_message_during_a_run_is_accepted_and_queued(talker, streaming_run):
    thread, turn, events, answer = streaming_run
    second = ask(talker.gateway, thread, "and then?")
    events.drain()
    assert events.run_so_far(second["id"]) == []
    held = talker.holds("The end.")
    answer.release(" a time")
    assert text_of(events.run(turn["id"])) == "Once upon a time"
    events.until(lambda event: event["type"] == "run-started" and event["run"]["turnId"] == second["id"])
    held.release()
    assert text_of(events.run(second["id"])) == "The end."
    assert talker.conversation()[-3:] == [("user", "a question"), ("assistant", "Once upon a time"),
                                          ("user", "and then?")]


def test_paused_run_does_not_block_other_threads(talker, streaming_run):
    other = new_thread(talker.gateway)
    with talker.gateway.events(other["id"]) as events:
        talker.answers("at once")
        turn = ask(talker.gateway, other)
        assert text_of(events.run(turn["id"])) == "at once"


def test_queued_message_can_be_deleted_and_is_not_answered(talker, streaming_run):
    thread, turn, events, answer = streaming_run
    waiting = ask(talker.gateway, thread, "never mind")
    assert talker.gateway.http.delete(f"/turns/{waiting['id']}").status_code == 204
    assert events.run(waiting["id"])[-1]["type"] == "stopped"
    answer.release(" a time")
    assert text_of(events.run(turn["id"])) == "Once upon a time"
    assert [found["content"] for found in turns(talker.gateway, thread)] == ["Once upon a time", "a question"]


def test_disabled_agent_does_not_answer_a_queued_message(talker, new_name):
    gateway = talker.gateway
    body = {"type": "agent", "name": new_name("agent"), "description": "", "enabled": True, "definition": {}}
    agent = accepted(gateway.http.post("/extensions", json=body), 201)
    thread = new_thread(gateway, agent_id=agent["id"])
    with gateway.events(thread["id"]) as events:
        answer = talker.holds("Once upon")
        first = ask(gateway, thread)
        assert answer.was_asked()
        second = ask(gateway, thread, "and then?")
        accepted(toggle(gateway, agent))
        answer.release(" a time")
        assert text_of(events.run(first["id"])) == "Once upon a time"
        error, finish = events.run(second["id"])
    assert (error["type"], error["error"]) == ("error", "the agent was disabled before it could answer")
    assert (finish["type"], finish["finishReason"]) == ("finish", "error") and talker.request_count() == 1


# Turns in use.


def test_turns_of_an_active_run_cannot_be_deleted_or_regenerated(talker, streaming_run):
    thread, turn, events, answer = streaming_run
    http = talker.gateway.http
    refused(http.delete(f"/threads/{thread['id']}"), 409, "thread is in use")
    refused(http.delete(f"/turns/{turn['id']}"), 409, "turn is in use")
    refused(http.post(f"/turns/{turn['id']}/regenerate"), 409, "turn is in use")
    answer.release()
    events.run(turn["id"])
    accepted(http.post(f"/threads/{thread['id']}/fork", json={}), 201)
    assert http.delete(f"/turns/{turn['id']}").status_code == 204
    assert http.delete(f"/threads/{thread['id']}").status_code == 204


def test_other_turns_and_forks_are_free_during_a_run(talker, streaming_run):
    thread, turn, _, _ = streaming_run
    body = {"content": "a", "role": "user"}
    other = accepted(talker.gateway.http.post(f"/threads/{thread['id']}/turns", json=body), 201)
    assert talker.gateway.http.delete(f"/turns/{other['id']}").status_code == 204
    fork = accepted(talker.gateway.http.post(f"/threads/{thread['id']}/fork"), 201)
    assert fork["turn_count"] == 1


# Catching up.


def test_thread_shows_its_active_run(talker, streaming_run):
    thread, turn, events, answer = streaming_run
    run = events.run_so_far(turn["id"])
    active = accepted(talker.gateway.http.get(f"/threads/{thread['id']}"))["active_run"]
    assert active == {"runId": run[0]["runId"], "turnId": turn["id"], "seq": len(run), "text": "Once upon", "tools": []}
    answer.release()
    events.run(turn["id"])
    assert accepted(talker.gateway.http.get(f"/threads/{thread['id']}"))["active_run"] is None


def test_late_client_resumes_without_a_gap(talker, streaming_run):
    thread, turn, events, answer = streaming_run
    before = events.run_so_far(turn["id"])
    with talker.gateway.events() as late:
        subscribed = late.subscribe(thread["id"], resume=True)
        assert subscribed["runs"] == [{"runId": before[0]["runId"], "turnId": turn["id"], "threadId": thread["id"],
                                 "seq": len(before), "text": "Once upon", "reasoning": "", "tools": []}]
        answer.release(" a", " time")
        remaining = late.run(turn["id"])
    complete = events.run(turn["id"])
    assert remaining == complete[len(before):]
    assert subscribed["runs"][0]["text"] + text_of(remaining) == turns(talker.gateway, thread)[0]["content"]


def test_without_resume_no_runs_are_sent(talker, streaming_run):
    with talker.gateway.events() as late:
        assert "runs" not in late.subscribe(streaming_run[0]["id"])


def test_resume_covers_subscribed_threads_only(talker, streaming_run):
    other = new_thread(talker.gateway)
    with talker.gateway.events() as late:
        assert late.subscribe(other["id"], resume=True)["runs"] == []


def test_events_so_far_can_be_fetched(talker, streaming_run):
    thread, turn, events, answer = streaming_run
    path = f"/threads/{thread['id']}/events"
    so_far = events.run_so_far(turn["id"])
    params = {"runId": so_far[0]["runId"]}
    assert accepted(talker.gateway.http.get(path, params=params)) == so_far
    assert accepted(talker.gateway.http.get(path, params={**params, "after": 1})) == so_far[1:]
    answer.release(" a time")
    complete = events.run(turn["id"])
    assert accepted(talker.gateway.http.get(path, params={**params, "after": len(so_far)})) == complete[len(so_far):]


def test_lists_include_a_stop_in_another_thread(talker, streaming_run):
    thread, turn, _, _ = streaming_run
    with talker.gateway.events() as lists:
        lists.subscribe(lists=True)
        stop(talker.gateway, thread)
        run = lists.run(turn["id"])
    assert [event["type"] for event in run] == ["stopped"]


# Shutdown and kills.


@pytest.mark.parametrize("end", [
    lambda gateway: gateway.process.send_signal(signal.SIGTERM),
    lambda gateway: accepted(gateway.http.post("/daemon/stop")),
], ids=["SIGTERM", "POST /daemon/stop"])
def test_run_active_at_shutdown_is_stored_as_partial(own_talker, end):
    gateway, thread = own_talker.gateway, new_thread(own_talker.gateway)
    answer = own_talker.holds("Once", " upon")
    with gateway.events(thread["id"]) as events:
        turn = ask(gateway, thread)
        waiting = ask(gateway, thread, "and then?")
        wait_for_text(events, turn, "Once upon")
        end(gateway)
        run = events.run(turn["id"])
        assert events.run(waiting["id"])[-1]["type"] == "stopped"
        assert run[-1]["type"] == "stopped" and events.closed() == 1001
    assert gateway.wait() == 0
    answer.release()
    gateway.start()
    found = {turn["id"]: turn for turn in turns(gateway, thread)}
    partial = found[run[-1]["assistantTurnId"]]
    assert partial["content"] == "Once upon" and partial["metadata"]["partial"] is True
    assert set(found) == {turn["id"], waiting["id"], partial["id"]}


def stored_text(gateway):
    """Returns the stored text of active runs: new text is added once per second."""
    with contextlib.closing(sqlite3.connect(f"file:{gateway.data / 'gateway.db'}?mode=ro", uri=True)) as database:
        return "".join(text for text, in database.execute("SELECT text FROM run_pieces ORDER BY run_id, number"))


def test_run_active_at_a_kill_is_interrupted_and_keeps_its_text(own_talker):
    gateway, thread = own_talker.gateway, new_thread(own_talker.gateway)
    answer = own_talker.holds("Once upo")
    with gateway.events(thread["id"]) as events:
        turn = ask(gateway, thread)
        wait_for(lambda: "Once upo" in stored_text(gateway))
        answer.say("n a time")
        wait_for_text(events, turn, "Once upon a time")
        gateway.kill()
    gateway.start()
    reloaded = accepted(gateway.http.get(f"/threads/{thread['id']}"))
    assert reloaded["active_run"] is None and reloaded["turn_count"] == 2
    newest, question = turns(gateway, thread)
    assert question["id"] == turn["id"] and newest["role"] == "assistant"
    assert newest["content"].startswith("Once upo") and "Once upon a time".startswith(newest["content"])
    metadata = newest["metadata"]
    assert (metadata["finish_reason"], metadata["partial"]) == ("interrupted", True)
    assert metadata["in_reply_to"] == turn["id"]
    assert set(metadata) == METADATA | {"partial"}
    assert metadata["model"] == own_talker.model and metadata["duration_ms"] > 0
    assert metadata["usage"] == NO_USAGE and metadata["cost_usd"] == 0
    assert stop(gateway, thread)["status"] == "idle"
    own_talker.says(thread, "go on", answer="gladly")
    gateway.restart()
    assert len(turns(gateway, thread)) == 4


def test_stored_events_of_a_killed_run_equal_those_sent(own_talker):
    gateway, thread = own_talker.gateway, new_thread(own_talker.gateway)
    own_talker.stub.script(Reply("Let me look.", deltas=3, tool_calls=[ToolCall("Glob", {"pattern": "*"})]))
    with gateway.events(thread["id"]) as events:
        turn = ask(gateway, thread)
        events.until(lambda event: event["type"] == "tool-end")
        sent = events.run_so_far(turn["id"])
        gateway.kill()
    gateway.start()

    def stored_events(after):
        return accepted(gateway.http.get(f"/threads/{thread['id']}/events",
                                         params={"runId": sent[0]["runId"], "after": after}))

    # The text of a step is on disk before its tool calls run.
    assert [event["type"] for event in sent[:3]] == ["text-delta"] * 3
    assert stored_events(0)[:3] == sent[:3]
    assert stored_events(2)[0] == sent[2]


def test_turn_of_a_killed_run_has_its_cost(make_gateway, stub):
    """It covers all steps on disk, and the report includes it."""
    config = {"providers": {"priced": {"kind": "anthropic", "base_url": stub.base_url, "api_key_env": "KEY",
                                       "default_model": "claude-sonnet-4-5"}}}
    gateway = make_gateway(config=config, environment={"KEY": "k"}).start()
    stub.script(Reply("Let me see.", tool_calls=[ToolCall("Glob", {"pattern": "*"})]))
    held = stub.hold("Half")
    thread = new_thread(gateway)
    with gateway.events(thread["id"]):
        turn = ask(gateway, thread)
        assert held.was_asked()
        gateway.kill()
    held.release()
    gateway.start()
    metadata = turns(gateway, thread)[0]["metadata"]
    assert set(metadata) == METADATA | {"partial"} and metadata["in_reply_to"] == turn["id"]
    assert metadata["model"] == "priced/claude-sonnet-4-5"
    assert metadata["usage"] == {**NO_USAGE, "input_tokens": 10, "output_tokens": 5}
    assert metadata["cost_usd"] > 0
    assert accepted(gateway.http.get("/costs"))["today"] == pytest.approx(metadata["cost_usd"])


# Concurrent runs.


def test_simultaneous_runs_do_not_mix(talker):
    def echo(request):
        question = request.json["messages"][-1]["content"]
        return Reply(f"{question} is what was asked: {question}", deltas=9, rate=100)

    talker.stub.always(echo)
    gateway = talker.gateway
    with gateway.events() as events:
        sent = at_once(24, lambda number: ask(gateway, new_thread(gateway), f"question-{number}"))
        for turn in sent:
            run = events.run(turn["id"])
            assert text_of(run) == f"{turn['content']} is what was asked: {turn['content']}"
            assert [event["seq"] for event in run] == list(range(1, len(run) + 1))
            assert {event["type"] for event in run} <= RUN_KINDS
