"""agw secret.

See docs/contract/tools.md#secrets.
"""

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


def test_value_is_read_from_stdin(own_gateway):
    result = own_gateway.command("secret", "set", "API_KEY", typed="hunter2\n")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert stored(own_gateway) == {"API_KEY": "hunter2"}
    assert (own_gateway.data / "secrets.yaml").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP])
def test_signal_restores_the_terminal(own_gateway, number):
    environment = {**own_gateway.variables(), "AGENT_GATEWAY_DATA_DIR": str(own_gateway.data)}
    with Terminal([str(BINARY), "secret", "set", "API_KEY"], environment, own_gateway.home) as terminal:
        terminal.wait_for("(it is not shown): ")
        assert not terminal.flags() & termios.ECHO
        os.kill(terminal.process, number)
        assert terminal.exit_status() == -number
        assert terminal.flags() & termios.ECHO


def test_value_is_typed_at_a_terminal_without_echo(own_gateway):
    environment = {**own_gateway.variables(), "AGENT_GATEWAY_DATA_DIR": str(own_gateway.data)}
    with Terminal([str(BINARY), "secret", "set", "API_KEY"], environment, own_gateway.home) as terminal:
        terminal.wait_for("Value of API_KEY")
        terminal.wait_for(": ")
        terminal.type("hunter2\n")
        assert terminal.exit_status() == 0
        assert "hunter2" not in terminal.shown
    assert stored(own_gateway) == {"API_KEY": "hunter2"}


def test_value_as_an_argument_is_refused(own_gateway):
    result = own_gateway.command("secret", "set", "API_KEY", "hunter2")
    assert result.returncode == 2 and not (own_gateway.data / "secrets.yaml").exists()


def test_only_names_are_listed(own_gateway):
    for name in ("B", "A"):
        assert own_gateway.command("secret", "set", name, typed="hunter2").returncode == 0
    assert own_gateway.command("secret", "list").stdout == "A\nB\n"
    assert json.loads(own_gateway.command("secret", "list", "--json").stdout) == ["A", "B"]


def test_empty_list_without_secrets(own_gateway):
    result = own_gateway.command("secret", "list", "--json")
    assert (result.returncode, result.stdout) == (0, "[]\n")


def test_secret_can_be_set_before_the_first_start(make_gateway):
    gateway = make_gateway()
    assert gateway.command("secret", "list", "--json").stdout == "[]\n" and not gateway.data.exists()
    result = gateway.command("secret", "rm", "API_KEY")
    assert result.returncode == 1 and "there is no secret API_KEY" in result.stderr
    assert gateway.command("secret", "set", "API_KEY", typed="hunter2").returncode == 0
    assert gateway.data.stat().st_mode & 0o777 == 0o700
    gateway.start()
    assert stored(gateway) == {"API_KEY": "hunter2"}


def test_secret_can_be_removed(own_gateway):
    own_gateway.command("secret", "set", "API_KEY", typed="hunter2")
    assert own_gateway.command("secret", "rm", "API_KEY").returncode == 0
    assert own_gateway.command("secret", "list").stdout == ""
    result = own_gateway.command("secret", "rm", "API_KEY")
    assert result.returncode == 1 and "there is no secret API_KEY" in result.stderr


def test_secret_name_is_a_variable_name(own_gateway):
    for arguments in (["A-B"], ["1A"], ["../x"]):
        result = own_gateway.command("secret", "set", *arguments, typed="x")
        assert result.returncode == 2 and "letters, digits" in result.stderr
        assert own_gateway.command("secret", "rm", *arguments).returncode == 2
    assert own_gateway.command("secret", "set", typed="x").returncode == 2


def test_empty_value_is_wrong_usage(own_gateway):
    for typed in ("", "\n"):
        result = own_gateway.command("secret", "set", "API_KEY", typed=typed)
        assert result.returncode == 2 and "the value is empty" in result.stderr
    assert not (own_gateway.data / "secrets.yaml").exists()


def test_file_open_to_others_is_refused(own_gateway):
    own_gateway.command("secret", "set", "API_KEY", typed="hunter2")
    (own_gateway.data / "secrets.yaml").chmod(0o644)
    result = own_gateway.command("secret", "list")
    assert result.returncode == 1 and "chmod 600" in result.stderr and "hunter2" not in result.stderr
