"""agw import hermes, opencode and openclaw: programs that keep their conversations in SQLite.

See docs/contract/transfer.md and programs/README.md.
"""

import json
import sqlite3

import pytest

from checks import accepted
from transfer import created, imported, moved, program, reasons, texts, threads, transcript_of, turns


@pytest.fixture
def hermes(own_gateway):
    return program("hermes", own_gateway.home / ".hermes")


def extension(gateway, name):
    return accepted(gateway.http.get(f"/extensions/{name}"))


def state_of(folder):
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.rglob("*") if path.is_file()}


def test_hermes_is_imported_disabled(own_gateway, hermes):
    before = state_of(hermes)
    result = moved(own_gateway, "import", "hermes")
    assert created(result) == {"agents": 1, "files": 1, "files of skills": 2, "integrations": 2, "jobs": 2, "knowledge pages": 1,
                               "souls": 1, "threads": 3, "turns": 10, "user-profiles": 1}
    assert accepted(own_gateway.http.get("/agents/hermes/soul"))["content"].startswith("I am a messenger.")
    assert "Ada lives in Lisbon" in accepted(own_gateway.http.get("/agents/hermes/user-profile"))["content"]
    [page] = accepted(own_gateway.http.get("/knowledge/pages", params={"scope": "agent:hermes"}))
    assert page["slug"] == "memory"
    assert {path.name for path in (own_gateway.data / "agents" / "hermes" / "skills").iterdir()} == {"arxiv", "notes"}
    jobs = {name: extension(own_gateway, name) for name in ("morning-feeds", "server-status")}
    assert {name: job["definition"]["schedule"] for name, job in jobs.items()} == {
        "morning-feeds": "0 9 * * 1-5", "server-status": "0 */2 * * *"}
    assert not any(one["enabled"] for one in [*jobs.values(), extension(own_gateway, "files"), extension(own_gateway, "hermes")])
    assert state_of(hermes) == before
    assert created(moved(own_gateway, "import", "hermes")) == {} and state_of(hermes) == before


def test_hermes_sessions_become_threads(own_gateway, hermes):
    imported(own_gateway, "hermes", hermes)
    assert texts(own_gateway, "Weather in Lisbon") == [
        ("user", "Is it raining?"), ("tool", '{"output": "rain", "exit_code": 0}'), ("assistant", "I look.\n\nYes."),
        ("user", "And in Porto?"), ("tool", "sun"), ("assistant", "Again.\n\nSun.")]
    question, call, answer, *_ = turns(own_gateway, "Weather in Lisbon")
    assert question["created_at"] == "2025-09-21T14:13:21.000Z"
    assert (call["metadata"]["tool_name"], call["metadata"]["input"]) == ("terminal", {"command": "weather lisbon"})
    assert (answer["metadata"]["model"], answer["metadata"]["reasoning"]) == ("some/model", "The terminal knows.")
    made = threads(own_gateway)
    assert made["Weather in Lisbon"]["created_at"] == "2025-09-21T14:13:20.250Z"
    assert [one["archived"] for one in made.values() if one["title"].startswith("What is this?")] == [True]


def test_undone_turns_become_a_fork(own_gateway, hermes):
    imported(own_gateway, "hermes", hermes)
    assert texts(own_gateway, "Weather in Lisbon (fork 1)") == [("user", "And in Oslo?"), ("assistant", "Snow.")]


def change(folder, *statements):
    with sqlite3.connect(folder / "state.db") as database:
        for statement in statements:
            database.execute(statement)
    database.close()


@pytest.mark.parametrize("flags", ["active = 0, compacted = 0", "active = 0, compacted = 1"], ids=["new", "old"])
def test_messages_that_hermes_copies_when_it_compacts_are_imported_once(own_gateway, hermes, flags):
    imported(own_gateway, "hermes", hermes)
    before = texts(own_gateway, "Weather in Lisbon")
    columns = "session_id, role, content, tool_call_id, tool_calls, tool_name, timestamp, finish_reason, reasoning, display_kind"
    tail = "active = 1 AND display_kind IS NULL AND session_id LIKE '20260920%' AND role <> 'session_meta'"
    change(hermes, f"INSERT INTO messages ({columns}, active, compacted) SELECT {columns}, 2, 0 FROM messages WHERE {tail} ORDER BY id",
           f"UPDATE messages SET {flags} WHERE {tail}", "UPDATE messages SET active = 1 WHERE active = 2")
    assert created(imported(own_gateway, "hermes", hermes)) == {}
    assert texts(own_gateway, "Weather in Lisbon") == before
    assert texts(own_gateway, "Weather in Lisbon (fork 1)") == [("user", "And in Oslo?"), ("assistant", "Snow.")]


SUMMARY = "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted:\n## Historical Task Snapshot\nRain."
END_OF_SUMMARY = "\n\n--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---\n\n"
SKILL = 'invoked the "{}" skill, indicating they want you to follow its instructions. The full skill content is loaded below.]'


def test_what_hermes_tells_its_model_is_not_taken_for_what_was_said(own_gateway, hermes):
    said = [
        ("assistant", SUMMARY + END_OF_SUMMARY),
        ("user", SUMMARY + END_OF_SUMMARY + "What now?"),
        ("user", "[PRIOR CONTEXT — for reference only; not a new message]\nAnd in Rome?\n\n"
                 "[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]\n" + SUMMARY),
        ("user", "[IMPORTANT: The user has " + SKILL.format("arxiv") + "\n\n# Papers\n\nThe user has provided the following "
                 "instruction alongside the skill invocation: Find two.\n\n[Runtime note: x]"),
        ("user", "[IMPORTANT: The user has " + SKILL.format("notes") + "\n\n# Notes"),
        ("user", '[IMPORTANT: The user has invoked the "/a /b" skill bundle, x]\nUser instruction: Go.\n\n[Loaded as part of the x'),
        ("user", '[IMPORTANT: The "tone" skill is auto-loaded. Follow its instructions for this session.]\n\n# Tone\nrun them with '
                 "the terminal tool using the absolute path.\n\nHello there."),
    ]
    change(hermes, "INSERT INTO sessions (id, source, started_at, title) VALUES ('s', 'cli', 1758464000, 'Skills')", *(
        f"INSERT INTO messages (session_id, role, content, timestamp, active, compacted) VALUES ('s', '{role}', '{text}', 1758464000, 1, 0)"
        for role, text in said))
    result = imported(own_gateway, "hermes", hermes)
    assert [text for _, text in texts(own_gateway, "Skills")] == [
        "What now?", "And in Rome?", "/arxiv Find two.", "/notes", "/a /b Go.", "Hello there."]
    assert "2 messages of sessions" in reasons(result) and "4 parts `text of a skill` of messages" in reasons(result)


def test_sessions_of_agents_of_hermes_are_archived(own_gateway, hermes):
    change(hermes, "ALTER TABLE sessions ADD COLUMN model_config TEXT", "ALTER TABLE sessions ADD COLUMN pinned INTEGER",
           "UPDATE sessions SET archived = 0, pinned = 1, title = 'Picture' WHERE id LIKE '20260921%'",
           """UPDATE sessions SET parent_session_id = '20260921_090000_d4e5f6', model_config = '{"_delegate_from": "20260921_090000_d4e5f6"}'
              WHERE id LIKE '20260920%'""")
    imported(own_gateway, "hermes", hermes)
    made = threads(own_gateway)
    assert made["Weather in Lisbon"]["archived"] and not made["Picture"]["archived"]
    assert made["Picture"].get("pinned") and not made["Weather in Lisbon"].get("pinned")


def test_skipped_data_of_hermes_is_listed(own_gateway, hermes):
    (hermes / ".env").write_text("OPENROUTER_API_KEY=sk-or-0123456789")
    (hermes / "profiles" / "work").mkdir(parents=True)
    result = imported(own_gateway, "hermes", hermes)
    why = reasons(result)
    assert "single time" in why["job reminder"] and "interval" in why["job odd"] and "no message" in why["job backup"]
    assert "has no messages" in why["session 20260922_090000_070809"] and "logins" in why[str(hermes / ".env")]
    assert "1 skills that came with Hermes" in why and str(hermes / "profiles") in why
    assert "key tickets_Authorization" in why and "hermes-key" not in str(result) and "sk-or" not in str(result)


def test_rows_in_the_log_of_a_database_in_use_are_read(own_gateway, hermes):
    with sqlite3.connect(hermes / "state.db") as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("UPDATE sessions SET title = 'In the log' WHERE title = 'Weather in Lisbon'")
        database.commit()
        before = [(hermes / name).read_bytes() for name in ("state.db", "state.db-wal")]
        assert b"In the log" not in before[0]
        imported(own_gateway, "hermes", hermes)
        assert "In the log" in threads(own_gateway)
        assert [(hermes / name).read_bytes() for name in ("state.db", "state.db-wal")] == before
    database.close()


def test_a_database_of_an_older_version_with_fewer_columns_is_read(own_gateway, tmp_path):
    with sqlite3.connect(tmp_path / "state.db") as database:
        database.executescript("""
            CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, started_at REAL);
            CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, timestamp REAL);
            INSERT INTO sessions VALUES ('s', 'cli', 1700000000);
            INSERT INTO messages VALUES (1, 's', 'user', 'Hello there', 1700000001)""")
    database.close()
    assert created(imported(own_gateway, "hermes", tmp_path)) == {"agents": 1, "threads": 1, "turns": 1}
    assert texts(own_gateway, "Hello there") == [("user", "Hello there")]


@pytest.mark.parametrize(("content", "why"), [
    (b"", "no such table"), (b"SQLite format 3\0" + bytes(4000), ""), (b"not a database" * 100, "not a database"),
], ids=["empty", "zeroes", "text"])
def test_a_file_that_is_not_a_database_is_skipped(own_gateway, hermes, content, why):
    (hermes / "state.db").write_bytes(content)
    result = imported(own_gateway, "hermes", hermes)
    assert why in reasons(result)[str(hermes / "state.db")] and "threads" not in result["counts"]
    assert result["counts"]["souls"]["created"] == 1


def test_a_damaged_page_affects_only_its_session(own_gateway, hermes):
    with sqlite3.connect(hermes / "state.db") as database:
        database.execute("INSERT INTO sessions (id, source, started_at, title) VALUES ('z', 'cli', 1800000000, 'Large')")
        database.executemany("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('z', 'user', ?, 1)",
                             [(f"{number} " + "x" * 3000,) for number in range(200)])
    database.close()
    data = (hermes / "state.db").read_bytes()
    assert len(data) > 600_000
    (hermes / "state.db").write_bytes(data[:300_000] + b"\xff" * 100_000 + data[400_000:])
    result = imported(own_gateway, "hermes", hermes)
    assert "malformed" in reasons(result)["session z"]
    assert texts(own_gateway, "Weather in Lisbon")[0] == ("user", "Is it raining?")


@pytest.fixture
def opencode(own_gateway):
    return program("opencode", own_gateway.home)


def test_opencode_is_imported_disabled(own_gateway, opencode):
    before = state_of(opencode / ".config") | state_of(opencode / ".local")
    result = moved(own_gateway, "import", "opencode")
    assert created(result) == {"agents": 4, "commands": 2, "files": 1, "files of skills": 1, "integrations": 3, "souls": 1,
                               "threads": 3, "turns": 11}
    assert accepted(own_gateway.http.get("/agents/opencode/soul")) == {"content": "Answer in one sentence.\n"}
    prompts = {name: extension(own_gateway, name)["definition"]["systemPrompt"] for name in ("review", "writer", "keeper")}
    assert prompts == {"review": "You review code. Name the file and the line.\n", "writer": "You write documentation.",
                       "keeper": "You keep notes.\n"}
    assert extension(own_gateway, "git-summary")["definition"]["prompt"] == "Sum up the changes of $ARGUMENTS.\n"
    assert not any(extension(own_gateway, name)["enabled"] for name in ("opencode", "review", "test", "git-summary", "files"))
    files = extension(own_gateway, "files")["definition"]
    assert (files["command"], files["args"]) == ("npx", ["-y", "@modelcontextprotocol/server-filesystem", "/tmp"])
    assert files["env"]["FILES_TOKEN"] == "${secret:OPENCODE_FILES_FILES_TOKEN}" and "opencode-key" not in str(result)
    assert created(moved(own_gateway, "import", "opencode")) == {}
    assert state_of(opencode / ".config") | state_of(opencode / ".local") == before


def test_opencode_sessions_become_threads(own_gateway, opencode):
    imported(own_gateway, "opencode", opencode / ".config" / "opencode")
    by_question = {turns[0]["content"]: turns for turns in
                   (transcript_of(own_gateway, one["id"]) for one in accepted(own_gateway.http.get("/threads", params={"archived": "true"})))}
    question, call, answer, second, last = by_question['"Please list the files."']
    assert question["created_at"] == "2025-11-24T12:15:59.346Z"
    assert (call["metadata"]["tool_name"], call["content"]) == ("bash", "dot.png\nnotes.txt\n")
    assert call["metadata"]["input"] == {"command": "ls", "description": "Lists files"}
    assert answer["content"] == "I look.\n\nThere are two files." and answer["metadata"]["reasoning"] == "A listing will do."
    assert answer["metadata"]["model"] == "talker-1" and answer["in_reply_to"] == question["id"]
    assert "What do my notes say?" in second["content"] and "[file: notes.txt]" in second["content"]
    assert [(one["name"], one["mime"]) for one in second["metadata"]["attachments"]] == [("dot.png", "image/png")]
    assert "Read tool" not in second["content"] and last["content"] == "It says: buy tea."


def test_a_subagents_conversation_is_imported_archived(own_gateway, opencode):
    imported(own_gateway, "opencode", opencode / ".config" / "opencode")
    assert {title: one["archived"] for title, one in threads(own_gateway).items()} == {
        "Notes for the shop": False, "Look around (@general subagent)": True}


def test_what_was_undone_in_opencode_becomes_a_fork(own_gateway, opencode):
    with sqlite3.connect(opencode / ".local" / "share" / "opencode" / "opencode.db") as database:
        session, undone = database.execute(
            "SELECT session_id, id FROM message WHERE data LIKE '{\"role\":\"user\"%' ORDER BY id LIMIT 1, 1").fetchone()
        database.execute("UPDATE session SET title = 'Shop', revert = ? WHERE id = ?", (json.dumps({"messageID": undone}), session))
    database.close()
    imported(own_gateway, "opencode", opencode / ".config" / "opencode")
    assert [role for role, _ in texts(own_gateway, "Shop")] == ["user", "tool", "assistant"]
    [(_, question), answer] = texts(own_gateway, "Shop (fork 1)")
    assert "What do my notes say?" in question and answer == ("assistant", "It says: buy tea.")
    assert created(imported(own_gateway, "opencode", opencode / ".config" / "opencode")) == {}


def test_opencode_is_imported_from_the_directory_of_its_database(own_gateway, opencode):
    result = imported(own_gateway, "opencode", opencode / ".local" / "share" / "opencode")
    assert created(result) == {"agents": 1, "files": 1, "threads": 3, "turns": 11}


def test_skipped_data_of_opencode_is_listed(own_gateway, opencode):
    data = opencode / ".local" / "share" / "opencode"
    (data / "auth.json").write_text('{"anthropic": {"key": "sk-ant-0123456789"}}')
    result = imported(own_gateway, "opencode", opencode / ".config" / "opencode")
    why = reasons(result)
    assert "logins" in why[str(data / "auth.json")] and "sk-ant" not in str(result)
    assert "no text of its own" in why["agent plan"]
    assert "in a variable" in why["key files_MODE"] and "in a variable" in why["key tickets_Authorization"]


def test_repeated_call_ids_lose_no_call(own_gateway, hermes):
    """Both answers have a call with the id call_1."""
    imported(own_gateway, "hermes", hermes)
    calls = [turn for turn in turns(own_gateway, "Weather in Lisbon") if turn["role"] == "tool"]
    assert [turn["content"] for turn in calls] == ['{"output": "rain", "exit_code": 0}', "sun"]
    assert created(imported(own_gateway, "hermes", hermes)) == {}


def test_skills_with_the_same_name_are_both_imported(own_gateway, hermes):
    (hermes / "skills" / "other" / "arxiv").mkdir(parents=True)
    (hermes / "skills" / "other" / "arxiv" / "SKILL.md").write_text("---\nname: arxiv\ndescription: x\n---\nOther.")
    notes = imported(own_gateway, "hermes", hermes)["notes"]
    skills = own_gateway.data / "agents" / "hermes" / "skills"
    assert {(skills / name / "SKILL.md").read_text().split()[-1] for name in ("arxiv", "arxiv-2")} == {"topic.", "Other."}
    assert "skill arxiv is named arxiv-2 here" in notes


def test_impossible_times_are_dropped_and_noted(own_gateway, hermes):
    with sqlite3.connect(hermes / "state.db") as database:
        database.execute("UPDATE messages SET timestamp = 1e300 WHERE content = 'And in Porto?'")
        database.execute("UPDATE messages SET timestamp = 1e11 WHERE content = 'Sun.'")
        database.execute("UPDATE sessions SET started_at = -1e300 WHERE title = 'Weather in Lisbon'")
    database.close()
    result = imported(own_gateway, "hermes", hermes)
    assert [note for note in result["notes"] if "times" in note] == [
        "4 times are before 1970, in the future or none at all: turns have that of the turn before"]
    made = turns(own_gateway, "Weather in Lisbon")
    assert [turn["created_at"][:4] for turn in made] == ["2025"] * 6
    assert threads(own_gateway)["Weather in Lisbon"]["created_at"].startswith("2025")


# The databases of OpenClaw since 2026.9, and the files of opencode before 1.2.


@pytest.fixture
def openclaw(own_gateway):
    program("openclaw", own_gateway.home)
    return own_gateway.home / ".openclaw"


def texts_by_title(gateway):
    return {title: texts(gateway, title) for title in threads(gateway)}


def test_openclaw_is_imported_from_its_databases(own_gateway, openclaw):
    before = state_of(openclaw)
    result = moved(own_gateway, "import", "openclaw")
    assert created(result) == {"agents": 2, "files of skills": 1, "integrations": 1, "jobs": 2, "souls": 2, "threads": 2,
                               "turns": 7, "user-profiles": 2}
    assert texts_by_title(own_gateway) == {
        "Count the cats": [("user", "Count the cats"), ("tool", "three"), ("assistant", "I count.\n\nSo it is."),
                           ("user", "And the dogs?"), ("assistant", "So it is.")],
        "Water the plants": [("user", "Water the plants"), ("assistant", "So it is.")]}
    assert extension(own_gateway, "openclaw-garden")["definition"]["model"] == "local/big"
    assert extension(own_gateway, "morning")["trigger_def"]["timezone"] == "Europe/Vienna"
    assert extension(own_gateway, "quarter")["definition"]["schedule"] == "*/15 * * * *"
    assert reasons(result)["job heartbeat-main"] == "is upkeep of that program's own"
    assert state_of(openclaw) == before
    assert created(moved(own_gateway, "import", "openclaw")) == {}


def test_a_session_of_openclaw_that_is_also_in_a_file_is_imported_once(own_gateway, openclaw):
    with sqlite3.connect(openclaw / "agents" / "garden" / "agent" / "openclaw-agent.sqlite") as database:
        rows = database.execute("SELECT session_id, event_json FROM transcript_events ORDER BY seq").fetchall()
    database.close()
    file = openclaw / "agents" / "garden" / "sessions" / f"{rows[0][0]}.jsonl"
    file.parent.mkdir()
    file.write_text("".join(event + "\n" for _, event in rows))
    assert created(moved(own_gateway, "import", "openclaw"))["threads"] == 2
    assert len(texts_by_title(own_gateway)["Water the plants"]) == 2


def test_sessions_of_openclaw_have_their_labels_and_state(own_gateway, openclaw):
    with sqlite3.connect(openclaw / "agents" / "main" / "agent" / "openclaw-agent.sqlite") as database:
        database.execute("UPDATE session_nodes SET label = 'Pets', archived_at = 1764086047850")
    database.close()
    moved(own_gateway, "import", "openclaw")
    assert threads(own_gateway)["Pets"]["archived"] and not threads(own_gateway)["Water the plants"]["archived"]


def test_agents_of_openclaw_keyed_by_id_are_read(own_gateway, openclaw):
    settings = json.loads((openclaw / "openclaw.json").read_text())
    listed = settings["agents"].pop("list")
    settings["agents"]["entries"] = {one["id"]: {name: value for name, value in one.items() if name not in ("id", "default")}
                                     for one in reversed(listed)}
    (openclaw / "openclaw.json").write_text(json.dumps(settings))
    moved(own_gateway, "import", "openclaw")
    assert extension(own_gateway, "openclaw-garden")["description"] == "The agent Gardener of OpenClaw"
    soul = accepted(own_gateway.http.get("/agents/openclaw/soul"))["content"]
    assert soul == (openclaw / "workspace" / "SOUL.md").read_text()


def test_a_damaged_database_of_openclaw_is_skipped(own_gateway, openclaw):
    (openclaw / "agents" / "main" / "agent" / "openclaw-agent.sqlite").write_bytes(b"no database" * 1000)
    (openclaw / "state" / "openclaw.sqlite").write_bytes(b"SQLite format 3\0" + b"x" * 4000)
    with sqlite3.connect(openclaw / "agents" / "garden" / "agent" / "openclaw-agent.sqlite") as database:
        database.execute("UPDATE transcript_events SET event_json = NULL, event_zstd = X'28b52ffd00' WHERE seq = 4")
    database.close()
    result = moved(own_gateway, "import", "openclaw")
    why = reasons(result)
    assert "cannot be read" in why[str(openclaw / "agents" / "main" / "agent" / "openclaw-agent.sqlite")]
    assert "cannot be read" in why[str(openclaw / "state" / "openclaw.sqlite")]
    assert [turn["content"] for turn in transcript_of(own_gateway, next(iter(threads(own_gateway).values()))["id"])] == [
        "So it is."]


def test_sessions_of_opencode_before_its_database_are_read_from_files(own_gateway):
    program("opencode-files", own_gateway.home)
    before = state_of(own_gateway.home / ".local")
    (own_gateway.home / ".config" / "opencode").mkdir(parents=True)
    assert created(moved(own_gateway, "import", "opencode")) == {"agents": 1, "threads": 1, "turns": 5}
    [title] = threads(own_gateway)
    assert texts(own_gateway, title) == [
        ("user", '"Count the boats"\n'), ("tool", "three\n"), ("assistant", "I count.\n\nSo it is."),
        ("user", '"And the oars?"\n\n\n[file: opencode.json]'), ("assistant", "So it is.")]
    assert turns(own_gateway, title)[2]["metadata"]["reasoning"] == "Use echo."
    assert created(moved(own_gateway, "import", "opencode")) == {}
    assert state_of(own_gateway.home / ".local") == before


def test_what_was_undone_in_files_of_opencode_becomes_a_fork(own_gateway):
    program("opencode-files", own_gateway.home)
    storage = own_gateway.home / ".local" / "share" / "opencode" / "storage"
    [session] = (storage / "session").rglob("*.json")
    _, undone = sorted(path.stem for path in (storage / "message").rglob("*.json") if json.loads(path.read_text())["role"] == "user")
    session.write_text(json.dumps({**json.loads(session.read_text()), "title": "Boats", "revert": {"messageID": undone}}))
    imported(own_gateway, "opencode", storage.parent)
    assert [content for _, content in texts(own_gateway, "Boats")] == ['"Count the boats"\n', "three\n", "I count.\n\nSo it is."]
    assert texts(own_gateway, "Boats (fork 1)")[0][1].startswith('"And the oars?"')


def test_pictures_that_a_tool_of_opencode_read_are_attached(own_gateway):
    program("opencode-files", own_gateway.home)
    storage = own_gateway.home / ".local" / "share" / "opencode" / "storage"
    [call] = [one for one in (storage / "part").rglob("*.json") if json.loads(one.read_text())["type"] == "tool"]
    part = json.loads(call.read_text())
    part["state"]["attachments"] = [
        {"type": "file", "mime": "image/png", "url": "data:image/png;base64,iVBORw0KGgpoYXQ="},
        {"type": "file", "mime": "text/plain", "filename": "gone.txt", "url": "file:///gone.txt"}]
    call.write_text(json.dumps(part))
    imported(own_gateway, "opencode", storage.parent)
    [title] = threads(own_gateway)
    assert [file["mime"] for file in turns(own_gateway, title)[2]["metadata"]["attachments"]] == ["image/png"]


def test_invalid_files_of_opencode_are_skipped(own_gateway):
    program("opencode-files", own_gateway.home)
    storage = own_gateway.home / ".local" / "share" / "opencode" / "storage"
    [session] = (storage / "session").rglob("*.json")
    (session.parent / "ses_broken.json").write_text("{")
    [part] = [one for one in (storage / "part").rglob("*.json") if "Count the boats" in one.read_text()]
    part.write_text(part.read_text()[:40])
    why = reasons(imported(own_gateway, "opencode", storage.parent))
    assert why[str(session.parent / "ses_broken.json")] == why[str(part)] == "is not JSON"
    [title] = threads(own_gateway)
    assert texts(own_gateway, title)[0] == ("tool", "three\n")
