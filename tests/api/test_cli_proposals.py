"""agw proposals.

See docs/command-line.md#proposals.
"""

import json
import os
import subprocess

from checks import PATIENCE, accepted
from gateway import BINARY
from proposals import apply, experiments_of, show, write
from terminal import Terminal


def reference(path):
    return path.removeprefix("/proposals/")


def run(gateway, *arguments, status=0, typed=""):
    completed = gateway.command("proposals", *arguments, typed=typed)
    assert completed.returncode == status, completed.stderr
    return completed


def test_pending_proposals_are_listed(gateway):
    path, nested = write(gateway, title="A clearer greeting"), write(gateway, name="two", title="Nested")
    lines = run(gateway).stdout.splitlines()
    assert lines[0].split() == ["PROPOSAL", "MADE", "TYPE", "TARGET", "TITLE"]
    [line] = [line for line in lines if line.startswith(reference(path) + " ")]
    assert "file" in line and line.endswith("A clearer greeting")
    assert any(line.startswith(reference(nested)) for line in lines)
    listed = json.loads(run(gateway, "--json").stdout)
    assert listed == accepted(gateway.http.get("/proposals"))


def test_empty_list_is_reported(own_gateway):
    completed = run(own_gateway)
    assert completed.stdout == "" and "no proposals" in completed.stderr


def test_proposal_is_shown_with_its_diff(gateway):
    path = write(gateway, "new\n", title="A clearer greeting", reason="It is friendlier.", target="notes/cli-shown.md")
    shown = run(gateway, "show", reference(path)).stdout
    assert shown.startswith("A clearer greeting\n") and "It is friendlier." in shown and "notes/cli-shown.md" in shown
    assert shown.endswith("--- /dev/null\n+++ b/notes/cli-shown.md\n@@ -0,0 +1,1 @@\n+new\n")
    assert json.loads(run(gateway, "show", reference(path), "--json").stdout) == show(gateway, path)


def test_diff_is_coloured_on_a_terminal(gateway):
    path = write(gateway, "new\n")
    command = [str(BINARY), "proposals", "show", reference(path)]
    variables = {**gateway.variables(), "AGENT_GATEWAY_DATA_DIR": str(gateway.data), "TERM": "xterm"}
    with Terminal(command, variables, gateway.home) as running:
        running.wait_for("\x1b[32m+new\x1b[0m")
        assert running.exit_status() == 0


def test_control_characters_of_an_agent_are_escaped(gateway):
    path = write(gateway, "\x1b[2Jgone\u202e\n", title="a\x1b]0;title\x07", reason="\x1b[1A")
    for shown in (run(gateway, "show", reference(path)).stdout, run(gateway).stdout):
        assert "\x1b" not in shown and "\u202e" not in shown and "\\x1b" in shown


def test_proposal_is_applied(gateway):
    path = write(gateway, target="notes/cli-applied.md")
    assert "is applied" in run(gateway, "apply", reference(path)).stderr
    assert (gateway.data / "notes" / "cli-applied.md").read_text() == "new text\n"


def test_edited_text_is_applied(gateway):
    first, second = write(gateway, target="notes/cli-one.md"), write(gateway, target="notes/cli-two.md")
    (gateway.home / "edited.md").write_text("edited\n")
    run(gateway, "apply", reference(first), "--content", "edited.md")
    run(gateway, "apply", reference(second), "--content", "-", typed="from stdin\n")
    assert (gateway.data / "notes" / "cli-one.md").read_text() == "edited\n"
    assert (gateway.data / "notes" / "cli-two.md").read_text() == "from stdin\n"


def test_unreadable_input_replaces_nothing(gateway):
    path = write(gateway, target="notes/cli-unread.md")
    (gateway.data / "notes").mkdir(exist_ok=True)
    (gateway.data / "notes" / "cli-unread.md").write_text("mine\n")
    directory = os.open("/", os.O_RDONLY)
    try:
        done = subprocess.run([str(BINARY), "proposals", "apply", reference(path), "--content", "-"], stdin=directory,
                              env={**gateway.variables(), "AGENT_GATEWAY_DATA_DIR": str(gateway.data)},
                              capture_output=True, text=True, timeout=PATIENCE)
    finally:
        os.close(directory)
    assert (done.returncode, done.stderr) == (1, "agw: cannot read standard input: Is a directory\n")
    assert (gateway.data / "notes" / "cli-unread.md").read_text() == "mine\n"
    assert show(gateway, path)["status"] == "pending"


def test_proposal_is_rejected_with_a_reason(gateway):
    path = write(gateway)
    answer = json.loads(run(gateway, "reject", reference(path), "--reason", "Not now.", "--json").stdout)
    assert answer["status"] == "rejected" and experiments_of(gateway, path)[0]["reason"] == "Not now."


def test_failures_are_reported(gateway):
    path = write(gateway)
    accepted(apply(gateway, path))
    assert "proposal already applied" in run(gateway, "apply", reference(path), status=1).stderr
    assert "proposal not found" in run(gateway, "show", "assistant/1999-01-01", status=1).stderr
    for wrong in ("assistant", "a/b/c/d", "../x", "a/b.c"):
        assert "names no proposal" in run(gateway, "show", wrong, status=2).stderr
    run(gateway, "show", status=2)
    assert "cannot read" in run(gateway, "apply", reference(write(gateway)), "--content", "nothing", status=1).stderr
