"""Read, Glob, Grep, Write and Edit: their output, and files that no agent may touch.

See docs/contract/tools.md#files and docs/contract/tools.md#the-tools.
"""

import os
import re
import stat

import pytest

from checks import accepted
from tools import STAGES, call_tool, new_agent, new_thread

PRIVATE = (".ssh/id_ed25519", ".aws/credentials", ".gnupg/ring", ".netrc", ".config/gcloud/token", ".kube/config",
           ".docker/config.json", ".npmrc", ".pypirc", ".git-credentials", ".azure/x", ".password-store/x.gpg",
           ".mozilla/x", ".config/google-chrome/x", "deep/server.pem", "deep/server.key", "id_rsa", "id_dsa.old",
           "id_ecdsa", "id_ed25519", "gateway.before-restore-20261121T091830123Z/secrets.yaml",
           "gateway.restore-0f9a12bc/secrets.yaml")
SECRET = "hunter2-is-the-secret"


def write(path, text="x"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def project(talker, new_name):
    path = talker.gateway.home / new_name("site")
    write(path / "main.c", "int main() {\n  return 0;\n}\n")
    return accepted(talker.gateway.http.post("/projects", json={"name": path.name, "path": str(path)}), 201)


@pytest.fixture
def folder(project, talker):
    return talker.gateway.home / project["name"]


@pytest.fixture
def thread_of(talker, project, new_name):
    """Creates a thread in the project, with an agent of this stage."""
    def make(stage="operator", **definition):
        agent = new_agent(talker.gateway, new_name(stage), stage=stage, **definition)
        return new_thread(talker.gateway, agent, project_id=project["id"])
    return make


@pytest.fixture
def use(talker, thread_of):
    """Calls a tool as an operator. Returns its output and checks whether it is an error."""
    thread = thread_of()

    def use(tool, fails=False, **input):
        end = call_tool(talker, thread, tool, input)
        assert end["isError"] is fails, end["output"]
        return end["output"]
    return use


# Read


def test_agent_without_a_project_starts_in_an_empty_workspace(talker, new_name):
    agent = new_agent(talker.gateway, new_name("fresh"), stage="apprentice")
    thread = new_thread(talker.gateway, agent)
    assert call_tool(talker, thread, "Glob", {"pattern": "*"})["output"] == "[nothing matches]\n"
    assert not call_tool(talker, thread, "Read", {"path": "."})["isError"]
    assert agent["name"] in call_tool(talker, thread, "Read", {"path": "../agent.yaml"})["output"]


def test_read_shows_numbered_lines(use):
    assert use("Read", path="main.c") == "     1\tint main() {\n     2\t  return 0;\n     3\t}\n"
    assert use("Read", path="main.c", offset=2, limit=1).startswith("     2\t  return 0;\n[there is more")


def test_read_of_a_directory_lists_its_entries(use, folder):
    write(folder / "src/a.c")
    assert use("Read", path=".") == "main.c\nsrc/\n"


def test_read_of_a_binary_file_is_a_clear_error(use, folder):
    (folder / "picture.png").write_bytes(b"\x89PNG\0")
    assert "a binary file" in use("Read", fails=True, path="picture.png")


def test_relative_paths_start_at_the_project_or_the_workspace(talker, use, new_name):
    assert "int main" in use("Read", path="main.c")
    agent = new_agent(talker.gateway, new_name("alone"))
    write(talker.gateway.data / "agents" / agent["name"] / "workspace/notes.md", "mine")
    assert call_tool(talker, new_thread(talker.gateway, agent), "Read", {"path": "notes.md"})["output"] == "     1\tmine\n"


def test_path_outside_of_home_is_told_from_a_private_one(use):
    error = use("Read", fails=True, path="/workspace/main.c")
    assert error == ("permission denied: no agent may read files outside of the home directory; a path without a leading / "
                     "starts at the working directory")


def test_read_sees_home_except_dotfiles(talker, use):
    write(talker.gateway.home / "letters/a.txt", "dear")
    write(talker.gateway.home / ".profile", SECRET)
    assert "dear" in use("Read", path="~/letters/a.txt")
    assert use("Read", fails=True, path="~/.profile").startswith("permission denied:")


# Private files


@pytest.mark.parametrize("stage", STAGES)
def test_private_files_are_unreadable_for_every_tool_and_stage(talker, folder, thread_of, stage):
    thread = thread_of(stage)
    for path in PRIVATE:
        write(folder / path, SECRET)
    os.link(folder / "id_rsa", folder / "id_rsa.txt")
    (folder / "link").symlink_to(talker.gateway.data / ".gateway-token")
    for path in PRIVATE[:: 4] + ("link", str(talker.gateway.data / ".gateway-token"), "/etc/passwd"):
        for tool, more in (("Read", {}), ("Grep", {"pattern": "."}), ("Write", {"content": "x"}),
                           ("Edit", {"old_string": SECRET, "new_string": "x"})):
            end = call_tool(talker, thread, tool, {"path": path, **more})
            assert end["isError"] and end["output"].startswith("permission denied:"), (tool, path)
    for tool, input in (("Grep", {"pattern": SECRET}), ("Glob", {"pattern": "**/id_*"}), ("Read", {"path": "."}),
                        ("Glob", {"pattern": "**/*.pem"})):
        output = call_tool(talker, thread, tool, input)["output"]
        assert SECRET not in output and "id_rsa" not in output and ".pem" not in output
    assert (folder / "deep/server.key").read_text() == SECRET


@pytest.mark.parametrize("path", ["/proc/self/root{token}", "../../../../../../../..{token}", "~/.agent-gateway/.gateway-token",
                                  "up/.gateway-token", "token", "notes.txt", "/proc/self/environ", "/proc/self/fd/0"])
def test_token_is_unreadable(talker, use, folder, path):
    token = talker.gateway.data / ".gateway-token"
    (folder / "up").symlink_to(talker.gateway.data)
    (folder / "token").symlink_to(token)
    os.link(token, folder / "notes.txt")
    output = use("Read", fails=True, path=path.format(token=token))
    assert output.startswith("permission denied:") and talker.gateway.token not in output
    (folder / "notes.txt").unlink()


def test_pipes_and_sockets_do_not_block(use, folder):
    os.mkfifo(folder / "pipe")
    os.mknod(folder / "socket", stat.S_IFSOCK | 0o600)
    for path in "pipe", "socket":
        assert "not a regular file" in use("Read", fails=True, path=path)
    assert use("Grep", pattern="x") == "[nothing matches]\n"


# Glob


def test_glob_lists_matches_newest_first(use, folder):
    for age, path in enumerate(("src/new.ts", "src/deep/middle.ts", "old.ts")):
        os.utime(write(folder / path), (10**9 - age, 10**9 - age))
    assert use("Glob", pattern="**/*.ts") == "src/new.ts\nsrc/deep/middle.ts\nold.ts\n"
    assert use("Glob", pattern="*.ts", path="src") == "src/new.ts\n"


def test_glob_lists_at_most_a_thousand(use, folder):
    for number in range(1010):
        write(folder / "many" / f"{number}.txt")
    lines = use("Glob", pattern="many/*").splitlines()
    assert len([line for line in lines if line.startswith("many/")]) == 1000


# Grep


def test_grep_shows_path_line_and_text(use, folder):
    write(folder / "src/b.c", "x\nRETURN 1;\n")
    assert use("Grep", pattern=r"return \d") == "main.c:2:  return 0;\n"
    assert use("Grep", pattern=r"return \d", ignore_case=True) == "main.c:2:  return 0;\nsrc/b.c:2:RETURN 1;\n"
    assert use("Grep", pattern="RETURN", path="src", glob="*.c", context=1) == "src/b.c-1-x\nsrc/b.c:2:RETURN 1;\n"
    assert len(use("Grep", pattern=".", max=2).splitlines()) == 3


def test_grep_decodes_utf_16(use, folder):
    (folder / "notes.txt").write_bytes("one\ntwo Öl\n".encode("utf-16"))
    for place in {}, {"path": "notes.txt"}, {"glob": "**/*.txt"}:
        assert use("Grep", pattern="Öl", **place) == "notes.txt:2:two Öl\n"


def test_grep_takes_cr_lf_for_the_end_of_a_line(use, folder):
    (folder / "dos.txt").write_bytes(b"one\r\ntwo\r\n")
    for place in {}, {"path": "dos.txt"}, {"glob": "**/*.txt"}:
        assert use("Grep", pattern="o$", **place) == "dos.txt:2:two\n"


def test_grep_respects_gitignore(use, folder):
    write(folder / ".gitignore", "*.log\n!keep.log\n/build/\n")
    write(folder / "sub/.gitignore", "local.txt\n")
    for path in "a.log", "keep.log", "build/x", "sub/build/x", "sub/local.txt":
        write(folder / path, "otter")
    assert use("Grep", pattern="otter") == "keep.log:1:otter\nsub/build/x:1:otter\n"


def test_grep_without_matches_explains_the_syntax_of_other_tools(use):
    assert use("Grep", pattern="foo\\|bar") == "[nothing matches; \\| is the character, | separates alternatives]\n"
    assert use("Grep", pattern="x", glob="*.c,*.h") == "[nothing matches; several globs are written as {*.c,*.h}]\n"
    assert use("Grep", pattern="main", glob="./*.c") == "main.c:1:int main() {\n"
    assert "--" not in use("Grep", fails=True, pattern="a(?=b)") + use("Grep", fails=True, pattern="a\\nb")


def test_grep_with_an_invalid_pattern_is_a_tool_error(use):
    use("Grep", fails=True, pattern="(")


# Write and Edit


def test_write_creates_and_replaces(use, folder):
    use("Write", path="new/a.txt", content="one")
    use("Write", path="new/a.txt", content="two")
    assert (folder / "new/a.txt").read_text() == "two"
    assert os.listdir(folder / "new") == ["a.txt"]


def test_write_follows_a_symlink_and_checks_its_target(use, folder, talker):
    inside, outside = write(folder / "inside.txt", "old"), write(talker.gateway.home / "letter.txt", "dear")
    (folder / "link").symlink_to("inside.txt")
    (folder / "out_link").symlink_to(outside)
    use("Write", path="link", content="mine")
    assert inside.read_text() == "mine" and (folder / "link").is_symlink()
    assert use("Write", fails=True, path="out_link", content="mine").startswith("permission denied:")
    assert outside.read_text() == "dear" and (folder / "out_link").is_symlink()


@pytest.mark.parametrize("path", [".git/hooks/pre-commit", ".git/config", ".agents/skills/x/SKILL.md", "~/elsewhere.txt",
                                  "../elsewhere.txt", "/tmp/elsewhere.txt", "out/elsewhere.txt", "{data}/config.yaml",
                                  "{data}/agents/assistant/workspace/x", "/proc/self/root/tmp/elsewhere.txt"])
@pytest.mark.parametrize("stage", ["operator", "sovereign"])
def test_write_is_confined_to_its_directories(talker, thread_of, folder, path, stage):
    write(folder / ".git/HEAD")
    (folder / "out").symlink_to(talker.gateway.home)
    end = call_tool(talker, thread_of(stage), "Write", {"path": path.format(data=talker.gateway.data), "content": "evil"})
    assert end["isError"] and end["output"].startswith("permission denied:")
    assert not (folder / ".git/hooks").exists() and not (talker.gateway.home / "elsewhere.txt").exists()


def test_edit_replaces_exactly_one_match(use, folder):
    use("Edit", path="main.c", old_string="return 0;", new_string="return 1;")
    assert "return 1;" in (folder / "main.c").read_text()
    assert "not found" in use("Edit", fails=True, path="main.c", old_string="return 0;", new_string="x")
    assert "times" in use("Edit", fails=True, path="main.c", old_string="n", new_string="x")
    use("Edit", path="main.c", old_string="n", new_string="N", replace_all=True)
    assert (folder / "main.c").read_text() == "iNt maiN() {\n  returN 1;\n}\n"


def test_edit_keeps_crlf_although_models_write_line_feeds(use, folder):
    (folder / "dos.txt").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    use("Edit", path="dos.txt", old_string="one\ntwo", new_string="1\n2\n")
    use("Edit", path="dos.txt", old_string="three", new_string="3\n4", replace_all=True)
    assert (folder / "dos.txt").read_bytes() == b"1\r\n2\r\n\r\n3\r\n4\r\n"


def test_edit_shows_the_most_similar_lines_if_there_is_no_match(use, folder):
    write(folder / "tabs.c", "int f() {\n\tif (x) {\n\t\treturn 1;\n\t}\n\treturn 1;\n}\n")
    error = use("Edit", fails=True, path="tabs.c", old_string="    if (x) {\n        return 1;\n    }", new_string="")
    assert error.endswith("line ends. The most similar lines are:\n     2\t\tif (x) {\n     3\t\t\treturn 1;\n     4\t\t}\n")
    numbered = "     2\t\tif (x) {\n     3\t\t\treturn 1;"
    error = use("Edit", fails=True, path="tabs.c", old_string=numbered, new_string="")
    assert error == "old_string was not found: leave out the line numbers that Read shows"
    assert "similar" not in use("Edit", fails=True, path="tabs.c", old_string="while (y) {\n\t}", new_string="")


def test_edit_names_the_lines_of_several_matches(use, folder):
    write(folder / "many.txt", "a\n\na\n" + "a\n" * 12)
    error = use("Edit", fails=True, path="many.txt", old_string="a\n", new_string="")
    assert "was found 14 times, in lines 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, …: include" in error


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_edited_file_keeps_its_owner(use, folder):
    os.chown(folder / "main.c", 4321, 1234)
    use("Edit", path="main.c", old_string="return 0;", new_string="return 1;")
    use("Write", path="main.c", content="")
    status = (folder / "main.c").stat()
    assert (status.st_uid, status.st_gid) == (4321, 1234)


# Staging


@pytest.mark.parametrize("tool, more", [("Write", {"content": "one"}), ("Edit", {"old_string": "int", "new_string": "one"})])
def test_changes_of_an_apprentice_are_staged(talker, thread_of, folder, tool, more):
    before = (folder / "main.c").read_text()
    end = call_tool(talker, thread_of("apprentice"), tool, {"path": "main.c", **more})
    assert re.fullmatch(r"staged as proposal [\w-]+/[\w-]+/[\w-]+", end["output"]) and not end["isError"]
    assert (folder / "main.c").read_text() == before
    staged = accepted(talker.gateway.http.get("/proposals/" + end["output"].split()[-1]))
    assert staged["target"] == str(folder / "main.c") and "one" in staged["content"] and staged["type"] == "file"


def test_only_a_sovereign_writes_its_own_soul(talker, thread_of, new_name):
    for stage, written in (("trusted", False), ("sovereign", True)):
        thread = thread_of(stage)
        agent = accepted(talker.gateway.http.get(f"/extensions/{thread['agent_id']}"))
        path = talker.gateway.data / "agents" / agent["name"] / "soul.md"
        end = call_tool(talker, thread, "Write", {"path": str(path), "content": "kind"})
        assert end["isError"] is not written and path.exists() is written


def test_soul_too_large_to_be_read_is_not_written(talker, new_name):
    agent = new_agent(talker.gateway, new_name("sovereign"), stage="sovereign")
    path = talker.gateway.data / "agents" / agent["name"] / "soul.md"
    fits = "x" * 102_399 + "y"

    def use(tool, **input):
        # Each in its own thread, which stays too short to be summarized.
        return call_tool(talker, new_thread(talker.gateway, agent), tool, {"path": str(path), **input})

    assert not use("Write", content=fits)["isError"]
    for end in (use("Write", content=fits + "x"), use("Edit", old_string="y", new_string="yy")):
        assert end["isError"] and end["output"] == "soul content too large (max 100KB)"
    assert path.read_text() == fits


def test_plan_mode_reads_but_does_not_write(talker, thread_of, folder):
    thread = thread_of("sovereign", mode="plan")
    assert not call_tool(talker, thread, "Read", {"path": "main.c"})["isError"]
    assert call_tool(talker, thread, "Write", {"path": "a", "content": "x"})["output"].startswith("permission denied:")
    assert call_tool(talker, thread, "Bash", {"command": "touch a"})["output"].startswith("permission denied:")
    assert not (folder / "a").exists()
