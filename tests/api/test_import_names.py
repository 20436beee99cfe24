"""agw import: the names of imported extensions, threads and models.

See docs/contract/transfer.md.
"""

from checks import accepted
from transfer import ChatGPT, created, imported, moved, reasons, texts, threads, write_json, write_lines, write_zip


def extension(gateway, name):
    return accepted(gateway.http.get(f"/extensions/{name}"))


def write_agent(gateway, path, name, *front_matter):
    file = gateway.home / ".claude" / "agents" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(["---", f"name: {name}", "description: Helps", *front_matter, "---", "You help.", ""]))


def test_a_fork_of_a_chat_without_a_title_is_named_after_its_first_question(own_gateway, tmp_path):
    chat = ChatGPT(title="")
    question = chat.say("user", "Which boat?")
    chat.say("assistant", "This one.")
    chat.say("assistant", "That one.", parent=question)
    imported(own_gateway, "chatgpt", write_zip(tmp_path / "export.zip", conversations_json=[chat.conversation]))
    assert sorted(threads(own_gateway)) == ["Which boat?", "Which boat? (fork 1)"]
    assert texts(own_gateway, "Which boat? (fork 1)")[-1] == ("assistant", "This one.")


def test_a_dry_run_reports_taken_names(own_gateway):
    write_agent(own_gateway, "a.md", "assistant")
    note = "agent assistant is named assistant-claude-code here: the name is taken"
    assert note in moved(own_gateway, "import", "claude-code", "--dry-run")["notes"]
    for _ in range(2):
        assert note in moved(own_gateway, "import", "claude-code")["notes"]
    assert note in moved(own_gateway, "import", "claude-code", "--dry-run")["notes"]
    assert extension(own_gateway, "assistant")["source"] == "built-in"


def test_a_dry_run_without_a_gateway_reports_duplicate_names(own_gateway):
    write_agent(own_gateway, "a.md", "helper")
    write_agent(own_gateway, "b/a.md", "helper")
    own_gateway.stop()
    planned = moved(own_gateway, "import", "claude-code", "--dry-run")
    notes = ["agent helper is named helper-claude-code here: the name is taken"]
    assert planned["notes"] == notes and created(planned)["agents"] == 3
    own_gateway.start()
    assert moved(own_gateway, "import", "claude-code")["notes"] == notes
    assert extension(own_gateway, "helper-claude-code")["definition"]["systemPrompt"] == "You help.\n"


def test_commands_whose_names_become_equal_are_both_imported(own_gateway):
    """The second once counted as the first, imported earlier, and its prompt was lost."""
    for folder in ("git", "git "):
        file = own_gateway.home / ".claude" / "commands" / folder / "push.md"
        file.parent.mkdir(parents=True)
        file.write_text(f"Push from {folder}!\n")
    note = "command git-push is named git-push-claude-code here: the name is taken"
    for arguments, made, kept in ((["--dry-run"], 2, 0), ([], 2, 0), ([], 0, 2)):
        result = moved(own_gateway, "import", "claude-code", *arguments)
        assert result["counts"]["commands"] == {"created": made, "kept": kept} and note in result["notes"]
    prompts = {extension(own_gateway, name)["definition"]["prompt"] for name in ("git-push", "git-push-claude-code")}
    assert prompts == {"Push from git!\n", "Push from git !\n"}


def test_known_models_are_kept_and_unknown_ones_listed(own_gateway):
    write_agent(own_gateway, "whole.md", "whole", "model: offline/librarian")
    write_agent(own_gateway, "short.md", "short", "model: librarian")
    write_agent(own_gateway, "same.md", "same", "model: inherit")
    write_agent(own_gateway, "other.md", "other", "model: opus")
    result = moved(own_gateway, "import", "claude-code")
    models = {name: extension(own_gateway, name)["definition"].get("model") for name in ("whole", "short", "same", "other")}
    assert models == {"whole": "offline/librarian", "short": "offline/librarian", "same": None, "other": None}
    assert [what for what in reasons(result) if what.startswith("model ")] == ["model of agent other"]
    assert "opus" in reasons(result)["model of agent other"]


def test_agents_of_opencode_use_the_model_services_imported_with_them(own_gateway):
    folder = own_gateway.home / ".config" / "opencode"
    write_json(folder / "opencode.json", {
        "model": "mine/m1", "provider": {"mine": {"npm": "@ai-sdk/openai-compatible", "models": {"m1": {}},
                                                  "options": {"baseURL": "https://m.example/v1"}}},
        "agent": {"checker": {"prompt": "Check.", "model": "mine/m2", "temperature": 0.1},
                  "lost": {"prompt": "Find.", "model": "gone/m9", "temperature": 7}},
        "command": {"check": {"template": "Check it.", "agent": "checker", "model": "mine/m2"},
                    "find": {"template": "Find it.", "agent": "nobody", "model": "gone/m9"}}})
    result = imported(own_gateway, "opencode", folder)
    assert extension(own_gateway, "opencode")["definition"]["model"] == "mine/m1"
    checker = extension(own_gateway, "checker")["definition"]
    assert (checker["model"], checker["temperature"]) == ("mine/m2", 0.1)
    check, find = (extension(own_gateway, name)["definition"] for name in ("check", "find"))
    assert (check["agent_id"], check["model"]) == ("checker", "mine/m2") and "agent_id" not in find and "model" not in find
    assert "model" not in extension(own_gateway, "lost")["definition"]
    why = reasons(result)
    assert "gone/m9" in why["model of agent lost"] and "gone/m9" in why["model of command find"]
    assert "nobody" in why["agent of command find"] and "temperature of agent lost" in why


def test_agents_of_openclaw_have_their_models_and_sessions_their_labels(own_gateway):
    folder = own_gateway.home / ".openclaw"
    write_json(folder / "openclaw.json", {
        "agents": {"defaults": {"model": {"primary": "local/big"}},
                   "list": [{"id": "main", "default": True}, {"id": "small", "model": "local/tiny"}, {"id": "usual"},
                            {"id": "far", "model": {"primary": "nowhere/x"}}]},
        "models": {"providers": {"local": {"baseUrl": "http://127.0.0.1:1234/v1", "models": [{"id": "big"}]}}}})
    sessions = folder / "agents" / "main" / "sessions"
    write_json(sessions / "sessions.json", {"agent:main:main": {"sessionId": "s1", "label": "Pets"}})
    write_lines(sessions / "s1.jsonl", [
        {"type": "session", "id": "s1", "timestamp": "2026-03-01T08:00:00.000Z"},
        {"type": "message", "id": "m1", "parentId": None, "timestamp": "2026-03-01T08:00:01.000Z",
         "message": {"role": "user", "content": "Name a cat"}}])
    result = imported(own_gateway, "openclaw", folder)
    models = {name: extension(own_gateway, f"openclaw{name}")["definition"].get("model")
              for name in ("", "-small", "-usual", "-far")}
    assert models == {"": "local/big", "-small": "local/tiny", "-usual": "local/big", "-far": None}
    assert "nowhere/x" in reasons(result)["model of agent openclaw-far"]
    assert list(threads(own_gateway)) == ["Pets"]


def test_variables_of_mcp_servers_that_are_no_texts_are_imported(own_gateway):
    folder = own_gateway.home / ".openclaw"
    write_json(folder / "openclaw.json", {"mcp": {"servers": {"maps": {"command": "maps", "env": {
        "PORT": 8080, "FAST": True, "NONE": None, "KEY": {"source": "env", "provider": "default", "id": "MAPS_KEY"}}}}}})
    why = reasons(imported(own_gateway, "openclaw", folder, "--with-keys"))
    environment = extension(own_gateway, "maps")["definition"]["env"]
    assert list(environment) == ["PORT", "FAST", "KEY"] and "key maps_KEY" in why
    secrets = (own_gateway.data / "secrets.yaml").read_text()
    assert "8080" in secrets and "true" in secrets and environment["PORT"].startswith("${secret:")
