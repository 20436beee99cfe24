"""Restarts that execute the program again in the same process (docs/contract/process.md#stopping-and-restarting)."""

import contextlib
import json
import os
import pty
import select
import subprocess
from pathlib import Path
from unittest import mock

import pytest

from checks import PATIENCE, accepted


def ready_lines(gateway, count):
    """Waits until the gateway has printed its ready line `count` times, and returns all printed lines."""
    while gateway._printed.count(b"\n") < count:
        assert select.select([gateway.process.stdout], [], [], PATIENCE)[0], gateway.stderr
        piece = os.read(gateway.process.stdout.fileno(), 4096)
        assert piece, f"ended with {gateway.wait()}: {gateway.stderr}"
        gateway._printed += piece
    return gateway._printed.decode().splitlines()


def restart_in_process(gateway, times=1):
    """Restarts the gateway, for the `times`-th time, and checks that it is the same process."""
    assert accepted(gateway.http.post("/daemon/restart")) == {"status": "restarting"}
    assert ready_lines(gateway, times + 1) == [f"listening on {gateway.url}"] * (times + 1)


def open_files(gateway):
    return len(list(Path(f"/proc/{gateway.process.pid}/fd").iterdir()))


def test_restart_executes_itself_in_the_same_process_on_the_same_port(make_gateway):
    gateway = make_gateway(arguments=["--restart", "exec"]).start()
    thread = accepted(gateway.http.post("/threads", json={"title": "kept"}), 201)
    limits = Path(f"/proc/{gateway.process.pid}/limits").read_text()
    with gateway.events() as events:
        events.drain()
        restart_in_process(gateway)
        assert events.closed() == 1001
    assert accepted(gateway.http.get(f"/threads/{thread['id']}"))["title"] == "kept"
    assert accepted(gateway.anonymous.get("/health"))["uptime"] < 30
    assert json.loads((gateway.data / "gateway.lock").read_text())["url"] == gateway.url
    assert Path(f"/proc/{gateway.process.pid}/limits").read_text() == limits
    assert b"AGW_PORT_BEFORE_RESTART" not in Path(f"/proc/{gateway.process.pid}/cmdline").read_bytes()
    assert gateway.stop() == 0, "it can be stopped by a signal as before"


def test_no_descriptor_survives_a_restart_in_the_same_process(make_gateway):
    gateway = make_gateway(arguments=["--restart", "exec"]).start()
    counts = []
    for times in (1, 2, 3):
        restart_in_process(gateway, times)
        accepted(gateway.http.get("/threads"))
        counts.append(open_files(gateway))
    assert counts[2] <= counts[0] + 2, counts


def test_wrong_configuration_ends_a_restart_in_the_same_process(make_gateway):
    gateway = make_gateway(arguments=["--restart", "exec"]).start()
    gateway.configure("wrong: [")
    accepted(gateway.http.post("/daemon/restart"))
    assert gateway.wait() == 2 and "config.yaml:1" in gateway.stderr


def test_children_are_ended_by_a_restart_in_the_same_process(make_gateway):
    gateway = make_gateway(arguments=["--restart", "exec"], config={"sandbox": "none"}).start()
    site = gateway.home / "site"
    site.mkdir()
    body = {"type": "app", "name": "site", "description": "d", "enabled": True,
            "definition": {"type": "command", "path": str(site), "command": "exec sleep 1000"}}
    accepted(gateway.http.post("/extensions", json=body), 201)
    child = accepted(gateway.http.post("/apps/site/start"))["pid"]
    assert Path(f"/proc/{child}").exists()
    restart_in_process(gateway)
    assert not Path(f"/proc/{child}").exists()


@contextlib.contextmanager
def at_a_terminal(gateway):
    """Starts the gateway as a person does: its stdin and stderr are a terminal."""
    controller, terminal = pty.openpty()
    popen = subprocess.Popen
    try:
        with mock.patch("subprocess.Popen", lambda command, **options: popen(
                command, **{**options, "stdin": terminal, "stderr": terminal})):
            yield gateway.start()
    finally:
        os.close(terminal)
        os.close(controller)


def test_restart_at_a_terminal_happens_in_the_same_process(make_gateway):
    with at_a_terminal(make_gateway()) as gateway:
        restart_in_process(gateway)
        assert gateway.stop() == 0


@pytest.mark.parametrize("options", [
    {"arguments": ["--restart", "exit"]}, {"first": "export SYSTEMD_EXEC_PID=$$"},
], ids=["asked-to-exit", "run-by-systemd"])
def test_restart_at_a_terminal_leaves_the_start_to_a_service_manager(make_gateway, options):
    with at_a_terminal(make_gateway(**options)) as gateway:
        accepted(gateway.http.post("/daemon/restart"))
        assert gateway.wait() == 75
