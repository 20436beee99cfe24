"""/terminals: terminals for people, in the sandbox. See docs/contract/terminals.md."""

import contextlib
import uuid
from pathlib import Path

import pytest
from websockets import ConnectionClosed

from checks import accepted, wait_until

PATH = "/terminals"
MAX_TERMINALS = 8
MAX_UNACKNOWLEDGED = 16


class Terminal:
    """A client of a terminal, such as the page: collects the output and acknowledges it."""

    def __init__(self, gateway, **options):
        self.socket = gateway.events(path=PATH)
        self.output = ""
        self.closed = None
        self.socket.send({"type": "open", "columns": 80, "rows": 24, **options})
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

    def send_input(self, text):
        self.socket.send({"type": "input", "data": text})

    def receive(self):
        message = self.socket.until(lambda message: True)[-1]
        if message["type"] == "output":
            self.output += message["data"]
            with contextlib.suppress(ConnectionClosed):  # the terminal may close right after its output
                self.socket.send({"type": "shown", "seq": message["seq"]})
        else:
            assert message["type"] == "closed", message
            self.closed = message
        return message

    def until(self, text):
        while text not in self.output:
            assert not self.closed, (self.closed, self.output)
            self.receive()

    def until_closed(self):
        while not self.closed:
            self.receive()
        return self.closed

    def run(self, command):
        """Runs a command in the shell and returns its output."""
        mark = uuid.uuid4().hex
        begin = len(self.output)
        self.send_input(f"{command}; echo {mark[:16]}''{mark[16:]}\n")  # split, so that the echo of the input does not match
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
    """Returns the processes of this machine whose command line contains the text."""
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if text in process.read_text(errors="replace"):
                found.append(process.parent.name)
        except OSError:  # the process has ended
            pass
    return found


def start_background_process(terminal):
    """Starts a background process of the shell and returns the text that identifies it in its command line."""
    name = f"9{uuid.uuid4().int % 10**12}"
    assert "[1]" in terminal.run(f"sleep {name} & true")
    wait_until(lambda: processes_with(name))
    return name


def test_shell_runs_in_the_projects_directory(terminal, project):
    _, folder = project
    assert folder.name in terminal.run("pwd")
    terminal.run("echo made > made.txt")
    assert (folder / "made.txt").read_text() == "made\n"


def test_text_of_every_script_is_sent_and_received(terminal):
    assert terminal.run("echo grün 日本 🙂").endswith("grün 日本 🙂\r\n")


def test_programs_see_a_terminal_of_that_size(terminal):
    assert terminal.run("stty size").endswith("24 80\r\n")
    terminal.socket.send({"type": "resize", "columns": 132, "rows": 50})
    assert terminal.run("stty size").endswith("50 132\r\n")
    assert "yes" in terminal.run("test -t 0 && test -t 1 && : </dev/tty && echo y''es")


def test_keys_interrupt_and_suspend(terminal):
    terminal.send_input("sh -c 'echo be\"\"gun; exec sleep 100000'\n")
    terminal.until("begun")
    terminal.send_input("\x03")
    assert "130" in terminal.run("echo $?")
    terminal.send_input("sh -c 'echo wai\"\"ting; exec sleep 100000'\n")
    terminal.until("waiting")
    terminal.send_input("\x1a")
    terminal.until("Stopped")
    assert "sleep 100000" in terminal.run("jobs")


def test_only_the_project_can_be_written(terminal, project, gateway):
    _, folder = project
    outside = gateway.home / f"{folder.name}-beside.txt"
    outside.write_text("mine")
    output = terminal.run(f"cat {outside}; echo evil > {outside}; cat {gateway.data}/.gateway-token; touch /usr/evil")
    assert "mine" not in output and gateway.token not in output and "Read-only file system" in output
    assert outside.read_text() == "mine"
    terminal.run("git init -q . && echo evil > .git/config; mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit")
    assert not list(folder.glob("**/pre-commit"))


def test_nothing_can_be_typed_into_another_terminal(terminal):
    script = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSTI, b'x')"
    assert "PermissionError" in terminal.run(f'/usr/bin/python3 -c "{script}"')


def test_network_rules_apply(terminal, gateway):
    assert "refused" in terminal.run(
        f"/usr/bin/python3 -c 'import urllib.request as r; r.urlopen(\"http://127.0.0.1:{gateway.port}/health\")'")


def test_shell_without_a_project_runs_in_the_workspace_of_the_agent(gateway):
    with Terminal(gateway) as terminal:
        assert "agents/assistant/workspace" in terminal.run("pwd")


def test_output_waits_for_acknowledgements(terminal, gateway):
    terminal.send_input("yes 0123456789012345678901234567890123456789\n")
    seq = MAX_UNACKNOWLEDGED
    terminal.socket.until(lambda message: message.get("seq") == seq)
    assert accepted(gateway.http.get("/health"))
    for _ in range(50):
        terminal.socket.send({"type": "shown", "seq": seq})
        seq += MAX_UNACKNOWLEDGED
        terminal.socket.until(lambda message: message.get("seq") == seq)
        terminal.socket.send({"type": "dance"})
        messages = terminal.socket.until(lambda message: message["type"] == "error")
        assert len(messages) == 1
    terminal.socket.send({"type": "shown", "seq": seq})
    terminal.send_input("\x03")
    assert "130" in terminal.run("echo $?")


def test_client_can_reconnect_to_its_shell(gateway, project):
    terminal = Terminal(gateway, projectId=project[0])
    with terminal:
        terminal.run("word=kept; echo there''before")
        terminal.closed = {"reason": "the page is loaded again"}
    with Terminal(gateway, id=terminal.id, projectId=project[0]) as reconnected:
        assert (reconnected.id, reconnected.first["isNew"]) == (terminal.id, False)
        reconnected.until("therebefore")
        assert "kept" in reconnected.run("echo $word")
        with Terminal(gateway, id=terminal.id) as elsewhere:
            assert reconnected.until_closed()["reason"] == "moved"
            assert "kept" in elsewhere.run("echo $word")


def test_exit_of_the_shell_is_reported(gateway, project):
    with Terminal(gateway, projectId=project[0]) as terminal:
        terminal.send_input("exit 7\n")
        assert terminal.until_closed() == {"type": "closed", "reason": "exited", "exitCode": 7}
    assert terminal.socket.closed() == 1000


def test_closing_ends_all_processes(gateway, project):
    with Terminal(gateway, projectId=project[0]) as terminal:
        name = start_background_process(terminal)
        terminal.run(f"setsid sleep {name} & sleep 0.01")
    assert terminal.closed["reason"] == "closed"
    wait_until(lambda: not processes_with(name))


def test_deleting_the_project_ends_all_processes(gateway, project):
    with Terminal(gateway, projectId=project[0]) as terminal:
        name = start_background_process(terminal)
        assert gateway.http.delete(f"/projects/{project[0]}").status_code == 204
        assert terminal.until_closed()["reason"] == "deleted"
    wait_until(lambda: not processes_with(name))


def test_stopping_the_gateway_ends_all_processes(make_gateway):
    gateway = make_gateway().start()
    with Terminal(gateway) as terminal:
        name = start_background_process(terminal)
        gateway.stop()
        assert terminal.until_closed()["reason"] == "stopped"
    wait_until(lambda: not processes_with(name))


def test_number_of_terminals_is_limited(make_gateway):
    gateway = make_gateway().start()
    terminals = [Terminal(gateway) for _ in range(MAX_TERMINALS)]
    assert {terminal.first["type"] for terminal in terminals} == {"opened"}
    assert Terminal(gateway).first == {"type": "error", "status": 429,
                                       "error": "at most 8 terminals are open at the same time: close one"}
    with terminals[0]:
        pass
    wait_until(lambda: Terminal(gateway).first["type"] == "opened")


def test_unknown_project_and_agent_are_not_found(gateway):
    assert Terminal(gateway, projectId="none").first == {"type": "error", "status": 404, "error": "project not found"}
    assert Terminal(gateway, agentId="none").first == {"type": "error", "status": 404, "error": "agent not found"}


def test_invalid_message_leaves_the_terminal_open(terminal):
    terminal.socket.send({"type": "dance"})
    error = terminal.socket.until(lambda message: message["type"] == "error")[-1]
    assert error == {"type": "error", "status": 400, "error": "type must be input, shown, resize or close"}


@pytest.mark.parametrize("member", ["id", "projectId", "agentId"])
def test_members_of_the_wrong_type_are_refused(gateway, member):
    """Otherwise the shell would open in another place than the client meant."""
    assert Terminal(gateway, **{member: 5}).first == {"type": "error", "status": 400,
                                                      "error": f"{member} must be a string"}


def test_null_counts_as_omitted(gateway):
    with Terminal(gateway, id=None, projectId=None, agentId=None, columns=None, rows=None) as terminal:
        terminal.socket.send({"type": "input", "data": 5})
        error = terminal.socket.until(lambda message: message["type"] == "error")[-1]
        assert error == {"type": "error", "status": 400, "error": "data must be a string"}


@pytest.mark.parametrize("config, error", [
    ({"terminals": "deny"}, "there are no terminals: config.yaml has `terminals: deny`"),
    ({"sandbox": "none"}, "terminals need the sandbox: remove `sandbox: none` from config.yaml"),
])
def test_terminals_can_be_switched_off(make_gateway, config, error):
    gateway = make_gateway(config=config).start()
    assert Terminal(gateway).first == {"type": "error", "status": 403, "error": error}
