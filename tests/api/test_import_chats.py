"""agw import chatgpt and agw import claude: the export archives of the two services.

See docs/contract/transfer.md.
"""

import base64
import json
import re
import zipfile

import pytest

from checks import accepted
from gateway import BINARY, HAS_ADDRESS_SANITIZER
from talker import PROVIDER, Talker, configuration
from terminal import Terminal
from transfer import ChatGPT, created, imported, memory_of_dry_run, reasons, texts, threads, turns, write_json, write_zip


def claude_message(key, sender, text, at=0, **members):
    return {"uuid": key, "sender": sender, "text": text, "created_at": f"2024-05-01T10:00:{at:02}.000000Z",
            "attachments": [], "files": [], **members}


def claude(*messages, key="k1", name="Plan", **members):
    return {"uuid": key, "name": name, "created_at": "2024-05-01T09:59:00.000000Z",
            "updated_at": "2024-05-01T11:00:00.000000Z", "chat_messages": list(messages), **members}


def trip():
    chat = ChatGPT()
    chat.say("system", "", metadata={"is_visually_hidden_from_conversation": True})
    chat.say("user", "Where to?")
    chat.say("assistant", "To Rome.", metadata={"model_slug": "gpt-4o"})
    return chat


def test_a_chatgpt_archive_becomes_threads_with_times_and_state(own_gateway, tmp_path):
    archived = ChatGPT("Old", "c2", archived=True)
    archived.say("user", "Hi")
    starred = {**trip().conversation, "is_starred": True}
    path = write_zip(tmp_path / "export.zip", conversations_json=[starred, archived.conversation],
                     user_json={"id": "u"})
    result = imported(own_gateway, "chatgpt", path)
    assert created(result) == {"threads": 2, "turns": 3} and reasons(result) == {"user.json": "is the account"}
    assert texts(own_gateway, "Trip") == [("user", "Where to?"), ("assistant", "To Rome.")]
    made = threads(own_gateway)
    assert made["Old"]["archived"] and not made["Trip"]["archived"]
    assert made["Trip"].get("pinned") and not made["Old"].get("pinned")
    assert (made["Trip"]["created_at"], made["Trip"]["updated_at"]) == (
        "2023-11-14T22:13:20.500Z", "2023-11-14T22:28:20.000Z")
    question, answer = turns(own_gateway, "Trip")
    assert question["created_at"] == "2023-11-14T22:13:22.000Z"
    assert answer["metadata"]["model"] == "gpt-4o" and answer["in_reply_to"] == question["id"]


def test_a_progress_bar_is_shown_on_a_terminal(own_gateway, tmp_path):
    chats = [ChatGPT(f"Chat {number}", f"c{number}").conversation for number in range(300)]
    archive = write_zip(tmp_path / "export.zip", conversations_json=chats)
    environment = {**own_gateway.variables(), "AGENT_GATEWAY_DATA_DIR": str(own_gateway.data), "TERM": "xterm"}
    with Terminal([str(BINARY), "import", "chatgpt", str(archive), "--dry-run"], environment, own_gateway.home) as terminal:
        terminal.wait_for("conversations.json [")
        assert re.fullmatch("#*-*", terminal.wait_for("] "))
        terminal.wait_for(" %")
        terminal.wait_for("Nothing was written")
        assert terminal.exit_status() == 0


@pytest.mark.skipif(HAS_ADDRESS_SANITIZER, reason="the limit is for builds without sanitizers")
def test_importing_a_large_file_of_one_line_uses_little_memory(own_gateway, tmp_path):
    chat = ChatGPT(key="the-key")
    for _ in range(20):
        chat.say("user", "word " * 2000)
    text = json.dumps(chat.conversation)
    path = tmp_path / "conversations.json"
    with path.open("w") as file:
        file.write("[")
        for number in range(800):
            file.write(("," if number else "") + text.replace("the-key", f"key-{number}"))
        file.write("]")
    assert path.stat().st_size > 150_000_000
    memory = memory_of_dry_run(own_gateway, "chatgpt", path)
    path.unlink()
    assert memory < 60 * 1024


def test_a_repeated_import_creates_nothing(own_gateway, tmp_path):
    path = write_json(tmp_path / "conversations.json", [trip().conversation])
    imported(own_gateway, "chatgpt", path)
    again = imported(own_gateway, "chatgpt", path)
    assert created(again) == {} and again["counts"]["turns"]["kept"] == 2
    assert len(threads(own_gateway)) == 1


def test_edited_and_regenerated_messages_become_forks(own_gateway, tmp_path):
    chat = ChatGPT()
    question = chat.say("user", "Where to?")
    chat.say("assistant", "To Rome.")
    chat.say("assistant", "To Oslo.", parent=question)
    chat.say("user", "When?", parent="root")
    chat.say("assistant", "In May.")
    imported(own_gateway, "chatgpt", write_json(tmp_path / "conversations.json", [chat.conversation]))
    assert texts(own_gateway, "Trip") == [("user", "When?"), ("assistant", "In May.")]
    assert texts(own_gateway, "Trip (fork 1)") == [("user", "Where to?"), ("assistant", "To Rome.")]
    assert texts(own_gateway, "Trip (fork 2)") == [("user", "Where to?"), ("assistant", "To Oslo.")]


def test_tool_calls_and_reasoning_are_imported(own_gateway, tmp_path):
    chat = ChatGPT()
    chat.say("user", "2+2?")
    chat.say("assistant", "", content={"content_type": "thoughts", "thoughts": [{"summary": "s", "content": "Add them."}]})
    chat.say("assistant", "", recipient="python", content={"content_type": "code", "language": "python", "text": "2+2"})
    chat.say("tool", "", name="python", content={"content_type": "execution_output", "text": "4"})
    chat.say("assistant", "It is 4.")
    imported(own_gateway, "chatgpt", write_json(tmp_path / "conversations.json", [chat.conversation]))
    _, call, answer = turns(own_gateway, "Trip")
    assert (call["role"], call["content"]) == ("tool", "4")
    assert call["metadata"]["tool_name"] == "python" and call["metadata"]["input"] == {"input": "2+2"}
    assert answer["content"] == "It is 4." and answer["metadata"]["reasoning"] == "Add them."
    assert answer["metadata"]["steps"] == [{"text_end": 0, "tool_call_ids": [call["metadata"]["tool_call_id"]]}]
    assert answer["metadata"]["run_id"] == call["metadata"]["run_id"]


def test_citations_become_links(own_gateway, tmp_path):
    def mark(number):
        return f"\ue200cite\ue202turn0search{number}\ue201"

    chat = ChatGPT()
    chat.say("user", "How old?")
    chat.say("assistant", f"Very{mark(0)}, so{mark(1)} they say{mark(2)}. \ue200", metadata={"content_references": [
        {"matched_text": mark(0), "type": "grouped_webpages", "alt": " ([roma.example](https://roma.example/))"},
        {"matched_text": mark(1), "alt": None, "items": [{"title": "Oslo", "url": "https://oslo.example/"}]}]})
    imported(own_gateway, "chatgpt", write_json(tmp_path / "conversations.json", [chat.conversation]))
    assert texts(own_gateway, "Trip")[1] == ("assistant", (
        "Very ([roma.example](https://roma.example/)), so [Oslo](https://oslo.example/) they say. \ue200"))


PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


def chat_with_pictures():
    """Returns a conversation of a question with a picture and a file, and an answer with a generated picture."""
    chat = ChatGPT()
    chat.say("user", "", content={"content_type": "multimodal_text", "parts": [
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-AbC1"}, "What is it?"]},
        metadata={"attachments": [{"id": "file-AbC1", "name": "cat.png"}, {"id": "file_77", "name": "notes.md"}]})
    chat.say("tool", "", name="dalle.text2im", content={"content_type": "multimodal_text", "parts": [
        {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_88"}]})
    chat.say("assistant", "A cat.")
    return chat.conversation


def stored_bytes(gateway, attachment):
    return (gateway.data / "attachments" / attachment["id"]).read_bytes()


def test_pictures_and_files_of_chatgpt_are_attached(own_gateway, tmp_path):
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("conversations.json", json.dumps([chat_with_pictures()]))
        made.writestr("file-AbC1-cat.png", PNG)
        made.writestr("user-1/file_77-notes.md", "# Notes")
        made.writestr("dalle-generations/file_88.dat", PNG + b"2")
        made.writestr("chat.html", "<html>")
    result = imported(own_gateway, "chatgpt", archive)
    assert created(result) == {"files": 3, "threads": 1, "turns": 3} and result["left_out"] == []
    question, call, answer = turns(own_gateway, "Trip")
    assert question["content"] == "What is it?"
    cat, notes = question["metadata"]["attachments"]
    assert (cat["name"], cat["mime"], stored_bytes(own_gateway, cat)) == ("cat.png", "image/png", PNG)
    assert (notes["name"], notes["mime"], stored_bytes(own_gateway, notes)) == ("notes.md", "text/plain", b"# Notes")
    [generated] = answer["metadata"]["attachments"]
    assert (generated["mime"], stored_bytes(own_gateway, generated)) == ("image/png", PNG + b"2")
    assert call["content"] == "[file: file_88.dat]"
    again = imported(own_gateway, "chatgpt", archive)
    assert created(again) == {} and again["counts"]["files"]["kept"] == 3
    assert len(list((own_gateway.data / "attachments").iterdir())) == 3


def test_files_have_the_names_that_a_list_gives_them(own_gateway, tmp_path):
    """In newer exports, all files end in `.dat`."""
    chat = ChatGPT()
    chat.say("user", "What is it?", content={"content_type": "multimodal_text", "parts": [
        {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_77"}, "What is it?"]})
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as made:
        made.writestr("conversations-000.json", json.dumps([chat.conversation]))
        made.writestr("file_77.dat", PNG)
        made.writestr("conversation_asset_file_names.json", json.dumps({"file_77.dat": "cat.png"}))
        made.writestr("export_manifest.json", "{}")
    result = imported(own_gateway, "chatgpt", tmp_path / "export.zip")
    assert result["left_out"] == []
    [cat] = turns(own_gateway, "Trip")[0]["metadata"]["attachments"]
    assert (cat["name"], cat["mime"], stored_bytes(own_gateway, cat)) == ("cat.png", "image/png", PNG)


def test_an_imported_picture_is_sent_to_the_model(make_gateway, stub, tmp_path):
    gateway = make_gateway(config=configuration(stub)).start()
    write_json(tmp_path / "export" / "conversations.json", [chat_with_pictures()])
    for name in ("file-AbC1-cat.png", "file_77-notes.md"):
        (tmp_path / "export" / name).write_bytes(PNG if name.endswith("png") else b"# Notes")
    imported(gateway, "chatgpt", tmp_path / "export")
    Talker(gateway, stub).says(threads(gateway)["Trip"], "Go on", answer="Yes.", model=f"{PROVIDER}/vision-1")
    sent = json.dumps(stub.requests[-1].json)
    assert base64.b64encode(PNG).decode() in sent and "# Notes" in sent


def test_a_file_missing_from_the_export_is_named(own_gateway, tmp_path):
    result = imported(own_gateway, "chatgpt", write_json(tmp_path / "conversations.json", [chat_with_pictures()]))
    assert texts(own_gateway, "Trip")[0] == ("user", "What is it?\n\n[file: cat.png]\n\n[file: notes.md]")
    assert "export lacks them" in reasons(result)["3 files"]


def test_a_file_that_is_too_large_is_left_out(own_gateway, tmp_path):
    write_json(tmp_path / "export" / "conversations.json", [chat_with_pictures()])
    (tmp_path / "export" / "file-AbC1-cat.png").write_bytes(bytes(20 * 1024 * 1024 + 1))
    (tmp_path / "export" / "file_77-notes.md").write_bytes(b"")
    why = reasons(imported(own_gateway, "chatgpt", tmp_path / "export"))
    assert why["file cat.png"] == "is larger than 20 MiB" and why["file notes.md"] == "is empty"
    assert "[file: cat.png]" in texts(own_gateway, "Trip")[0][1]


def test_newer_exports_have_several_files(own_gateway, tmp_path):
    other = ChatGPT("Second", "c9")
    other.say("user", "Hi")
    write_json(tmp_path / "export" / "conversations-000.json", [trip().conversation])
    write_json(tmp_path / "export" / "conversations-001.json", [other.conversation])
    imported(own_gateway, "chatgpt", tmp_path / "export")
    assert set(threads(own_gateway)) == {"Trip", "Second"}


def test_the_complete_parts_of_a_truncated_file_are_imported(own_gateway, tmp_path):
    text = json.dumps([trip().conversation, ChatGPT("Cut", "c3").conversation])
    path = tmp_path / "conversations.json"
    path.write_text(text[:-60])
    result = imported(own_gateway, "chatgpt", path)
    assert set(threads(own_gateway)) == {"Trip"}
    assert "is cut off after 1 conversations" in reasons(result)["conversations.json"]


def test_the_export_of_the_other_service_is_left_out(own_gateway, tmp_path):
    path = write_json(tmp_path / "conversations.json", [claude(claude_message("1", "human", "Hi"))])
    result = imported(own_gateway, "chatgpt", path)
    assert created(result) == {} and "another program" in result["left_out"][0]["why"]
    assert threads(own_gateway) == {}


def test_a_cycle_of_parents_ends(own_gateway, tmp_path):
    chat = trip()
    chat.conversation["mapping"]["m2"]["parent"] = "m3"
    imported(own_gateway, "chatgpt", write_json(tmp_path / "conversations.json", [chat.conversation]))
    assert sorted(texts(own_gateway, "Trip")) == [("assistant", "To Rome."), ("user", "Where to?")]


def test_a_dry_run_writes_nothing_and_needs_no_gateway(make_gateway, tmp_path):
    gateway = make_gateway()
    path = write_json(tmp_path / "conversations.json", [trip().conversation])
    result = imported(gateway, "chatgpt", path, "--dry-run")
    assert created(result) == {"threads": 1, "turns": 2}
    table = gateway.command("import", "chatgpt", str(path), "--dry-run").stdout
    assert [line.split() for line in table.splitlines()] == [["KIND", "COUNT"], ["threads", "1"], ["turns", "2"]]
    gateway.start()
    assert threads(gateway) == {}


def test_anything_but_an_export_is_an_error(own_gateway, tmp_path):
    for name, content, why in (("a.zip", b"PK\x03\x04broken", ""), ("empty.zip", b"PK\x05\x06" + bytes(18), "contains no")):
        (tmp_path / name).write_bytes(content)
        done = own_gateway.command("import", "chatgpt", str(tmp_path / name))
        assert done.returncode == 1 and done.stderr.startswith("agw:") and why in done.stderr, done.stderr
    assert "no such file" in own_gateway.command("import", "chatgpt", "missing.zip").stderr
    assert own_gateway.command("import", "chatgpt").returncode == 2
    assert own_gateway.command("import", "icq", "x").returncode == 2


def test_an_import_does_not_change_the_export(own_gateway, tmp_path):
    (folder := tmp_path / "mine").mkdir()
    path = write_zip(folder / "export.zip", conversations_json=[trip().conversation])
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    imported(own_gateway, "chatgpt", path)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before and list(folder.iterdir()) == [path]


def test_a_claude_archive_becomes_threads(own_gateway, tmp_path):
    chat = claude(claude_message("1", "human", "Hi", 1), claude_message("2", "assistant", "Hello", 2))
    result = imported(own_gateway, "claude", write_zip(tmp_path / "data.zip", conversations_json=[chat]))
    assert created(result) == {"threads": 1, "turns": 2}
    assert texts(own_gateway, "Plan") == [("user", "Hi"), ("assistant", "Hello")]
    assert threads(own_gateway)["Plan"]["updated_at"] == "2024-05-01T11:00:00.000Z"


def test_claudes_content_blocks_are_read(own_gateway, tmp_path):
    answer = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Let me look."},
              {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "x"}},
              {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "found"}]},
              {"type": "text", "text": "There."}]
    chat = claude(claude_message("1", "human", "", content=[{"type": "text", "text": "Find x"}]),
                  claude_message("2", "assistant", "", content=answer))
    imported(own_gateway, "claude", write_json(tmp_path / "conversations.json", [chat]))
    _, call, reply = turns(own_gateway, "Plan")
    assert (call["content"], call["metadata"]["tool_name"], call["metadata"]["input"]) == ("found", "search", {"q": "x"})
    assert reply["content"] == "Let me look.\n\nThere." and reply["metadata"]["reasoning"] == "Hm."


def test_claudes_edited_messages_become_forks(own_gateway, tmp_path):
    top = "00000000-0000-4000-8000-000000000000"
    chat = claude(claude_message("1", "human", "A", 1, parent_message_uuid=top),
                  claude_message("2", "assistant", "a", 2, parent_message_uuid="1"),
                  claude_message("3", "human", "B", 3, parent_message_uuid=top),
                  claude_message("4", "assistant", "b", 4, parent_message_uuid="3"))
    imported(own_gateway, "claude", write_json(tmp_path / "conversations.json", [chat]))
    assert texts(own_gateway, "Plan") == [("user", "B"), ("assistant", "b")]
    assert texts(own_gateway, "Plan (fork 1)") == [("user", "A"), ("assistant", "a")]


def test_calls_between_paragraphs_keep_their_places(own_gateway, tmp_path):
    def search(name):
        return [{"type": "tool_use", "id": name, "name": "web_search", "input": {"query": name}},
                {"type": "tool_result", "tool_use_id": name, "content": [{"type": "text", "text": "found"}]}]

    def text(content):
        return {"type": "text", "text": content}

    blocks = [*search("a"), text("Schön."), *search("b"), *search("c"), text("More."), *search("d"), text("Done.")]
    chat = claude(claude_message("1", "human", "Look"), claude_message("2", "assistant", "", 1, content=blocks),
                  claude_message("3", "assistant", "", 2, content=[text("Again."), *search("e")]))
    imported(own_gateway, "claude", write_json(tmp_path / "conversations.json", [chat]))
    answer = turns(own_gateway, "Plan")[-1]
    assert answer["content"] == "Schön.\n\nMore.\n\nDone.\n\nAgain."
    assert answer["metadata"]["steps"] == [
        {"text_end": 0, "tool_call_ids": ["a"]}, {"text_end": 6, "tool_call_ids": ["b", "c"]},
        {"text_end": 13, "tool_call_ids": ["d"]}, {"text_end": 28, "tool_call_ids": ["e"]}]


def test_attached_texts_of_claude_are_attached_and_other_files_named(own_gateway, tmp_path):
    chat = claude(claude_message("1", "human", "Read", attachments=[{"file_name": "a.txt", "extracted_content": "secret plan"}],
                                 files=[{"file_name": "b.png"}]),
                  claude_message("2", "human", "", attachments=[{"file_name": "c.txt", "extracted_content": "more"}]))
    path = write_json(tmp_path / "conversations.json", [chat])
    assert created(imported(own_gateway, "claude", path)) == {"files": 2, "threads": 1, "turns": 2}
    first, second = turns(own_gateway, "Plan")
    assert (first["content"], second["content"]) == ("Read\n\n[file: b.png]", "")
    assert [(one["metadata"]["attachments"][0]["name"], stored_bytes(own_gateway, one["metadata"]["attachments"][0]))
            for one in (first, second)] == [("a.txt", b"secret plan"), ("c.txt", b"more")]
    assert created(imported(own_gateway, "claude", path)) == {}


PROJECT = {"uuid": "p1", "name": "My Garden", "description": "Beds", "is_starter_project": False,
           "prompt_template": "You know gardens.",
           "docs": [{"uuid": "d1", "filename": "plan.md", "content": "# Plan\n\nRoses."},
                    {"uuid": "d2", "filename": "../Soil & sun.txt", "content": "Sand."},
                    {"uuid": "d3", "filename": "plan.txt", "content": "Old."}]}


@pytest.mark.parametrize("as_files", [False, True])
def test_claudes_projects_become_disabled_agents(own_gateway, tmp_path, as_files):
    chats = [claude(claude_message("1", "human", "Hi", 1))]
    starter = {"uuid": "p0", "name": "How to use Claude", "is_starter_project": True, "prompt_template": "", "docs": []}
    bare = {"uuid": "p2", "name": "Bare", "prompt_template": "", "docs": []}
    folder = tmp_path / "export"
    write_json(folder / "conversations.json", chats)
    if as_files:
        for project in (starter, PROJECT, bare):
            write_json(folder / "projects" / f"{project['uuid']}.json", project)
    else:
        write_json(folder / "projects.json", [starter, PROJECT, bare])
    result = imported(own_gateway, "claude", folder)
    assert created(result) == {"agents": 1, "knowledge pages": 3, "souls": 1, "threads": 1, "turns": 1}
    assert reasons(result) == {"project Bare": "has neither instructions nor documents"}
    agent = accepted(own_gateway.http.get("/extensions/claude-my-garden"))
    assert (agent["type"], agent["enabled"], agent["description"]) == ("agent", False, "Beds")
    assert accepted(own_gateway.http.get("/agents/claude-my-garden/soul")) == {"content": "You know gardens."}
    pages = own_gateway.data / "agents" / "claude-my-garden" / "knowledge"
    assert {path.name: path.read_text() for path in pages.iterdir()} == {
        "plan.md": "# Plan\n\nRoses.", "soil-sun.md": "Sand.", "plan-2.md": "Old."}
    assert created(imported(own_gateway, "claude", folder)) == {}


def test_a_project_does_not_change_an_existing_agent_of_its_name(own_gateway, tmp_path):
    existing = {"name": "claude-my-garden", "type": "agent", "description": "mine", "definition": {}, "enabled": True}
    accepted(own_gateway.http.post("/extensions", json=existing), 201)
    write_json(tmp_path / "export" / "conversations.json", [])
    write_json(tmp_path / "export" / "projects.json", [PROJECT])
    result = imported(own_gateway, "claude", tmp_path / "export")
    assert any("the name is taken" in note for note in result["notes"])
    assert accepted(own_gateway.http.get("/agents/claude-my-garden/soul"))["content"] != "You know gardens."
    assert not (own_gateway.data / "agents" / "claude-my-garden" / "knowledge" / "plan.md").exists()
    assert accepted(own_gateway.http.get("/agents/claude-my-garden-claude/soul")) == {"content": "You know gardens."}


def test_a_conversation_without_messages_is_listed(own_gateway, tmp_path):
    result = imported(own_gateway, "claude", write_json(tmp_path / "conversations.json", [claude()]))
    assert reasons(result) == {"conversation Plan": "has no messages"}
