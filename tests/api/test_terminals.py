"""/terminals: terminals for people, in the sandbox. See docs/contract/terminals.md."""

import contextlib
import json
import time
import uuid
from pathlib import Path

import pytest
from websockets import ConnectionClosed

from checks import PATIENCE, accepted
from test_websocket import upgrade

PATH = "/terminals"
MOST = 8
MOST_AHEAD = 16


class Terminal:
    """A page's end of a terminal: shows what comes, and says so."""

    def __init__(self, gateway, **wanted):
        self.socket = gateway.events(path=PATH)
        self.output = ""
        self.closed = None
        self.socket.send({"type": "open", "columns": 80, "rows": 24, **wanted})
        self.first = self.socket.until(lambda message: message["type"] in ("opened", "error"))[-1]

    def __enter__(self):
        assert self.first["type"] == "opened", self.first
        return self

    def __exit__(self, *_):
        if not self.closed:
            self.socket.send({"type": "close"})
            self.until_closed()
        self.socket.close()

    @property
    def id(self):
        return self.first["id"]

    def types(self, text):
        self.socket.send({"type": "input", "data": text})

    def take(self):
        message = self.socket.until(lambda message: True)[-1]
        if message["type"] == "output":
            self.output += message["data"]
            with contextlib.suppress(ConnectionClosed):  # it may come right before the end
                self.socket.send({"type": "shown", "seq": message["seq"]})
        else:
            assert message["type"] == "closed", message
            self.closed = message
        return message

    def until(self, text):
        while text not in self.output:
            assert not self.closed, (self.closed, self.output)
            self.take()

    def until_closed(self):
        while not self.closed:
            self.take()
        return self.closed

    def run(self, command):
        """The output of a command."""
        mark = uuid.uuid4().hex
        begin = len(self.output)
        self.types(f"{command}; echo {mark[:16]}''{mark[16:]}\n")  # so that the echo of the input is not taken for it
        self.until(mark)
        return self.output[begin:].partition("\r\n")[2].rpartition(mark)[0]


@pytest.fixture
def project(gateway, new_name):
    folder = gateway.home / new_name("work")
    folder.mkdir()
    record = accepted(gateway.http.post("/projects", json={"name": folder.name, "path": str(folder)}), 201)
    return record["id"], folder


@pytest.fixture
def terminal(gateway, project):
    with Terminal(gateway, projectId=project[0]) as opened:
        yield opened


def processes_with(text):
    """The processes of this machine whose command line holds the text."""
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if text in process.read_text(errors="replace"):
                found.append(process.parent.name)
        except OSError:  # it ended meanwhile
            pass
    return found


def wait_until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def start_long_work(terminal):
    """A process in the background of the shell, named so that it can be found."""
    name = f"9{uuid.uuid4().int % 10**12}"
    assert "[1]" in terminal.run(f"sleep {name} & sleep 0.01")
    assert processes_with(name)
    return name


def test_shell_runs_in_the_projects_directory(terminal, project):
    _, folder = project
    assert folder.name in terminal.run("pwd")
    terminal.run("echo made > made.txt")
    assert (folder / "made.txt").read_text() == "made\n"


def test_text_of_every_script_goes_both_ways(terminal):
    assert terminal.run("echo grün 日本 🙂").endswith("grün 日本 🙂\r\n")


def test_programs_see_a_terminal_of_that_size(terminal):
    assert terminal.run("stty size").endswith("24 80\r\n")
    terminal.socket.send({"type": "resize", "columns": 132, "rows": 50})
    assert terminal.run("stty size").endswith("50 132\r\n")
    assert "yes" in terminal.run("test -t 0 && test -t 1 && : </dev/tty && echo y''es")


def test_keys_interrupt_and_suspend(terminal):
    terminal.types("sh -c 'echo be\"\"gun; exec sleep 100000'\n")
    terminal.until("begun")
    terminal.types("\x03")
    assert "130" in terminal.run("echo $?")
    terminal.types("sh -c 'echo wai\"\"ting; exec sleep 100000'\n")
    terminal.until("waiting")
    terminal.types("\x1a")
    terminal.until("Stopped")
    assert "sleep 100000" in terminal.run("jobs")


def test_only_the_project_can_be_written(terminal, project, gateway):
    _, folder = project
    beside = gateway.home / f"{folder.name}-beside.txt"
    beside.write_text("mine")
    output = terminal.run(f"cat {beside}; echo evil > {beside}; cat {gateway.data}/.gateway-token; touch /usr/evil")
    assert "mine" not in output and gateway.token not in output and "Read-only file system" in output
    assert beside.read_text() == "mine"
    terminal.run("git init -q . && echo evil > .git/config; mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit")
    assert not list(folder.glob("**/pre-commit"))


def test_nothing_can_be_typed_into_another_terminal(terminal):
    script = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSTI, b'x')"
    assert "PermissionError" in terminal.run(f'/usr/bin/python3 -c "{script}"')


def test_hosts_are_held_to_the_rules(terminal, gateway):
    assert "refused" in terminal.run(
        f"/usr/bin/python3 -c 'import urllib.request as r; r.urlopen(\"http://127.0.0.1:{gateway.port}/health\")'")


def test_without_a_project_it_is_the_workspace_of_the_agent(gateway):
    with Terminal(gateway) as terminal:
        assert "agents/assistant/workspace" in terminal.run("pwd")


def test_flood_waits_for_the_page(terminal, gateway):
    terminal.types("yes 0123456789012345678901234567890123456789\n")
    seq = MOST_AHEAD
    terminal.socket.until(lambda message: message.get("seq") == seq)
    assert accepted(gateway.http.get("/health"))
    for _ in range(50):
        terminal.socket.send({"type": "shown", "seq": seq})
        seq += MOST_AHEAD
        terminal.socket.until(lambda message: message.get("seq") == seq)
        terminal.socket.send({"type": "dance"})
        messages = terminal.socket.until(lambda message: message["type"] == "error")
        assert len(messages) == 1
    terminal.socket.send({"type": "shown", "seq": seq})
    terminal.types("\x03")
    assert "130" in terminal.run("echo $?")


def test_who_comes_back_finds_the_same_shell(gateway, project):
    terminal = Terminal(gateway, projectId=project[0])
    with terminal:
        terminal.run("word=kept; echo there''before")
        terminal.closed = {"reason": "the page is loaded again"}
    with Terminal(gateway, id=terminal.id, projectId=project[0]) as again:
        assert (again.id, again.first["isNew"]) == (terminal.id, False)
        again.until("therebefore")
        assert "kept" in again.run("echo $word")
        with Terminal(gateway, id=terminal.id) as elsewhere:
            assert again.until_closed()["reason"] == "moved"
            assert "kept" in elsewhere.run("echo $word")


def test_end_of_the_shell_is_told(gateway, project):
    with Terminal(gateway, projectId=project[0]) as terminal:
        terminal.types("exit 7\n")
        assert terminal.until_closed() == {"type": "closed", "reason": "exited", "exitCode": 7}
    assert terminal.socket.closed() == 1000


def test_closing_ends_all_processes(gateway, project):
    with Terminal(gateway, projectId=project[0]) as terminal:
        name = start_long_work(terminal)
        terminal.run(f"setsid sleep {name} & sleep 0.01")
    assert terminal.closed["reason"] == "closed"
    wait_until(lambda: not processes_with(name))


def test_deleting_the_project_ends_all_processes(gateway, project):
    with Terminal(gateway, projectId=project[0]) as terminal:
        name = start_long_work(terminal)
        assert gateway.http.delete(f"/projects/{project[0]}").status_code == 204
        assert terminal.until_closed()["reason"] == "deleted"
    wait_until(lambda: not processes_with(name))


def test_end_of_the_gateway_ends_all_processes(make_gateway):
    gateway = make_gateway().start()
    with Terminal(gateway) as terminal:
        name = start_long_work(terminal)
        gateway.stop()
        assert terminal.until_closed()["reason"] == "stopped"
    wait_until(lambda: not processes_with(name))


def test_so_many_terminals_are_open_at_most(make_gateway):
    gateway = make_gateway().start()
    terminals = [Terminal(gateway) for _ in range(MOST)]
    assert {terminal.first["type"] for terminal in terminals} == {"opened"}
    assert Terminal(gateway).first == {"type": "error", "status": 429,
                                       "error": "at most 8 terminals are open at the same time: close one"}
    with terminals[0]:
        pass
    wait_until(lambda: Terminal(gateway).first["type"] == "opened")


@pytest.mark.parametrize("message, error", [
    ("no JSON", "a message must be a JSON object"),
    ({"type": "input"}, "the first message must be of type open"),
    ({"type": "open", "columns": 0}, "columns must be a whole number from 1 to 1000"),
    ({"type": "open", "rows": 1001}, "rows must be a whole number from 1 to 1000"),
])
def test_wrong_first_message_is_named(gateway, message, error):
    with gateway.events(path=PATH) as socket:
        socket.send(message)
        assert socket.until(lambda _: True) == [{"type": "error", "status": 400, "error": error}]
        assert socket.closed() == 1000


def test_unknown_places_are_named(gateway):
    assert Terminal(gateway, projectId="none").first == {"type": "error", "status": 404, "error": "project not found"}
    assert Terminal(gateway, agentId="none").first == {"type": "error", "status": 404, "error": "agent not found"}


def test_wrong_message_leaves_the_terminal_open(terminal):
    terminal.socket.send({"type": "dance"})
    error = terminal.socket.until(lambda message: message["type"] == "error")[-1]
    assert error == {"type": "error", "status": 400, "error": "type must be input, shown, resize or close"}


@pytest.mark.parametrize("config, error", [
    ({"terminals": "deny"}, "there are no terminals: config.yaml has `terminals: deny`"),
    ({"sandbox": "none"}, "terminals need the sandbox: remove `sandbox: none` from config.yaml"),
])
def test_terminals_can_be_switched_off(make_gateway, config, error):
    gateway = make_gateway(config=config).start()
    assert Terminal(gateway).first == {"type": "error", "status": 403, "error": error}


def test_socket_has_the_checks_of_the_others(gateway):
    assert upgrade(gateway, path=PATH, token=False).status == 401
    assert upgrade(gateway, "Origin: http://evil.example", path=PATH).status == 403
    assert upgrade(gateway, "Host: evil.example", path=PATH).status in (400, 403)
    assert gateway.http.get(PATH).status_code == 426


def test_it_is_described_for_people_only(gateway):
    assert accepted(gateway.http.get("/asyncapi.json"))["channels"]["terminals"]["address"] == PATH
    for document in ("/utcp", "/openapi.json"):
        assert PATH not in json.dumps(accepted(gateway.http.get(document)))
