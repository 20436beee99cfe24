"""Conversations of unusual shape: cycles, duplicate ids, forks that are copies, files written on Windows. Nothing is
lost, and nothing is imported twice.

See docs/contract/transfer.md#agw-import.
"""

import base64
import json

from checks import accepted
from transfer import (ChatGPT, created, imported, reasons, texts, threads, transcript_of, turns, write_json,
                      write_lines)

BYTE_ORDER_MARK = "\ufeff"


def texts_by_title(gateway):
    """Returns the texts of all threads by title."""
    return {title: [content for _, content in texts(gateway, title)] for title in threads(gateway)}


def all_texts(gateway):
    """Returns the texts of each thread. Several threads may have the same title."""
    listed = accepted(gateway.http.get("/threads", params={"archived": "true"}))
    return [[turn["content"] for turn in transcript_of(gateway, one["id"])] for one in listed]


def rollout(*payloads, **head):
    """Returns the lines of a session of Codex."""
    lines = [{"timestamp": "2026-01-02T10:00:00.000Z", "type": "session_meta", "payload": {"cwd": "/gone", **one}}
             for one in head.pop("metas")]
    return lines + [{"timestamp": "2026-01-02T10:00:00.000Z", "type": "response_item", "payload": one} for one in payloads]


def message(role, text, *blocks):
    kind = "input_text" if role == "user" else "output_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}, *blocks]}


def claude(*messages, **members):
    return {"uuid": "c", "name": "Plan", "chat_messages": [
        {"uuid": key, "sender": sender, "text": text, "parent_message_uuid": parent} for key, sender, text, parent in messages],
        **members}


def test_a_fork_of_a_session_of_codex_is_a_separate_thread(own_gateway):
    """Its file begins with its own metadata, followed by a copy of all lines of the original session."""
    folder = own_gateway.home / ".codex"
    copied = [message("user", "Saw it."), message("assistant", "Sawn.")]
    write_lines(folder / "sessions" / "rollout-1.jsonl", rollout(*copied, message("user", "Sand it."), metas=[{"id": "one"}]))
    write_lines(folder / "sessions" / "rollout-2.jsonl",
                rollout(*copied, message("user", "Paint it."), metas=[{"id": "two"}, {"id": "one"}]))
    assert created(imported(own_gateway, "codex", folder))["threads"] == 2
    assert sorted(all_texts(own_gateway)) == [["Saw it.", "Sawn.", "Paint it."], ["Saw it.", "Sawn.", "Sand it."]]
    assert created(imported(own_gateway, "codex", folder)) == {}


def test_pictures_of_two_sessions_of_codex_are_not_confused(own_gateway):
    folder = own_gateway.home / ".codex"
    for name in ("hat", "cat"):
        picture = base64.b64encode(b"\x89PNG\r\n\x1a\n" + name.encode()).decode()
        write_lines(folder / "sessions" / f"{name}.jsonl", rollout(
            message("user", f"A {name}", {"type": "input_image", "image_url": f"data:image/png;base64,{picture}"}),
            metas=[{"id": name}]))
    assert created(imported(own_gateway, "codex", folder))["files"] == 2
    for name in ("hat", "cat"):
        [turn] = turns(own_gateway, f"A {name}")
        [attached] = turn["metadata"]["attachments"]
        assert (own_gateway.data / "attachments" / attached["id"]).read_bytes().endswith(name.encode())
    assert created(imported(own_gateway, "codex", folder)) == {}


def test_what_codex_adds_to_a_message_is_left_out(own_gateway):
    folder = own_gateway.home / ".codex"
    picture = {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgpoYXQ="}

    def text(content):
        return {"type": "input_text", "text": content}

    shell = ("<user_shell_command>\n<command>\ngit log\n</command>\n<result>\nExit code: 0\nDuration: 0.0250 seconds\n"
             "Output:\n<command>\nnone\n</result>\n</user_shell_command>")
    quoted = f"What does this mean?\n{shell}"
    context = "# Context from my IDE setup:\n\n## Open tabs:\n- a.txt: a.txt\n\n## My request for Codex:\n"
    write_lines(folder / "sessions" / "1.jsonl", rollout(
        message("user", "<environment_context>\n</environment_context>", text("<goal_context>x</goal_context>")),
        message("user", '<image name=[Image #1] path="/tmp/hat.png">', picture, text("</image>"), text("[Image #1] Whose?")),
        message("assistant", "Ada's."), message("user", shell), message("user", context + "Count them"),
        message("user", "<codex_internal_context source=\"goal\">\nx\n</codex_internal_context>"),
        message("user", "<b>Bold</b>"), message("user", quoted), metas=[{"id": "one"}]))
    result = imported(own_gateway, "codex", folder)
    assert list(texts_by_title(own_gateway).values()) == [
        ["[Image #1] Whose?", "Ada's.", "!git log", "Count them", "<b>Bold</b>", quoted]]
    why = reasons(result)
    assert why["2 messages of sessions"] == "are what that program tells its model"
    assert {"1 parts `output of a typed command` of messages", "1 parts `context of an editor` of messages"} <= why.keys()


def test_messages_in_a_cycle_of_parents_become_threads(own_gateway, tmp_path):
    chat = ChatGPT()
    chat.say("user", "Where to?")
    chat.say("assistant", "To Rome.")
    mapping = chat.conversation["mapping"]
    for key, parent in (("x", "y"), ("y", "x"), ("z", "z")):
        mapping[key] = {"id": key, "parent": parent, "children": [], "message": {
            "author": {"role": "user"}, "content": {"content_type": "text", "parts": [f"I am {key}."]}}}
    path = write_json(tmp_path / "conversations.json", [chat.conversation])
    imported(own_gateway, "chatgpt", path)
    assert texts_by_title(own_gateway) == {"Trip": ["Where to?", "To Rome."], "Trip (fork 1)": ["I am y.", "I am x."],
                                           "Trip (fork 2)": ["I am z."]}
    assert created(imported(own_gateway, "chatgpt", path)) == {}


def test_messages_with_one_id_are_dropped_only_if_identical(own_gateway, tmp_path):
    chat = claude(("1", "human", "A", None), ("2", "assistant", "a", "1"), ("2", "assistant", "a", "1"),
                  ("2", "assistant", "b", "1"), ("2", "assistant", "c", "1"), ("1", "human", "A", None))
    chat["current_leaf_message_uuid"] = "2"
    path = write_json(tmp_path / "conversations.json", [chat])
    imported(own_gateway, "claude", path)
    assert texts_by_title(own_gateway) == {"Plan": ["A", "a"], "Plan (fork 1)": ["A", "b"], "Plan (fork 2)": ["A", "c"]}
    assert created(imported(own_gateway, "claude", path)) == {}


def test_a_message_with_the_id_of_its_parent_is_kept(own_gateway, tmp_path):
    chat = claude(("1", "human", "A", None), ("2", "human", "a", "1"), ("2", "human", "b", "2"), ("2/2", "human", "c", "1"))
    for at in (1, 2):
        chat["chat_messages"][at]["attachments"] = [{"file_name": "text", "extracted_content": "ab"[at - 1]}]
    path = write_json(tmp_path / "conversations.json", [chat])
    imported(own_gateway, "claude", path)
    assert texts_by_title(own_gateway) == {"Plan": ["A", "c"], "Plan (fork 1)": ["A", "a", "b"]}
    files = [turn["metadata"]["attachments"][0]["id"] for turn in turns(own_gateway, "Plan (fork 1)")[1:]]
    assert [(own_gateway.data / "attachments" / one).read_text() for one in files] == ["a", "b"]
    assert created(imported(own_gateway, "claude", path)) == {}


def test_messages_with_one_id_but_different_calls_results_or_files_are_kept(own_gateway, tmp_path):
    chat = claude(("1", "human", "A", None), *(("2", "assistant", "a", "1") for _ in range(6)))
    messages = chat["chat_messages"]
    for at, (key, city) in enumerate([("x", "Rome"), ("x", "Oslo"), ("x", "Rome")], 1):
        messages[at]["content"] = [{"type": "tool_use", "id": key, "name": "go", "input": {"to": city}},
                                   {"type": "tool_result", "tool_use_id": key, "content": "Gone."}]
    messages[4]["content"] = [messages[1]["content"][0], {**messages[1]["content"][1], "content": "Lost."}]
    for at in (5, 6):
        messages[at]["attachments"] = [{"file_name": "text", "extracted_content": f"{at}"}]
    chat["current_leaf_message_uuid"] = "2"
    path = write_json(tmp_path / "conversations.json", [chat])
    imported(own_gateway, "claude", path)
    assert set(texts_by_title(own_gateway)) == {"Plan", *(f"Plan (fork {number})" for number in (1, 2, 3, 4))}
    assert created(imported(own_gateway, "claude", path)) == {}


def test_at_most_100_messages_with_one_id_are_kept(own_gateway, tmp_path):
    path = write_json(tmp_path / "conversations.json", [claude(*(("1", "human", f"{at}", None) for at in range(103)))])
    result = imported(own_gateway, "claude", path)
    assert reasons(result) == {"3 messages": "have the id of 100 others"}
    assert {text for one in all_texts(own_gateway) for text in one} == {f"{at}" for at in range(100)}
    assert created(imported(own_gateway, "claude", path)) == {}


def test_files_written_on_windows_are_read(own_gateway):
    """They begin with a byte order mark, and their lines end with CRLF."""
    def put(path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((BYTE_ORDER_MARK + text).replace("\n", "\r\n").encode())

    codex = own_gateway.home / ".codex"
    lines = rollout(message("user", "Hello there."), metas=[{"id": "one"}])
    put(codex / "sessions" / "rollout-1.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    put(codex / "prompts" / "fix.md", "---\ndescription: Mends it\n---\nMend $1.\n")
    put(codex / "config.toml", 'model_provider = "lab"\n[model_providers.lab]\nbase_url = "https://lab.example"\n')
    result = imported(own_gateway, "codex", codex)
    assert not any("JSON" in why or "head" in what for what, why in reasons(result).items()), result
    command = own_gateway.http.get("/extensions/fix").json()
    assert command["description"] == "Mends it" and command["definition"]["prompt"].strip() == "Mend $1."
    assert own_gateway.http.get("/extensions/lab").status_code == 200
    assert texts_by_title(own_gateway) == {"Hello there.": ["Hello there."]}


def test_old_sessions_of_openclaw_without_line_ids_are_read_in_order(own_gateway):
    folder = own_gateway.home / ".openclaw"
    write_lines(folder / "agents" / "main" / "sessions" / "s.jsonl", [
        {"type": "session", "id": "s", "timestamp": "2026-01-02T10:00:00.000Z"},
        *({"type": "message", "timestamp": "2026-01-02T10:00:00.000Z", "message": {"role": role, "content": text}}
          for role, text in (("user", "Dig here."), ("assistant", "Dug."), ("user", "And there.")))])
    imported(own_gateway, "openclaw", folder)
    assert texts_by_title(own_gateway) == {"Dig here.": ["Dig here.", "Dug.", "And there."]}
    assert created(imported(own_gateway, "openclaw", folder)) == {}


def test_copies_and_traces_of_sessions_of_openclaw_are_left_out(own_gateway):
    folder = own_gateway.home / ".openclaw"
    sessions = folder / "agents" / "main" / "sessions"
    said = {"type": "message", "id": "a", "parentId": None, "timestamp": "2026-01-02T03:04:05.000Z",
            "message": {"role": "user", "content": "Saw it."}}
    for name in ("s1", "s1.checkpoint.6f1d", "s1-topic-7"):
        write_lines(sessions / f"{name}.jsonl", [said])
    write_lines(sessions / "s1.trajectory.jsonl", [{"type": "prompt.submitted", "data": {"prompt": "Saw it."}}])
    result = imported(own_gateway, "openclaw", folder)
    assert all_texts(own_gateway) == [["Saw it."], ["Saw it."]]
    assert [what for what in reasons(result) if "sessions" in what] == [f"2 files in {sessions}"]


def test_what_openclaw_adds_to_a_message_is_left_out(own_gateway):
    folder = own_gateway.home / ".openclaw"
    block = 'Conversation info (untrusted metadata):\n```json\n{\n  "message_id": "1"\n}\n```\n\n'
    new = ('Sender: ⟦openclaw:ctx⟧\n```json\n{"id": "ada"}\n```\n\nChat: ⟦openclaw:ctx⟧\n#1 hello\n\n'
           "[Thu 2026-04-09 14:48 GMT+8] And here")
    said = [("user", f"[Wed 2026-03-11 23:51 PDT] {block}{block}Dig here (untrusted):\nnow"),
            ("assistant", "[[reply_to_current]] Dug."), ("user", new), ("assistant", "[[x]] Dug."), ("user", "[Map] Where?"),
            ("user", "A new session was started via /new or /reset. Greet the user.")]
    write_lines(folder / "agents" / "main" / "sessions" / "s.jsonl", [
        {"type": "message", "message": {"role": role, "content": [{"type": "text", "text": text}]}} for role, text in said])
    result = imported(own_gateway, "openclaw", folder)
    assert list(texts_by_title(own_gateway).values()) == [
        ["Dig here (untrusted):\nnow", "Dug.", "And here", "[[x]] Dug.", "[Map] Where?"]]
    assert {"4 parts `context of a channel` of messages", "1 parts `start of a session` of messages"} <= reasons(result).keys()


def test_messages_of_claude_code_without_an_id_are_reported(own_gateway):
    folder = own_gateway.home / ".claude"
    line = {"type": "user", "uuid": "1", "timestamp": "2026-01-02T10:00:00.000Z", "message": {"role": "user", "content": "Hello."}}
    write_lines(folder / "projects" / "p" / "s.jsonl", [line, {**line, "uuid": None}])
    result = imported(own_gateway, "claude-code", folder)
    assert reasons(result)["1 messages of sessions"] == "have no uuid"
    assert texts_by_title(own_gateway) == {"Hello.": ["Hello."]}
