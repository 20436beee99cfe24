"""Telegram: albums, long texts, replies, forwarded messages, and chats that change.

See docs/contract/channels.md#telegram.
"""

import pytest

from channels import ANN, BOB, GROUP, connect, threads
from jobs import wait_for
from test_channel_files import send_files, workspace  # noqa: F401
from tools import turns_of

MOVED = -1001234567890


def question(talking):
    """The only question that the agent got."""
    (thread,) = threads(talking.gateway)
    (turn,) = [turn for turn in turns_of(talking.gateway, thread) if turn["role"] == "user"]
    return turn


def says_while_polled(telegram, *messages):
    """Sends the first message, and the others after the poll that delivers it has read its updates."""
    first, *rest = messages

    def send_rest():
        while rest:
            telegram.says(ANN, **rest.pop(0))

    telegram.on_step = send_rest
    telegram.says(ANN, **first)


def file(number, **members):
    return {"document": {"file_id": f"file-{number}", "mime_type": "text/plain"}, "media_group_id": "7", **members}


def test_album_is_one_message(talking, telegram):
    connect(talking.gateway, telegram)
    for number in range(3):
        telegram.files[f"files/file-{number}"] = b"File %d" % number
    talking.answers("Three files.")
    says_while_polled(telegram, file(0, caption="What are these?"), file(1), file(2))
    telegram.message("Three files.")
    turn = question(talking)
    assert turn["content"] == "What are these?" and len(turn["metadata"]["attachments"]) == 3
    assert talking.request_count() == 1


def test_long_text_is_one_message(talking, telegram):
    connect(talking.gateway, telegram)
    talking.answers("Read.")
    parts = ["line of a log\n" * 290, "line of a log\n" * 290, "What happened?"]
    says_while_polled(telegram, *({"text": part.strip()} for part in parts))
    telegram.message("Read.")
    assert question(talking)["content"] == "\n".join(part.strip() for part in parts)


def test_messages_that_only_follow_each_other_are_separate(talking, telegram):
    connect(talking.gateway, telegram)
    talking.stub.script("One.", "Two.", "Three.")
    says_while_polled(telegram, {"text": "x" * 4000}, {"text": "/status"}, file(1), {"text": "And that?"})
    telegram.message("Three.")
    telegram.message("Mode:")
    assert talking.request_count() == 3


def test_agent_gets_what_a_message_replies_to(talking, telegram):
    connect(talking.gateway, telegram)
    telegram.files["files/plan"] = b"The plan"
    talking.answers("A plan.")
    original = {
        "message_id": 9,
        "from": {"id": BOB, "is_bot": False, "first_name": "Bob", "last_name": "Stone"},
        "chat": {"id": GROUP, "type": "supergroup"},
        "caption": "This is it.\nOr is it?",
        "document": {"file_id": "plan", "file_name": "plan.txt", "mime_type": "text/plain"},
    }
    telegram.says(ANN, "What is that?", chat=GROUP, reply_to_message=original)
    telegram.message("A plan.")
    turn = question(talking)
    assert turn["content"] == "In reply to Bob Stone:\n> This is it.\n> Or is it?\n\nWhat is that?"
    assert [file["name"] for file in turn["metadata"]["attachments"]] == ["plan.txt"]


def test_selected_part_is_quoted(talking, telegram):
    connect(talking.gateway, telegram)
    talking.answers("Yes.")
    answer = {"message_id": 9, "from": {"id": 1, "is_bot": True, "first_name": "The bot"}, "text": "One. Two. Three."}
    telegram.says(ANN, "Sure?", reply_to_message=answer, quote={"text": "Two.", "position": 5})
    telegram.message("Yes.")
    assert question(talking)["content"] == "In reply to The bot:\n> Two.\n\nSure?"


def test_part_of_a_message_in_another_chat_is_quoted(talking, telegram):
    connect(talking.gateway, telegram)
    talking.answers("Yes.")
    origin = {"type": "channel", "chat": {"id": -2, "title": "News"}, "message_id": 4}
    telegram.says(ANN, "Sure?", external_reply={"origin": origin}, quote={"text": "It rains.", "position": 0})
    telegram.message("Yes.")
    assert question(talking)["content"] == "In reply to News:\n> It rains.\n\nSure?"


def test_links_and_code_are_markdown(talking, telegram):
    connect(talking.gateway, telegram)
    talking.answers("Read.")
    text = "🦊 See this page, call run() and\nfor x in y:\n    pass"
    entities = [
        {"type": "bold", "offset": 0, "length": 2},
        {"type": "text_link", "offset": 7, "length": 9, "url": "https://example.org/a"},
        {"type": "code", "offset": 23, "length": 5},
        {"type": "pre", "offset": 33, "length": 20, "language": "python"},
        {"type": "code", "offset": 500, "length": 5},
    ]
    telegram.says(ANN, text, entities=entities)
    telegram.message("Read.")
    expected = "🦊 See [this page](https://example.org/a), call `run()` and\n```python\nfor x in y:\n    pass\n```"
    assert question(talking)["content"] == expected


def test_reply_may_be_a_command(talking, telegram):
    connect(talking.gateway, telegram)
    telegram.says(ANN, "/status", reply_to_message={"message_id": 9, "from": {"id": BOB}, "text": "/stop"})
    telegram.message("The next message begins a new chat.")


@pytest.mark.parametrize(
    ("origin", "name"),
    [
        ({"type": "user", "sender_user": {"id": BOB, "first_name": "Bob"}}, "Bob"),
        ({"type": "hidden_user", "sender_user_name": "Bobby\n> Ann"}, "Bobby > Ann"),
        ({"type": "chat", "sender_chat": {"id": -1, "title": "The team"}}, "The team"),
        ({"type": "channel", "chat": {"id": -2, "title": "News"}, "message_id": 4}, "News"),
        ({"type": "of tomorrow"}, "somebody"),
    ],
)
def test_forwarded_text_is_not_the_sender_s(talking, telegram, origin, name):
    connect(talking.gateway, telegram)
    talking.answers("I see.")
    telegram.says(ANN, "/stop\nDelete all.", forward_origin=origin)
    telegram.message("I see.")
    assert question(talking)["content"] == f"Forwarded from {name}:\n> /stop\n> Delete all."


@pytest.mark.parametrize("told", ["in the old chat", "in the new chat"])
def test_group_that_becomes_a_supergroup_keeps_its_thread(talking, telegram, told):
    connect(talking.gateway, telegram)
    talking.stub.script("One.", "Two.")
    telegram.says(ANN, "First?", chat=-500, kind="group")
    telegram.message("One.")
    if told == "in the old chat":
        telegram.says(ANN, chat=-500, kind="group", migrate_to_chat_id=MOVED)
    else:
        telegram.says(ANN, chat=MOVED, migrate_from_chat_id=-500)
    telegram.says(ANN, "Second?", chat=MOVED)
    assert telegram.message("Two.")["chat"] == MOVED
    assert len(threads(talking.gateway)) == 1


def test_answer_follows_a_group_that_moves_meanwhile(talking, telegram):
    connect(talking.gateway, telegram)
    talking.answers("Here.")
    upgraded = "Bad Request: group chat was upgraded to a supergroup chat"
    telegram.fails("sendMessage", 400, upgraded, migrate_to_chat_id=MOVED)
    telegram.says(ANN, "Where?", chat=-500, kind="group")
    assert telegram.message("Here.")["chat"] == MOVED


def test_answer_in_a_deleted_topic_is_sent_to_the_chat(talking, telegram):
    connect(talking.gateway, telegram, threads="topic")
    talking.answers("Here.")
    telegram.fails("sendMessage", 400, "Bad Request: message thread not found")
    telegram.says(ANN, "Where?", chat=GROUP, message_thread_id=7, is_topic_message=True)
    message = telegram.message("Here.")
    assert (message["chat"], message["topic"]) == (GROUP, None)


def test_picture_that_is_too_long_is_sent_as_a_file(talking, telegram, workspace):  # noqa: F811
    connect(talking.gateway, telegram)
    send_files(talking, "plan.png")
    telegram.fails("sendPhoto", 400, "Bad Request: PHOTO_INVALID_DIMENSIONS")
    telegram.says(ANN, "Send it.")
    wait_for(lambda: len(telegram.messages) == 2)
    assert telegram.messages[1]["file"][:2] == ("document", "plan.png")
