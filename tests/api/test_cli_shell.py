"""agw open, completion, man and service: what ties the gateway to a person's shell and session (decisions, 15)."""

import ctypes
import re
import struct
import subprocess
import shutil
import threading
import time

import pytest

from checks import PATIENCE
from gateway import BINARY


def run(gateway, *arguments, status=0):
    done = gateway.command(*arguments)
    assert done.returncode == status, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout if status == 0 else done.stderr


def program(gateway, name, script):
    """A program of this name, alone in front of PATH."""
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


def test_the_page_is_opened_through_a_private_file_with_a_code(own):
    program(own, "xdg-open", 'echo "$@" > "$HOME/opened"')
    run(own, "open")
    page = own.data / "open.html"
    assert (own.home / "opened").read_text().strip() == str(page) and page.stat().st_mode & 0o777 == 0o600
    assert own.token not in page.read_text()
    code = code_in(page.read_text())
    assert own.anonymous.post("/pair", json={"otp": code}).json() == {"token": own.token}
    assert own.anonymous.post("/pair", json={"otp": code}).status_code == 401, "it is good once"


def test_browser_says_which_browser(own):
    chosen = program(own, "chosen", 'touch "$HOME/chosen"')
    own.environment["BROWSER"] = str(chosen)
    run(own, "open")
    assert (own.home / "chosen").exists()


def test_without_a_browser_the_file_is_named(own):
    assert run(own, "open", "--no-browser").strip() == str(own.data / "open.html")
    program(own, "xdg-open", "exit 3")
    assert "within a minute" in run(own, "open", status=1)


def test_the_code_is_valid_for_a_minute(own):
    before = own.http.get("/pair/refresh", params={"brief": "true"}).json()
    usual = own.http.get("/pair/refresh").json()
    from datetime import datetime
    times = [datetime.fromisoformat(answer["expiresAt"]) for answer in (before, usual)]
    assert 530 < (times[1] - times[0]).total_seconds() < 550


def test_open_needs_a_gateway(make_gateway):
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
    (["agw", ""], ["serve", "chat", "ext", "--help"]), (["agw", "ex"], ["ext"]),
    (["agw", "ext", ""], ["list", "add", "rm"]), (["agw", "ext", "list", "--ty"], ["--type"]),
    (["agw", "ext", "list", "--type", "th"], ["theme"]), (["agw", "completion", ""], ["bash", "zsh", "fish"]),
    (["agw", "serve", "--log-level", "w"], ["warn"]), (["agw", "token", "sh"], ["show"]),
], ids=" ".join)
def test_bash_completes_commands_options_and_values(gateway, words, wanted):
    found = set(complete_in_bash(gateway, *words))
    assert set(wanted) <= found and "${secret:NAME}" not in found
    if words[-1]:
        assert found == set(wanted)


def test_what_zsh_and_fish_are_given_is_right_for_them(gateway):
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
def test_wrong_usage_is_exit_status_2(gateway, arguments):
    run(gateway, *arguments, status=2)


# man


def test_the_manual_page_names_every_command_and_is_right_for_troff(gateway):
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
def session(make_gateway):
    """A user's session whose systemctl notes what it is told."""
    gateway = make_gateway()
    program(gateway, "systemctl", 'echo "$@" >> "$HOME/told"; exit ${SYSTEMCTL_STATUS:-0}')
    gateway.unit = gateway.home / ".config" / "systemd" / "user" / "agent-gateway.service"
    gateway.told = lambda: (gateway.home / "told").read_text().splitlines()
    return gateway


def test_the_service_is_installed_and_started(session):
    program(session, "systemctl", 'echo "$@" >> "$HOME/told"; case "$*" in *--now*) touch "$HOME/started" ;; esac')

    def start_when_told():
        while not (session.home / "started").exists():
            time.sleep(0.01)
        session.start()

    systemd = threading.Thread(target=start_when_told)
    systemd.start()
    run(session, "service", "install")
    systemd.join()
    unit = session.unit.read_text()
    assert f'ExecStart="{BINARY}" serve\n' in unit and "RestartForceExitStatus=75" in unit and "@AGW@" not in unit
    assert session.told() == ["--user daemon-reload", "--user enable --now agent-gateway.service"]


def test_a_service_that_does_not_come_up_is_told(session):
    assert "journalctl --user --unit agent-gateway.service" in run(session, "service", "install", status=1)


def test_a_data_directory_is_kept_in_the_unit_whatever_it_is_called(session):
    run(session, "service", "install", "--no-start", "--data-dir", '/tmp/a "b" %h $x')
    assert '--data-dir "/tmp/a \\"b\\" %%h $$x"' in session.unit.read_text()
    assert session.told()[-1] == "--user enable agent-gateway.service"


def test_the_data_directory_of_the_environment_is_kept_in_the_unit(session):
    session.data = session.home / "elsewhere"
    run(session, "service", "install", "--no-start")
    assert f'serve --data-dir "{session.data}"\n' in session.unit.read_text()


def test_the_unit_is_right_for_systemd(session):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not installed")
    run(session, "service", "install", "--no-start")
    done = subprocess.run(["systemd-analyze", "--user", "verify", "--man=no", str(session.unit)], capture_output=True,
                          text=True, env={**session.variables(), "XDG_RUNTIME_DIR": str(session.home)})
    assert "agent-gateway.service" not in done.stderr, done.stderr


def without_openat2():
    """In a child: openat2 is not there, as where systemd's RestrictSUIDSGID is set (seccomp(2))."""
    load, jump_if_equal, answer = 0x20, 0x15, 0x06
    allow, no_such_call, openat2 = 0x7FFF0000, 0x00050000 | 38, 437
    steps = [(load, 0, 0, 0), (jump_if_equal, 0, 1, openat2), (answer, 0, 0, no_such_call), (answer, 0, 0, allow)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code))
    c = ctypes.CDLL(None, use_errno=True)
    set_no_new_privileges, set_seccomp, by_filter = 38, 22, 2
    assert c.prctl(set_no_new_privileges, 1, 0, 0, 0) == 0
    assert c.prctl(set_seccomp, by_filter, program, 0, 0) == 0


def test_the_unit_forbids_nothing_that_the_gateway_needs(session):
    run(session, "service", "install", "--no-start")
    assert "\nRestrictSUIDSGID=" not in session.unit.read_text()
    done = subprocess.run([BINARY, "serve", "--port", "0"], env=session.variables(), capture_output=True, text=True,
                          preexec_fn=without_openat2, timeout=PATIENCE)
    assert done.returncode == 1 and "openat2" in done.stderr and "RestrictSUIDSGID" in done.stderr, done.stderr


def test_a_systemd_that_is_out_of_reach_is_told_with_what_to_do(session):
    session.environment["SYSTEMCTL_STATUS"] = "1"
    failed = session.command("service", "install")
    assert failed.returncode == 1 and "`agw serve`" in failed.stderr


def test_the_service_is_uninstalled(session):
    run(session, "service", "install", "--no-start")
    run(session, "service", "uninstall")
    assert not session.unit.exists() and "--user disable --now agent-gateway.service" in session.told()
    assert "there is no" in run(session, "service", "uninstall", status=1)


def test_the_status_of_the_service(session):
    assert "agw service install" in run(session, "service", "status")
    session.environment["SYSTEMCTL_STATUS"] = "3"
    run(session, "service", "status", status=1)


def test_where_systemd_is_not_it_is_said(make_gateway):
    gateway = make_gateway(environment={"PATH": "/nonexistent"})
    assert "systemd" in run(gateway, "service", "install", status=1)


def test_a_gateway_that_runs_already_is_not_doubled(own):
    program(own, "systemctl", "exit 0")
    assert "already runs" in run(own, "service", "install", status=1)
