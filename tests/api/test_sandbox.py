"""Commands of agents: what the sandbox allows, and attempts to escape from it.

See docs/contract/tools.md#the-sandbox.
"""

import http.server
import os
import signal
import subprocess
import threading

import pytest

from checks import TRIES, accepted, seconds_of
from jobs import chat_stop, wait_for
from tools import run_chat, call_tool, calls, new_agent, new_thread, of_kind

SECRET = "hunter2-is-the-secret"


def write(path, text="x"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def new_project(gateway, name):
    path = gateway.home / name
    path.mkdir()
    return path, accepted(gateway.http.post("/projects", json={"name": name, "path": str(path)}), 201)["id"]


@pytest.fixture
def workspace(talker, new_name):
    """A project's folder, and a way to run commands in it."""
    folder, project = new_project(talker.gateway, new_name("site"))

    class Workspace:
        path = folder

        def bash(self, command, stage="operator", definition=None, **input):
            agent = new_agent(talker.gateway, new_name(stage), stage=stage, **(definition or {}))
            self.thread = new_thread(talker.gateway, agent, project_id=project)
            return call_tool(talker, self.thread, "Bash", {"command": command, **input})
    return Workspace()


def output_of(end):
    return end["output"].rsplit("exit code", 1)[0]


def is_running(text):
    """Returns whether any process of this machine has the text in its command line."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if text.encode() in file.read():
                    return True
        except OSError:
            continue
    return False


def wait_until_gone(text):
    return wait_for(lambda: not is_running(text))


def test_target_of_a_symlink_in_a_guarded_path_is_not_written(workspace):
    guarded = [write(workspace.path / path, "mine") for path in ("scripts/update", "scripts.config", "hook")]
    write(workspace.path / ".git/hooks/x")
    links = {"lib/.git/hooks": "../../scripts", "lib/.git/config": "../../scripts.config",
             ".git/hooks/update": "../../hook"}
    for link, target in links.items():
        (workspace.path / link).parent.mkdir(parents=True, exist_ok=True)
        (workspace.path / link).symlink_to(target)
    end = workspace.bash("for f in lib/.git/hooks/update lib/.git/config .git/hooks/update; do echo evil > $f; done;"
                     "mv scripts s; rm lib/.git/hooks; mkdir lib/.git/hooks; echo fine > note")
    assert (workspace.path / "note").read_text() == "fine\n", end
    assert {file.read_text() for file in guarded} == {"mine"}
    assert all((workspace.path / link).is_symlink() for link in links)


def test_submodule_without_hooks_gets_none(workspace):
    repository = workspace.path / ".git/modules/lib"
    for each in ("HEAD", "config", "objects/x", "refs/heads/main"):
        write(repository / each)
        write(workspace.path / ".git" / each)
    workspace.bash("mkdir -p .git/modules/lib/hooks; echo evil > .git/modules/lib/hooks/update")
    assert not (repository / "hooks").exists()


def test_hard_link_to_a_hook_is_not_written(workspace):
    write(workspace.path / "scripts/update", "mine")
    (workspace.path / "lib/.git/hooks").mkdir(parents=True)
    os.link(workspace.path / "scripts/update", workspace.path / "lib/.git/hooks/update")
    workspace.bash("echo evil > scripts/update; rm -rf scripts; mv scripts s; echo fine > other")
    assert (workspace.path / "lib/.git/hooks/update").read_text() == "mine"
    assert (workspace.path / "other").read_text() == "fine\n"


def test_tools_do_not_write_the_target_of_a_guarded_symlink_of_a_workspace(talker, new_name):
    agent = new_agent(talker.gateway, new_name("operator"), stage="operator")
    workspace = talker.gateway.data / "agents" / agent["name"] / "workspace"
    write(workspace / "scripts/update", "mine")
    (workspace / "lib/.git/hooks").mkdir(parents=True)
    (workspace / "lib/.git/hooks/update").symlink_to("../../../scripts/update")
    for tool, input in (("Bash", {"command": "echo evil > scripts/update; mv scripts s"}),
                        ("Write", {"path": "scripts/update", "content": "evil"}),
                        ("Edit", {"path": "scripts/update", "old_string": "mine", "new_string": "evil"})):
        assert call_tool(talker, new_thread(talker.gateway, agent), tool, input)["isError"], tool
    assert (workspace / "scripts/update").read_text() == "mine"


@pytest.mark.parametrize("link, remedy", [(".git", "`gitdir: store`"), (".agents", "make it a directory")])
def test_guarded_symlink_of_the_project_prevents_commands(workspace, link, remedy):
    write(workspace.path / "store/config", "mine")
    (workspace.path / link).symlink_to("store")
    end = workspace.bash(f"rm {link}; mkdir -p {link}/hooks; touch made")
    assert end["isError"] and f"{workspace.path / link} is a symlink" in end["output"] and remedy in end["output"]
    assert (workspace.path / link).is_symlink() and not (workspace.path / "made").exists()


@pytest.fixture
def pre_commit(workspace):
    """A symlink as the project's `pre-commit`; `is_evil` tells whether a commit runs the command that replaced its target."""
    git(workspace.path, "init", "-b", "main", ".")

    class Hook:
        def link_to(self, target):
            (workspace.path / ".git/hooks/pre-commit").symlink_to(f"../../{target}")

        def replace(self, path):
            return workspace.bash(f"rm -f {path}; mv $(dirname {path}) old; mkdir -p $(dirname {path});"
                              f"printf '#!/bin/sh\ntouch $PWD/evil' > {path}; chmod +x {path}; touch made")

        def is_evil(self):
            subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--allow-empty", "-m", "x"],
                           cwd=workspace.path, check=True)
            return (workspace.path / "evil").exists()
    return Hook()


def test_intermediate_symlink_of_a_guarded_one_is_not_replaced(workspace, pre_commit):
    write(workspace.path / "scripts/real", "#!/bin/sh\n").chmod(0o755)
    (workspace.path / "scripts/hook").symlink_to("real")
    pre_commit.link_to("scripts/hook")
    pre_commit.replace("scripts/hook")
    assert (workspace.path / "made").exists() and not pre_commit.is_evil()


@pytest.mark.parametrize("existing", ["scripts", "other"])
def test_missing_target_of_a_guarded_symlink_is_not_created(workspace, pre_commit, existing):
    (workspace.path / existing).mkdir()
    pre_commit.link_to("scripts/hook")
    pre_commit.replace("scripts/hook")
    assert (workspace.path / "made").exists() and not pre_commit.is_evil()
    assert not (workspace.path / "scripts/hook").exists() and (workspace.path / "scripts").exists() == (existing == "scripts")


def test_guarded_symlink_through_another_of_the_project_prevents_commands(workspace, pre_commit):
    write(workspace.path / "scripts/hook", "#!/bin/sh\n").chmod(0o755)
    (workspace.path / "now").symlink_to("scripts")
    pre_commit.link_to("now/hook")
    end = pre_commit.replace("now/hook")
    assert end["isError"] and f"{workspace.path / 'now'} is a symlink" in end["output"] and "lead straight to" in end["output"]
    assert not (workspace.path / "made").exists() and not pre_commit.is_evil()


def test_submodule_cannot_be_pointed_at_another_configuration(workspace):
    git(workspace.path, "init", "-b", "main", "library")
    git(workspace.path / "library", "commit", "--allow-empty", "-m", "one")
    git(workspace.path, "init", "-b", "main", ".")
    git(workspace.path, "-c", "protocol.file.allow=always", "submodule", "add", "./library", "lib")
    end = workspace.bash("cp -r .git/modules/lib other && echo '[core] fsmonitor = touch evil' >> other/config;"
                     "echo $PWD/other > .git/modules/lib/commondir; cd lib && git status --short && touch a && git add a &&"
                     "git -c user.name=a -c user.email=a@b commit -qm two && git log --oneline | wc -l")
    assert output_of(end).splitlines()[-1] == "2", end
    git(workspace.path / "lib", "status")
    git(workspace.path, "status")
    assert not list(workspace.path.glob("**/evil")) and not (workspace.path / ".git/modules/lib/commondir").exists()


def git(folder, *arguments):
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=folder, check=True,
                   capture_output=True)


def test_repository_of_worktrees_is_guarded_under_any_name(workspace):
    git(workspace.path, "init", "-b", "start", "first")
    git(workspace.path / "first", "commit", "--allow-empty", "-m", "one")
    git(workspace.path, "clone", "--bare", "first", ".bare")
    write(workspace.path / ".git", "gitdir: ./.bare\n")
    git(workspace.path, "worktree", "add", "main")
    config = (workspace.path / ".bare/config").read_text()
    common = (workspace.path / ".bare/worktrees/main/commondir").read_text()
    end = workspace.bash("echo evil >> .bare/config; echo evil > .bare/hooks/pre-commit; mv .bare b; mv .bare/worktrees .bare/w;"
                     "echo ../../../first/.git > .bare/worktrees/main/commondir; cd main && touch a && git add a &&"
                     "git -c user.name=a -c user.email=a@b commit -qm two && git log --oneline | wc -l")
    assert output_of(end).splitlines()[-1] == "2", end
    assert (workspace.path / ".bare/config").read_text() == config
    assert (workspace.path / ".bare/worktrees/main/commondir").read_text() == common
    assert not (workspace.path / ".bare/hooks/pre-commit").exists()


def test_output_and_exit_code_are_reported(workspace):
    end = workspace.bash("pwd; echo out; echo err >&2")
    assert end["output"] == f"{workspace.path}\nout\nerr\nexit code 0" and not end["isError"]
    assert workspace.bash("exit 3")["output"] == "exit code 3"


def test_project_can_be_written(workspace):
    workspace.bash("mkdir src; echo one > src/a.txt")
    assert (workspace.path / "src/a.txt").read_text() == "one\n"


def test_apprentice_executes_nothing(workspace):
    end = workspace.bash("touch made", stage="apprentice")
    assert end["isError"] and end["output"].startswith("permission denied:") and not (workspace.path / "made").exists()


@pytest.mark.parametrize("stage", ["operator", "trusted", "sovereign"])
def test_private_files_are_absent(talker, workspace, stage):
    home, data = talker.gateway.home, talker.gateway.data
    for path in (home / ".ssh/id_ed25519", home / "letter.txt", workspace.path / "deep/er/server.key", workspace.path / ".npmrc",
                 workspace.path / ".aws/credentials", data / "agents/other/workspace/x",
                 workspace.path / "gateway.before-restore-20261121T091830123Z/secrets.yaml",
                 workspace.path / "gateway.restore-0f9a12bc/secrets.yaml"):
        write(path, SECRET)
    os.link(home / ".ssh/id_ed25519", workspace.path / "notes.txt")
    (workspace.path / "link").symlink_to(home / ".ssh")
    end = workspace.bash(f"cat {home}/.ssh/* {home}/letter.txt deep/er/server.key .npmrc .aws/* gateway.*/* notes.txt link/* "
                     f"{data}/.* {data}/* {data}/agents/*/*/x; mv deep shallow; cat shallow/er/*; grep -rs hunter2 {home} /tmp /run;"
                     f"cat /proc/*/root{home}/letter.txt; ln deep/er/server.key a; cat a; find {data} -type f", stage=stage)
    assert SECRET not in end["output"] and talker.gateway.token not in end["output"]
    assert "gateway.db" not in output_of(end)


def test_guarded_paths_cannot_be_written(workspace):
    write(workspace.path / ".git/hooks/pre-commit", "mine")
    write(workspace.path / ".git/config", "mine")
    workspace.bash("echo evil > .git/hooks/pre-commit; echo evil > .git/hooks/new; echo evil > .git/config; mv .git g;"
               "mkdir -p .agents/skills/x .git/hooks; echo evil > .agents/skills/x/SKILL.md; echo evil > .git/hooks/new")
    assert (workspace.path / ".git/hooks/pre-commit").read_text() == "mine"
    assert (workspace.path / ".git/config").read_text() == "mine"
    assert sorted(os.listdir(workspace.path)) == [".git"] and os.listdir(workspace.path / ".git/hooks") == ["pre-commit"]


MAKE_REPOSITORY = "mkdir -p objects refs; touch HEAD; ls"


def test_directory_that_became_a_repository_hides_private_files(workspace):
    write(workspace.path / "objects/server.key", SECRET)
    assert "refs" in workspace.bash(MAKE_REPOSITORY)["output"]
    end = workspace.bash("cat objects/*; ls refs/.. objects")
    assert SECRET not in end["output"] and "server.key" in end["output"]


def test_directory_that_became_a_repository_keeps_paths_guarded(workspace):
    hook_file = write(workspace.path / ".git/modules/x/hooks/update", "mine")
    assert "refs" in workspace.bash(MAKE_REPOSITORY)["output"]
    assert not workspace.bash(f"echo evil > {hook_file}; rm -rf .git/modules/x; touch made; ls")["isError"]
    assert hook_file.read_text() == "mine" and (workspace.path / "made").exists()


def test_project_replaced_by_a_symlink_is_refused(talker, workspace, new_name):
    """An agent working in a project can replace another project within it."""
    inner = workspace.path / "inner"
    inner.mkdir()
    project = accepted(talker.gateway.http.post("/projects", json={"name": new_name("inner"), "path": str(inner)}), 201)
    inner_thread = new_thread(talker.gateway, new_agent(talker.gateway, new_name("insider")), project_id=project["id"])
    for target in (talker.gateway.data, talker.gateway.home, "/"):
        assert not workspace.bash(f"rm -rf inner; ln -s {target} inner")["isError"]
        end = call_tool(talker, inner_thread, "Bash", {"command": "ls -A; touch made"})
        assert end["isError"] and end["output"].startswith(f"{inner} leads to {target} now"), end
    assert not (talker.gateway.home / "made").exists()


def test_command_too_long_for_the_system_is_reported(workspace):
    assert workspace.bash("#" * 131_071)["output"] == "exit code 0"
    end = workspace.bash("#" * 131_072)
    assert end["isError"] and "more than 131071 bytes" in end["output"]


def test_environment_is_clean(make_gateway, stub, new_name):
    from talker import Talker, configuration
    gateway = make_gateway(config=configuration(stub), environment={"ANTHROPIC_API_KEY": SECRET, "AWS_SECRET": SECRET})
    talker = Talker(gateway.start(), stub)
    thread = new_thread(gateway, new_agent(gateway, new_name("clean"), stage="sovereign"))
    command = "env; tr '\\0' '\\n' < /proc/1/environ; cat /proc/*/environ"
    output = call_tool(talker, thread, "Bash", {"command": command})["output"]
    assert SECRET not in output and gateway.token not in output and "PATH=" in output


def test_other_processes_are_invisible(talker, workspace):
    output = output_of(workspace.bash(f"kill -9 {talker.gateway.process.pid}; ls -d /proc/[0-9]* | wc -l; ls -A /run"))
    assert int(output.splitlines()[-1]) < 10 and talker.gateway.running


class ReplyingHandler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"reached")

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), ReplyingHandler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running.server_address[1]
        running.shutdown()


@pytest.mark.parametrize("stage, definition, reached", [
    ("operator", {}, False), ("trusted", {}, True), ("trusted", {"sandbox": {"network": False}}, False),
    ("operator", {"sandbox": {"network": True}}, False)])
def test_network_needs_stage_trusted(workspace, server, stage, definition, reached):
    """The proxy responds, although it refuses this address: see test_command_network.py."""
    command = f"curl -sS --noproxy '' http://127.0.0.1:{server}/"
    assert ("no public address" in workspace.bash(command, stage=stage, definition=definition)["output"]) is reached


def test_endless_output_is_truncated_in_the_middle(workspace):
    for _ in range(TRIES):  # SIGKILL follows 500 ms after SIGTERM: too soon for a busy machine.
        end = workspace.bash("echo first; trap 'echo last; exit 7' TERM; yes & wait", timeout_s=3)
        if end["output"].endswith("exit code 7"):
            break
    assert end["output"].startswith("first\ny\n") and end["output"].endswith("exit code 7")
    assert len(end["output"]) < 100_300 and " bytes cut …]" in end["output"] and "timed out after 3 s" in end["output"]


def test_command_ignoring_sigterm_is_killed_at_the_deadline(workspace):
    end = workspace.bash("trap '' TERM; echo begun; sleep 98765431 & (setsid sleep 98765431 &); sleep 98765431", timeout_s=1)
    assert end["isError"] and "timed out after 1 s" in end["output"]
    assert wait_until_gone("98765431")


def test_double_forked_processes_end_with_the_command(workspace):
    workspace.bash("(setsid sh -c 'sleep 98765432 & sleep 98765432' >/dev/null 2>&1 &); sleep 0.2; echo done")
    assert wait_until_gone("98765432")


def start_command(talker, new_name, command):
    """Has an agent run a command that creates `begun` in its workspace, waits for that file, and returns the turn of the
    chat."""
    agent = new_agent(talker.gateway, new_name("busy"))
    thread = new_thread(talker.gateway, agent)
    talker.stub.script(calls(("Bash", {"command": command})))
    turn = accepted(talker.gateway.http.post("/chat", json={"content": "Do it.", "threadId": thread["id"]}), 201)
    wait_for((talker.gateway.data / "agents" / agent["name"] / "workspace/begun").exists)
    return turn


def test_stop_ends_a_running_command(talker, new_name):
    with talker.gateway.events() as events:
        turn = start_command(talker, new_name, "trap '' TERM; touch begun; sleep 98765433")
        chat_stop(talker.gateway, turn["thread_id"])
        assert events.run(turn["id"])[-1]["type"] == "stopped"
    assert wait_until_gone("98765433")


def test_command_ignoring_sigterm_barely_delays_shutdown(own_talker, new_name):
    gateway = own_talker.gateway

    def seconds_to_shut_down():
        start_command(own_talker, new_name, "trap '' TERM; touch begun; sleep 98765435")
        gateway.process.send_signal(signal.SIGTERM)
        seconds = seconds_of(lambda: wait_until_gone("98765435"))
        assert gateway.stop() == 0
        gateway.start()
        return seconds

    # Usually SIGKILL follows SIGTERM after at least 500 ms; in an urgent shutdown it follows at once. Longer times only
    # mean that the machine is busy.
    assert any(seconds_to_shut_down() < 0.5 for _ in range(TRIES))


def test_commands_end_with_a_killed_gateway(own_talker, new_name):
    start_command(own_talker, new_name, "(setsid sleep 98765434 &); touch begun; sleep 98765434")
    assert is_running("98765434")
    own_talker.gateway.kill()
    assert wait_until_gone("98765434")


def test_files_and_memory_are_limited(workspace):
    end = workspace.bash("fallocate -l 6G large; fallocate -l 3G /tmp/large; /usr/bin/python3 -c 'bytearray(400_000_000)'",
                     definition={"sandbox": {"memory_mb": 200}})
    assert end["isError"]
    for complaint in "File size limit exceeded", "No space left on device", "MemoryError":
        assert complaint in end["output"]


def test_agents_can_only_shorten_their_timeout(workspace):
    end = workspace.bash("sleep 100", definition={"sandbox": {"timeout_s": 1}}, timeout_s=600)
    assert "timed out after 1 s" in end["output"]


def test_commands_of_one_step_run_in_order(talker, new_name):
    agent = new_agent(talker.gateway, new_name("ordered"))
    run = run_chat(talker, new_thread(talker.gateway, agent),
                calls(("Bash", {"command": "sleep 0.3; echo one >> log"}), ("Bash", {"command": "echo two >> log; cat log"})),
                "Done.")
    assert of_kind(run, "tool-end")[1]["output"] == "one\ntwo\nexit code 0"


def test_sandbox_none_runs_commands_as_the_user(make_gateway, stub, new_name):
    from talker import Talker, configuration
    gateway = make_gateway(config={**configuration(stub), "sandbox": "none"}).start()
    write(gateway.home / "letter.txt", "dear")
    thread = new_thread(gateway, new_agent(gateway, new_name("free")))
    assert "dear" in call_tool(Talker(gateway, stub), thread, "Bash", {"command": "cat ~/letter.txt"})["output"]
