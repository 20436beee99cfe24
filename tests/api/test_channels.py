"""Channels: people talk to agents in messengers. The messenger is a stub of Telegram's Bot API.

See docs/contract/channels.md.
"""

import pytest

from approvals import pending
from channels import ANN, BOB, EVE, GROUP, channel, connect, threads
from checks import accepted, at_once, refused
from jobs import new_job, run, wait_for
from story import fault_library
from stubs.provider import Fault, ProviderStub, ToolCall
from stubs.telegram import TOKEN
from talker import Talker, configuration
from tools import calls, turns_of


def test_message_is_answered_where_it_came_from(talking, telegram):
    connect(talking.gateway, telegram)
    talking.answers("**Four**, of course.")
    telegram.says(ANN, "What is two and two?")
    answer = telegram.message("Four")
    assert answer["chat"] == ANN and answer["html"] == "<b>Four</b>, of course."
    (thread,) = threads(talking.gateway)
    assert thread["mode"] == "act"
    question, answer = sorted(turns_of(talking.gateway, thread), key=lambda turn: turn["created_at"])
    assert question["content"] == "What is two and two?"
    assert question["metadata"]["channel"]["service"] == "telegram"
    assert question["metadata"]["channel"]["sender"] == str(ANN)


def test_state_is_known_while_the_first_poll_waits(talking, telegram):
    connect(talking.gateway, telegram)
    wait_for(lambda: channel(talking.gateway)["state"] == "connected")
    wait_for(lambda: telegram.polls)
    assert [poll["timeout"] for poll in telegram.polls] == [50]


def test_chat_continues_in_its_thread_until_a_new_one_begins(talking, telegram):
    connect(talking.gateway, telegram)
    for number in range(2):
        talking.answers(f"Answer {number}.")
        telegram.says(ANN, f"Question {number}?")
        telegram.message(f"Answer {number}.")
    assert len(threads(talking.gateway)) == 1
    telegram.says(ANN, "/new")
    telegram.message("begins a new chat")
    talking.answers("Answer 2.")
    telegram.says(ANN, "Question 2?")
    telegram.message("Answer 2.")
    assert len(threads(talking.gateway)) == 2


def test_each_person_and_topic_has_a_thread(talking, telegram):
    connect(talking.gateway, telegram, allow=[ANN, str(BOB)], threads="topic")
    for number, (sender, topic) in enumerate([(ANN, None), (BOB, 7), (BOB, 8)]):
        talking.answers(f"Answer {number}.")
        place = {"chat": GROUP, "message_thread_id": topic, "is_topic_message": True} if topic else {}
        telegram.says(sender, "Hello?", **place)
        answer = telegram.message(f"Answer {number}.")
        assert (answer["chat"], answer["topic"]) == (GROUP if topic else ANN, topic)
    assert len(threads(talking.gateway)) == 3


def test_strangers_are_ignored(talking, telegram):
    connect(talking.gateway, telegram)
    telegram.says(EVE, "Let me in!")
    telegram.says(EVE, "/status", chat=GROUP)
    talking.answers("Hello, Ann.")
    telegram.says(ANN, "Hello!")
    telegram.message("Hello, Ann.")
    assert telegram.texts() == ["Hello, Ann."]
    assert len(threads(talking.gateway)) == 1


def test_stranger_is_paired_by_a_code_that_a_person_confirms(talking, telegram):
    made = connect(talking.gateway, telegram, allow=[], pairing=True)
    telegram.says(BOB, "Hello?")
    code = telegram.message("does not know you")["text"].partition("agw pair ")[2]
    assert len(code) == 6 and code.isdigit()
    assert channel(talking.gateway)["strangers"] == 1
    wrong = f"{(int(code) + 1) % 1_000_000:06}"
    refused(talking.gateway.http.post("/channels/pair", json={"code": wrong}), 404, "code not found")
    confirmed = accepted(talking.gateway.http.post("/channels/pair", json={"code": code}))
    assert confirmed == {"channel": made["name"], "sender": str(BOB), "name": f"Person {BOB}"}
    telegram.message("You are known now")
    assert accepted(talking.gateway.http.get(f"/extensions/{made['id']}"))["definition"]["allow"] == [str(BOB)]
    talking.answers("Hello, Bob.")
    telegram.says(BOB, "Hello again!")
    telegram.message("Hello, Bob.")
    refused(talking.gateway.http.post("/channels/pair", json={"code": code}), 404, "code not found")


def test_strangers_who_are_confirmed_at_the_same_time_are_all_known(talking, telegram):
    made = connect(talking.gateway, telegram, allow=[], pairing=True)
    strangers = list(range(BOB, BOB + 12))
    for stranger in strangers:
        telegram.says(stranger, "Hello?")
    telegram.until(lambda: len(telegram.texts()) == len(strangers))
    codes = [text.partition("agw pair ")[2] for text in telegram.texts()]
    at_once(len(codes), lambda n: accepted(talking.gateway.http.post("/channels/pair", json={"code": codes[n]})))
    allow = accepted(talking.gateway.http.get(f"/extensions/{made['id']}"))["definition"]["allow"]
    assert sorted(allow) == sorted(map(str, strangers))


def test_code_is_confirmed_on_the_command_line(talking, telegram):
    connect(talking.gateway, telegram, allow=[], pairing=True)
    telegram.says(BOB, "Hello?")
    code = telegram.message("does not know you")["text"].partition("agw pair ")[2]
    done = talking.gateway.command("pair", code)
    assert done.returncode == 0 and f"Person {BOB}" in done.stdout, done
    telegram.message("You are known now")
    again = talking.gateway.command("pair", code)
    assert again.returncode == 1 and "code not found" in again.stderr and "write to the channel again" in again.stderr


def test_stranger_in_a_group_is_given_no_code(talking, telegram):
    connect(talking.gateway, telegram, pairing=True)
    telegram.says(EVE, "Hello?", chat=GROUP)
    telegram.says(ANN, "/help", chat=GROUP)
    telegram.message("/status says what is going on")
    assert len(telegram.messages) == 1


def test_commands_report_the_state(talking, telegram):
    connect(talking.gateway, telegram)
    telegram.says(ANN, "/start")
    telegram.message("Commands:")
    telegram.says(ANN, "/stop@the_bot", chat=GROUP)
    telegram.message("Nothing is running.")
    telegram.says(ANN, "/plan")
    telegram.message("only looks and thinks")
    telegram.says(ANN, "/status")
    assert "Mode: plan" in telegram.message("Mode:")["text"]
    telegram.says(ANN, "/act")
    telegram.message("The agent acts.")


def test_command_for_another_bot_is_ignored(talking, telegram):
    connect(talking.gateway, telegram)
    telegram.says(ANN, "/status@other_bot", chat=GROUP)
    telegram.says(ANN, "/help@other_bot please", chat=GROUP)
    telegram.says(ANN, "/stop@The_Bot", chat=GROUP)
    telegram.message("Nothing is running.")
    talking.answers("A path.")
    telegram.says(ANN, "/srv/ann@example.org", chat=GROUP)
    telegram.message("A path.")
    assert len(telegram.messages) == 2 and talking.request_count() == 1


def test_stop_ends_the_answer(talking, telegram):
    connect(talking.gateway, telegram)
    held = talking.holds("Half of")
    telegram.says(ANN, "Tell me all.")
    held.was_asked()
    telegram.says(ANN, "/stop")
    telegram.message("Stopped.")
    held.was_aborted()


def test_long_answer_is_split_at_paragraphs(talking, telegram):
    connect(talking.gateway, telegram)
    paragraphs = [f"Paragraph {number}: " + "words " * 200 for number in range(9)]
    talking.answers("\n\n".join(paragraphs))
    telegram.says(ANN, "Tell me much.")
    telegram.message("Paragraph 8")
    whole = "\n".join(telegram.texts())
    assert len(telegram.messages) == 3
    assert all(message["text"].startswith("Paragraph") for message in telegram.messages)
    assert whole.count("words") == 9 * 200


def test_markup_that_telegram_cannot_parse_is_sent_as_plain_text(talking, telegram):
    connect(talking.gateway, telegram)
    telegram.fails("sendMessage", 400, "Bad Request: can't parse entities: Unsupported start tag")
    talking.answers("Some **bold** text.")
    telegram.says(ANN, "Say something.")
    assert telegram.message("bold")["text"] == "Some **bold** text."


def test_telegram_is_told_not_to_load_links(talking, telegram):
    connect(talking.gateway, telegram, stream="edit")
    held = talking.holds("See https://example.org/?")
    telegram.says(ANN, "Where is it?")
    telegram.message("example.org")
    held.release("q=secret")
    telegram.message("q=secret")
    for call in telegram.of("sendMessage") + telegram.of("editMessageText"):
        assert call["link_preview_options"] == {"is_disabled": True}, call


def test_unfinished_answer_is_shown_as_a_draft(talking, telegram):
    connect(talking.gateway, telegram, stream="draft")
    held = talking.holds("The beginning")
    telegram.says(ANN, "Tell me.")
    telegram.until(lambda: [one for one in telegram.of("sendMessageDraft") if one["text"] == "The beginning"])
    assert not telegram.messages
    held.release(" and the end.")
    telegram.message("The beginning and the end.")
    assert len(telegram.messages) == 1


def test_unfinished_answer_is_shown_by_editing(talking, telegram):
    connect(talking.gateway, telegram, stream="edit")
    held = talking.holds("The beginning")
    telegram.says(ANN, "Tell me.", chat=GROUP)
    telegram.message("The beginning")
    held.release(" and the end.")
    telegram.message("The beginning and the end.")
    assert len(telegram.messages) == 1 and telegram.messages[0]["edits"] >= 1


def test_drafts_are_not_sent_again_if_they_are_not_supported(talking, telegram):
    connect(talking.gateway, telegram, stream="draft")
    telegram.fails("sendMessageDraft", 404, "Not Found: method not found")
    held = talking.holds("The beginning")
    telegram.says(ANN, "Tell me.")
    telegram.until(lambda: telegram.of("sendMessageDraft"))
    held.release(" and the end.")
    telegram.message("The beginning and the end.")
    assert len(telegram.of("sendMessageDraft")) == 1


def test_failed_answer_includes_the_reason(talking, telegram):
    connect(talking.gateway, telegram, agent_id="nobody")
    telegram.says(ANN, "Are you there?")
    telegram.message("agent not found")
    assert channel(talking.gateway)["open_questions"] == 0


@pytest.mark.parametrize("blank", ["", " \n\n\t", "\u00a0\u3000", "\u2028\u200b\ufeff"])
def test_answer_without_text_is_mentioned(talking, telegram, blank):
    connect(talking.gateway, telegram)
    talking.answers(blank)
    telegram.says(ANN, "Say nothing.")
    telegram.message("(no text)")


def test_answer_without_visible_text_is_sent_as_plain_text(talking, telegram):
    connect(talking.gateway, telegram)
    talking.answers("[a]: https://example.org")
    telegram.says(ANN, "Define a link.")
    telegram.message("[a]: https://example.org")


def test_first_draft_has_visible_text(talking, telegram):
    """Telegram rejects an empty draft, and after a rejection the gateway sends no more drafts."""
    connect(talking.gateway, telegram, stream="draft")
    held = talking.holds("\n\n", "\u3000", "The beginning")
    telegram.says(ANN, "Tell me.")
    telegram.until(lambda: [one for one in telegram.of("sendMessageDraft") if "The beginning" in one["text"]])
    held.release(" and the end.")
    telegram.message("The beginning and the end.")
    assert all(one["text"].strip() for one in telegram.of("sendMessageDraft"))


def test_files_are_attached(talking, telegram):
    connect(talking.gateway, telegram)
    telegram.files["files/voice-1"] = b"OggS voice"
    telegram.files["files/note-1"] = "Grüße".encode()
    talking.answers("I have them.")
    telegram.says(
        ANN,
        caption="Look at these.",
        voice={"file_id": "voice-1", "duration": 3, "mime_type": "audio/ogg"},
        document={"file_id": "note-1", "file_name": "note.txt", "mime_type": "text/plain"},
    )
    telegram.message("I have them.")
    (thread,) = threads(talking.gateway)
    (question,) = [turn for turn in turns_of(talking.gateway, thread) if turn["role"] == "user"]
    assert question["content"] == "Look at these."
    names = [file["name"] for file in question["metadata"]["attachments"]]
    assert names == ["note.txt", "voice.ogg"]


def test_missing_file_is_mentioned(talking, telegram):
    connect(talking.gateway, telegram)
    talking.answers("I cannot see it.")
    telegram.says(ANN, document={"file_id": "gone", "file_name": "gone.txt"})
    telegram.message("I cannot see it.")
    assert "gone.txt could not be fetched" in talking.conversation()[-1][1]


def test_edited_message_is_ignored(talking, telegram):
    connect(talking.gateway, telegram)
    talking.answers("Once.")
    telegram.says(ANN, "Question?")
    telegram.message("Once.")
    telegram.update(
        edited_message={"message_id": 1, "from": {"id": ANN}, "chat": {"id": ANN, "type": "private"}, "text": "Other?"}
    )
    telegram.says(ANN, "/status")
    telegram.message("Mode:")
    assert talking.request_count() == 1


# Permission requests and questions.


def test_permission_is_asked_with_buttons(talking, telegram):
    connect(talking.gateway, telegram)
    talking.stub.script(calls(("Write", {"path": "note.txt", "content": "hello"})), "It is written.")
    telegram.says(ANN, "Write it.")
    asked = telegram.until(lambda: [m for m in telegram.messages if m["buttons"]])[0]
    assert "write a file" in asked["text"] and "note.txt" in asked["text"]
    assert [label for label, _ in asked["buttons"]][0] == "Allow once"
    press = telegram.presses(ANN, asked, "Deny")
    telegram.message("It is written.")
    assert press in [one["callback_query_id"] for one in telegram.of("answerCallbackQuery")]
    assert not telegram.until(lambda: [m for m in telegram.messages if "denied" in m["text"]])[0]["buttons"]


def test_only_the_people_of_the_channel_decide(talking, telegram):
    connect(talking.gateway, telegram)
    talking.stub.script(calls(("Write", {"path": "note.txt", "content": "hello"})), "Done with it.")
    telegram.says(ANN, "Write it.", chat=GROUP)
    asked = dict(telegram.until(lambda: [m for m in telegram.messages if m["buttons"]])[0])
    press = telegram.presses(EVE, asked, "Allow once")
    telegram.until(lambda: press in [one["callback_query_id"] for one in telegram.of("answerCallbackQuery")])
    assert len(pending(talking.gateway)) == 1
    telegram.presses(ANN, asked, "Deny")
    telegram.message("Done with it.")
    assert not pending(talking.gateway)
    late = telegram.presses(ANN, asked, "Allow once")
    answered = telegram.until(lambda: [o for o in telegram.of("answerCallbackQuery") if o["callback_query_id"] == late])
    assert answered[0]["text"] == "This is decided already."


def test_question_is_answered_by_a_message(talking, telegram):
    connect(talking.gateway, telegram)
    asks = {"question": "Which colour?", "options": ["red", "blue"]}
    talking.stub.script(calls(("AskUser", asks)), "So be it.")
    telegram.says(ANN, "Paint it.")
    asked = telegram.until(lambda: [m for m in telegram.messages if m["buttons"]])[0]
    assert "Which colour?" in asked["text"]
    telegram.says(ANN, "green, please")
    telegram.message("So be it.")
    assert "green, please" in talking.stub.requests[-1].json["messages"][-1]["content"]


def test_page_decides_a_request_from_a_chat(talking, telegram):
    connect(talking.gateway, telegram)
    talking.stub.script(calls(("Write", {"path": "note.txt", "content": "hello"})), "Done.")
    telegram.says(ANN, "Write it.")
    telegram.until(lambda: [m for m in telegram.messages if m["buttons"]])
    (request,) = pending(talking.gateway)
    accepted(talking.gateway.http.post(f"/permissions/{request['id']}", json={"decision": "deny"}))
    telegram.until(lambda: [m for m in telegram.messages if "denied" in m["text"] and not m["buttons"]])
    telegram.message("Done.")


# Notifications.


def test_people_get_the_configured_notices(talking, telegram):
    connect(talking.gateway, telegram, notify=["signals", "permission-requested"])
    wait_for(lambda: channel(talking.gateway)["state"] == "connected")
    accepted(talking.gateway.http.post("/signals", json={"kind": "backup-late", "message": "No backup."}), 201)
    assert telegram.message("No backup.")["chat"] == ANN
    thread = accepted(talking.gateway.http.post("/threads", json={}), 201)
    accepted(talking.gateway.http.patch(f"/threads/{thread['id']}", json={"mode": "act"}))
    talking.stub.script(calls(("Write", {"path": "note.txt", "content": "hello"})), "Done.")
    accepted(talking.gateway.http.post("/chat", json={"content": "Write it.", "threadId": thread["id"]}), 201)
    asked = telegram.until(lambda: [m for m in telegram.messages if m["buttons"]])[0]
    telegram.presses(ANN, asked, "Allow once")
    wait_for(lambda: turns_of(talking.gateway, thread, "assistant"))
    assert "Done." not in telegram.texts()


def test_people_get_notices_of_the_time_before_the_channel_works(talking, telegram):
    assert talking.gateway.http.delete("/secrets/TELEGRAM").status_code == 204
    connect(talking.gateway, telegram, notify=["signals"])
    wait_for(lambda: channel(talking.gateway)["state"] == "failing")
    accepted(talking.gateway.http.post("/signals", json={"kind": "backup-late", "message": "No backup."}), 201)
    talking.gateway.http.put("/secrets/TELEGRAM", json={"value": TOKEN})
    telegram.message("No backup.")


def test_people_are_notified_of_failed_jobs_and_proposals(talking, telegram):
    connect(talking.gateway, telegram, notify=["job.failed", "proposal.created"])
    job = new_job(talking.gateway, "nightly", precheck="exit 3")
    run(talking.gateway, job)
    assert telegram.message("The job nightly has failed")["chat"] == ANN
    talking.stub.script(calls(("Propose", {"title": "Greet by name", "type": "file", "target": "notes/a.md", "content": "Hello"})),
                        "Proposed.")
    thread = accepted(talking.gateway.http.post("/threads", json={}), 201)
    accepted(talking.gateway.http.patch(f"/threads/{thread['id']}", json={"mode": "act"}))
    accepted(talking.gateway.http.post("/chat", json={"content": "Propose it.", "threadId": thread["id"]}), 201)
    assert "Greet by name" in telegram.message("A proposal of assistant is waiting")["text"]


@pytest.fixture
def with_clock_jump(make_gateway, tmp_path):
    """A gateway with a scripted model, whose clock jumps ahead by 61 s once the file exists."""
    library = fault_library("clock_jump", tmp_path) or pytest.skip("AddressSanitizer must be the first library that is loaded")
    file = tmp_path / "jump"
    with ProviderStub() as stub:
        gateway = make_gateway(config=configuration(stub), environment={
            "LD_PRELOAD": str(library), "CLOCK_JUMP_FILE": str(file), "CLOCK_JUMP_SECONDS": "61"}).start()
        gateway.http.put("/secrets/TELEGRAM", json={"value": TOKEN})
        yield Talker(gateway, stub), file


def test_people_are_notified_of_long_answers_and_of_those_that_failed(with_clock_jump, telegram):
    talking, clock_file = with_clock_jump
    connect(talking.gateway, telegram, notify=["finish"])

    def asked(held):
        thread = accepted(talking.gateway.http.post("/threads", json={}), 201)
        accepted(talking.gateway.http.post("/chat", json={"content": "Think long.", "threadId": thread["id"]}), 201)
        assert held.was_asked()
        return held

    complete = asked(talking.stub.hold("It is"))
    failing = asked(talking.stub.hold("I look", tool_calls=[ToolCall("Glob", {"pattern": "*"})]))
    clock_file.touch()
    complete.release(" done.")
    telegram.message("An answer is ready.")
    talking.stub.script(Fault(401, "no longer valid"))
    failing.release()
    telegram.message("An answer has failed.")
    assert telegram.texts() == ["An answer is ready.", "An answer has failed."]


def test_answer_to_the_page_stays_on_the_page(talking, telegram):
    connect(talking.gateway, telegram)
    talking.answers("For the chat.")
    telegram.says(ANN, "Hello!")
    telegram.message("For the chat.")
    (thread,) = threads(talking.gateway)
    talking.says(thread, "Hello from the page!", answer="For the page.")
    talking.answers("For the chat again.")
    telegram.says(ANN, "Hello again!")
    telegram.message("For the chat again.")
    assert telegram.texts() == ["For the chat.", "For the chat again."]


@pytest.mark.parametrize(
    "members, path, text",
    [
        ({"service": None}, "definition.service", "definition.service is required"),
        ({"token": None}, "definition.token", "definition.token is required"),
        ({"token": "123:plain"}, "definition.token", "keep the token as a secret"),
        ({"service": "pigeon"}, "definition.service", "definition.service must be one of telegram, matrix, email, xmpp"),
        ({"address": "ftp://example.org"}, "definition.address", "definition.address "),
        ({"service": "matrix"}, "definition.address", "definition.address is required"),
        ({"service": "xmpp"}, "definition.user", "definition.user is required"),
        ({"service": "xmpp", "user": "agent"}, "definition.user", "must be an address such as name@example.org"),
        ({"service": "xmpp", "address": "https://example.org"}, "definition.address", "must be xmpp://host:port"),
        ({"service": "xmpp", "rooms": ["team"]}, "definition.rooms[0]", "must be an address"),
        ({"notify": ["everything"]}, "definition.notify[0]", "must be one of"),
        ({"allow": [True]}, "definition.allow[0]", "must be"),
    ],
)
def test_invalid_definition_is_refused(gateway, members, path, text):
    definition = {"kind": "channel", "service": "telegram", "token": "${secret:T}", **members}
    definition = {name: value for name, value in definition.items() if value is not None}
    body = {"name": "messenger", "type": "integration", "description": "A", "definition": definition}
    response = gateway.http.post("/extensions", json=body)
    assert response.status_code == 400 and response.json()["error"] == "validation failed", response.text
    assert any(one["path"] == path and text in one["message"] for one in response.json()["details"]), response.text
