"""agw logs, and the log file in both formats.

See docs/command-line.md#logs-and-doctor.
"""

import json
import os
import re
import subprocess

import pytest

from checks import PATIENCE, accepted
from gateway import BINARY
from stubs.provider import Fault
from terminal import Terminal

TIMES = [f"2026-01-02T03:04:0{second}.000Z" for second in range(6)]
LINES = [
    f"{TIMES[0]} info it began",
    f"{TIMES[1]} debug GET /health 200 in 9 us request=ab-1",
    f"{TIMES[2]} warning the disk is slow run=r1",
    f"{TIMES[3]} error it broke request=ab-2 run=r1",
    '{"time":"' + TIMES[4] + '","level":"info","message":"as JSON","request":"ab-2"}',
    "not a line of ours \x1b[31m",
]


@pytest.fixture
def gateway_with_logs(make_gateway):
    """A data directory with a log and rotated files, without a running gateway."""
    gateway = make_gateway()
    logs = gateway.data / "logs"
    logs.mkdir(parents=True, mode=0o700)
    gateway.data.chmod(0o700)
    (logs / "gateway.1.log").write_text("\n".join(LINES[:3]) + "\n")
    (logs / "gateway.log").write_text("\n".join(LINES[3:]) + "\n")
    return gateway


def logs(gateway, *arguments, status=0):
    done = gateway.command("logs", *arguments)
    assert done.returncode == status, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout if status == 0 else done.stderr


def test_log_is_printed_oldest_first_without_a_gateway(gateway_with_logs):
    output = logs(gateway_with_logs).splitlines()
    assert output[:4] == LINES[:4]
    assert output[4] == f"{TIMES[4]} info as JSON request=ab-2"
    assert output[5] == "not a line of ours \\x1b[31m"


@pytest.mark.parametrize("arguments, wanted", [
    (["--lines", "2"], [4, 5]), (["--lines", "0"], []), (["--level", "warn"], [2, 3, 5]),
    (["--level", "warning"], [2, 3, 5]), (["--level", "error"], [3, 5]),
    (["--text", "DISK"], [2]), (["--request", "ab-2"], [3, 4]), (["--run", "r1"], [2, 3]),
    (["--since", "2026-01-02T03:04:03Z"], [3, 4]), (["--run", "r1", "--level", "error"], [3]),
], ids=lambda value: " ".join(value) if value and isinstance(value[0], str) else "")
def test_lines_are_filtered(gateway_with_logs, arguments, wanted):
    all_lines = logs(gateway_with_logs).splitlines()
    assert logs(gateway_with_logs, *arguments).splitlines() == [all_lines[index] for index in wanted]


def test_line_feed_in_a_message_is_escaped(gateway_with_logs):
    line = {"time": TIMES[4], "level": "info", "message": "read a\n" + LINES[0]}
    (gateway_with_logs.data / "logs/gateway.log").write_text(json.dumps(line) + "\n")
    assert logs(gateway_with_logs, "--lines", "1").splitlines() == [f"{TIMES[4]} info read a\\n{LINES[0]}"]


def test_lines_as_json(gateway_with_logs):
    lines = [json.loads(line) for line in logs(gateway_with_logs, "--json").splitlines()]
    assert lines[3] == {"time": TIMES[3], "level": "error", "message": "it broke", "request": "ab-2", "run": "r1"}
    assert lines[4]["message"] == "as JSON" and len(lines) == 6


@pytest.mark.parametrize("arguments", [["--level", "loud"], ["--lines", "x"], ["--since", "yesterday"], ["more"]],
                         ids=" ".join)
def test_exit_status_of_wrong_usage_is_2(gateway_with_logs, arguments):
    logs(gateway_with_logs, *arguments, status=2)


def test_missing_log_is_explained(make_gateway):
    assert "agw serve" in logs(make_gateway(), status=1)


def test_follow_survives_a_rotation(gateway_with_logs):
    log = gateway_with_logs.data / "logs" / "gateway.log"
    running = subprocess.Popen([str(BINARY), "logs", "--follow", "--lines", "1"], stdout=subprocess.PIPE, text=True,
                               env=gateway_with_logs.variables())
    try:
        assert running.stdout.readline().startswith("not a line")
        with log.open("a") as file:
            file.write(f"{TIMES[5]} info half a")
            file.flush()
            file.write(" line\n")
        assert running.stdout.readline() == f"{TIMES[5]} info half a line\n"
        os.rename(log, log.with_name("gateway.1.log"))
        log.write_text(f"{TIMES[5]} info in a new file\n")
        assert running.stdout.readline() == f"{TIMES[5]} info in a new file\n"
    finally:
        running.kill()
        running.wait()


@pytest.mark.parametrize("lines", ["0", "1"])
def test_follow_ends_when_output_cannot_be_written(gateway_with_logs, lines):
    with open("/dev/full", "w") as full:
        running = subprocess.Popen([str(BINARY), "logs", "--follow", "--lines", lines], stdout=full,
                                   stderr=subprocess.PIPE, text=True,
                                   env={**gateway_with_logs.variables(), "AGENT_GATEWAY_DATA_DIR": str(gateway_with_logs.data)})
    for _ in range(10 * PATIENCE):  # Lines written before it follows the log are not output.
        with (gateway_with_logs.data / "logs/gateway.log").open("a") as log:
            log.write(f"{TIMES[5]} info and on\n")
        try:
            running.wait(0.1)
            break
        except subprocess.TimeoutExpired:
            continue
    running.kill()
    assert running.returncode == 1 and running.stderr.read().startswith("agw: cannot write the output: ")


def test_log_lines_have_ids_of_runs_and_requests(make_gateway):
    gateway = make_gateway(arguments=["--log-level", "debug"]).start()
    gateway.command("chat", "hello")
    thread = accepted(gateway.http.get("/threads"))[0]
    turn = accepted(gateway.http.get(f"/threads/{thread['id']}/turns"))[0]
    run = turn["metadata"]["run_id"]
    assert f"finish (stop) on thread {thread['id']}" in logs(gateway, "--run", run)
    chat = re.search(r"POST /chat 201 in \d+ us request=(\S+)", logs(gateway))
    assert "POST /chat" in logs(gateway, "--request", chat[1])


def test_failed_run_is_a_warning_with_its_reason(own_talker):
    own_talker.stub.script(Fault(401, "this key is not known here"))
    gateway = own_talker.gateway
    assert gateway.command("chat", "hello").returncode == 1
    thread = accepted(gateway.http.get("/threads"))[0]
    warnings = logs(gateway, "--level", "warn")
    assert re.search(f"warning finish \\(error\\) on thread {thread['id']}: "
                     "stub answered 401: this key is not known here", warnings)


def test_token_in_a_query_is_not_logged(make_gateway):
    gateway = make_gateway(arguments=["--log-level", "debug"]).start()
    gateway.anonymous.get("/threads", params={"token": gateway.token})
    assert "GET /threads 401" in logs(gateway) and gateway.token not in logs(gateway)


@pytest.mark.parametrize("how", ["file", "environment"])
def test_log_format_json(make_gateway, how):
    file, environment = ({"log": {"format": "json"}}, {}) if how == "file" else (None, {"AGENT_GATEWAY_LOG_FORMAT": "json"})
    gateway = make_gateway(config=file, environment=environment).start()
    gateway.command("chat", "hello")
    assert gateway.stop() == 0
    lines = [json.loads(line) for line in (gateway.data / "logs" / "gateway.log").read_text().splitlines()]
    assert lines[-1]["message"] == "stopped" and lines[-1]["level"] == "info"
    assert any(line.get("run") for line in lines)
    assert [json.loads(line) for line in gateway.stderr.splitlines()] == lines


def test_invalid_format_is_reported(make_gateway):
    failed = make_gateway(config="log:\n  format: xml\n").fails()
    assert failed.status == 2 and "config.yaml:2: log.format: must be one of text, json" in failed.stderr


def test_start_is_logged(own_gateway):
    assert own_gateway.stop() == 0
    assert f"info listening on {own_gateway.url}\n" in own_gateway.stderr
    assert f"info listening on {own_gateway.url}\n" in own_gateway.command("logs").stdout


def test_address_is_printed_once_on_a_terminal(make_gateway):
    gateway = make_gateway()
    command = [str(BINARY), "serve", "--port", "0", "--data-dir", str(gateway.data)]
    with Terminal(command, gateway.variables(), gateway.home) as terminal:
        terminal.wait_for("listening on http")
        terminal.type("\x03")
        assert terminal.exit_status() == 0
        assert "listening on" not in terminal.shown
    assert "info listening on http" in gateway.command("logs").stdout
