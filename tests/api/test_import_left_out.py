"""Data of other programs that an import skips is listed, including data of unknown kinds.

See docs/contract/transfer.md.
"""

import base64
import json

from checks import accepted
from transfer import ChatGPT, imported, program, reasons, texts, threads, turns, write_json, write_lines, write_zip

PIXEL = base64.b64encode(bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d4944415478da63fcffff3f030005fe02fea72d8c640000000049454e44ae426082")).decode()


def create(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


def skipped(gateway, source, path):
    """Returns the reasons by skipped item, with paths relative to `path`."""
    return {key.removeprefix(f"{path}/"): why for key, why in reasons(imported(gateway, source, path)).items()}


def attached_types(gateway, title):
    return [file["mime"] for turn in turns(gateway, title) for file in (turn["metadata"] or {}).get("attachments", [])]


def test_skipped_data_of_codex_is_listed(own_gateway, tmp_path):
    folder = program("codex", tmp_path) / ".codex"
    create(folder, "history.jsonl", "rules/default.rules", "memories/m.md", "log/codex.log", "prompts/notes.txt", "dream/x",
           "sessions/2026/01/01/rollout-x.json")
    (folder / "config.toml").write_text("""
model = "gpt-9"
approval_policy = "never"
[tui]
theme = "dark"
[mcp_servers.maps]
command = "maps"
startup_timeout_sec = 9
[model_providers.lab]
base_url = "https://lab.example/v1"
request_max_retries = 3
""")

    def item(**payload):
        return {"timestamp": "2026-01-02T10:00:00.000Z", "type": "response_item", "payload": payload}

    write_lines(folder / "sessions" / "2026" / "01" / "02" / "rollout-2.jsonl", [
        item(type="message", role="developer", content=[{"type": "input_text", "text": "You are it."}]),
        item(type="message", role="user", content=[{"type": "input_text", "text": "Draw a hat"}, {"type": "input_smell"}]),
        item(type="function_call", name="look", call_id="c1", arguments="{}"),
        item(type="function_call_output", call_id="c1", output=[
            {"type": "input_text", "text": "seen"}, {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"}]),
        item(type="image_generation_call", id="i1", status="completed", revised_prompt="A red hat", result=PIXEL),
        item(type="ghost_snapshot"), item(type="ghost_snapshot"),
        item(type="message", role="assistant", content=[{"type": "output_text", "text": "There."}]),
        {"timestamp": "2026-01-02T10:00:00.000Z", "type": "compacted", "payload": {"message": "short"}},
    ])
    why = skipped(own_gateway, "codex", folder)
    for name in ("history.jsonl", "rules", "memories", "log", "dream"):
        assert name in why, why
    assert "nothing that is known here" in why["dream"]
    assert f"1 files in {folder / 'prompts'}" in why and f"1 files in {folder / 'sessions'}" in why
    assert "approval_policy, tui of " + str(folder / "config.toml") in why
    assert "startup_timeout_sec of MCP server maps" in why and "request_max_retries of model service lab" in why
    assert "there is no gpt-9 here" in why["model of agent codex"]
    assert "2 parts `ghost_snapshot` of messages" in why and "1 parts `input_smell` of messages" in why
    assert "1 lines `compacted` of sessions" in why and any("messages of sessions" in what for what in why)
    assert [text for role, text in texts(own_gateway, "Draw a hat")] == ["Draw a hat", "seen", "A red hat", "There."]
    assert attached_types(own_gateway, "Draw a hat") == ["image/png", "image/png"]


def test_skipped_data_of_hermes_is_listed(own_gateway, tmp_path):
    folder = program("hermes", tmp_path / "hermes")
    create(folder, "skins/blue.yaml", "logs/a.log", "cron/output/j/r.md", "memories/OTHER.md", "dream.db", "pairing/x.json")
    with (folder / "config.yaml").open("a") as settings:
        settings.write("\nvoice: {on: true}\ncurator: {on: false}\n")
    why = skipped(own_gateway, "hermes", folder)
    for name in ("skins", "logs", "cron/output", "memories/OTHER.md", "dream.db", "pairing"):
        assert name in why, why
    assert any("voice, curator of" in what and "config.yaml" in what for what in why), why
    assert "skills, repeat, deliver of job Morning feeds" in why


def test_skipped_data_of_openclaw_is_listed(own_gateway, tmp_path):
    folder = program("openclaw", tmp_path) / ".openclaw"
    create(folder, "devices/paired.json", "extensions/x/index.js", "plugin-skills/x", "logs/a.log", "dream/x",
           "workspace/HEARTBEAT.md", "workspace/plan.ods", "agents/main/sessions/s9.jsonl.deleted.1")
    base = {"parentId": None, "timestamp": "2026-01-02T03:04:06.000Z"}
    write_lines(folder / "agents" / "main" / "sessions" / "s1.jsonl", [
        {**base, "type": "message", "id": "b", "message": {"role": "user", "content": [
            {"type": "text", "text": "What is this?"}, {"type": "image", "data": PIXEL, "mimeType": "image/png"},
            {"type": "smell"}]}},
        {**base, "type": "message", "id": "c", "parentId": "b",
         "message": {"role": "assistant", "content": [{"type": "text", "text": "A hat."}]}},
        {**base, "type": "compaction", "id": "d", "parentId": "c", "summary": "s"},
        {**base, "type": "message", "id": "e", "parentId": "d", "message": {"role": "bashExecution", "command": "ls"}},
    ])
    why = skipped(own_gateway, "openclaw", folder)
    for name in ("devices", "extensions", "logs", "dream", "workspace/HEARTBEAT.md", "workspace/plan.ods"):
        assert name in why, why
    assert "plugins are not taken" in why["plugin-skills"]
    assert f"gateway, browser of {folder / 'openclaw.json'}" in why
    assert "1 parts `smell` of messages" in why and "1 parts `bashExecution` of messages" in why
    assert "1 events `compaction` of sessions" in why and f"1 files in {folder / 'agents' / 'main' / 'sessions'}" in why
    assert attached_types(own_gateway, "What is this?") == ["image/png"]


def test_skipped_data_of_opencode_is_listed(own_gateway, tmp_path):
    home = program("opencode-files", tmp_path)
    folder, data = home / ".config" / "opencode", home / ".local" / "share" / "opencode"
    create(folder, "plugins/x.ts", "themes/x.json", "dream.json", "agents/notes.txt")
    create(data, "snapshot/x", "log/a.log", "auth.json", "dream", "storage/todo/x.json")
    write_json(folder / "opencode.json", {"share": "manual", "autoupdate": True, "provider": {"lab": {
        "npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "https://lab.example/v1", "timeout": 9}}}})
    message = min((data / "storage" / "part").iterdir())
    write_json(message / "prt_zz1.json", {"type": "patch", "hash": "x"})
    write_json(message / "prt_zz2.json", {"type": "text", "text": "read", "synthetic": True})
    why = skipped(own_gateway, "opencode", folder)
    for name in ("plugins", "themes", "dream.json", *(f"{data}/{one}" for one in ("snapshot", "log", "auth.json", "dream",
                                                                                 "storage/todo"))):
        assert name in why, why
    assert f"share, autoupdate of {folder / 'opencode.json'}" in why and "timeout of model service lab" in why
    assert f"1 files in {folder / 'agents'}" in why
    assert "1 parts `patch` of messages" in why and any(what.endswith("`synthetic text` of messages") for what in why)


def test_skipped_data_of_chatgpt_is_listed(own_gateway, tmp_path):
    chat = ChatGPT()
    chat.conversation["conversation_template_id"] = "g-p-0123"
    chat.say("system", "Be kind.", metadata={"is_visually_hidden_from_conversation": True})
    chat.say("user", "Hello", content={"content_type": "multimodal_text", "parts": ["Hello", {"content_type": "smell"}]})
    chat.say("assistant", "", content={"content_type": "super_widget", "widget": {}})
    chat.say("assistant", "Hi.")
    path = write_zip(tmp_path / "export.zip", conversations_json=[chat.conversation], user_json={"id": "u"},
                     dream_json={}, **{"chat.html": "<p>"})
    why = reasons(imported(own_gateway, "chatgpt", path))
    assert {"user.json", "dream.json", "1 parts `smell` of messages", "1 parts `super_widget` of messages",
            "1 messages", "1 projects of conversations"} <= set(why), why
    assert texts(own_gateway, "Trip") == [("user", "Hello"), ("assistant", "Hi.")]


def test_skipped_data_of_claude_is_listed(own_gateway, tmp_path):
    message = {"uuid": "m1", "sender": "human", "text": "", "created_at": "2024-05-01T10:00:00Z", "attachments": [],
               "files": [{"file_name": "a.pdf"}, {"file_name": "b.pdf"}],
               "content": [{"type": "text", "text": "Hello"}, {"type": "token_budget"}]}
    path = write_zip(tmp_path / "export.zip", users_json=[], memories_json=[{"x": 1}], dream_json={}, conversations_json=[
        {"uuid": "k", "name": "Plan", "created_at": "2024-05-01T10:00:00Z", "updated_at": "2024-05-01T10:00:00Z",
         "chat_messages": [message]}])
    why = reasons(imported(own_gateway, "claude", path))
    assert set(why) == {"users.json", "memories.json", "dream.json", "2 files", "1 parts `token_budget` of messages"}
    assert accepted(own_gateway.http.get(f"/threads/{threads(own_gateway)['Plan']['id']}"))["turn_count"] == 1


def test_nothing_is_counted_twice_when_forks_share_messages(own_gateway, tmp_path):
    chat = ChatGPT()
    question = chat.say("user", "Hello", content={"content_type": "multimodal_text", "parts": ["Hello", {"content_type": "smell"}]})
    chat.say("assistant", "One.")
    chat.say("assistant", "Two.", parent=question)
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([chat.conversation]))
    result = imported(own_gateway, "chatgpt", path)
    assert result["counts"]["threads"]["created"] == 2 and set(reasons(result)) == {"1 parts `smell` of messages"}
