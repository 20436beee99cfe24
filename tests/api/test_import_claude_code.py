"""agw import claude-code: the files that Claude Code leaves on disk, and its transcripts line by line.

See docs/contract/transfer.md and programs/README.md.
"""

import base64

import pytest

from checks import accepted
from gateway import HAS_ADDRESS_SANITIZER
from transfer import created, memory_of_dry_run, moved, program, reasons, texts, threads, turns, write_json, write_lines


def line(kind, key, content, parent=None, at=0, **members):
    return {"type": kind, "uuid": key, "parentUuid": parent, "timestamp": f"2025-06-01T10:00:{at:02}.000Z",
            "sessionId": "s1", "cwd": "/nowhere", "message": {"role": kind, "content": content}, **members}


def extension(gateway, name):
    return accepted(gateway.http.get(f"/extensions/{name}"))


@pytest.fixture
def session(own_gateway):
    """Returns a function that imports a session of these lines and returns the result."""
    def import_lines(*lines, name="s1"):
        write_lines(own_gateway.home / ".claude" / "projects" / "-nowhere" / f"{name}.jsonl", lines)
        return moved(own_gateway, "import", "claude-code")
    return import_lines


def test_a_recorded_session_is_one_thread_however_often_it_was_compacted(own_gateway):
    program("claude-code", own_gateway.home)
    moved(own_gateway, "import", "claude-code")
    assert sorted(threads(own_gateway)) == ["Doors and windows", "Review doors"]
    messages = texts(own_gateway, "Doors and windows")
    assert [text for role, text in messages if role == "user" and not text.startswith("This session is being continued")] == [
        "Count the doors", "Ask the reviewer", "/compact", "And the windows?", "/rename Doors and windows", "Bye"]
    assert messages[:4] == [("user", "Count the doors"), ("tool", "three"), ("tool", "Exit code 3\nred"),
                            ("assistant", "I count.\n\nSo it is.")]
    assert created(moved(own_gateway, "import", "claude-code")) == {}


def test_parallel_calls_keep_their_own_results(own_gateway):
    program("claude-code", own_gateway.home)
    moved(own_gateway, "import", "claude-code")
    _, first, second, answer = turns(own_gateway, "Doors and windows")[:4]
    assert (first["metadata"]["is_error"], second["metadata"]["is_error"]) == (False, True)
    assert first["created_at"] == "2025-11-25T14:49:21.222Z" and answer["metadata"]["model"].startswith("claude-")
    assert answer["metadata"]["steps"] == [{"text_end": 8, "tool_call_ids": ["call_1", "call_1b"]}]


def test_a_subagents_conversation_is_imported_archived(own_gateway):
    program("claude-code", own_gateway.home)
    moved(own_gateway, "import", "claude-code")
    assert threads(own_gateway)["Review doors"]["archived"]
    assert texts(own_gateway, "Review doors") == [("user", "Look at the doors"), ("assistant", "The doors look good.")]


def test_transcripts_of_the_programs_own_agents_are_left_out(own_gateway, session):
    """They begin with a copy of the conversation."""
    subagents = own_gateway.home / ".claude" / "projects" / "-nowhere" / "s1" / "subagents"
    for name in ("acompact-1a2b3c", "aprompt_suggestion-4d5e6f"):
        write_lines(subagents / f"agent-{name}.jsonl", [
            line("user", "u1", "Hello", isSidechain=True), line("user", "u2", "Summarize", "u1", 1, isSidechain=True)])
    result = session(line("user", "u1", "Hello"))
    assert list(threads(own_gateway)) == ["Hello"] and "2 transcripts" in reasons(result)


def test_members_without_a_counterpart_are_listed(own_gateway):
    program("claude-code", own_gateway.home)
    why = reasons(moved(own_gateway, "import", "claude-code"))
    assert {what for what in why if what.endswith((" reviewer", " paint"))} == {
        "model of agent reviewer", "color of agent reviewer", "allowed-tools of command paint",
        "argument-hint of command paint", "model of command paint"}
    assert "haiku" in why["model of agent reviewer"]
    assert accepted(own_gateway.http.get("/extensions/reviewer"))["definition"]["tools"] == ["Read", "Grep"]


def test_directory_entries_that_are_not_imported_are_listed(own_gateway):
    folder = program("claude-code", own_gateway.home) / ".claude"
    expected = {
        "output-styles": "output styles have no counterpart", "rules": "soul of an agent", "plugins": "by hand",
        "agent-memory": "copy what you need into knowledge", "settings.local.json": "no counterpart",
        ".credentials.json": "never read", "statsig": "that program's own state", "dreams": "nothing that is known here",
        "projects/-nowhere/memory": "copy what you need into knowledge", "projects/-nowhere/s9/tool-results": "too long",
    }
    for name in expected:
        path = folder / name
        if path.suffix == ".json":
            path.write_text("{}")
        else:
            path.mkdir(parents=True)
            (path / "a.md").write_text("A")
    (folder / "todos").mkdir()
    why = reasons(moved(own_gateway, "import", "claude-code"))
    listed = {what.removeprefix(f"{folder}/"): reason for what, reason in why.items() if what.startswith(str(folder))}
    assert set(listed) == set(expected) and all(text in listed[name] for name, text in expected.items()), listed


def test_front_matter_that_is_not_yaml_is_reported_and_not_in_the_prompt(own_gateway):
    program("claude-code", own_gateway.home)
    folder = own_gateway.home / ".claude"
    why = reasons(moved(own_gateway, "import", "claude-code"))
    assert why[f"head of {folder / 'agents' / 'reviewer.md'}"].startswith("line 2: ")
    assert why[f"head of {folder / 'commands' / 'paint.md'}"].startswith("line 3: ")
    reviewer = extension(own_gateway, "reviewer")
    assert reviewer["definition"]["systemPrompt"] == "You review doors.\n"
    assert reviewer["description"] == "Reviews: use it when doors were changed"
    assert extension(own_gateway, "paint")["definition"]["prompt"] == "Paint the door $1 in $2.\n"


def test_front_matter_with_crlf_line_ends_is_read(own_gateway):
    file = own_gateway.home / ".claude" / "agents" / "a.md"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"---\r\nname: careful\r\ndescription: Looks twice\r\n---\r\nYou look twice.")
    moved(own_gateway, "import", "claude-code")
    careful = extension(own_gateway, "careful")
    assert (careful["description"], careful["definition"]["systemPrompt"]) == ("Looks twice", "You look twice.")


def test_a_compacted_session_is_one_thread_with_its_earlier_turns(own_gateway, session):
    session(line("user", "u1", "First", at=1), line("assistant", "a1", "One.", "u1", 2),
            {"type": "system", "subtype": "compact_boundary", "uuid": "c1", "parentUuid": None, "logicalParentUuid": "a1"},
            line("user", "u2", "Summary", "c1", 3, isCompactSummary=True), line("assistant", "a2", "Two.", "u2", 4))
    assert texts(own_gateway, "First") == [("user", "First"), ("assistant", "One."), ("user", "Summary"),
                                           ("assistant", "Two.")]
    assert list(threads(own_gateway)) == ["First"]


def test_a_line_with_an_unknown_parent_follows_the_line_before_it(own_gateway, session):
    session(line("user", "u1", "First", "of another file", 1), line("assistant", "a1", "One.", "u1", 2),
            line("user", "u2", "Second", "lost", 3))
    assert texts(own_gateway, "First") == [("user", "First"), ("assistant", "One."), ("user", "Second")]


@pytest.mark.parametrize(("lines", "title"), [
    ([{"type": "custom-title", "customTitle": "Mine"}, {"type": "ai-title", "aiTitle": "Made"}], "Mine"),
    ([{"type": "custom-title", "customTitle": "Mine"}, {"type": "custom-title", "customTitle": "Mine, too"}], "Mine, too"),
    ([{"type": "ai-title", "aiTitle": "Made"}, {"type": "summary", "summary": "Sum", "leafUuid": "u1"}], "Made"),
    ([{"type": "summary", "summary": "Sum", "leafUuid": "u1"},
      {"type": "summary", "summary": "Of another session", "leafUuid": "x"}], "Sum"),
    ([{"type": "summary", "summary": "Of what came before", "leafUuid": "x"}], "Of what came before"),
    ([], "Hello"),
], ids=["custom", "last custom", "generated", "summary", "summary of before", "none"])
def test_titles_are_those_that_the_program_shows(own_gateway, session, lines, title):
    session(*lines, line("user", "u1", "Hello"))
    assert list(threads(own_gateway)) == [title]


def test_the_title_of_a_long_session_is_found_at_its_end(own_gateway, session):
    long = "x" * (1024 * 1024)
    session(line("user", "u0", "Hello"), *(line("assistant", f"a{number}", long, at=number) for number in range(17)),
            {"type": "custom-title", "customTitle": "Long"})
    assert list(threads(own_gateway)) == ["Long"]


def test_documents_in_a_session_are_files_of_its_messages(own_gateway, session):
    def document(kind, media_type, data, **members):
        return {"type": "document", "source": {"type": kind, "media_type": media_type, "data": data}, **members}

    session(line("user", "u1", [{"type": "text", "text": "Read these"}, document("text", "text/plain", "Sold: 5 doors", title="a.txt"),
                                document("base64", "application/pdf", base64.b64encode(b"%PDF-1.4").decode())]))
    [question] = turns(own_gateway, "Read these")
    assert question["content"] == "Read these"
    files = question["metadata"]["attachments"]
    assert [(file["name"], file["mime"]) for file in files] == [("a.txt", "text/plain"), ("document", "application/pdf")]
    assert [own_gateway.http.get(f"/files/{file['id']}").content for file in files] == [b"Sold: 5 doors", b"%PDF-1.4"]


@pytest.mark.skipif(HAS_ADDRESS_SANITIZER, reason="the limit is for builds without sanitizers")
def test_large_pictures_in_a_session_take_little_memory(own_gateway):
    picture = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(bytes(15_000_000)).decode()}
    session = own_gateway.home / ".claude" / "projects" / "p" / "s1.jsonl"
    write_lines(session, [line("user", "u1", [{"type": "text", "text": "See"}, {"type": "image", "source": picture}]),
                          line("assistant", "a1", "Seen.", "u1", 1)])
    memory = memory_of_dry_run(own_gateway, "claude-code", own_gateway.home / ".claude")
    session.unlink()
    assert memory < 125 * 1024


@pytest.mark.parametrize(("content", "expected"), [
    ("<bash-input>ls -l</bash-input>", "!ls -l"),
    ("<system-reminder>Be quick.</system-reminder>\nSecond", "Second"),
    ([{"type": "text", "text": "<ide_opened_file>a.txt</ide_opened_file>"}, {"type": "text", "text": "Second"}], "Second"),
    ("<b>Second</b>", "<b>Second</b>"),
], ids=["shell", "reminder", "editor", "own markup"])
def test_what_a_person_typed_is_imported(own_gateway, session, content, expected):
    session(line("user", "u1", "First"), line("assistant", "a1", "One.", "u1", 1), line("user", "u2", content, "a1", 2))
    assert texts(own_gateway, "First")[2:] == [("user", expected)]


@pytest.mark.parametrize("content", [
    "<task-notification>\n<task-id>b1</task-id>\n</task-notification>", "<system-reminder>Be quick.</system-reminder>",
    "<bash-stdout>a b</bash-stdout><bash-stderr></bash-stderr>", "<local-command-stdout>Set",
    [{"type": "text", "text": "[Request interrupted by user for tool use]"}],
], ids=["task", "reminder", "output", "unended", "interruption"])
def test_what_the_program_says_for_the_person_is_listed(own_gateway, session, content):
    result = session(line("user", "u1", "First"), line("assistant", "a1", "One.", "u1", 1),
                     line("user", "u2", content, "a1", 2))
    assert texts(own_gateway, "First") == [("user", "First"), ("assistant", "One.")]
    assert any("parts `" in what for what in reasons(result))


def test_messages_sent_while_the_agent_worked_are_imported(own_gateway, session):
    def queued(key, parent, prompt, mode):
        return {"type": "attachment", "uuid": key, "parentUuid": parent, "timestamp": "2025-06-01T10:00:03.000Z",
                "attachment": {"type": "queued_command", "prompt": prompt, "commandMode": mode}}

    session(line("user", "u1", "First"), line("assistant", "a1", "One.", "u1", 1),
            queued("q1", "a1", "Windows, too", "prompt"),
            queued("q2", "q1", "<task-notification>Done</task-notification>", "task-notification"),
            queued("q3", "q2", [{"type": "text", "text": "And doors"}], "prompt"),
            line("assistant", "a2", "Two.", "q3", 4))
    assert texts(own_gateway, "First") == [
        ("user", "First"), ("assistant", "One."), ("user", "Windows, too"), ("user", "And doors"), ("assistant", "Two.")]


def test_messages_of_agents_in_a_session_are_listed(own_gateway, session):
    result = session(line("user", "u1", "Ask it"), line("user", "x1", "Look", "u1", 1, isSidechain=True),
                     line("assistant", "x2", "Seen.", "x1", 2, isSidechain=True), line("assistant", "a1", "It looked.", "u1", 3))
    assert texts(own_gateway, "Ask it") == [("user", "Ask it"), ("assistant", "It looked.")]
    assert [what for what in reasons(result) if what.startswith("2 messages of agents in ")]


def test_mcp_servers_of_one_project_are_imported(own_gateway, session):
    write_json(own_gateway.home / ".claude.json", {"projects": {"/nowhere": {"mcpServers": {"maps": {
        "type": "http", "url": "https://maps.example/mcp"}}}}})
    session(line("user", "u1", "Hello"))
    assert extension(own_gateway, "maps")["definition"]["url"] == "https://maps.example/mcp"


def test_defaults_of_variables_are_filled_in(own_gateway):
    write_json(own_gateway.home / ".claude.json", {"mcpServers": {
        "maps": {"type": "http", "url": "${MAPS:-https://maps.example.org}/${VERSION:-}mcp"},
        "files": {"command": "${RUNNER:-npx}", "args": ["-y", "${A:-one}${B:-}${C:-three}", "${HOME}", "${unended:-x"]}}})
    (own_gateway.home / ".claude").mkdir()
    moved(own_gateway, "import", "claude-code")
    assert extension(own_gateway, "maps")["definition"]["url"] == "https://maps.example.org/mcp"
    definition = extension(own_gateway, "files")["definition"]
    assert definition["command"] == "npx" and definition["args"] == ["-y", "onethree", "${HOME}", "${unended:-x"]


def test_a_directory_that_a_variable_moves_is_found(own_gateway):
    folder = own_gateway.home / "settings of claude"
    for place, name in ((folder, "maps"), (own_gateway.home, "old")):
        place.mkdir(exist_ok=True)
        write_json(place / ".claude.json", {"mcpServers": {name: {"command": "serve"}}})
    own_gateway.environment = {**own_gateway.environment, "CLAUDE_CONFIG_DIR": str(folder)}
    result = moved(own_gateway, "import", "claude-code")
    assert extension(own_gateway, "maps")["definition"]["command"] == "serve"
    assert result["counts"]["integrations"]["created"] == 1 and not any("claude.json" in what for what in reasons(result))


def test_instructions_have_what_they_import(own_gateway):
    folder = own_gateway.home / ".claude"
    folder.mkdir()
    (own_gateway.home / "mine.md").write_text("Be brief.\n@.claude/CLAUDE.md")
    (folder / "style.md").write_text("Use tabs.\n@~/mine.md\n@style.md\n")
    (folder / "other.md").write_text("Other.")
    (folder / "CLAUDE.md").write_text("First.\n  @style.md\n@team decides\n@style.md\n```\n@style.md\n```\nLast.\n")
    result = moved(own_gateway, "import", "claude-code")
    assert list(reasons(result)) == [str(folder / "other.md")]
    soul = accepted(own_gateway.http.get("/agents/claude-code/soul"))["content"]
    assert soul.strip() == ("First.\nUse tabs.\nBe brief.\n@.claude/CLAUDE.md\n@style.md\n\n@team decides\n@style.md\n"
                            "```\n@style.md\n```\nLast.")
