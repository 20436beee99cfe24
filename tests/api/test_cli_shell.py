"""agw open, completion, man and service: integration with the user's shell and session.

See docs/command-line.md#open and docs/command-line.md#commands.
"""

import configparser
import ctypes
import re
import struct
import subprocess
import shutil
import threading
import time

import pytest

from checks import PATIENCE
from connection import free_port
from gateway import BINARY


def run(gateway, *arguments, status=0):
    done = gateway.command(*arguments)
    assert done.returncode == status, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout if status == 0 else done.stderr


def install_program(gateway, name, script):
    """Installs a program of this name in a directory at the front of PATH."""
    folder = gateway.home / "bin"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o700)
    if not gateway.environment.get("PATH", "").startswith(str(folder)):
        gateway.environment["PATH"] = f"{folder}:{gateway.variables()['PATH']}"
    return folder / name


# open


def code_in(page):
    return re.search(r"url=http://127\.0\.0\.1:\d+/ui/#code=(\d{6})\"", page)[1]


def test_page_is_opened_through_a_private_file_with_a_code(own_gateway):
    install_program(own_gateway, "xdg-open", 'echo "$@" > "$HOME/opened"')
    run(own_gateway, "open")
    page = own_gateway.data / "open.html"
    assert (own_gateway.home / "opened").read_text().strip() == str(page) and page.stat().st_mode & 0o777 == 0o600
    assert own_gateway.token not in page.read_text()
    code = code_in(page.read_text())
    assert own_gateway.anonymous.post("/pair", json={"otp": code}).json() == {"token": own_gateway.token}
    assert own_gateway.anonymous.post("/pair", json={"otp": code}).status_code == 401, "it is valid once"


def test_variable_browser_selects_the_browser(own_gateway):
    chosen = install_program(own_gateway, "chosen", 'touch "$HOME/chosen"')
    own_gateway.environment["BROWSER"] = str(chosen)
    run(own_gateway, "open")
    assert (own_gateway.home / "chosen").exists()


def test_path_of_the_file_is_printed_without_a_browser(own_gateway):
    assert run(own_gateway, "open", "--no-browser").strip() == str(own_gateway.data / "open.html")
    install_program(own_gateway, "xdg-open", "exit 3")
    assert "within a minute" in run(own_gateway, "open", status=1)


def test_code_is_valid_for_a_minute(own_gateway):
    before = own_gateway.http.get("/pair/refresh", params={"brief": "true"}).json()
    usual = own_gateway.http.get("/pair/refresh").json()
    from datetime import datetime
    times = [datetime.fromisoformat(answer["expiresAt"]) for answer in (before, usual)]
    assert 530 < (times[1] - times[0]).total_seconds() < 550


def test_open_requires_a_running_gateway(make_gateway):
    assert "agw serve" in run(make_gateway(), "open", status=4)


# completion


def complete_in_bash(gateway, *words):
    script = f"""
source <({BINARY} completion bash)
COMP_WORDS=({' '.join(f"'{word}'" for word in words)})
COMP_CWORD={len(words) - 1}
_agw
printf '%s\\n' "${{COMPREPLY[@]}}" """
    return subprocess.run(["bash", "-c", script], env=gateway.variables(), capture_output=True, text=True,
                          check=True).stdout.split()


@pytest.mark.parametrize("words, wanted", [
    (["agw", ""], ["serve", "chat", "ext", "--help"]), (["agw", "ex"], ["export", "ext"]),
    (["agw", "ext", ""], ["list", "add", "rm"]), (["agw", "ext", "list", "--ty"], ["--type"]),
    (["agw", "ext", "list", "--type", "th"], ["theme"]), (["agw", "completion", ""], ["bash", "zsh", "fish"]),
    (["agw", "serve", "--log-level", "w"], ["warn"]), (["agw", "token", "sh"], ["show"]),
], ids=" ".join)
def test_bash_completes_commands_options_and_values(gateway, words, wanted):
    found = set(complete_in_bash(gateway, *words))
    assert set(wanted) <= found and "${secret:NAME}" not in found
    if words[-1]:
        assert found == set(wanted)


def test_zsh_and_fish_scripts_are_valid(gateway):
    for shell, check in (("zsh", ["zsh", "-n"]), ("fish", ["fish", "--no-execute"]), ("bash", ["bash", "-n"])):
        script = run(gateway, "completion", shell)
        assert "ext" in script and "--type" in script or shell == "fish"
        if shutil.which(check[0]):
            subprocess.run([*check, "/dev/stdin"], input=script, text=True, check=True, capture_output=True)


def test_fish_completes(gateway):
    if not shutil.which("fish"):
        pytest.skip("fish is not installed")
    (gateway.home / "agw.fish").write_text(run(gateway, "completion", "fish"))
    for line, wanted in (("agw ext l", "list"), ("agw ext list --type th", "theme"), ("agw completion z", "zsh"),
                         ("agw doc", "doctor")):
        done = subprocess.run(["fish", "-c", f"source ~/agw.fish; complete -C '{line}'"], capture_output=True, text=True,
                              env=gateway.variables(), check=True)
        assert wanted in done.stdout.split(), (line, done.stdout)


@pytest.mark.parametrize("arguments", [["completion"], ["completion", "tcsh"], ["completion", "bash", "zsh"],
                                       ["service"], ["service", "start"]], ids=" ".join)
def test_exit_status_of_wrong_usage_is_2(gateway, arguments):
    run(gateway, *arguments, status=2)


# man


def test_manual_page_names_every_command_and_is_valid_troff(gateway):
    page = run(gateway, "man")
    listed = re.findall(r"^  ([a-z]+) ", run(gateway, "--help"), re.M)
    assert len(listed) > 15
    for name in listed:
        assert f"\\fBagw {name}" in page, name
    if shutil.which("groff"):
        done = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-z"], input=page, text=True, capture_output=True)
        assert done.returncode == 0 and done.stderr == "", done.stderr


# service


@pytest.fixture
def user_session(make_gateway):
    """A user's session whose systemctl records its arguments."""
    gateway = make_gateway()
    install_program(gateway, "systemctl", 'echo "$@" >> "$HOME/calls"; exit ${SYSTEMCTL_STATUS:-0}')
    gateway.unit = gateway.home / ".config" / "systemd" / "user" / "agent-gateway.service"
    gateway.calls = lambda: (gateway.home / "calls").read_text().splitlines()
    return gateway


def test_service_is_installed_and_started(user_session):
    install_program(user_session, "systemctl",
                    'echo "$@" >> "$HOME/calls"; case "$*" in *--now*) touch "$HOME/started" ;; esac')

    def start_on_request():
        while not (user_session.home / "started").exists():
            time.sleep(0.01)
        user_session.start()

    systemd = threading.Thread(target=start_on_request)
    systemd.start()
    run(user_session, "service", "install")
    systemd.join()
    unit = user_session.unit.read_text()
    assert f'ExecStart="{BINARY}" serve\n' in unit and "RestartForceExitStatus=75" in unit and "@AGW@" not in unit
    assert user_session.calls() == ["--user daemon-reload", "--user enable --now agent-gateway.service"]


def test_failing_service_is_reported(user_session):
    assert "journalctl --user --unit agent-gateway.service" in run(user_session, "service", "install", status=1)


def test_unit_keeps_any_data_directory(user_session):
    run(user_session, "service", "install", "--no-start", "--data-dir", '/tmp/a "b" %h $x')
    assert '--data-dir "/tmp/a \\"b\\" %%h $$x"' in user_session.unit.read_text()
    assert user_session.calls()[-1] == "--user enable agent-gateway.service"


def test_unit_keeps_the_data_directory_of_the_environment(user_session):
    user_session.data = user_session.home / "elsewhere"
    run(user_session, "service", "install", "--no-start")
    assert f'serve --data-dir "{user_session.data}"\n' in user_session.unit.read_text()


def test_unit_is_valid_for_systemd(user_session):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not installed")
    run(user_session, "service", "install", "--no-start")
    done = subprocess.run(["systemd-analyze", "--user", "verify", "--man=no", str(user_session.unit)], capture_output=True,
                          text=True, env={**user_session.variables(), "XDG_RUNTIME_DIR": str(user_session.home)})
    assert "agent-gateway.service" not in done.stderr, done.stderr


def test_service_is_started_until_its_database_server_is_there(user_session):
    run(user_session, "service", "install", "--no-start")
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str
    unit.read(user_session.unit)
    user_session.configure({"cluster": {"database": f"postgresql://agw@127.0.0.1:{free_port()}/things"}})
    failed = user_session.fails()
    assert "cannot reach the database" in failed.stderr
    assert str(failed.status) not in unit["Service"]["RestartPreventExitStatus"].split()
    assert unit["Service"]["Restart"] == "on-failure" and unit["Unit"]["StartLimitIntervalSec"] == "0"


def disable_openat2():
    """Makes openat2 unavailable in a child process, as systemd's RestrictSUIDSGID does (seccomp(2))."""
    load, jump_if_equal, answer = 0x20, 0x15, 0x06
    allow, no_such_call, openat2 = 0x7FFF0000, 0x00050000 | 38, 437
    steps = [(load, 0, 0, 0), (jump_if_equal, 0, 1, openat2), (answer, 0, 0, no_such_call), (answer, 0, 0, allow)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    filter_program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code))
    c = ctypes.CDLL(None, use_errno=True)
    set_no_new_privileges, set_seccomp, by_filter = 38, 22, 2
    assert c.prctl(set_no_new_privileges, 1, 0, 0, 0) == 0
    assert c.prctl(set_seccomp, by_filter, filter_program, 0, 0) == 0


def test_unit_does_not_forbid_openat2(user_session):
    run(user_session, "service", "install", "--no-start")
    assert "\nRestrictSUIDSGID=" not in user_session.unit.read_text()
    done = subprocess.run([BINARY, "serve", "--port", "0"], env=user_session.variables(), capture_output=True, text=True,
                          preexec_fn=disable_openat2, timeout=PATIENCE)
    assert done.returncode == 1 and "openat2" in done.stderr and "RestrictSUIDSGID" in done.stderr, done.stderr


def test_unreachable_systemd_is_reported_with_advice(user_session):
    user_session.environment["SYSTEMCTL_STATUS"] = "1"
    failed = user_session.command("service", "install")
    assert failed.returncode == 1 and "`agw serve`" in failed.stderr


def test_service_is_uninstalled(user_session):
    run(user_session, "service", "install", "--no-start")
    run(user_session, "service", "uninstall")
    assert not user_session.unit.exists() and "--user disable --now agent-gateway.service" in user_session.calls()
    assert "there is no" in run(user_session, "service", "uninstall", status=1)


def test_service_status(user_session):
    assert "agw service install" in run(user_session, "service", "status")
    user_session.environment["SYSTEMCTL_STATUS"] = "3"
    run(user_session, "service", "status", status=1)


def test_missing_systemd_is_reported(make_gateway):
    gateway = make_gateway(environment={"PATH": "/nonexistent"})
    assert "systemd" in run(gateway, "service", "install", status=1)


def test_running_gateway_is_not_started_twice(own_gateway):
    install_program(own_gateway, "systemctl", "exit 0")
    assert "already runs" in run(own_gateway, "service", "install", status=1)
