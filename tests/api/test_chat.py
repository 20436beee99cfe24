"""Chat: one message, its run, its events and its assistant turn.

The built-in offline/librarian answers here; tests that need to pause an answer are in test_runs.py.

See docs/contract/chat.md#sending-a-message and docs/contract/websocket.md#events.
"""

import pytest

from checks import UNKNOWN_ID, accepted, at_once, ids, is_id, is_timestamp, refused
from events import ENDS, RUN_KINDS, text_of

USAGE = {"input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"}
MODEL = "offline/librarian"


def chat(gateway, content="hello", **members):
    return accepted(gateway.http.post("/chat", json={"content": content, **members}), 201)


def turns(gateway, thread_id, **params):
    return accepted(gateway.http.get(f"/threads/{thread_id}/turns", params=params))


def run_chat(gateway, thread, content="hello", **members):
    """Sends a message and waits for the end of its run. Returns the user turn and the run's events."""
    with gateway.events(thread["id"]) as events:
        turn = chat(gateway, content, threadId=thread["id"], **members)
        return turn, events.run(turn["id"])


def new_agent(gateway, name, enabled=True, **definition):
    body = {"type": "agent", "name": name, "description": "", "definition": definition, "enabled": enabled}
    return accepted(gateway.http.post("/extensions", json=body), 201)


# The response of POST /chat.


def test_message_returns_201_with_the_user_turn(gateway, thread):
    turn = chat(gateway, "What is new?", threadId=thread["id"])
    assert {"id", "thread_id", "role", "content", "created_at"} <= set(turn)
    assert is_id(turn["id"]) and is_timestamp(turn["created_at"])
    assert (turn["thread_id"], turn["role"], turn["content"]) == (thread["id"], "user", "What is new?")
    assert turn["id"] in ids(turns(gateway, thread["id"]))


def test_message_without_a_thread_creates_one(gateway):
    with gateway.events() as events:
        turn = chat(gateway, "Tell me about otters please")
        events.run(turn["id"])
    made = accepted(gateway.http.get(f"/threads/{turn['thread_id']}"))
    assistant = accepted(gateway.http.get("/extensions", params={"type": "agent", "source": "built-in"}))[0]
    assert made["agent_id"] == assistant["id"] and made["mode"] == "plan" and made["job_id"] is None
    assert "otters" in made["title"].lower() and made["turn_count"] == 2


def test_new_thread_belongs_to_the_requested_agent(gateway, new_name):
    agent = new_agent(gateway, new_name("host"), mode="act")
    for given in (agent["id"], agent["name"]):
        made = accepted(gateway.http.get(f"/threads/{chat(gateway, agentId=given)['thread_id']}"))
        assert made["agent_id"] == agent["id"] and made["mode"] == "act"


def test_unknown_thread_is_not_found(gateway):
    for unknown in (UNKNOWN_ID, "x"):
        response = gateway.http.post("/chat", json={"content": "a", "threadId": unknown})
        refused(response, 404, "thread not found")


def test_unknown_agent_is_named(gateway, thread):
    for unknown in (UNKNOWN_ID, "nobody-of-that-name", "dark"):
        for where in ({}, {"threadId": thread["id"]}):
            response = gateway.http.post("/chat", json={"content": "a", "agentId": unknown, **where})
            refused(response, 400, "agent not found", agent_id=unknown)
    assert turns(gateway, thread["id"]) == []


def test_disabled_agent_is_named(gateway, thread, new_name):
    agent = new_agent(gateway, new_name("asleep"), enabled=False)
    for given in (agent["id"], agent["name"]):
        response = gateway.http.post("/chat", json={"content": "a", "agentId": given, "threadId": thread["id"]})
        refused(response, 400, "agent is disabled", agent_id=given)
    assert turns(gateway, thread["id"]) == []


def test_thread_of_an_unknown_or_disabled_agent_refuses_messages(gateway, new_name):
    orphan = accepted(gateway.http.post("/threads", json={"agent_id": "lost-agent"}), 201)
    refused(gateway.http.post("/chat", json={"content": "a", "threadId": orphan["id"]}), 400, "agent not found",
            agent_id="lost-agent")
    agent = new_agent(gateway, new_name("tired"))
    thread = accepted(gateway.http.post("/threads", json={"agent_id": agent["id"]}), 201)
    accepted(gateway.http.post(f"/extensions/{agent['id']}/toggle"))
    refused(gateway.http.post("/chat", json={"content": "a", "threadId": thread["id"]}), 400, "agent is disabled",
            agent_id=agent["id"])


def test_refused_message_creates_no_thread(own_gateway):
    refused(own_gateway.http.post("/chat", json={"content": "a", "agentId": "nobody"}), 400, "agent not found")
    refused(own_gateway.http.post("/chat", json={"content": 5}), 400, "content must be a string")
    assert accepted(own_gateway.http.get("/threads")) == []


def test_agent_of_a_message_does_not_change_that_of_the_thread(gateway, thread, new_name):
    agent = new_agent(gateway, new_name("guest"))
    run_chat(gateway, thread, agentId=agent["id"])
    assert accepted(gateway.http.get(f"/threads/{thread['id']}"))["agent_id"] == thread["agent_id"]


# The run and its events.


def test_run_is_deltas_and_one_finish(gateway, thread):
    turn, run = run_chat(gateway, thread)
    kinds = [event["type"] for event in run]
    assert kinds[-1] == "finish" and "text-delta" in kinds
    assert [kind for kind in kinds if kind in ENDS] == ["finish"]
    assert set(kinds) <= RUN_KINDS


def test_run_events_name_thread_turn_and_run_and_are_numbered(gateway, thread):
    turn, run = run_chat(gateway, thread)
    assert {event["threadId"] for event in run} == {thread["id"]} and {event["turnId"] for event in run} == {turn["id"]}
    assert len({event["runId"] for event in run}) == 1 and is_id(run[0]["runId"])
    assert [event["seq"] for event in run] == list(range(1, len(run) + 1))
    assert all(isinstance(event["delta"], str) and event["delta"] for event in run if event["type"] == "text-delta")


def test_finish_event_has_reason_and_model(gateway, thread):
    _, run = run_chat(gateway, thread)
    finish = run[-1]
    assert {"type", "threadId", "turnId", "runId", "seq", "finishReason", "assistantTurnId", "model", "usage",
            "costUsd",
            "durationMs"} <= set(finish)
    assert (finish["finishReason"], finish["model"], finish["costUsd"]) == ("stop", MODEL, 0)
    assert set(finish["usage"]) == USAGE and all(isinstance(count, int) for count in finish["usage"].values())
    assert isinstance(finish["durationMs"], int) and finish["durationMs"] >= 0


def test_assistant_turn_equals_the_streamed_text(gateway, thread):
    turn, run = run_chat(gateway, thread)
    newest, question = turns(gateway, thread["id"])
    assert newest["id"] == run[-1]["assistantTurnId"] and question["id"] == turn["id"]
    assert newest["role"] == "assistant" and newest["content"] == text_of(run) != ""


def test_metadata_of_the_assistant_turn(gateway, thread):
    turn, run = run_chat(gateway, thread)
    metadata, finish = turns(gateway, thread["id"])[0]["metadata"], run[-1]
    assert {"run_id", "model", "usage", "cost_usd", "finish_reason", "duration_ms", "in_reply_to",
            "steps"} <= set(metadata)
    assert metadata["run_id"] == finish["runId"] and metadata["in_reply_to"] == turn["id"]
    assert metadata["model"] == MODEL and metadata["finish_reason"] == "stop" and metadata["cost_usd"] == 0
    assert metadata["usage"] == finish["usage"] and metadata["duration_ms"] == finish["durationMs"]
    assert "partial" not in metadata or metadata["partial"] is False


def test_turn_is_readable_when_finish_arrives(gateway):
    with gateway.events() as events:
        for _ in range(10):
            turn = chat(gateway)
            finish = events.run(turn["id"])[-1]
            assert finish["assistantTurnId"] in ids(turns(gateway, turn["thread_id"]))


def test_both_turns_are_published(gateway, thread):
    with gateway.events(thread["id"]) as events:
        turn = chat(gateway, threadId=thread["id"])
        events.run(turn["id"])
        events.drain()
        created = [found["turn"] for found in events.messages if found["type"] == "turn-created"]
        kinds = [found["type"] for found in events.messages]
    assert [found["role"] for found in created] == ["user", "assistant"] and created[0]["id"] == turn["id"]
    assert created[1] == turns(gateway, thread["id"])[0]
    assert kinds.index("turn-created") < kinds.index("text-delta")
    assert [kind for kind in kinds if kind in ENDS] == ["finish"]


def test_no_run_event_follows_the_end(gateway, thread):
    with gateway.events(thread["id"]) as events:
        turn = chat(gateway, threadId=thread["id"])
        run = events.run(turn["id"])
        events.drain()
        assert events.run_so_far(turn["id"]) == run


def test_message_with_a_named_model(gateway, thread):
    _, run = run_chat(gateway, thread, model=MODEL)
    assert run[-1]["model"] == MODEL
    _, run = run_chat(gateway, thread, model="librarian")
    assert run[-1]["model"] == MODEL


def test_provider_without_configuration_is_an_error_with_advice(gateway, thread):
    for model, setting in [("anthropic/claude-sonnet-5", "ANTHROPIC_API_KEY"), ("openai/gpt-5", "OPENAI_API_KEY")]:
        turn, run = run_chat(gateway, thread, model=model)
        assert [event["type"] for event in run] == ["error", "finish"]
        assert run[-1]["finishReason"] == "error" and run[-1]["model"] == model and setting in run[0]["error"]
        assert [event["seq"] for event in run] == [1, 2]


def test_added_turns_without_the_metadata_of_runs_are_accepted(gateway, thread):
    steps = {"steps": [{"text_end": 0, "tool_call_ids": [""]}]}
    for turn in (
        {"role": "user", "content": "hello"},
        {"role": "tool", "content": "a result"},
        {"role": "assistant", "content": "Done.", "metadata": steps},
    ):
        accepted(gateway.http.post(f"/threads/{thread['id']}/turns", json=turn), 201)
    _, run = run_chat(gateway, thread)
    assert run[-1]["type"] == "finish" and not run[-1].get("error")


# The librarian.


def test_librarian_first_explains_how_to_connect_a_model(gateway, thread):
    first, later = (text_of(run_chat(gateway, thread, content)[1]) for content in ("hello", "hello again"))
    assert "ANTHROPIC_API_KEY" in first or "OPENAI_API_KEY" in first or "config.yaml" in first
    assert "librarian" in first.lower()
    assert not ("ANTHROPIC_API_KEY" in later and "OPENAI_API_KEY" in later)


@pytest.mark.parametrize("mode", ["act", "plan"])
@pytest.mark.parametrize("question", ["hello", "What can you do?", "What can you do without a model?"])
def test_librarian_offers_three_messages_that_work(gateway, thread, question, mode):
    accepted(gateway.http.patch(f"/threads/{thread['id']}", json={"mode": mode}))
    _, run = run_chat(gateway, thread, question)
    offers = turns(gateway, thread["id"])[0]["metadata"]["suggestions"]
    assert len(offers) == 3 and "I found nothing" not in text_of(run)
    for offer in offers:
        assert f"- `{offer}`" in text_of(run)
        _, done = run_chat(gateway, thread, offer)
        assert done[-1]["finishReason"] == "stop" and not any(event.get("isError") for event in done)
        assert "I found nothing" not in text_of(done) and "did not work" not in text_of(done)
        assert "suggestions" not in turns(gateway, thread["id"])[0]["metadata"]


def test_librarian_quotes_past_turns_with_source(gateway, thread):
    past = accepted(gateway.http.post("/threads", json={"title": "Harbour notes"}), 201)
    body = {"content": "The lighthouse of Quendelby was painted green in 1911.", "role": "user"}
    accepted(gateway.http.post(f"/threads/{past['id']}/turns", json=body), 201)
    text = text_of(run_chat(gateway, thread, "What do we know about the lighthouse of Quendelby?")[1])
    assert "painted green in 1911" in text and ("Harbour notes" in text or past["id"] in text)


def test_librarian_is_deterministic(gateway):
    texts = []
    for _ in range(2):
        made = accepted(gateway.http.post("/threads", json={"title": "same"}), 201)
        texts.append(text_of(run_chat(gateway, made, "zzqx vwkj")[1]))
        gateway.http.delete(f"/threads/{made['id']}")
    assert texts[0] == texts[1]


# One run at a time per thread, and any number of threads at once.


def test_runs_of_a_thread_are_sequential_and_in_order(gateway, thread):
    with gateway.events(thread["id"]) as events:
        sent = [chat(gateway, f"message {number}", threadId=thread["id"]) for number in range(5)]
        for turn in sent:
            events.run(turn["id"])
        order = [found["turnId"] for found in events.messages if found["type"] in RUN_KINDS]
    blocks = [turn for number, turn in enumerate(order) if number == 0 or order[number - 1] != turn]
    assert blocks == ids(sent)


def test_simultaneous_messages_are_answered_once_each(gateway, thread):
    with gateway.events(thread["id"]) as events:
        sent = at_once(12, lambda number: chat(gateway, f"message {number}", threadId=thread["id"]))
        runs = [events.run(turn["id"]) for turn in sent]
    assert all(run[-1]["type"] == "finish" for run in runs)
    found = turns(gateway, thread["id"], limit=100)
    replies = [turn["metadata"]["in_reply_to"] for turn in found if turn["role"] == "assistant"]
    assert sorted(replies) == sorted(ids(sent)) and len(found) == 24


def test_threads_run_concurrently(gateway):
    with gateway.events() as events:
        sent = at_once(24, lambda number: chat(gateway, f"thread {number}"))
        runs = [events.run(turn["id"]) for turn in sent]
    assert {run[-1]["type"] for run in runs} == {"finish"}
    assert len({turn["thread_id"] for turn in sent}) == 24 == len({run[0]["runId"] for run in runs})


# Stop.


def test_stopping_an_idle_thread_returns_idle(gateway, thread):
    response = accepted(gateway.http.post("/chat/stop", json={"threadId": thread["id"]}))
    assert response == {"status": "idle", "threadId": thread["id"]}
    run_chat(gateway, thread)
    assert accepted(gateway.http.post("/chat/stop", json={"threadId": thread["id"]}))["status"] == "idle"


def test_stopping_an_unknown_thread_is_not_found(gateway):
    refused(gateway.http.post("/chat/stop", json={"threadId": UNKNOWN_ID}), 404, "thread not found")


# Commands: a message that starts with one is stored as typed.


@pytest.mark.parametrize("content", ["/help", "/no-such-command at all", "/", "/search otters", "//help", " /help"])
def test_message_is_stored_as_typed(gateway, thread, content):
    turn, run = run_chat(gateway, thread, content)
    assert turn["content"] == content and run[-1]["type"] == "finish"


# Catch-up.


def events_of(gateway, thread, run_id, **params):
    return accepted(gateway.http.get(f"/threads/{thread['id']}/events", params={"runId": run_id, **params}))


def test_past_run_events_can_be_fetched(gateway, thread):
    _, run = run_chat(gateway, thread)
    run_id = run[0]["runId"]
    assert events_of(gateway, thread, run_id) == run
    assert events_of(gateway, thread, run_id, after=0) == run
    for after in (1, len(run) - 1, len(run), len(run) + 5):
        assert events_of(gateway, thread, run_id, after=after) == run[after:]


def test_catch_up_requires_a_run_and_an_unknown_run_has_no_events(gateway, thread):
    refused(gateway.http.get(f"/threads/{thread['id']}/events"), 400, "runId is required")
    refused(gateway.http.get(f"/threads/{thread['id']}/events?runId="), 400, "runId is required")
    assert events_of(gateway, thread, UNKNOWN_ID) == [] == events_of(gateway, thread, "x")


def test_run_is_not_found_in_another_thread(gateway, thread):
    _, run = run_chat(gateway, thread)
    other = accepted(gateway.http.post("/threads", json={}), 201)
    assert events_of(gateway, other, run[0]["runId"]) == []


@pytest.mark.parametrize("after", ["x", "1.5", "1x"])
def test_invalid_catch_up_position_is_refused(gateway, thread, after):
    assert gateway.http.get(f"/threads/{thread['id']}/events", params={"runId": "a", "after": after}).status_code == 400


# Regenerate.


def test_question_is_answered_again(gateway, thread):
    turn, run = run_chat(gateway, thread)
    with gateway.events(thread["id"]) as events:
        again = accepted(gateway.http.post(f"/turns/{turn['id']}/regenerate"), 201)
        assert (again["id"], again["content"], again["role"]) == (turn["id"], turn["content"], "user")
        second = events.run(turn["id"])
    assert second[0]["runId"] != run[0]["runId"] and second[0]["seq"] == 1
    newest, old, question = turns(gateway, thread["id"])
    assert newest["id"] == second[-1]["assistantTurnId"] and newest["metadata"]["in_reply_to"] == turn["id"]
    assert old["metadata"]["superseded"] is True and "superseded" not in newest["metadata"]
    assert question["id"] == turn["id"] and "superseded" not in (question["metadata"] or {})


def test_regenerating_an_answer_answers_its_question_again(gateway, thread):
    turn, run = run_chat(gateway, thread)
    with gateway.events(thread["id"]) as events:
        again = accepted(gateway.http.post(f"/turns/{run[-1]['assistantTurnId']}/regenerate"), 201)
        assert again["id"] == turn["id"]
        events.run(turn["id"])
    assert [found["role"] for found in turns(gateway, thread["id"])] == ["assistant", "assistant", "user"]


def test_regenerating_an_added_answer_answers_the_user_turn_before_it(gateway, thread):
    path = f"/threads/{thread['id']}/turns"
    question, _, response = (accepted(gateway.http.post(path, json={"content": role, "role": role}), 201)
                           for role in ("user", "tool", "assistant"))
    with gateway.events(thread["id"]) as events:
        assert accepted(gateway.http.post(f"/turns/{response['id']}/regenerate"), 201)["id"] == question["id"]
        events.run(question["id"])


def test_regenerating_supersedes_all_later_turns(gateway, thread):
    first, _ = run_chat(gateway, thread, "first")
    run_chat(gateway, thread, "second")
    with gateway.events(thread["id"]) as events:
        accepted(gateway.http.post(f"/turns/{first['id']}/regenerate", json={}), 201)
        events.run(first["id"])
    newest, *later, question = turns(gateway, thread["id"])
    assert len(later) == 3 and all(turn["metadata"]["superseded"] is True for turn in later)
    assert "superseded" not in newest["metadata"] and question["id"] == first["id"]


def test_unknown_turn_cannot_be_regenerated(gateway):
    refused(gateway.http.post(f"/turns/{UNKNOWN_ID}/regenerate"), 404, "turn not found")


# Threads without an active run.


def test_finished_run_is_not_active(gateway, thread):
    run_chat(gateway, thread)
    assert accepted(gateway.http.get(f"/threads/{thread['id']}"))["active_run"] is None


def test_turns_of_a_finished_run_can_be_deleted(gateway, thread):
    turn, run = run_chat(gateway, thread)
    assert gateway.http.delete(f"/turns/{run[-1]['assistantTurnId']}").status_code == 204
    assert gateway.http.delete(f"/turns/{turn['id']}").status_code == 204
    assert gateway.http.delete(f"/threads/{thread['id']}").status_code == 204
