"""Messages that join the active answer.

A stub serves as the model and waits in each step.

See docs/contract/chat.md#while-an-answer-is-in-progress.
"""

import threading

from checks import accepted, refused
from events import text_of
from jobs import wait_for
from steering import Run, answers_to, chat, new_thread, regenerate, roles, steer, stored
from tools import calls, new_agent, run_chat, turns_of


# The next boundary.


def test_steered_message_reaches_the_model_after_the_results_of_the_step(talker, running):
    turn = steer(talker.gateway, running.thread)
    assert turn["role"] == "user" and turn["content"] == "Only the otters."
    assert turn["metadata"] == {"delivery": "steer"}
    messages = running.step()
    assert roles(messages) == ["user", "assistant", "tool", "user"] and messages[-1][1] == "Only the otters."
    event = running.events.until(lambda event: event["type"] == "steered")[-1]
    run_id = accepted(talker.gateway.http.get(f"/threads/{running.thread['id']}"))["active_run"]["runId"]
    assert event == {"type": "steered", "threadId": running.thread["id"], "runId": run_id, "seq": event["seq"],
                     "turnId": turn["id"], "afterStep": 1}
    assert stored(talker.gateway, turn)["metadata"] == {"delivery": "steer", "run_id": run_id, "after_step": 1}


def test_run_ends_once_with_one_answer(talker, running):
    turn = steer(talker.gateway, running.thread)
    running.step()
    run = running.finish()
    assert run[-1]["type"] == "finish" and text_of(run) == "Step 1.\n\nStep 2.\n\nDone."
    assert accepted(talker.gateway.http.get(f"/threads/{running.thread['id']}"))["active_run"] is None
    assert len(turns_of(talker.gateway, running.thread, "assistant")) == 1
    assert answers_to(talker.gateway, turn) == []
    numbers = [event["seq"] for event in running.events.messages if event.get("runId") == run[0]["runId"]]
    assert numbers == list(range(1, len(numbers) + 1))


def test_steered_event_is_among_the_stored_events(talker, running):
    turn = steer(talker.gateway, running.thread)
    running.step()
    run = running.finish()
    query = {"runId": run[0]["runId"]}
    events = accepted(talker.gateway.http.get(f"/threads/{running.thread['id']}/events", params=query))
    assert events == [event for event in running.events.messages if event.get("runId") == query["runId"]]
    assert [event["turnId"] for event in events if event["type"] == "steered"] == [turn["id"]]


def test_messages_arrive_in_the_order_they_were_sent_each_once(talker, running):
    steer(talker.gateway, running.thread, "one")
    steer(talker.gateway, running.thread, "two")
    assert [text for role, text in running.step() if role == "user"][1:] == ["one", "two"]
    steer(talker.gateway, running.thread, "three")
    messages = running.step()
    assert [text for role, text in messages if role == "user"][1:] == ["one", "two", "three"]
    assert roles(messages) == ["user", "assistant", "tool", "user", "user", "assistant", "tool", "user"]


def test_many_messages_all_reach_the_next_request(talker, running):
    sent = [f"message {number}" for number in range(100)]
    for content in sent:
        steer(talker.gateway, running.thread, content)
    assert [text for _, text in running.step()[-100:]] == sent
    running.finish()
    assert len(turns_of(talker.gateway, running.thread, "assistant")) == 1


def test_queued_message_waits_while_a_later_one_steers(talker, running):
    waiting = chat(talker.gateway, running.thread, "And birds?", "queue")
    steer(talker.gateway, running.thread)
    assert [text for role, text in running.step() if role == "user"] == ["Which animals swim?", "Only the otters."]
    running.finish("Ducks.")
    run = running.events.run(waiting["id"])
    assert text_of(run) == "Ducks."
    assert talker.conversation()[-1] == ("user", "And birds?")


def test_late_message_is_the_next_question_once(talker, running):
    running.step()
    running.held.tool_calls.clear()
    turn = steer(talker.gateway, running.thread)
    talker.stub.script("Otters.")
    running.held.release()
    first, second = running.events.run(running.turn["id"]), running.events.run(turn["id"])
    assert text_of(first) == "Step 1.\n\nStep 2." and text_of(second) == "Otters."
    assert not [event for event in running.events.messages if event["type"] == "steered"]
    assert talker.conversation()[-2:] == [("assistant", "Step 2."), ("user", "Only the otters.")]
    assert len(answers_to(talker.gateway, turn)) == 1
    assert stored(talker.gateway, turn)["metadata"] == {"delivery": "steer"}


def test_first_late_message_is_the_next_question_and_the_second_joins_it(talker, running):
    running.held.tool_calls.clear()
    first = steer(talker.gateway, running.thread, "one")
    second = steer(talker.gateway, running.thread, "two")
    talker.stub.script(calls(("Glob", {"pattern": "*"}), text="Let me look."), "Both.")
    running.held.release()
    run = running.events.run(first["id"])
    assert [text for role, text in talker.conversation() if role == "user"] == ["Which animals swim?", "one", "two"]
    assert stored(talker.gateway, second)["metadata"]["run_id"] == run[-1]["runId"]


def test_message_without_an_active_answer_is_a_question(talker):
    thread = new_thread(talker.gateway)
    run = run_chat(talker, thread, "Hello.", delivery="steer")
    assert text_of(run) == "Hello."
    assert turns_of(talker.gateway, thread, "user")[0]["metadata"] is None


def test_first_message_of_a_new_thread_may_steer(talker):
    turn = accepted(talker.gateway.http.post("/chat", json={"content": "Hi", "delivery": "steer"}), 201)
    wait_for(lambda: answers_to(talker.gateway, turn))


def test_unknown_delivery_is_refused(talker):
    thread = new_thread(talker.gateway)
    body = {"content": "x", "threadId": thread["id"], "delivery": "now"}
    refused(talker.gateway.http.post("/chat", json=body), 400, "invalid delivery: now")


def test_repeated_request_steers_once(talker, running):
    body = {"content": "once", "threadId": running.thread["id"], "delivery": "steer"}
    for _ in range(2):
        accepted(talker.gateway.http.post("/chat", json=body, headers={"Idempotency-Key": running.turn["id"]}), 201)
    assert [text for role, text in running.step() if role == "user"][1:] == ["once"]


# Messages that cannot join the active answer.


def test_message_for_another_agent_waits(talker, running, new_name):
    other = new_agent(talker.gateway, new_name("other"), "apprentice")
    turn = steer(talker.gateway, running.thread, agentId=other["id"])
    assert roles(running.step())[-1] == "tool"
    running.finish("From another.")
    assert text_of(running.events.run(turn["id"])) == "From another."


def test_answer_of_another_agent_can_be_steered_by_naming_it(talker, new_name):
    other = new_agent(talker.gateway, new_name("other"), "apprentice")
    thread = new_thread(talker.gateway)
    with talker.gateway.events(thread["id"]) as events:
        run = Run(talker, thread, events, agentId=other["id"])
        steer(talker.gateway, thread, "Only the otters.", agentId=other["id"])
        assert run.step()[-1] == ("user", "Only the otters.")
        run.finish()


def test_message_for_another_model_waits(talker, running):
    turn = steer(talker.gateway, running.thread, model=f"{talker.provider}/another")
    joining = steer(talker.gateway, running.thread, "joins", model=talker.model)
    assert running.step()[-1] == ("user", "joins")
    running.finish("From another.")
    running.events.run(turn["id"])
    assert talker.asked_model() == "another" and answers_to(talker.gateway, joining) == []


def test_command_for_another_mode_waits(talker, running):
    turn = steer(talker.gateway, running.thread, "/act now")
    assert roles(running.step())[-1] == "tool"
    running.finish("Acted.")
    assert text_of(running.events.run(turn["id"])) == "Acted."


def test_command_is_stored_as_typed_and_reaches_the_model_expanded(talker, running, new_name):
    body = {"type": "command", "name": new_name("narrow"), "description": "", "enabled": True,
            "definition": {"prompt": "Look only at $ARGUMENTS."}}
    command = accepted(talker.gateway.http.post("/extensions", json=body), 201)
    turn = steer(talker.gateway, running.thread, f"/{command['name']} otters")
    assert running.step()[-1] == ("user", "Look only at otters.")
    assert stored(talker.gateway, turn)["content"] == f"/{command['name']} otters"


def test_attached_file_is_sent_with_the_message(talker, running):
    headers = {"Content-Type": "text/plain"}
    file = accepted(talker.gateway.http.post("/files?name=otters.txt", content=b"They swim.", headers=headers), 201)
    turn = steer(talker.gateway, running.thread, "See this.", attachments=[file["id"]])
    role, text = running.step()[-1]
    assert role == "user" and text.startswith("See this.") and "They swim." in text
    assert stored(talker.gateway, turn)["metadata"]["attachments"][0]["id"] == file["id"]


# Later runs.


def test_next_request_begins_with_the_previous_one(talker, running):
    """So a service with a prompt cache processes only what is new."""
    steer(talker.gateway, running.thread, "one")
    running.step()
    steer(talker.gateway, running.thread, "two")
    running.step()
    running.finish()
    last = talker.stub.requests[-1].json["messages"]
    talker.says(running.thread, "And now?", answer="That is all.")
    assert talker.stub.requests[-1].json["messages"][:len(last)] == last


def test_deleted_message_is_no_longer_sent(talker, running):
    turn = steer(talker.gateway, running.thread)
    running.step()
    refused(talker.gateway.http.delete(f"/turns/{turn['id']}"), 409, "turn is in use")
    running.finish()
    assert talker.gateway.http.delete(f"/turns/{turn['id']}").status_code == 204
    talker.says(running.thread, "And now?", answer="That is all.")
    assert [text for role, text in talker.conversation() if role == "user"] == ["Which animals swim?", "And now?"]
    assert "tool" in roles(talker.conversation())


def test_message_is_kept_when_the_answer_is_deleted(talker, running):
    steer(talker.gateway, running.thread)
    running.step()
    running.finish()
    answer = turns_of(talker.gateway, running.thread, "assistant")[0]
    assert talker.gateway.http.delete(f"/turns/{answer['id']}").status_code == 204
    talker.says(running.thread, "And now?", answer="That is all.")
    assert [text for _, text in talker.conversation()] == ["Which animals swim?", "Only the otters.", "And now?"]


def test_waiting_message_can_be_deleted(talker, running):
    turn = steer(talker.gateway, running.thread)
    assert talker.gateway.http.delete(f"/turns/{turn['id']}").status_code == 204
    assert roles(running.step())[-1] == "tool"


def test_regenerating_the_question_supersedes_the_message(talker, running):
    turn = steer(talker.gateway, running.thread)
    running.step()
    running.finish()
    regenerate(talker, running.turn, "Again.")
    assert talker.conversation() == [("user", "Which animals swim?")]
    assert stored(talker.gateway, turn)["metadata"]["superseded"] is True


def test_regenerated_message_is_a_question_after_the_answer_it_joined(talker, running):
    turn = steer(talker.gateway, running.thread)
    running.step()
    running.finish()
    regenerate(talker, turn, "Otters.")
    conversation = talker.conversation()
    assert conversation[-2:] == [("assistant", "Done."), ("user", "Only the otters.")]
    assert [text for role, text in conversation if role == "user"] == ["Which animals swim?", "Only the otters."]
    assert stored(talker.gateway, turn)["metadata"] == {"delivery": "steer"}
    assert [answer["content"] for answer in answers_to(talker.gateway, turn)] == ["Otters."]


def test_fork_has_the_message_where_it_joined(talker, running):
    steer(talker.gateway, running.thread)
    running.step()
    running.finish()
    fork = accepted(talker.gateway.http.post(f"/threads/{running.thread['id']}/fork"), 201)
    talker.says(fork, "And now?", answer="That is all.")
    assert roles(talker.conversation()) == ["user", "assistant", "tool", "user", "assistant", "tool", "assistant", "user"]


def test_fork_at_the_message_ends_with_it(talker, running):
    turn = steer(talker.gateway, running.thread)
    running.step()
    running.finish()
    path = f"/threads/{running.thread['id']}/fork"
    fork = accepted(talker.gateway.http.post(path, json={"turnId": turn["id"]}), 201)
    talker.says(fork, "And now?", answer="That is all.")
    assert [text for _, text in talker.conversation()] == ["Which animals swim?", "Only the otters.", "And now?"]


# The command line.


def test_command_line_prints_the_answer_that_its_message_joins(talker, running):
    printed = []
    arguments = ("chat", "--thread", running.thread["id"], "--delivery", "steer", "Only the otters.")
    client = threading.Thread(target=lambda: printed.append(talker.gateway.command(*arguments)))
    client.start()
    wait_for(lambda: len(turns_of(talker.gateway, running.thread, "user")) == 2)
    assert running.step()[-1] == ("user", "Only the otters.")
    running.finish()
    client.join()
    assert printed[0].returncode == 0, printed[0].stderr
    assert printed[0].stdout == "Step 2.\n\nDone.\n" and "joins the answer" in printed[0].stderr
