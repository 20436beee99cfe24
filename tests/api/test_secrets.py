"""agw secret (decisions, 13 and 15)."""

import json
import os
import signal
import termios

import pytest
import yaml

from gateway import BINARY
from terminal import Terminal


def stored(gateway):
    return yaml.safe_load((gateway.data / "secrets.yaml").read_text())


def test_a_value_is_read_from_stdin(own):
    ended = own.command("secret", "set", "API_KEY", typed="hunter2\n")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    assert stored(own) == {"API_KEY": "hunter2"}
    assert (own.data / "secrets.yaml").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP])
def test_a_signal_leaves_the_terminal_as_it_was(own, number):
    environment = {**own.variables(), "AGENT_GATEWAY_DATA_DIR": str(own.data)}
    with Terminal([str(BINARY), "secret", "set", "API_KEY"], environment, own.home) as terminal:
        terminal.wait_for("(it is not shown): ")
        assert not terminal.flags() & termios.ECHO
        os.kill(terminal.process, number)
        assert terminal.exit_status() == -number
        assert terminal.flags() & termios.ECHO


def test_a_value_is_asked_for_at_a_terminal_and_not_shown(own):
    environment = {**own.variables(), "AGENT_GATEWAY_DATA_DIR": str(own.data)}
    with Terminal([str(BINARY), "secret", "set", "API_KEY"], environment, own.home) as terminal:
        terminal.wait_for("Value of API_KEY")
        terminal.wait_for(": ")
        terminal.type("hunter2\n")
        assert terminal.exit_status() == 0
        assert "hunter2" not in terminal.shown
    assert stored(own) == {"API_KEY": "hunter2"}


def test_a_value_is_no_argument(own):
    ended = own.command("secret", "set", "API_KEY", "hunter2")
    assert ended.returncode == 2 and not (own.data / "secrets.yaml").exists()


def test_only_names_are_listed(own):
    for name in ("B", "A"):
        assert own.command("secret", "set", name, typed="hunter2").returncode == 0
    assert own.command("secret", "list").stdout == "A\nB\n"
    assert json.loads(own.command("secret", "list", "--json").stdout) == ["A", "B"]


def test_without_secrets_the_list_is_empty(own):
    ended = own.command("secret", "list", "--json")
    assert (ended.returncode, ended.stdout) == (0, "[]\n")


def test_a_secret_may_be_set_before_the_first_start(make_gateway):
    gateway = make_gateway()
    assert gateway.command("secret", "list", "--json").stdout == "[]\n" and not gateway.data.exists()
    ended = gateway.command("secret", "rm", "API_KEY")
    assert ended.returncode == 1 and "there is no secret API_KEY" in ended.stderr
    assert gateway.command("secret", "set", "API_KEY", typed="hunter2").returncode == 0
    assert gateway.data.stat().st_mode & 0o777 == 0o700
    gateway.start()
    assert stored(gateway) == {"API_KEY": "hunter2"}


def test_a_secret_can_be_removed(own):
    own.command("secret", "set", "API_KEY", typed="hunter2")
    assert own.command("secret", "rm", "API_KEY").returncode == 0
    assert own.command("secret", "list").stdout == ""
    ended = own.command("secret", "rm", "API_KEY")
    assert ended.returncode == 1 and "there is no secret API_KEY" in ended.stderr


def test_a_secret_has_a_name_like_a_variable(own):
    for arguments in (["A-B"], ["1A"], ["../x"]):
        ended = own.command("secret", "set", *arguments, typed="x")
        assert ended.returncode == 2 and "letters, digits" in ended.stderr
        assert own.command("secret", "rm", *arguments).returncode == 2
    assert own.command("secret", "set", typed="x").returncode == 2


def test_an_empty_value_is_wrong_usage(own):
    for typed in ("", "\n"):
        ended = own.command("secret", "set", "API_KEY", typed=typed)
        assert ended.returncode == 2 and "the value is empty" in ended.stderr
    assert not (own.data / "secrets.yaml").exists()


def test_a_file_that_is_open_to_others_is_refused(own):
    own.command("secret", "set", "API_KEY", typed="hunter2")
    (own.data / "secrets.yaml").chmod(0o644)
    ended = own.command("secret", "list")
    assert ended.returncode == 1 and "chmod 600" in ended.stderr and "hunter2" not in ended.stderr
