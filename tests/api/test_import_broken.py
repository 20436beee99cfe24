"""Invalid data of other programs: only the invalid part is skipped, and it is reported.

See docs/contract/transfer.md.
"""

import json
import sqlite3

import pytest

from checks import accepted
from transfer import (
    ChatGPT, created, imported, moved, program, reasons, texts, threads, turns, write_json, write_lines, write_zip,
)


def trip(*texts_, **members):
    chat = ChatGPT(**members)
    for number, text in enumerate(texts_ or ("Where to?", "To Rome.")):
        chat.say("assistant" if number % 2 else "user", text)
    return chat.conversation


def extension_names(gateway):
    return {one["name"] for one in accepted(gateway.http.get("/extensions")) if one["source"] != "built-in"}


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9, 0.999])
def test_a_truncated_archive_is_an_error_or_reported(own_gateway, tmp_path, part):
    conversations = [trip(f"Question {number}", "x" * 2000 + str(number), key=str(number)) for number in range(50)]
    path = write_zip(tmp_path / "export.zip", user_json={}, conversations_json=conversations)
    path.write_bytes(path.read_bytes()[:int(path.stat().st_size * part)])
    done = own_gateway.command("import", "chatgpt", str(path), "--json")
    if done.returncode == 0:
        assert json.loads(done.stdout)["left_out"] or len(accepted(own_gateway.http.get("/threads"))) == 50
    else:
        assert done.returncode == 1 and done.stderr.startswith(f"agw: {path}: "), done.stderr


@pytest.mark.parametrize("size", [50, 4096, 20_000])
def test_a_truncated_database_is_reported(own_gateway, size):
    home = program("opencode", own_gateway.home)
    path = home / ".local" / "share" / "opencode" / "opencode.db"
    path.write_bytes(path.read_bytes()[:size])
    why = reasons(imported(own_gateway, "opencode", path.parent))
    assert any("opencode.db" in what or "session" in what for what in why), why


def test_an_archive_of_chatgpt_is_not_imported_as_one_of_claude(own_gateway, tmp_path):
    result = imported(own_gateway, "claude", write_json(tmp_path / "conversations.json", [trip()]))
    assert created(result) == {} and "another program" in result["left_out"][0]["why"]


@pytest.mark.parametrize("name", ["claude-code", "codex", "hermes", "openclaw", "opencode"])
def test_a_folder_of_something_else_is_refused(own_gateway, tmp_path, name):
    folder = tmp_path / "elsewhere" / name / "photos"
    folder.mkdir(parents=True)
    (folder / "beach.jpg").write_bytes(b"\xff\xd8")
    assert f"agw: {folder}: has nothing of " in moved(own_gateway, "import", name, str(folder), status=1)
    assert extension_names(own_gateway) == set()


def test_the_database_of_another_program_is_reported(own_gateway, tmp_path):
    with sqlite3.connect(tmp_path / "state.db") as database:
        database.execute("CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url TEXT)")
    database.close()
    assert "no such table" in reasons(imported(own_gateway, "hermes", tmp_path))[str(tmp_path / "state.db")]


def test_a_database_of_a_future_version_is_read_as_far_as_it_is_known(own_gateway, tmp_path):
    home = program("hermes", tmp_path / "hermes")
    with sqlite3.connect(home / "state.db") as database:
        database.executescript("""
            UPDATE schema_version SET version = 99;
            ALTER TABLE messages ADD COLUMN dreams BLOB DEFAULT x'00ff';
            ALTER TABLE messages RENAME COLUMN tool_calls TO actions;
            UPDATE messages SET role = 'oracle' WHERE content = 'Snow.'""")
    database.close()
    imported(own_gateway, "hermes", home)
    assert texts(own_gateway, "Weather in Lisbon")[0] == ("user", "Is it raining?")


def test_values_of_unexpected_types_are_skipped(own_gateway, tmp_path):
    """A column of SQLite may hold values of any type, whatever its declared type."""
    home = program("hermes", tmp_path / "hermes")
    with sqlite3.connect(home / "state.db") as database:
        database.executescript("""
            UPDATE messages SET content = x'ff00ff', timestamp = 'yesterday' WHERE content = 'Is it raining?';
            UPDATE messages SET tool_calls = '[null, 7, {"function": 7}, {"function": {"arguments": 7}}]' WHERE content = 'Again.';
            UPDATE sessions SET title = 7, cwd = x'00', model = -1e300, started_at = 'never' WHERE title = 'Weather in Lisbon'""")
    database.close()
    result = imported(own_gateway, "hermes", home)
    assert result["counts"]["threads"]["created"] == 3 and any("times" in note for note in result["notes"])
    assert created(imported(own_gateway, "hermes", home)) == {}


HOSTILE = [
    ("nested too deeply", '[{"conversation_id": "x", "mapping": ' + '{"a":' * 200 + "1" + "}" * 200 + "}]"),
    ("a number out of range", '[{"conversation_id": "x", "create_time": 1e999, "mapping": {}}]'),
    ("a lone surrogate", '[{"conversation_id": "x", "title": "\\ud800", "mapping": {}}]'),
    ("not UTF-8", b'[{"conversation_id": "x", "title": "\xff", "mapping": {}}]'),
    ("a list of lists", "[[], 7, null]"),
    ("malformed messages", json.dumps([{"conversation_id": "x", "title": "T", "mapping": {
        "a": {"message": 7, "parent": 7}, "b": 7, "c": {"message": {"author": 7, "content": [7]}, "parent": "nobody"}}}])),
    ("nothing", ""),
    ("zeroes", bytes(1000)),
]


@pytest.mark.parametrize(("content",), [(content,) for _, content in HOSTILE], ids=[name for name, _ in HOSTILE])
def test_invalid_conversations_are_reported_and_the_others_imported(own_gateway, tmp_path, content):
    folder = tmp_path / "export"
    write_json(folder / "conversations-000.json", [trip(title="Before", key="a")])
    (folder / "conversations-001.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    write_json(folder / "conversations-002.json", [trip(title="After", key="b")])
    result = imported(own_gateway, "chatgpt", folder)
    assert {"Before", "After"} <= set(threads(own_gateway))
    assert any("conversation" in what for what in reasons(result))


def test_lone_surrogates_are_replaced(own_gateway, tmp_path):
    """JavaScript may cut a string between the halves of a surrogate pair. See RFC 8259, section 8.2."""
    chat = trip("Where to, \ud83d?", "To Rome \U0001f600.", title="Trip \udc00")
    result = imported(own_gateway, "chatgpt", write_json(tmp_path / "conversations.json", [chat]))
    assert texts(own_gateway, "Trip \ufffd") == [("user", "Where to, \ufffd?"), ("assistant", "To Rome \U0001f600.")]
    assert reasons(result) == {"2 characters of conversations.json[0]": "are not whole: they became U+FFFD"}


def test_lone_surrogates_in_lines_and_rows_are_replaced(own_gateway):
    codex = own_gateway.home / ".codex" / "sessions"
    write_lines(codex / "a.jsonl", [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
                                    for text in ("Hi \ud83d", "Bye")])
    result = imported(own_gateway, "codex", codex.parent)
    assert texts(own_gateway, "Hi \ufffd") == [("user", "Hi \ufffd"), ("user", "Bye")]
    assert f"1 characters of {codex / 'a.jsonl'}" in reasons(result)
    home = program("opencode", own_gateway.home)
    path = home / ".local" / "share" / "opencode"
    with sqlite3.connect(path / "opencode.db") as database:
        [changed] = database.execute(r"""UPDATE part SET data = json_object('type', 'text', 'text', '#') WHERE id =
            (SELECT min(id) FROM part WHERE json_extract(data, '$.type') = 'text') RETURNING id""").fetchone()
        database.execute(r"UPDATE part SET data = replace(data, '#', 'Hello \ud83d') WHERE id = ?", (changed,))
    database.close()
    result = imported(own_gateway, "opencode", path)
    assert f"1 characters of {changed}" in reasons(result)
    assert ("user", "Hello \ufffd") in [entry for title in threads(own_gateway) for entry in texts(own_gateway, title)]


def test_impossible_times_of_an_export_are_dropped_and_noted(own_gateway, tmp_path):
    chat = trip("Where to?", "To Rome.", "When?", "In May.")
    for key, time in (("m1", 1e300), ("m2", -1e300), ("m3", "half past ten"), ("m4", 1e12)):
        chat["mapping"][key]["message"]["create_time"] = time
    chat["update_time"] = 10 ** 30
    result = imported(own_gateway, "chatgpt", write_json(tmp_path / "conversations.json", [chat]))
    assert result["notes"] == ["5 times are before 1970, in the future or none at all: turns have that of the turn before"]
    made = threads(own_gateway)["Trip"]
    assert made["created_at"] == made["updated_at"] == "2023-11-14T22:13:20.500Z"
    assert {turn["created_at"] for turn in turns(own_gateway, "Trip")} == {"2023-11-14T22:13:20.500Z"}


def test_unusual_texts_are_imported_unchanged(own_gateway, tmp_path):
    messages = ["nul \0 in it", "\u202eleft", "<script>", "line\u2028end", "x" * 100_000]
    chat = ChatGPT("T" * 5000)
    for text in messages:
        chat.say("user", text)
    imported(own_gateway, "chatgpt", write_json(tmp_path / "conversations.json", [chat.conversation]))
    [thread] = threads(own_gateway)
    assert [content for _, content in texts(own_gateway, thread)] == messages


def test_a_conversation_with_too_long_an_id_is_reported(own_gateway, tmp_path):
    """A key has at most 512 bytes."""
    long = trip(key="k" * 600, title="Long")
    result = imported(own_gateway, "chatgpt", write_json(tmp_path / "conversations.json", [long, trip()]))
    assert "512 bytes" in reasons(result)["thread Long"] and set(threads(own_gateway)) == {"Trip"}


def test_names_that_map_to_the_same_name_are_all_imported(own_gateway):
    folder = own_gateway.home / ".codex" / "prompts"
    folder.mkdir(parents=True)
    for name in ("fix it", "fix-it", "Fix It!", "日本", "..", "-"):
        (folder / f"{name}.md").write_text(f"Do {name}")
    result = imported(own_gateway, "codex", folder.parent)
    assert created(result)["commands"] == 6
    prompts = [accepted(own_gateway.http.get(f"/extensions/{name}"))["definition"].get("prompt") for name in extension_names(own_gateway)]
    assert sorted(prompt for prompt in prompts if prompt) == sorted(f"Do {name}" for name in ("fix it", "fix-it", "Fix It!", "日本", "..", "-"))
    assert any("is named" in note for note in result["notes"])
    assert created(imported(own_gateway, "codex", folder.parent)) == {}


def test_a_skill_with_an_invalid_name_is_renamed_and_reported(own_gateway):
    folder = own_gateway.home / ".codex" / "skills"
    for name in ("Make PDF", "..hidden..", "日本"):
        (folder / name).mkdir(parents=True)
        (folder / name / "SKILL.md").write_text("---\nname: x\ndescription: y\n---\nz")
    notes = imported(own_gateway, "codex", folder.parent)["notes"]
    assert {"skill Make PDF is named make-pdf here", "skill 日本 is named skill here"} <= set(notes)


def test_a_cycle_of_symlinks_ends(own_gateway):
    folder = own_gateway.home / ".codex" / "sessions"
    folder.mkdir(parents=True)
    (folder / "loop").symlink_to(folder)
    (folder / "away.jsonl").symlink_to("/etc/passwd")
    write_lines(folder / "a.jsonl", [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi all"}]}])
    assert created(imported(own_gateway, "codex", folder.parent)) == {"agents": 1, "threads": 1, "turns": 1}


@pytest.mark.parametrize(("text", "why"), [
    ("{", "is not JSON"), ("[]", "is not JSON"), ('{"jobs": {}}', "no list of jobs"), ("\xff", ""), ("{}" * 2, "is not JSON"),
], ids=["cut off", "a list", "another form", "not UTF-8", "two texts"])
def test_an_invalid_file_of_jobs_is_reported(own_gateway, text, why):
    home = program("hermes", own_gateway.home / ".hermes")
    (home / "cron" / "jobs.json").write_bytes(text.encode("latin-1"))
    result = imported(own_gateway, "hermes", home)
    assert why in reasons(result)[str(home / "cron" / "jobs.json")]
    assert result["counts"]["threads"]["created"] == 3 and "jobs" not in result["counts"]


@pytest.mark.parametrize("schedule", [
    {"kind": "cron", "expr": "@reboot"}, {"kind": "cron", "expr": "H H * * *"}, {"kind": "cron", "expr": ""}, {"kind": "cron"},
    {"kind": "interval", "minutes": 10 ** 18}, {"kind": "interval", "minutes": -5}, {"kind": "interval", "minutes": "5"},
    {"kind": "every", "everyMs": 0}, {"kind": "lunar"}, {},
], ids=str)
def test_an_unsupported_schedule_is_reported(own_gateway, schedule):
    home = own_gateway.home / ".hermes"
    write_json(home / "cron" / "jobs.json", {"jobs": [7, {"id": "j", "name": "odd", "prompt": "x", "schedule": schedule}]})
    result = imported(own_gateway, "hermes", home)
    assert "job odd" in reasons(result) and "jobs" not in created(result)


def test_unreadable_settings_are_reported(own_gateway):
    home = program("hermes", own_gateway.home / ".hermes")
    (home / "config.yaml").write_text("a: &x [1]\nb: *x\n")
    why = reasons(imported(own_gateway, "hermes", home))
    assert "by hand" in why[str(home / "config.yaml")]
