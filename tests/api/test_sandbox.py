"""What agents execute: what it can do, and what it cannot, whatever it tries (decisions, 4, 13)."""

import http.server
import os
import signal
import subprocess
import threading

import pytest

from checks import TRIES, accepted, seconds_of
from jobs import chat_stop, wait_for
from tools import asked, called, calls, new_agent, new_thread, of_kind

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
def place(talker, name):
    """A project's folder, and what runs a command in it."""
    folder, project = new_project(talker.gateway, name("site"))

    class Place:
        path = folder

        def bash(self, command, stage="operator", definition=None, **input):
            agent = new_agent(talker.gateway, name(stage), stage=stage, **(definition or {}))
            self.thread = new_thread(talker.gateway, agent, project_id=project)
            return called(talker, self.thread, "Bash", {"command": command, **input})
    return Place()


def output_of(end):
    return end["output"].rsplit("exit code", 1)[0]


def runs_somewhere(text):
    """Whether any process of this machine has the text in its command line."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if text.encode() in file.read():
                    return True
        except OSError:
            continue
    return False


def gone(text):
    return wait_for(lambda: not runs_somewhere(text))


def test_what_a_symlink_in_a_guarded_place_leads_to_is_not_written_either(place):
    guarded = [write(place.path / path, "mine") for path in ("scripts/update", "scripts.config", "hook")]
    write(place.path / ".git/hooks/x")
    links = {"lib/.git/hooks": "../../scripts", "lib/.git/config": "../../scripts.config",
             ".git/hooks/update": "../../hook"}
    for link, target in links.items():
        (place.path / link).parent.mkdir(parents=True, exist_ok=True)
        (place.path / link).symlink_to(target)
    end = place.bash("for f in lib/.git/hooks/update lib/.git/config .git/hooks/update; do echo evil > $f; done;"
                     "mv scripts s; rm lib/.git/hooks; mkdir lib/.git/hooks; echo fine > note")
    assert (place.path / "note").read_text() == "fine\n", end
    assert {file.read_text() for file in guarded} == {"mine"}
    assert all((place.path / link).is_symlink() for link in links)


def test_a_submodules_repository_without_hooks_gets_none(place):
    repository = place.path / ".git/modules/lib"
    for each in ("HEAD", "config", "objects/x", "refs/heads/main"):
        write(repository / each)
        write(place.path / ".git" / each)
    place.bash("mkdir -p .git/modules/lib/hooks; echo evil > .git/modules/lib/hooks/update")
    assert not (repository / "hooks").exists()


def test_another_name_of_a_hook_is_not_written_either(place):
    write(place.path / "scripts/update", "mine")
    (place.path / "lib/.git/hooks").mkdir(parents=True)
    os.link(place.path / "scripts/update", place.path / "lib/.git/hooks/update")
    place.bash("echo evil > scripts/update; rm -rf scripts; mv scripts s; echo fine > other")
    assert (place.path / "lib/.git/hooks/update").read_text() == "mine"
    assert (place.path / "other").read_text() == "fine\n"


def test_what_a_symlink_in_a_guarded_place_of_a_workspace_leads_to_is_written_by_no_tool(talker, name):
    agent = new_agent(talker.gateway, name("operator"), stage="operator")
    workspace = talker.gateway.data / "agents" / agent["name"] / "workspace"
    write(workspace / "scripts/update", "mine")
    (workspace / "lib/.git/hooks").mkdir(parents=True)
    (workspace / "lib/.git/hooks/update").symlink_to("../../../scripts/update")
    for tool, input in (("Bash", {"command": "echo evil > scripts/update; mv scripts s"}),
                        ("Write", {"path": "scripts/update", "content": "evil"}),
                        ("Edit", {"path": "scripts/update", "old_string": "mine", "new_string": "evil"})):
        assert called(talker, new_thread(talker.gateway, agent), tool, input)["isError"], tool
    assert (workspace / "scripts/update").read_text() == "mine"


@pytest.mark.parametrize("link, remedy", [(".git", "`gitdir: store`"), (".agents", "make it a directory")])
def test_a_symlink_in_a_guarded_place_of_the_project_keeps_commands_from_running(place, link, remedy):
    write(place.path / "store/config", "mine")
    (place.path / link).symlink_to("store")
    end = place.bash(f"rm {link}; mkdir -p {link}/hooks; touch made")
    assert end["isError"] and f"{place.path / link} is a symlink" in end["output"] and remedy in end["output"]
    assert (place.path / link).is_symlink() and not (place.path / "made").exists()


@pytest.fixture
def hook(place):
    """What is a symlink in place of the project's `pre-commit`; and whether commits run what a command put there."""
    git(place.path, "init", "-b", "main", ".")

    class Hook:
        def lead_to(self, target):
            (place.path / ".git/hooks/pre-commit").symlink_to(f"../../{target}")

        def replace(self, path):
            return place.bash(f"rm -f {path}; mv $(dirname {path}) old; mkdir -p $(dirname {path});"
                              f"printf '#!/bin/sh\ntouch $PWD/evil' > {path}; chmod +x {path}; touch made")

        def is_evil(self):
            subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--allow-empty", "-m", "x"],
                           cwd=place.path, check=True)
            return (place.path / "evil").exists()
    return Hook()


def test_a_symlink_on_the_way_to_the_target_of_one_in_a_guarded_place_is_not_replaced(place, hook):
    write(place.path / "scripts/real", "#!/bin/sh\n").chmod(0o755)
    (place.path / "scripts/hook").symlink_to("real")
    hook.lead_to("scripts/hook")
    hook.replace("scripts/hook")
    assert (place.path / "made").exists() and not hook.is_evil()


@pytest.mark.parametrize("there", ["scripts", "other"])
def test_what_a_symlink_in_a_guarded_place_leads_to_is_not_made_either(place, hook, there):
    (place.path / there).mkdir()
    hook.lead_to("scripts/hook")
    hook.replace("scripts/hook")
    assert (place.path / "made").exists() and not hook.is_evil()
    assert not (place.path / "scripts/hook").exists() and (place.path / "scripts").exists() == (there == "scripts")


def test_a_symlink_of_the_project_that_a_guarded_one_leads_through_keeps_commands_from_running(place, hook):
    write(place.path / "scripts/hook", "#!/bin/sh\n").chmod(0o755)
    (place.path / "now").symlink_to("scripts")
    hook.lead_to("now/hook")
    end = hook.replace("now/hook")
    assert end["isError"] and f"{place.path / 'now'} is a symlink" in end["output"] and "lead straight to" in end["output"]
    assert not (place.path / "made").exists() and not hook.is_evil()


def test_a_submodule_is_led_to_no_other_configuration(place):
    git(place.path, "init", "-b", "main", "library")
    git(place.path / "library", "commit", "--allow-empty", "-m", "one")
    git(place.path, "init", "-b", "main", ".")
    git(place.path, "-c", "protocol.file.allow=always", "submodule", "add", "./library", "lib")
    end = place.bash("cp -r .git/modules/lib other && echo '[core] fsmonitor = touch evil' >> other/config;"
                     "echo $PWD/other > .git/modules/lib/commondir; cd lib && git status --short && touch a && git add a &&"
                     "git -c user.name=a -c user.email=a@b commit -qm two && git log --oneline | wc -l")
    assert output_of(end).splitlines()[-1] == "2", end
    git(place.path / "lib", "status")
    git(place.path, "status")
    assert not list(place.path.glob("**/evil")) and not (place.path / ".git/modules/lib/commondir").exists()


def git(folder, *arguments):
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=folder, check=True,
                   capture_output=True)


def test_the_repository_of_worktrees_is_guarded_whatever_it_is_called(place):
    git(place.path, "init", "-b", "start", "first")
    git(place.path / "first", "commit", "--allow-empty", "-m", "one")
    git(place.path, "clone", "--bare", "first", ".bare")
    write(place.path / ".git", "gitdir: ./.bare\n")
    git(place.path, "worktree", "add", "main")
    config = (place.path / ".bare/config").read_text()
    common = (place.path / ".bare/worktrees/main/commondir").read_text()
    end = place.bash("echo evil >> .bare/config; echo evil > .bare/hooks/pre-commit; mv .bare b; mv .bare/worktrees .bare/w;"
                     "echo ../../../first/.git > .bare/worktrees/main/commondir; cd main && touch a && git add a &&"
                     "git -c user.name=a -c user.email=a@b commit -qm two && git log --oneline | wc -l")
    assert output_of(end).splitlines()[-1] == "2", end
    assert (place.path / ".bare/config").read_text() == config
    assert (place.path / ".bare/worktrees/main/commondir").read_text() == common
    assert not (place.path / ".bare/hooks/pre-commit").exists()


def test_output_and_exit_code_are_reported(place):
    end = place.bash("pwd; echo out; echo err >&2")
    assert end["output"] == f"{place.path}\nout\nerr\nexit code 0" and not end["isError"]
    assert place.bash("exit 3")["output"] == "exit code 3"


def test_the_project_can_be_written(place):
    place.bash("mkdir src; echo one > src/a.txt")
    assert (place.path / "src/a.txt").read_text() == "one\n"


def test_an_apprentice_executes_nothing(place):
    end = place.bash("touch made", stage="apprentice")
    assert end["isError"] and end["output"].startswith("permission denied:") and not (place.path / "made").exists()


@pytest.mark.parametrize("stage", ["operator", "trusted", "sovereign"])
def test_private_files_are_absent(talker, place, stage):
    home, data = talker.gateway.home, talker.gateway.data
    for path in (home / ".ssh/id_ed25519", home / "letter.txt", place.path / "deep/er/server.key", place.path / ".npmrc",
                 place.path / ".aws/credentials", data / "agents/other/workspace/x",
                 place.path / "gateway.before-restore-20261121T091830123Z/secrets.yaml",
                 place.path / "gateway.restore-0f9a12bc/secrets.yaml"):
        write(path, SECRET)
    os.link(home / ".ssh/id_ed25519", place.path / "notes.txt")
    (place.path / "link").symlink_to(home / ".ssh")
    end = place.bash(f"cat {home}/.ssh/* {home}/letter.txt deep/er/server.key .npmrc .aws/* gateway.*/* notes.txt link/* "
                     f"{data}/.* {data}/* {data}/agents/*/*/x; mv deep shallow; cat shallow/er/*; grep -rs hunter2 {home} /tmp /run;"
                     f"cat /proc/*/root{home}/letter.txt; ln deep/er/server.key a; cat a; find {data} -type f", stage=stage)
    assert SECRET not in end["output"] and talker.gateway.token not in end["output"]
    assert "gateway.db" not in output_of(end)


def test_guarded_places_cannot_be_written(place):
    write(place.path / ".git/hooks/pre-commit", "mine")
    write(place.path / ".git/config", "mine")
    place.bash("echo evil > .git/hooks/pre-commit; echo evil > .git/hooks/new; echo evil > .git/config; mv .git g;"
               "mkdir -p .agents/skills/x .git/hooks; echo evil > .agents/skills/x/SKILL.md; echo evil > .git/hooks/new")
    assert (place.path / ".git/hooks/pre-commit").read_text() == "mine"
    assert (place.path / ".git/config").read_text() == "mine"
    assert sorted(os.listdir(place.path)) == [".git"] and os.listdir(place.path / ".git/hooks") == ["pre-commit"]


TAKEN_FOR_A_REPOSITORY = "mkdir -p objects refs; touch HEAD; ls"


def test_a_command_that_makes_a_repository_of_a_directory_sees_nothing_private_in_it(place):
    write(place.path / "objects/server.key", SECRET)
    assert "refs" in place.bash(TAKEN_FOR_A_REPOSITORY)["output"]
    end = place.bash("cat objects/*; ls refs/.. objects")
    assert SECRET not in end["output"] and "server.key" in end["output"]


def test_a_command_that_makes_a_repository_of_a_directory_opens_no_guarded_place_in_it(place):
    hook = write(place.path / ".git/modules/x/hooks/update", "mine")
    assert "refs" in place.bash(TAKEN_FOR_A_REPOSITORY)["output"]
    assert not place.bash(f"echo evil > {hook}; rm -rf .git/modules/x; touch made; ls")["isError"]
    assert hook.read_text() == "mine" and (place.path / "made").exists()


def test_a_symlink_in_the_place_of_a_project_opens_nothing(talker, place, name):
    """An agent that works in a project can replace another project that lies in it."""
    inner = place.path / "inner"
    inner.mkdir()
    project = accepted(talker.gateway.http.post("/projects", json={"name": name("inner"), "path": str(inner)}), 201)
    inside = new_thread(talker.gateway, new_agent(talker.gateway, name("insider")), project_id=project["id"])
    for target in (talker.gateway.data, talker.gateway.home, "/"):
        assert not place.bash(f"rm -rf inner; ln -s {target} inner")["isError"]
        end = called(talker, inside, "Bash", {"command": "ls -A; touch made"})
        assert end["isError"] and end["output"].startswith(f"{inner} leads to {target} now"), end
    assert not (talker.gateway.home / "made").exists()


def test_a_command_that_is_too_long_for_the_system_says_so(place):
    assert place.bash("#" * 131_071)["output"] == "exit code 0"
    end = place.bash("#" * 131_072)
    assert end["isError"] and "more than 131071 bytes" in end["output"]


def test_the_environment_is_clean(make_gateway, stub, name):
    from talker import Talker, configuration
    gateway = make_gateway(config=configuration(stub), environment={"ANTHROPIC_API_KEY": SECRET, "AWS_SECRET": SECRET})
    talker = Talker(gateway.start(), stub)
    thread = new_thread(gateway, new_agent(gateway, name("clean"), stage="sovereign"))
    output = called(talker, thread, "Bash", {"command": "env; tr '\\0' '\\n' < /proc/1/environ; cat /proc/*/environ"})["output"]
    assert SECRET not in output and gateway.token not in output and "PATH=" in output


def test_other_processes_are_invisible(talker, place):
    output = output_of(place.bash(f"kill -9 {talker.gateway.process.pid}; ls -d /proc/[0-9]* | wc -l; ls -A /run"))
    assert int(output.splitlines()[-1]) < 10 and talker.gateway.running


class Answering(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"reached")

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answering) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running.server_address[1]
        running.shutdown()


@pytest.mark.parametrize("stage, definition, reached", [
    ("operator", {}, False), ("trusted", {}, True), ("trusted", {"sandbox": {"network": False}}, False),
    ("operator", {"sandbox": {"network": True}}, False)])
def test_the_network_is_there_from_trusted_on(place, server, stage, definition, reached):
    ask = f"exec 5<>/dev/tcp/127.0.0.1/{server} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&5 && cat <&5"
    assert ("reached" in place.bash(ask, stage=stage, definition=definition)["output"]) is reached


def test_a_flood_without_end_is_cut_in_the_middle(place):
    for _ in range(TRIES):  # SIGKILL comes 500 ms behind SIGTERM: on a busy machine that may be too soon.
        end = place.bash("echo first; trap 'echo last; exit 7' TERM; yes & wait", timeout_s=3)
        if end["output"].endswith("exit code 7"):
            break
    assert end["output"].startswith("first\ny\n") and end["output"].endswith("exit code 7")
    assert len(end["output"]) < 100_300 and " bytes cut …]" in end["output"] and "timed out after 3 s" in end["output"]


def test_what_is_deaf_to_sigterm_is_ended_at_the_deadline(place):
    end = place.bash("trap '' TERM; echo begun; sleep 98765431 & (setsid sleep 98765431 &); sleep 98765431", timeout_s=1)
    assert end["isError"] and "timed out after 1 s" in end["output"]
    assert gone("98765431")


def test_what_forks_twice_ends_with_its_command(place):
    place.bash("(setsid sh -c 'sleep 98765432 & sleep 98765432' >/dev/null 2>&1 &); sleep 0.2; echo done")
    assert gone("98765432")


def begins(talker, name, command):
    """Has an agent run a command that touches `begun` in its workspace, and waits for that. Answers the chat's answer."""
    agent = new_agent(talker.gateway, name("busy"))
    thread = new_thread(talker.gateway, agent)
    talker.stub.script(calls(("Bash", {"command": command})))
    turn = accepted(talker.gateway.http.post("/chat", json={"content": "Do it.", "threadId": thread["id"]}), 201)
    wait_for((talker.gateway.data / "agents" / agent["name"] / "workspace/begun").exists)
    return turn


def test_stop_ends_the_command_in_the_middle(talker, name):
    with talker.gateway.events() as events:
        turn = begins(talker, name, "trap '' TERM; touch begun; sleep 98765433")
        chat_stop(talker.gateway, turn["thread_id"])
        assert events.run(turn["id"])[-1]["type"] == "stopped"
    assert gone("98765433")


def test_a_command_that_is_deaf_to_sigterm_holds_up_the_end_of_the_gateway_for_a_moment_only(own_talker, name):
    gateway = own_talker.gateway

    def seconds_to_end_it():
        begins(own_talker, name, "trap '' TERM; touch begun; sleep 98765435")
        gateway.process.send_signal(signal.SIGTERM)
        seconds = seconds_of(lambda: gone("98765435"))
        assert gateway.stop() == 0
        gateway.start()
        return seconds

    # Without a hurry SIGKILL comes 500 ms after SIGTERM, never sooner. With it more time says only that the machine is busy.
    assert any(seconds_to_end_it() < 0.5 for _ in range(TRIES))


def test_a_killed_gateway_takes_its_commands_along(own_talker, name):
    begins(own_talker, name, "(setsid sleep 98765434 &); touch begun; sleep 98765434")
    assert runs_somewhere("98765434")
    own_talker.gateway.kill()
    assert gone("98765434")


def test_files_and_memory_are_limited(place):
    end = place.bash("fallocate -l 6G large; fallocate -l 3G /tmp/large; /usr/bin/python3 -c 'bytearray(400_000_000)'",
                     definition={"sandbox": {"memory_mb": 200}})
    assert end["isError"]
    for complaint in "File size limit exceeded", "No space left on device", "MemoryError":
        assert complaint in end["output"]


def test_agents_can_only_tighten_their_time(place):
    end = place.bash("sleep 100", definition={"sandbox": {"timeout_s": 1}}, timeout_s=600)
    assert "timed out after 1 s" in end["output"]


def test_commands_of_one_step_run_in_order(talker, name):
    agent = new_agent(talker.gateway, name("ordered"))
    run = asked(talker, new_thread(talker.gateway, agent),
                calls(("Bash", {"command": "sleep 0.3; echo one >> log"}), ("Bash", {"command": "echo two >> log; cat log"})),
                "Done.")
    assert of_kind(run, "tool-end")[1]["output"] == "one\ntwo\nexit code 0"


def test_with_sandbox_none_commands_run_as_the_user_does(make_gateway, stub, name):
    from talker import Talker, configuration
    gateway = make_gateway(config={**configuration(stub), "sandbox": "none"}).start()
    write(gateway.home / "letter.txt", "dear")
    thread = new_thread(gateway, new_agent(gateway, name("free")))
    assert "dear" in called(Talker(gateway, stub), thread, "Bash", {"command": "cat ~/letter.txt"})["output"]
