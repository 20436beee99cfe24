"""agw import: symlinks and special files in the directories of other programs.

See docs/contract/transfer.md.
"""

import os

import pytest

from checks import accepted
from transfer import ChatGPT, created, imported, moved, program, reasons, threads, write_json, write_lines

MESSAGE = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi all"}]}


def extension(gateway, name):
    return accepted(gateway.http.get(f"/extensions/{name}"))


@pytest.fixture
def claude(own_gateway):
    folder = own_gateway.home / ".claude"
    for name in ("commands", "skills", "shared"):
        (folder / name).mkdir(parents=True)
    return folder


def test_symlinked_settings_are_imported(own_gateway, claude, tmp_path):
    """Many users keep their settings in a separate directory, such as a repository of dotfiles."""
    dotfiles = tmp_path / "dotfiles"
    (dotfiles / "agents").mkdir(parents=True)
    (dotfiles / "CLAUDE.md").write_text("Be brief.")
    (dotfiles / "agents" / "checker.md").write_text("---\nname: checker\n---\nCheck.")
    (claude / "CLAUDE.md").symlink_to(dotfiles / "CLAUDE.md")
    (claude / "agents").symlink_to(dotfiles / "agents")
    assert created(moved(own_gateway, "import", "claude-code")) == {"agents": 2, "souls": 1}
    assert accepted(own_gateway.http.get("/agents/claude-code/soul"))["content"] == "Be brief."


def test_a_database_that_is_a_symlink_is_read_with_its_log(own_gateway, tmp_path):
    home, elsewhere = program("hermes", own_gateway.home / ".hermes"), tmp_path / "state.db"
    (home / "state.db").rename(elsewhere)
    (home / "state.db").symlink_to(elsewhere)
    assert imported(own_gateway, "hermes", home)["counts"]["threads"]["created"] == 3


def test_symlinks_within_the_directory_are_followed(own_gateway, claude):
    (claude / "shared" / "paint").mkdir()
    (claude / "shared" / "paint" / "SKILL.md").write_text("---\nname: paint\ndescription: Paints\n---\nPaint.")
    (claude / "shared" / "door.md").write_text("Open the door.")
    (claude / "commands" / "door.md").symlink_to("../shared/door.md")
    (claude / "skills" / "paint").symlink_to("../shared/paint")
    assert created(moved(own_gateway, "import", "claude-code")) == {"agents": 1, "commands": 1, "files of skills": 1}
    assert extension(own_gateway, "door")["definition"]["prompt"] == "Open the door."


def test_symlinks_that_are_not_followed_are_listed(own_gateway, claude, tmp_path):
    (tmp_path / "paint").mkdir()
    for name in ("SKILL.md", "secret.md"):
        (tmp_path / "paint" / name).write_text("---\nname: paint\n---\nPaint.")
    (claude / "skills" / "door").mkdir()
    (claude / "skills" / "door" / "SKILL.md").write_text("Open.")
    out, nothing, folder = "leads out of the directory", "is a symlink to nothing", "is a symlink to a folder"
    links = {
        claude / "CLAUDE.md": (tmp_path / "lost", nothing),
        claude / "commands" / "secret.md": (tmp_path / "paint" / "secret.md", out),
        claude / "commands" / "more": (claude / "commands", folder),
        claude / "commands" / "self.md": ("self.md", "symbolic links"),
        claude / "skills" / "paint": (tmp_path / "paint", out),
        claude / "skills" / "loop": ("..", folder),
        claude / "skills" / "door" / "key.md": (tmp_path / "paint" / "secret.md", out),
        claude / "skills" / "door" / "up": ("..", folder),
    }
    for link, (target, _) in links.items():
        link.symlink_to(target)
    result = moved(own_gateway, "import", "claude-code")
    why = reasons(result)
    assert {str(link): text in why.get(str(link), "") for link, (_, text) in links.items()} == {str(link): True for link in links}
    assert created(result) == {"agents": 1, "files of skills": 1}


def test_fifos_are_listed_without_blocking(own_gateway):
    home = program("hermes", own_gateway.home / ".hermes")
    skill_file = home / "skills" / "notes" / "pipe.md"
    fifos = [home / "state.db", home / "SOUL.md", home / "config.yaml", skill_file]
    for path in fifos:
        path.unlink(missing_ok=True)
        os.mkfifo(path)
    result = imported(own_gateway, "hermes", home)
    assert {str(path): reasons(result).get(str(path)) for path in fifos} == {str(path): "is no regular file" for path in fifos}
    assert created(result)["knowledge pages"] == 1


def test_a_fifo_among_sessions_is_listed_and_the_others_are_imported(own_gateway):
    folder = own_gateway.home / ".codex" / "sessions"
    write_lines(folder / "a.jsonl", [MESSAGE])
    os.mkfifo(folder / "b.jsonl")
    result = imported(own_gateway, "codex", folder.parent)
    assert reasons(result)[str(folder / "b.jsonl")] == "is no regular file" and result["counts"]["threads"]["created"] == 1


def test_an_export_may_be_in_a_directory_with_other_files(own_gateway, tmp_path):
    chat = ChatGPT()
    chat.say("user", "Where to?")
    folder = tmp_path / "export"
    write_json(tmp_path / "conversations-002.json", [chat.conversation])
    write_json(folder / "kept" / "conversations-000.json", [chat.conversation])
    (folder / "conversations-001.json").symlink_to("kept/conversations-000.json")
    (folder / "conversations-002.json").symlink_to(tmp_path / "conversations-002.json")
    os.mkfifo(folder / "conversations-003.json")
    why = reasons(imported(own_gateway, "chatgpt", folder))
    assert "leads out" in why[str(folder / "conversations-002.json")]
    assert why[str(folder / "conversations-003.json")] == "is no regular file" and len(why) == 2
    assert list(threads(own_gateway)) == ["Trip"]
