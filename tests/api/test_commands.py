"""Commands in chat: `/name args` is stored as typed and sent to the model expanded.

See docs/contract/chat.md#commands.
"""

import pytest

from checks import accepted, refused


@pytest.fixture
def command(talker, new_name):
    """Returns a function that creates a command and returns its name."""
    def make(prompt="Do: $ARGUMENTS", enabled=True, **definition):
        name = new_name("command")
        accepted(talker.gateway.http.post("/extensions", json={
            "type": "command", "name": name, "description": "d", "enabled": enabled,
            "definition": {"prompt": prompt, **definition}}), 201)
        return name
    return make


@pytest.fixture
def agent(talker, new_name):
    def make(enabled=True, **definition):
        return accepted(talker.gateway.http.post("/extensions", json={
            "type": "agent", "name": new_name("agent"), "description": "d", "enabled": enabled,
            "definition": {"systemPrompt": "I am the other.", **definition}}), 201)
    return make


@pytest.fixture
def thread(talker):
    return accepted(talker.gateway.http.post("/threads", json={"title": "t"}), 201)


def last_message(talker):
    """Returns the last message as sent to the model."""
    return talker.conversation()[-1][1]


def test_command_is_stored_as_typed_and_sent_expanded(talker, thread, command):
    name = command("Translate $1 into $2. All: $ARGUMENTS")
    turn = talker.says(thread, f"/{name} this  German", answer="ok")
    assert turn["content"] == f"/{name} this  German"
    assert last_message(talker) == "Translate this into German. All: this  German"
    turns = accepted(talker.gateway.http.get(f"/threads/{thread['id']}/turns"))
    assert turns[-1]["content"] == f"/{name} this  German"


def test_later_answers_see_the_expansion(talker, thread, command):
    """Even if the command has changed: the model knows what it answered, and services keep what they have cached."""
    name = command("Do $1 as before")
    talker.says(thread, f"/{name} it", answer="ok")
    path = f"/extensions/{name}"
    accepted(talker.gateway.http.patch(path, json={"definition": {"prompt": "Do nothing"}}))
    talker.says(thread, "and again", answer="ok")
    assert talker.conversation() == [("user", "Do it as before"), ("assistant", "ok"), ("user", "and again")]


def test_new_thread_can_begin_with_a_command(talker, command):
    name = command()
    talker.answers("ok")
    with talker.gateway.events() as events:
        turn = accepted(talker.gateway.http.post("/chat", json={"content": f"/{name} it"}), 201)
        events.run(turn["id"])
    assert last_message(talker) == "Do: it"


def test_disabled_or_unknown_command_is_plain_text(talker, thread, command):
    disabled = command(enabled=False)
    for text in f"/{disabled} it", "/no-such-command it", "/", "/usr/bin/env", f" /{command()} it":
        talker.says(thread, text, answer="ok")
        assert last_message(talker) == text


def test_changed_command_applies_to_the_next_message(talker, thread, command):
    name = command("old $1")
    talker.says(thread, f"/{name} a", answer="ok")
    accepted(talker.gateway.http.patch(f"/extensions/{name}", json={"definition": {"prompt": "new $1"}}))
    talker.says(thread, f"/{name} a", answer="ok")
    assert last_message(talker) == "new a"
    accepted(talker.gateway.http.post(f"/extensions/{name}/toggle"))
    talker.says(thread, f"/{name} a", answer="ok")
    assert last_message(talker) == f"/{name} a"


def test_agent_of_a_command_answers_only_that_message(talker, thread, command, agent):
    other = agent()
    for reference in other["id"], other["name"]:
        talker.says(thread, f"/{command(agent_id=reference)} it", answer="ok")
        assert "I am the other." in talker.system()
        talker.says(thread, "and now?", answer="ok")
        assert "I am the other." not in talker.system()
    assert accepted(talker.gateway.http.get(f"/threads/{thread['id']}"))["agent_id"] == thread["agent_id"]


def test_agent_of_a_command_must_exist_and_be_enabled(talker, thread, command, agent):
    disabled = agent(enabled=False)
    for reference, error in ("nobody", "agent not found"), (disabled["name"], "agent is disabled"):
        body = {"content": f"/{command(agent_id=reference)} it", "threadId": thread["id"]}
        refused(talker.gateway.http.post("/chat", json=body), 400, error, agent_id=reference)
    assert accepted(talker.gateway.http.get(f"/threads/{thread['id']}"))["turn_count"] == 0


def test_model_is_chosen_by_chat_then_command_then_agent(talker, thread, command, agent):
    other = agent(model="stub/of-agent")
    plain = command(agent_id=other["id"])
    own_command = command(agent_id=other["id"], model="stub/of-command")
    talker.says(thread, f"/{plain} it", answer="ok")
    assert talker.asked_model() == "of-agent"
    talker.says(thread, f"/{own_command} it", answer="ok")
    assert talker.asked_model() == "of-command"
    talker.says(thread, f"/{own_command} it", answer="ok", model="stub/of-chat")
    assert talker.asked_model() == "of-chat"


def test_typed_placeholders_are_not_expanded_again(talker, thread, command):
    talker.says(thread, f"/{command('$1 and $ARGUMENTS')} $2 $ARGUMENTS", answer="ok")
    assert last_message(talker) == "$2 and $2 $ARGUMENTS"


def test_regenerated_answer_uses_the_expansion(talker, thread, command):
    name = command("Do $1")
    turn = talker.says(thread, f"/{name} it", answer="ok")
    talker.answers("again")
    with talker.gateway.events(thread["id"]) as events:
        accepted(talker.gateway.http.post(f"/turns/{turn['id']}/regenerate"), 201)
        events.run(turn["id"])
    assert last_message(talker) == "Do it"


def test_later_answers_see_what_a_regenerated_answer_saw(talker, thread, command):
    name = command("Do $1")
    turn = talker.says(thread, f"/{name} it", answer="ok")

    def again(asked):
        talker.answers("again")
        with talker.gateway.events(thread["id"]) as events:
            asked = accepted(talker.gateway.http.post(f"/turns/{asked['id']}/regenerate"), 201)
            events.run(asked["id"])
        seen = last_message(talker)
        talker.says(thread, "and then", answer="ok")
        assert talker.conversation()[0] == ("user", seen)
        return asked, seen

    path = f"/extensions/{name}"
    accepted(talker.gateway.http.patch(path, json={"definition": {"prompt": "Undo $1"}}))
    changed, seen = again(turn)
    assert seen == "Undo it"
    assert changed["metadata"] == {"expanded": "Undo it", "replaces": turn["id"]}
    accepted(talker.gateway.http.patch(path, json={"enabled": False}))
    plain, seen = again(changed)
    assert seen == f"/{name} it"
    assert plain["metadata"] == {"replaces": changed["id"]}
    assert again(plain) == (plain, seen), "the same text needs no new turn"


def test_edited_message_is_expanded(talker, thread, command):
    name = command("Do $1")
    turn = talker.says(thread, "it", answer="ok")
    talker.answers("again")
    with talker.gateway.events(thread["id"]) as events:
        path = f"/turns/{turn['id']}/regenerate"
        edited = accepted(talker.gateway.http.post(path, json={"content": f"/{name} it"}), 201)
        events.run(edited["id"])
    assert last_message(talker) == "Do it"


def test_librarian_reads_the_text_as_typed(own_gateway):
    with own_gateway.events() as events:
        turn = accepted(own_gateway.http.post("/chat", json={"content": "the harbour is blue"}), 201)
        events.run(turn["id"])
        turn = accepted(own_gateway.http.post("/chat", json={"content": "/search harbour"}), 201)
        run = events.run(turn["id"])
    text = "".join(event.get("delta", "") for event in run if event["type"] == "text-delta")
    assert "the harbour is blue" in text and "SearchTurns" not in text
