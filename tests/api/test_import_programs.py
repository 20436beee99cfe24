"""agw import claude-code and codex: the directories of programs on this machine.

See docs/contract/transfer.md.
"""

import hashlib
import json

import pytest

from checks import accepted
from transfer import created, imported, moved, program, reasons, texts, threads, turns, write_json, write_lines


def line(kind, key, content, parent=None, at=0, **members):
    return {"type": kind, "uuid": key, "parentUuid": parent, "timestamp": f"2025-06-01T10:00:{at:02}.000Z",
            "sessionId": "s1", "cwd": "/nowhere", "message": {"role": kind, "content": content}, **members}


@pytest.fixture
def claude_code(own_gateway):
    """A directory of Claude Code with one item of each kind."""
    folder = own_gateway.home / ".claude"
    for path, text in {
        "CLAUDE.md": "Use tabs.",
        "skills/pdf/SKILL.md": "---\nname: pdf\ndescription: Reads PDF\n---\nDo it.",
        "skills/pdf/run.sh": "#!/bin/sh\n",
        "commands/Fix Issue.md": "---\ndescription: Fixes\n---\nFix $ARGUMENTS",
        "agents/reviewer.md": "---\nname: reviewer\ndescription: Reviews\ntools: Read\n---\nYou review.",
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    write_json(own_gateway.home / ".claude.json", {"mcpServers": {
        "git hub": {"command": "npx", "args": ["-y", "server"], "env": {"TOKEN": "ghp_0123456789"}},
        "web": {"type": "http", "url": "https://mcp.example/mcp", "headers": {"Authorization": "Bearer abc-123456"}}}})
    write_lines(folder / "projects" / "-nowhere" / "s1.jsonl", [
        {"type": "summary", "summary": "Repair the door", "leafUuid": "4"},
        line("user", "1", "Fix the door", at=1),
        line("assistant", "2", [{"type": "text", "text": "I look."},
                                {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "door"}}], "1", 2),
        line("user", "3", [{"type": "tool_result", "tool_use_id": "t1", "content": "broken"}], "2", 3),
        line("assistant", "4", [{"type": "text", "text": "Done."}], "3", 4),
        line("assistant", "x", [{"type": "text", "text": "aside"}], "2", 5, isSidechain=True),
    ])
    return folder


def state_of(folder):
    return {str(path): (path.stat().st_mtime_ns, hashlib.sha256(path.read_bytes()).hexdigest())
            for path in sorted(folder.rglob("*")) if path.is_file()}


def extension(gateway, name):
    return accepted(gateway.http.get(f"/extensions/{name}"))


def import_claude_code(gateway, *flags):
    return moved(gateway, "import", "claude-code", *flags)


def test_claude_code_is_imported_disabled(own_gateway, claude_code):
    before = state_of(own_gateway.home / ".claude")
    result = import_claude_code(own_gateway)
    assert created(result) == {"agents": 2, "commands": 1, "files of skills": 2, "integrations": 2, "souls": 1,
                               "threads": 1, "turns": 3}
    assert accepted(own_gateway.http.get("/agents/claude-code/soul")) == {"content": "Use tabs."}
    reviewer = extension(own_gateway, "reviewer")
    assert reviewer["definition"]["systemPrompt"] == "You review." and not reviewer["enabled"]
    command = extension(own_gateway, "fix-issue")
    assert command["definition"]["prompt"] == "Fix $ARGUMENTS" and not command["enabled"]
    assert not extension(own_gateway, "claude-code")["enabled"]
    assert (own_gateway.data / "agents" / "claude-code" / "skills" / "pdf" / "run.sh").exists()
    assert not (own_gateway.data / "skills").exists() or not list((own_gateway.data / "skills").iterdir())
    assert state_of(own_gateway.home / ".claude") == before


def test_transcripts_of_claude_code_become_threads(own_gateway, claude_code):
    import_claude_code(own_gateway)
    assert texts(own_gateway, "Repair the door") == [
        ("user", "Fix the door"), ("tool", "broken"), ("assistant", "I look.\n\nDone.")]
    _, call, answer = turns(own_gateway, "Repair the door")
    assert call["metadata"]["tool_name"] == "Read" and call["metadata"]["input"] == {"file_path": "door"}
    assert answer["metadata"]["steps"] == [{"text_end": 7, "tool_call_ids": ["t1"]}]
    assert threads(own_gateway)["Repair the door"]["created_at"] == "2025-06-01T10:00:01.000Z"


def test_keys_are_not_read_without_the_flag(own_gateway, claude_code):
    result = import_claude_code(own_gateway)
    assert accepted(own_gateway.http.get("/secrets")) == []
    github = extension(own_gateway, "git-hub")["definition"]
    assert github["env"] == {"TOKEN": "${secret:CLAUDE_CODE_GIT_HUB_TOKEN}"} and not extension(own_gateway, "web")["enabled"]
    assert "--with-keys" in reasons(result)["key git hub_TOKEN"]
    for path in own_gateway.data.rglob("*"):
        assert not path.is_file() or b"ghp_0123456789" not in path.read_bytes(), path


def test_a_dry_run_counts_projects_with_an_existing_directory(own_gateway, claude_code):
    garden = own_gateway.home / "garden"
    garden.mkdir()
    for number, directory in enumerate((garden, garden, "/nowhere")):
        write_lines(claude_code / "projects" / "-other" / f"d{number}.jsonl",
                    [{**line("user", "1", "Hello", at=1), "cwd": str(directory)}])
    planned = import_claude_code(own_gateway, "--dry-run")
    assert created(planned)["projects"] == 1 and "project /nowhere" in reasons(planned)
    assert accepted(own_gateway.http.get("/projects")) == []
    table = own_gateway.command("import", "claude-code", "--dry-run").stdout
    assert ["projects", "1"] in [line.split() for line in table.splitlines()]
    assert created(import_claude_code(own_gateway))["projects"] == 1


def test_keys_become_secrets_with_the_flag(own_gateway, claude_code):
    result = import_claude_code(own_gateway, "--with-keys")
    assert created(result)["secrets"] == 2 and "ghp_" not in str(result)
    names = {one["name"] for one in accepted(own_gateway.http.get("/secrets"))}
    assert names == {"CLAUDE_CODE_GIT_HUB_TOKEN", "CLAUDE_CODE_WEB_AUTHORIZATION"}
    assert "ghp_0123456789" in (own_gateway.data / "secrets.yaml").read_text()
    assert "ghp_0123456789" not in str(extension(own_gateway, "git-hub"))


def test_an_existing_secret_is_not_replaced(own_gateway, claude_code):
    name = "CLAUDE_CODE_GIT_HUB_TOKEN"
    own_gateway.http.put(f"/secrets/{name}", json={"value": "mine"}).raise_for_status()
    for flags in (["--dry-run"], [], []):
        result = import_claude_code(own_gateway, "--with-keys", *flags)
        reason = reasons(result)["key git hub_TOKEN"]
        assert f"there is a secret {name} with another value" in reason and f"agw secret set {name}_2" in reason
        assert result["counts"]["secrets"]["kept"] >= 1
    stored = (own_gateway.data / "secrets.yaml").read_text()
    assert "mine" in stored and "ghp_0123456789" not in stored
    assert extension(own_gateway, "git-hub")["definition"]["env"] == {"TOKEN": f"${{secret:{name}}}"}
    assert result["counts"]["secrets"] == {"created": 0, "kept": 2}


def test_two_keys_that_map_to_one_name_become_two_secrets(own_gateway):
    write_json(own_gateway.home / ".claude.json", {"mcpServers": {
        name: {"command": "serve", "env": {"KEY": f"the key of {name}"}} for name in ("my maps", "my-maps")}})
    (own_gateway.home / ".claude").mkdir()
    for _ in range(2):
        import_claude_code(own_gateway, "--with-keys")
        named = [extension(own_gateway, name)["definition"]["env"]["KEY"] for name in ("my-maps", "my-maps-claude-code")]
        assert named == ["${secret:CLAUDE_CODE_MY_MAPS_KEY}", "${secret:CLAUDE_CODE_MY_MAPS_KEY_2}"]
        stored = (own_gateway.data / "secrets.yaml").read_text()
        assert "the key of my maps" in stored and "the key of my-maps" in stored


def test_a_key_given_as_a_variable_and_as_a_value_is_one_secret(own_gateway):
    servers = {directory: {"mcpServers": {"maps": {"command": f"serve-{directory}", "env": {"KEY": key}}}}
               for directory, key in (("/a", "${MAPS_KEY}"), ("/b", "the key"), ("/c", "${MAPS_KEY}"))}
    write_json(own_gateway.home / ".claude.json", {"projects": servers})
    (own_gateway.home / ".claude").mkdir()
    import_claude_code(own_gateway, "--with-keys")
    assert [one["name"] for one in accepted(own_gateway.http.get("/secrets"))] == ["CLAUDE_CODE_MAPS_KEY"]
    named = {one["definition"]["env"]["KEY"] for one in accepted(own_gateway.http.get("/extensions"))
             if one["name"].startswith("maps")}
    assert named == {"${secret:CLAUDE_CODE_MAPS_KEY}"}


def test_invalid_names_are_mapped_and_reported(own_gateway, claude_code):
    notes = import_claude_code(own_gateway)["notes"]
    assert "command Fix Issue is named fix-issue here" in notes and "integration git hub is named git-hub here" in notes


def test_a_taken_name_gets_the_source_as_suffix(own_gateway, claude_code):
    accepted(own_gateway.http.post("/extensions", json={"type": "command", "name": "fix-issue", "description": "",
                                                        "definition": {"prompt": "mine"}}), 201)
    result = import_claude_code(own_gateway)
    assert extension(own_gateway, "fix-issue")["definition"]["prompt"] == "mine"
    assert extension(own_gateway, "fix-issue-claude-code")["definition"]["prompt"] == "Fix $ARGUMENTS"
    assert any("the name is taken" in note for note in result["notes"])
    again = import_claude_code(own_gateway)
    assert created(again) == {}


def test_a_repeated_import_creates_nothing_even_after_an_edit(own_gateway, claude_code):
    import_claude_code(own_gateway)
    accepted(own_gateway.http.patch("/extensions/reviewer", json={"enabled": True, "description": "Mine"}))
    own_gateway.http.put("/agents/claude-code/soul", json={"content": "Use spaces."})
    listed = {one["name"] for one in accepted(own_gateway.http.get("/extensions"))}
    again = import_claude_code(own_gateway)
    assert created(again) == {} and {one["name"] for one in accepted(own_gateway.http.get("/extensions"))} == listed
    assert extension(own_gateway, "reviewer")["description"] == "Mine"
    assert accepted(own_gateway.http.get("/agents/claude-code/soul")) == {"content": "Use spaces."}
    assert "there is a soul already" in " ".join(reasons(again).values())


def test_a_soul_over_the_limit_is_left_out(own_gateway, claude_code):
    (claude_code / "CLAUDE.md").write_text("x" * 102_401)
    result = import_claude_code(own_gateway)
    assert "102,400 bytes" in reasons(result)[str(claude_code / "CLAUDE.md")]
    assert accepted(own_gateway.http.get("/agents/claude-code/soul")) == {"content": ""}


def test_an_agent_keeps_only_known_tools(own_gateway, claude_code):
    for name, tools in {"some": "Read, Grep,Bash, mcp__web__look", "all": "[Write, Read]", "none": "Task"}.items():
        (claude_code / "agents" / f"{name}.md").write_text(f"---\nname: {name}\ndescription: x\ntools: {tools}\n---\nWork.")
    why = reasons(imported(own_gateway, "claude-code", claude_code))
    tools = {name: extension(own_gateway, name)["definition"].get("tools") for name in ("some", "all", "none")}
    assert tools == {"some": ["Read", "Grep", "Bash"], "all": ["Write", "Read"], "none": None}
    assert "tool mcp__web__look of agent some" in why and "by hand" in why["tools of agent none"]


def test_files_of_skills_are_imported_unchanged(own_gateway, claude_code):
    skill = claude_code / "skills" / "pdf"
    (skill / "run.sh").chmod(0o755)
    (skill / "font.ttf").write_bytes(bytes(range(256)))
    result = imported(own_gateway, "claude-code", claude_code)
    copied = own_gateway.data / "agents" / "claude-code" / "skills" / "pdf"
    assert (copied / "run.sh").stat().st_mode & 0o777 == 0o700 and (copied / "SKILL.md").stat().st_mode & 0o777 == 0o600
    assert (copied / "font.ttf").read_bytes() == bytes(range(256)) and str(skill / "font.ttf") not in reasons(result)


def test_a_symlink_in_a_skill_is_not_followed(own_gateway, claude_code):
    (claude_code / "skills" / "pdf" / "keys").symlink_to("/etc/passwd")
    result = import_claude_code(own_gateway)
    why = reasons(result)[str(claude_code / "skills" / "pdf" / "keys")]
    assert why == "is a symlink that leads out of the directory, to /etc/passwd"
    assert not (own_gateway.data / "agents" / "claude-code" / "skills" / "pdf" / "keys").exists()


def test_complete_lines_of_a_truncated_transcript_are_imported(own_gateway, claude_code):
    path = claude_code / "projects" / "-nowhere" / "s1.jsonl"
    path.write_bytes(path.read_bytes()[:-300] + b'\xff{"type')
    result = import_claude_code(own_gateway)
    assert any("lines of" in what and str(path) in what for what in reasons(result))
    assert texts(own_gateway, "Repair the door")[0] == ("user", "Fix the door")


def test_only_new_lines_of_a_grown_transcript_are_imported(own_gateway, claude_code):
    import_claude_code(own_gateway)
    with (claude_code / "projects" / "-nowhere" / "s1.jsonl").open("a") as file:
        file.write(json.dumps(line("user", "5", "And the window", "4", 8)) + "\n")
    assert created(import_claude_code(own_gateway)) == {"turns": 1}
    assert texts(own_gateway, "Repair the door")[-1] == ("user", "And the window")


def test_a_directory_in_home_becomes_the_threads_project(own_gateway, claude_code):
    work = own_gateway.home / "work"
    work.mkdir()
    write_lines(claude_code / "projects" / "w" / "s2.jsonl", [line("user", "1", "Hello there", cwd=str(work))])
    result = import_claude_code(own_gateway)
    [project] = accepted(own_gateway.http.get("/projects"))
    assert project["path"] == str(work) and not project["trusted"]
    assert threads(own_gateway)["Hello there"]["project_id"] == project["id"]
    assert "without a project" in reasons(result)["project /nowhere"]


def test_a_recorded_session_of_codex_becomes_a_thread(own_gateway):
    program("codex", own_gateway.home)
    assert created(moved(own_gateway, "import", "codex")) == {"agents": 1, "threads": 1, "turns": 6}
    messages = texts(own_gateway, "Count the hats")
    assert [text for role, text in messages if role != "tool"] == [
        "Count the hats", "I count.\n\nSo it is.", "And the coats?", "So it is."]
    assert messages[1][1].endswith("\nthree\n") and messages[2][1].endswith("\nred\n")
    assert turns(own_gateway, "Count the hats")[3]["metadata"]["reasoning"] == "Use echo."
    assert created(moved(own_gateway, "import", "codex")) == {}


def test_codex_sessions_become_threads(own_gateway):
    folder = own_gateway.home / ".codex"

    def item(at, **payload):
        return {"timestamp": f"2025-07-01T10:00:{at:02}.000Z", "type": "response_item", "payload": payload}

    write_lines(folder / "sessions" / "2025" / "07" / "01" / "rollout-2025-07-01-u1.jsonl", [
        {"timestamp": "2025-07-01T10:00:00.000Z", "type": "session_meta", "payload": {"id": "u1", "cwd": "/nowhere"}},
        {"timestamp": "2025-07-01T10:00:00.000Z", "type": "turn_context", "payload": {"model": "gpt-5"}},
        item(1, type="message", role="user", content=[{"type": "input_text", "text": "<environment_context>x"}]),
        *(item(1, type="message", role="user", content=[{"type": "input_text", "text": f"<{tag}>x</{tag}>"}])
          for tag in ("turn_aborted", "subagent_notification", "skill")),
        item(2, type="message", role="user", content=[{"type": "input_text", "text": "Count files"}]),
        {"timestamp": "2025-07-01T10:00:02.000Z", "type": "event_msg", "payload": {"type": "user_message"}},
        item(3, type="reasoning", summary=[{"type": "summary_text", "text": "Use ls."}]),
        item(4, type="function_call", name="shell", call_id="c1", arguments='{"command":["ls"]}'),
        item(5, type="function_call_output", call_id="c1", output='{"output":"a b","metadata":{}}'),
        item(6, type="message", role="assistant", content=[{"type": "output_text", "text": "Two."}]),
    ])
    (folder / "prompts").mkdir()
    (folder / "prompts" / "draft.md").write_text("Draft $1")
    (folder / "AGENTS.md").write_text("Be brief.")
    (folder / "config.toml").write_text("[mcp_servers.x]\n")
    (folder / "auth.json").write_text('{"OPENAI_API_KEY": "sk-secret-key"}')
    result = imported(own_gateway, "codex", folder)
    assert created(result) == {"agents": 1, "commands": 1, "souls": 1, "threads": 1, "turns": 3}
    assert texts(own_gateway, "Count files") == [("user", "Count files"), ("tool", "a b"), ("assistant", "Two.")]
    _, call, answer = turns(own_gateway, "Count files")
    assert call["metadata"]["input"] == {"command": ["ls"]}
    assert (answer["metadata"]["model"], answer["metadata"]["reasoning"]) == ("gpt-5", "Use ls.")
    assert "is a login" in reasons(result)[str(folder / "auth.json")] and "sk-secret" not in str(result)
    assert created(imported(own_gateway, "codex", folder)) == {}


def test_a_missing_directory_is_named(own_gateway):
    done = own_gateway.command("import", "codex")
    assert done.returncode == 1 and ".codex" in done.stderr


def openclaw(folder, **jobs):
    for path, text in {"SOUL.md": "I am a crab.", "AGENTS.md": "Work well.", "USER.md": "Ada", "MEMORY.md": "Likes tea.",
                       "memory/2026-01-02.md": "Rain."}.items():
        (folder / "workspace" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "workspace" / path).write_text(text)
    write_json(folder / "cron" / "jobs.json", {"version": 1, "jobs": [
        {"id": name, "name": name, "enabled": True, "schedule": schedule,
         "payload": {"kind": "agentTurn", "message": "Report"}} for name, schedule in jobs.items()]})
    write_lines(folder / "agents" / "main" / "sessions" / "s1.jsonl", [
        {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-01-02T03:04:05.000Z", "cwd": "/nowhere"},
        {"type": "model_change", "id": "a", "parentId": None, "timestamp": "2026-01-02T03:04:05.000Z"},
        {"type": "message", "id": "b", "parentId": "a", "timestamp": "2026-01-02T03:04:06.000Z",
         "message": {"role": "user", "content": [{"type": "text", "text": "Is it raining?"}]}},
        {"type": "message", "id": "c", "parentId": "b", "timestamp": "2026-01-02T03:04:07.000Z", "message": {
            "role": "assistant", "model": "m", "content": [
                {"type": "thinking", "thinking": "Look."},
                {"type": "toolCall", "id": "t", "name": "weather", "arguments": {"at": "here"}}]}},
        {"type": "message", "id": "d", "parentId": "c", "timestamp": "2026-01-02T03:04:08.000Z",
         "message": {"role": "toolResult", "toolCallId": "t", "toolName": "weather", "isError": False,
                     "content": [{"type": "text", "text": "rain"}]}},
        {"type": "message", "id": "e", "parentId": "d", "timestamp": "2026-01-02T03:04:09.000Z",
         "message": {"role": "assistant", "model": "m", "content": [{"type": "text", "text": "Yes."}]}},
    ])
    return folder


def test_openclaw_is_imported_disabled(own_gateway):
    folder = openclaw(own_gateway.home / ".openclaw", daily={"kind": "cron", "expr": "0 9 * * 1-5"})
    result = imported(own_gateway, "openclaw", folder)
    assert created(result) == {"agents": 1, "jobs": 1, "knowledge pages": 2, "souls": 1, "threads": 1, "turns": 3,
                               "user-profiles": 1}
    assert accepted(own_gateway.http.get("/agents/openclaw/soul")) == {"content": "I am a crab.\n\nWork well."}
    assert accepted(own_gateway.http.get("/agents/openclaw/user-profile")) == {"content": "Ada"}
    job = extension(own_gateway, "daily")
    assert not job["enabled"] and job["definition"]["schedule"] == "0 9 * * 1-5"
    assert {page["slug"] for page in accepted(own_gateway.http.get("/knowledge/pages", params={"scope": "agent:openclaw"}))} == {
        "memory", "memory-2026-01-02"}
    assert texts(own_gateway, "Is it raining?") == [("user", "Is it raining?"), ("tool", "rain"), ("assistant", "Yes.")]
    assert created(imported(own_gateway, "openclaw", folder)) == {}


def test_a_schedule_keeps_its_time_zone(own_gateway):
    folder = openclaw(own_gateway.home / ".openclaw", zoned={"kind": "cron", "expr": "0 7 * * *", "tz": "Asia/Tokyo"})
    assert not [reason for reason in reasons(imported(own_gateway, "openclaw", folder)) if "time zone" in reason]
    job = extension(own_gateway, "zoned")
    assert job["trigger_def"] == {"type": "cron", "expression": "0 7 * * *", "timezone": "Asia/Tokyo"}
    assert "schedule" not in job["definition"]


def test_unsupported_schedules_are_listed(own_gateway):
    folder = openclaw(own_gateway.home / ".openclaw", once={"kind": "at", "at": "2027-01-01T00:00:00Z"},
                      odd={"kind": "every", "everyMs": 420_000}, quarter={"kind": "every", "everyMs": 900_000},
                      dialect={"kind": "cron", "expr": "0 0 9 ? * MON 2027"}, lost={"kind": "cron", "expr": "0 7 * * *", "tz": "Mars/Base"})
    why = reasons(imported(own_gateway, "openclaw", folder))
    assert "single time" in why["job once"] and "interval" in why["job odd"] and "0 0 9 ? * MON 2027" in why["job dialect"]
    assert "Mars/Base" in why["time zone of job lost"]
    assert extension(own_gateway, "lost")["definition"]["schedule"] == "0 7 * * *"
    assert extension(own_gateway, "quarter")["definition"]["schedule"] == "*/15 * * * *"


CODEX_SETTINGS = """
model = "coder-1"
model_provider = "office"

[model_providers.office]
name = "Office"
base_url = "https://models.example/v1"
wire_api = "responses"
experimental_bearer_token = "sk-office-0123456789"
query_params = { api-version = "2026-01-01" }
http_headers = { X-Team = "blue" }

[model_providers.lab]
base_url = "https://lab.example/v1"
env_key = "LAB_KEY"

[mcp_servers."git hub"]
command = "npx"
args = [
  "-y", # the newest
  "server",
]
env = { TOKEN = "ghp_0123456789" }

[mcp_servers.web]
url = "https://mcp.example/mcp"
bearer_token_env_var = "WEB_TOKEN"
"""


@pytest.fixture
def codex(own_gateway):
    folder = own_gateway.home / ".codex"
    folder.mkdir()
    (folder / "config.toml").write_text(CODEX_SETTINGS)
    return folder


def test_settings_of_codex_become_disabled_integrations(own_gateway, codex):
    result = imported(own_gateway, "codex", codex)
    assert created(result) == {"agents": 1, "integrations": 4} and "0123456789" not in str(result)
    office = extension(own_gateway, "office")
    assert not office["enabled"] and extension(own_gateway, "codex")["definition"]["model"] == "office/coder-1"
    assert {name: office["definition"][name] for name in ("kind", "api", "base_url", "api_key", "default_model", "headers")} == {
        "kind": "model", "api": "openai-responses", "base_url": "https://models.example/v1?api-version=2026-01-01",
        "api_key": "${secret:CODEX_OFFICE_API_KEY}", "default_model": "coder-1", "headers": {"X-Team": "blue"}}
    lab = extension(own_gateway, "lab")["definition"]
    assert (lab["api"], lab["api_key"]) == ("openai-chat", "${secret:CODEX_LAB_API_KEY}")
    assert "in a variable" in reasons(result)["key lab_API_KEY"]
    github = extension(own_gateway, "git-hub")
    assert github["definition"]["args"] == ["-y", "server"] and not github["enabled"]
    assert extension(own_gateway, "web")["definition"]["headers"] == {"Authorization": "${secret:CODEX_WEB_AUTHORIZATION}"}
    assert accepted(own_gateway.http.get("/secrets")) == []
    assert created(imported(own_gateway, "codex", codex)) == {}


def test_keys_in_the_settings_of_codex_become_secrets_with_the_flag(own_gateway, codex):
    assert created(imported(own_gateway, "codex", codex, "--with-keys"))["secrets"] == 2
    names = {one["name"] for one in accepted(own_gateway.http.get("/secrets"))}
    assert names == {"CODEX_OFFICE_API_KEY", "CODEX_GIT_HUB_TOKEN"}


def test_invalid_settings_of_codex_are_reported_with_their_line(own_gateway, codex):
    (codex / "config.toml").write_text("model = \n")
    why = reasons(imported(own_gateway, "codex", codex))[str(codex / "config.toml")]
    assert why.startswith("line 1: a value is missing")


OPENCLAW_SETTINGS = """// JSON5
{
  agents: {
    defaults: { workspace: '~/claw', model: { primary: 'local/big' } },
    list: [{ id: 'main', default: true }, { id: 'Home', name: "Home helper", workspace: '~/home-claw' }],
  },
  models: { providers: {
    local: { baseUrl: 'http://127.0.0.1:1234/v1', api: 'openai-completions',
             models: [{ id: 'big', contextWindow: 65536, maxTokens: 8192, input: ['text', 'image'] }] },
    cloud: { baseUrl: 'https://cloud.example', api: 'anthropic-messages', apiKey: 'sk-cloud-0123456789' },
    odd: { baseUrl: 'https://odd.example', api: 'bedrock-converse-stream' },
  } },
}
"""


def test_settings_of_openclaw_name_services_agents_and_workspaces(own_gateway):
    folder = own_gateway.home / ".openclaw"
    folder.mkdir()
    (folder / "openclaw.json").write_text(OPENCLAW_SETTINGS)
    for name, soul in {"claw": "I am a crab.", "home-claw": "I keep the house."}.items():
        (own_gateway.home / name).mkdir()
        (own_gateway.home / name / "SOUL.md").write_text(soul)
    result = imported(own_gateway, "openclaw", folder)
    assert created(result) == {"agents": 2, "integrations": 2, "souls": 2}
    assert accepted(own_gateway.http.get("/agents/openclaw/soul")) == {"content": "I am a crab."}
    assert accepted(own_gateway.http.get("/agents/openclaw-home/soul")) == {"content": "I keep the house."}
    assert not extension(own_gateway, "openclaw-home")["enabled"]
    local = extension(own_gateway, "local")["definition"]
    assert (local["api"], local["default_model"], "api_key" in local) == ("openai-chat", "big", False)
    assert local["models"] == [{"id": "big", "context_window": 65536, "max_output": 8192, "vision": True}]
    assert extension(own_gateway, "cloud")["definition"]["api_key"] == "${secret:OPENCLAW_CLOUD_API_KEY}"
    assert "speaks an API" in reasons(result)["model service odd"] and "0123456789" not in str(result)
    assert created(imported(own_gateway, "openclaw", folder)) == {}


def test_services_of_opencode_become_disabled_integrations(own_gateway):
    folder = own_gateway.home / ".config" / "opencode"
    write_json(folder / "opencode.json", {"model": "mine/m1", "provider": {
        "mine": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "https://m.example/v1", "apiKey": "{env:MINE}"},
                 "models": {"m1": {"limit": {"context": 1000, "output": 100}}}},
        "anthropic": {"options": {"apiKey": "sk-ant-0123456789"}}}})
    result = imported(own_gateway, "opencode", folder)
    assert created(result) == {"agents": 1, "integrations": 2}
    assert "name that folder" in reasons(result)[str(own_gateway.home / ".local" / "share" / "opencode")]
    mine = extension(own_gateway, "mine")
    assert mine["definition"]["models"] == [{"id": "m1", "context_window": 1000, "max_output": 100}]
    assert mine["definition"]["default_model"] == "m1" and not mine["enabled"]
    assert extension(own_gateway, "anthropic")["definition"]["api_key"] == "${secret:OPENCODE_ANTHROPIC_API_KEY}"


def test_services_of_hermes_become_disabled_integrations(own_gateway):
    folder = own_gateway.home / ".hermes"
    folder.mkdir()
    (folder / "config.yaml").write_text(
        "model:\n  default: glm\n  provider: custom:office\n"
        "providers:\n  office:\n    api: https://office.example/v1\n    transport: anthropic_messages\n    key_env: OFFICE_KEY\n"
        "custom_providers:\n  - name: lab\n    base_url: http://127.0.0.1:8080/v1\n    model: small\n")
    assert created(imported(own_gateway, "hermes", folder)) == {"agents": 1, "integrations": 2}
    office = extension(own_gateway, "office")["definition"]
    assert (office["api"], office["default_model"], office["api_key"]) == (
        "anthropic", "glm", "${secret:HERMES_OFFICE_API_KEY}")
    assert extension(own_gateway, "lab")["definition"]["default_model"] == "small"
    assert extension(own_gateway, "hermes")["definition"]["model"] == "office/glm"


@pytest.mark.parametrize("model", ["model: glm", "model:\n  default: glm\n  provider: auto"], ids=["text", "any service"])
def test_model_of_hermes_that_is_not_here_is_listed(own_gateway, model):
    folder = own_gateway.home / ".hermes"
    folder.mkdir()
    (folder / "config.yaml").write_text(f"{model}\n")
    assert "there is no glm here" in reasons(imported(own_gateway, "hermes", folder))["model of agent hermes"]
