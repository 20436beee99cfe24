"""agw acp, what the editor provides: unsaved text, terminals, MCP servers, additional directories.

See docs/contract/acp.md.
"""

import json
import signal
import sys
import time
from pathlib import Path

import pytest

from checks import accepted
from editor import Refused, select, stored
from jobs import wait_for
from tools import calls

SERVER = Path(__file__).parent / "stubs" / "mcp_server.py"
FILES = {"fs": {"readTextFile": True, "writeTextFile": True}}
TERMINAL = {"terminal": True}


def server(name="desk", *arguments, env=()):
    return {"name": name, "command": sys.executable, "args": [str(SERVER), *arguments],
            "env": [{"name": key, "value": value} for key, value in env]}


def outputs(talker):
    """Returns the tool results in the last request to the model, without the prefix of errors."""
    messages = talker.stub.requests[-1].json["messages"]
    return [message["content"].removeprefix("Error: ") for message in messages if message["role"] == "tool"]


def offered(talker):
    return [tool["function"]["name"] for tool in talker.stub.requests[0].json["tools"]]


@pytest.fixture
def opened(talker, acting, open_folder):
    """Starts editors with a session in act mode, with the given capabilities and MCP servers."""

    def open_session(capabilities=None, servers=(), stage="operator", **members):
        editor, _ = acting(stage, capabilities=capabilities or {})
        session = editor.ask("session/new", cwd=str(open_folder), mcpServers=list(servers), **members)["sessionId"]
        editor.ask("session/set_mode", sessionId=session, modeId="act")
        return editor, session

    return open_session


class Desk:
    """The editor's side of `fs/*` and `terminal/*`."""

    def __init__(self, choice="allow_once"):
        self.texts = {}
        self.asked = []
        self.choice = choice
        self.exit = {"exitCode": 0}

    def __call__(self, method, params):
        self.asked.append((method, params))
        if method == "fs/read_text_file":
            return {"content": self.texts[params["path"]]}
        if method == "fs/write_text_file":
            self.texts[params["path"]] = params["content"]
            return {}
        if method == "terminal/create":
            return {"terminalId": "term-1"}
        if method == "terminal/wait_for_exit":
            return self.exit
        if method == "terminal/output":
            return {"output": "hello", "truncated": False}
        if method.startswith("terminal/"):
            return {}
        return select(self.choice)(method, params)

    def methods(self):
        return [method for method, _ in self.asked]


# Unsaved text.

def test_unsaved_text_in_the_editor_is_read_and_written(talker, opened, open_folder):
    editor, session = opened(FILES)
    path = open_folder / "a.txt"
    path.write_text("on disk\n")
    editor.decide = desk = Desk()
    desk.texts[str(path)] = "not saved\n"
    talker.stub.script(calls(("Read", {"path": "a.txt"})),
                       calls(("Edit", {"path": "a.txt", "old_string": "not saved", "new_string": "changed"})),
                       calls(("Write", {"path": "b.txt", "content": "new"})), "Done.")
    assert editor.prompt(session, "Change it.") == "end_turn"
    assert "not saved" in outputs(talker)[0]
    assert desk.texts == {str(path): "changed\n", str(open_folder / "b.txt"): "new"}
    assert path.read_text() == "on disk\n"


def test_folder_opened_through_a_symlink_keeps_its_name_in_the_editor(talker, opened, open_folder):
    editor, _ = opened(capabilities=FILES)
    link = open_folder.parent / f"link-to-{open_folder.name}"
    link.symlink_to(open_folder)
    session = editor.ask("session/new", cwd=str(link), mcpServers=[])["sessionId"]
    editor.ask("session/set_mode", sessionId=session, modeId="act")
    (open_folder / "a.txt").write_text("on disk\n")
    desk = editor.decide = Desk()
    desk.texts[str(link / "a.txt")] = "unsaved\n"
    talker.stub.script(calls(("Read", {"path": "a.txt"})), "Done.")
    editor.prompt(session, "Read it.")
    assert "unsaved" in outputs(talker)[0]
    [call] = editor.kinds(session, "tool_call")
    assert call["locations"] == [{"path": str(link / "a.txt")}]
    editor.ask("session/load", sessionId=session, cwd=str(link), mcpServers=[])
    assert editor.kinds(session, "tool_call")[1]["locations"] == [{"path": str(link / "a.txt")}]


def test_file_that_is_not_open_in_the_editor_is_read_from_disk(talker, opened, open_folder):
    editor, session = opened(FILES)
    (open_folder / "a.txt").write_text("on disk\n")
    editor.decide = lambda method, params: editor.send(
        id=editor.asked[-1]["id"], error={"code": -32002, "message": "not open"})
    talker.stub.script(calls(("Read", {"path": "a.txt"})), "Done.")
    editor.prompt(session, "Read it.")
    assert "on disk" in outputs(talker)[0]


def test_editor_without_fs_gets_no_requests(talker, opened, open_folder):
    editor, session = opened()
    (open_folder / "a.txt").write_text("on disk\n")
    talker.stub.script(calls(("Read", {"path": "a.txt"})), "Done.")
    editor.prompt(session, "Read it.")
    assert editor.asked == [] and "on disk" in outputs(talker)[0]


# Terminals.

def test_session_can_be_closed_while_a_prompt_offers_the_files_of_the_editor(talker, opened):
    """What the prompt had started once ended the bridge, and with it all sessions."""
    editor, session = opened(capabilities=FILES)
    gateway = talker.gateway.process
    gateway.send_signal(signal.SIGSTOP)  # it accepts the connection for the offer, but does not respond
    try:
        prompt = editor.begin_prompt(session, "Say it.")
        editor.ask("session/close", sessionId=session)
    finally:
        gateway.send_signal(signal.SIGCONT)
    assert editor.end_of(prompt) == {"stopReason": "cancelled"}
    assert editor.leave() == 0


def choose_terminal(editor, session):
    options = editor.ask("session/set_config_option", sessionId=session, configId="terminal", value="editor")
    chosen = {option["id"]: option["currentValue"] for option in options["configOptions"]}
    assert chosen["terminal"] == "editor"


def test_commands_run_in_the_editor_only_if_that_was_chosen(talker, opened):
    editor, session = opened(TERMINAL)
    editor.decide = desk = Desk()
    talker.stub.script(calls(("Bash", {"command": "echo hi"})), "Done.")
    editor.prompt(session, "Do it.")
    assert desk.methods() == [] and "hi" in outputs(talker)[-1]


def test_command_runs_in_a_terminal_of_the_editor(talker, opened, open_folder):
    editor, session = opened(TERMINAL)
    editor.decide = desk = Desk()
    choose_terminal(editor, session)
    talker.stub.script(calls(("Bash", {"command": "echo hi"})), "Done.")
    assert editor.prompt(session, "Do it.") == "end_turn"
    assert desk.methods() == ["session/request_permission", "terminal/create", "terminal/wait_for_exit",
                              "terminal/output", "terminal/release"]
    made = dict(desk.asked)["terminal/create"]
    assert (made["command"], made["args"], made["cwd"]) == ("/bin/bash", ["-c", "echo hi"], str(open_folder))
    assert outputs(talker)[-1] == "hello\nexit code 0"
    shown = [update["content"] for update in editor.kinds(session, "tool_call_update") if "content" in update]
    assert shown == [[{"type": "terminal", "terminalId": "term-1"}]]
    http = talker.gateway.http
    turns = accepted(http.get(f"/threads/{session}/turns"))
    run_id = next(turn["metadata"]["run_id"] for turn in turns if turn["role"] == "tool")
    changes = accepted(http.get(f"/runs/{run_id}/changes"))
    assert [entry["path"] for entry in changes["not_covered"]] == ["/"]


@pytest.mark.parametrize("choice", ["reject_once", "reject_always", "nonsense"])
def test_denied_command_does_not_run(talker, opened, choice):
    editor, session = opened(TERMINAL)
    editor.decide = desk = Desk(choice)
    choose_terminal(editor, session)
    talker.stub.script(calls(("Bash", {"command": "echo hi"})), calls(("Bash", {"command": "echo hi"})), "Done.")
    editor.prompt(session, "Do it.")
    assert "terminal/create" not in desk.methods()
    assert desk.methods().count("session/request_permission") == (1 if choice == "reject_always" else 2)
    assert outputs(talker)[-1] == "permission denied: the person said no"


def test_command_allowed_for_the_session_is_asked_for_once(talker, opened):
    editor, session = opened(TERMINAL)
    editor.decide = desk = Desk("allow_session")
    choose_terminal(editor, session)
    talker.stub.script(calls(("Bash", {"command": "echo hi"})), calls(("Bash", {"command": "echo hi"})),
                       calls(("Bash", {"command": "echo other"})), "Done.")
    editor.prompt(session, "Do it.")
    assert desk.methods().count("session/request_permission") == 2, "the other command needs its own permission"


def test_command_that_fails_is_an_error(talker, opened):
    editor, session = opened(TERMINAL)
    editor.decide = desk = Desk()
    desk.exit = {"exitCode": 3}
    choose_terminal(editor, session)
    talker.stub.script(calls(("Bash", {"command": "false"})), "Done.")
    editor.prompt(session, "Do it.")
    assert outputs(talker)[-1] == "hello\nexit code 3"
    assert editor.kinds(session, "tool_call_update")[-1]["status"] == "failed"


@pytest.mark.parametrize("end", [
    lambda editor, session: editor.notify("session/cancel", sessionId=session),
    lambda editor, session: editor.ask("session/close", sessionId=session),
], ids=["cancel", "close"])
def test_command_is_killed_with_its_prompt_or_session(talker, opened, end):
    editor, session = opened(TERMINAL)
    desk = Desk()
    editor.decide = lambda method, params: None if desk(method, params) is desk.exit else desk(method, params)
    choose_terminal(editor, session)
    talker.stub.script(calls(("Bash", {"command": "sleep 1000"})), "Done.")
    number = editor.begin_prompt(session, "Do it.")
    editor.until(lambda: "terminal/wait_for_exit" in desk.methods())
    end(editor, session)
    assert editor.end_of(number)["stopReason"] == "cancelled"
    editor.until(lambda: "terminal/release" in desk.methods())
    assert "terminal/kill" in desk.methods()


def test_editor_terminal_cannot_be_chosen_if_there_is_none(opened):
    editor, session = opened()
    with pytest.raises(Refused):
        editor.ask("session/set_config_option", sessionId=session, configId="terminal", value="editor")


# MCP servers.

def test_tools_of_the_editors_servers_are_called(talker, opened):
    editor, session = opened(servers=[server(env=[("DESK", "oak")])])
    editor.decide = select("allow_once")
    talker.stub.script(calls(("desk__echo", {"text": "hello"})), "Done.")
    assert editor.prompt(session, "Do it.") == "end_turn"
    assert "desk__echo" in offered(talker) and "hello" in outputs(talker)[-1]
    shown = editor.asked[0]["params"]["toolCall"]
    assert shown["title"].startswith("desk__echo") and "hello" in shown["content"][0]["content"]["text"]


def test_denied_call_is_not_made(talker, opened, tmp_path):
    notes = tmp_path / "notes"
    editor, session = opened(servers=[server("desk", "--notes", str(notes))])
    editor.decide = select("reject_once")
    talker.stub.script(calls(("desk__echo", {"text": "hello"})), "Done.")
    editor.prompt(session, "Do it.")
    assert outputs(talker)[-1] == "permission denied: the person said no"
    assert not [line for line in notes.read_text().splitlines() if json.loads(line).get("method") == "tools/call"]


def test_plan_mode_offers_no_tools_of_the_editor(talker, opened):
    editor, session = opened(servers=[server()])
    editor.ask("session/set_mode", sessionId=session, modeId="plan")
    talker.answers("Hello.")
    editor.prompt(session, "Hi")
    assert "desk__echo" not in offered(talker)


def test_server_that_does_not_start_is_reported_and_others_work(talker, opened):
    editor, session = opened({"session": {"notices": {}}}, servers=[
        {"name": "broken", "command": "/bin/false", "args": [], "env": []}, server()])
    talker.answers("Hello.")
    editor.prompt(session, "Hi")
    assert [entry["title"] for entry in editor.kinds(session, "notice")] == ["The MCP server broken is not connected"]
    assert "desk__echo" in offered(talker)


def test_server_that_exits_is_restarted_by_the_next_prompt(talker, opened):
    editor, session = opened(servers=[server()])
    editor.decide = select("allow_once")
    talker.stub.script(calls(("desk__die", {})), "Oh.", "Hello.")
    editor.prompt(session, "Die.")
    talker.stub.requests.clear()
    editor.prompt(session, "Hi")
    assert "desk__echo" in offered(talker)


def test_servers_are_stopped_with_the_session(talker, opened, tmp_path):
    editor, session = opened(servers=[server()])
    talker.answers("Hello.")
    editor.prompt(session, "Hi")
    children = Path(f"/proc/{editor.process.pid}/task/{editor.process.pid}/children")
    assert children.read_text().split()
    editor.ask("session/close", sessionId=session)
    assert not children.read_text().split()


@pytest.mark.parametrize("cancel", ["session", "request"])
def test_prompt_that_waits_for_a_server_is_cancelled_at_once(talker, opened, cancel):
    silent = {"name": "silent", "command": "sleep", "args": ["600"], "env": []}
    editor, session = opened(servers=[silent])
    prompt = editor.begin_prompt(session, "Say it.")
    children = Path(f"/proc/{editor.process.pid}/task/{editor.process.pid}/children")
    wait_for(lambda: children.read_text().split())
    begin = time.monotonic()
    if cancel == "session":
        editor.notify("session/cancel", sessionId=session)
    else:
        editor.notify("$/cancel_request", requestId=prompt)
    assert editor.end_of(prompt) == {"stopReason": "cancelled"}
    assert time.monotonic() - begin < 10  # the server would be given 15 s
    assert stored(talker.gateway, session) == []


@pytest.mark.parametrize("bad", [
    {"type": "http", "name": "x", "url": "nonsense", "headers": []},
    {"name": "", "command": "x", "args": [], "env": []}, {"name": "x", "command": "", "args": [], "env": []}],
    ids=["url", "no name", "no command"])
def test_invalid_server_is_refused(opened, bad):
    editor, _ = opened()
    with pytest.raises(Refused) as refused:
        editor.ask("session/new", cwd="/", mcpServers=[bad])
    assert refused.value.code == -32602


def test_refused_session_leaves_no_thread(opened, talker, open_folder):
    editor, session = opened()
    bad = {"name": "", "command": "x", "args": [], "env": []}
    with pytest.raises(Refused):
        editor.ask("session/new", cwd=str(open_folder), mcpServers=[bad])
    with pytest.raises(Refused):
        editor.ask("session/new", cwd=str(open_folder), mcpServers=[], additionalDirectories=["other"])
    listed = editor.ask("session/list", cwd=str(open_folder))["sessions"]
    assert session in [entry["sessionId"] for entry in listed] and len(listed) == 2  # `acting` opens one, too


@pytest.mark.parametrize("bad", [{}, {"x": {"command": "x", "args": [], "env": []}}, "x", 5, False])
def test_servers_that_are_not_a_list_are_refused(editor, open_folder, bad):
    params = {"cwd": str(open_folder), "mcpServers": bad}
    answer = editor.raw(json.dumps({"jsonrpc": "2.0", "id": "new", "method": "session/new", "params": params}))
    assert answer["error"] == {"code": -32602, "message": "mcpServers is a list"}


@pytest.mark.parametrize("bad", [{}, "/tmp", 5, [5], ["/tmp", None]])
def test_additional_directories_that_are_not_a_list_of_strings_are_refused(editor, open_folder, bad):
    params = {"cwd": str(open_folder), "mcpServers": [], "additionalDirectories": bad}
    answer = editor.raw(json.dumps({"jsonrpc": "2.0", "id": "new", "method": "session/new", "params": params}))
    assert answer["error"] == {"code": -32602, "message": "additionalDirectories is a list of absolute paths"}


# Additional directories.

def test_additional_directories_are_in_the_system_prompt(talker, opened, open_folder):
    other = open_folder.parent / "other"
    other.mkdir()
    editor, session = opened(additionalDirectories=[str(other)])
    talker.answers("Hello.")
    editor.prompt(session, "Hi")
    assert str(other) in talker.system()


def test_relative_additional_directory_is_refused(opened, open_folder):
    editor, _ = opened()
    with pytest.raises(Refused):
        editor.ask("session/new", cwd=str(open_folder), mcpServers=[], additionalDirectories=["other"])
