"""The process: flags, the ready line, exit statuses, files, configuration, logs, the end (decisions, 1)."""

import json
import os
import re
import signal
import socket
import sqlite3
import stat
import subprocess
import time

import pytest

from checks import accepted, at_once, refused
from connection import Connection
from gateway import BINARY, StartFailed

HEX_64 = re.compile(r"[0-9a-f]{64}")


def fails(gateway):
    """How a start failed."""
    with pytest.raises(StartFailed) as failed:
        gateway.start()
    assert failed.value.stdout == "", "nothing but the ready line is printed"
    return failed.value


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


# Flags and the ready line.


def test_the_ready_line_is_the_one_line_on_stdout(own):
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+", own.url)
    accepted(own.http.get("/threads"))
    with own.events() as events:
        events.drain()
    assert own.stop() == 0
    assert own.stdout == f"listening on {own.url}\n"


def test_a_port_can_be_chosen(make_gateway):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    gateway = make_gateway(arguments=["--port", str(port)])
    gateway.start()
    assert gateway.url == f"http://127.0.0.1:{port}"
    accepted(gateway.anonymous.get("/health"))


def test_a_host_can_be_chosen(make_gateway):
    gateway = make_gateway(arguments=["--host", "::1"]).start()
    assert re.fullmatch(r"http://\[::1\]:\d+", gateway.url)
    accepted(gateway.anonymous.get("/health"))


def test_a_port_that_is_taken_is_a_clear_error(own, make_gateway):
    failed = fails(make_gateway(arguments=["--port", str(own.port)]))
    assert failed.status not in (0, 75) and str(own.port) in failed.stderr


@pytest.mark.parametrize("arguments", [
    ["--port", "x"], ["--port", "-1"], ["--port", "65536"], ["--unknown"], ["--log-level", "loud"], ["extra"],
    ["--host"], ["--data-dir"],
])
def test_wrong_usage_is_exit_status_2(make_gateway, arguments):
    failed = fails(make_gateway(arguments=arguments))
    assert failed.status == 2 and failed.stderr


def test_a_host_that_is_none_is_a_clear_error(make_gateway):
    failed = fails(make_gateway(arguments=["--host", "no-such-host.invalid"]))
    assert failed.status not in (0, 75) and "no-such-host.invalid" in failed.stderr


def test_without_arguments_help_is_printed():
    printed = subprocess.run([BINARY], capture_output=True, text=True, timeout=20).stdout
    assert "serve" in printed and "status" in printed and "chat" in printed


# The data directory.


def test_the_data_directory_is_created_private(own):
    assert mode(own.data) == 0o700


@pytest.mark.parametrize("bits", [0o750, 0o701, 0o777, 0o740, 0o704])
def test_a_data_directory_open_to_others_is_refused(make_gateway, bits):
    gateway = make_gateway(config={})
    gateway.data.chmod(bits)
    failed = fails(gateway)
    assert failed.status == 2 and str(gateway.data) in failed.stderr and list(gateway.data.iterdir()) == [
        gateway.data / "config.yaml"]


def test_the_data_directory_is_the_flags_then_the_environments_then_in_home(make_gateway, tmp_path):
    def tokens(*directories):
        return [(directory / ".gateway-token").exists() for directory in directories]

    flag, variable = tmp_path / "flag", tmp_path / "variable"
    gateway = make_gateway(data=flag, environment={"AGENT_GATEWAY_DATA_DIR": str(variable)}).start()
    home = gateway.home / ".agent-gateway"
    assert tokens(flag, variable, home) == [True, False, False]
    for environment, expected in [(str(variable), [True, False]), (None, [True, True])]:
        gateway.environment = {"AGENT_GATEWAY_DATA_DIR": environment} if environment else {}
        serving = subprocess.Popen([BINARY, "serve", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   env=gateway.variables())
        assert serving.stdout.readline().startswith(b"listening on ")
        assert tokens(variable, home) == expected
        serving.terminate()
        assert serving.wait(20) == 0


def test_a_data_directory_outside_home_is_taken_with_a_warning(make_gateway, tmp_path):
    outside = make_gateway(data=tmp_path / "outside").start()
    assert "warn" in outside.stderr.lower() and str(tmp_path / "outside") in outside.stderr


def test_a_data_directory_that_is_a_file_is_a_clear_error(make_gateway, tmp_path):
    (tmp_path / "file").write_text("")
    failed = fails(make_gateway(data=tmp_path / "file"))
    assert failed.status != 0 and str(tmp_path / "file") in failed.stderr


# The token.


def test_the_token_is_made_on_first_start_and_stays(own):
    file = own.data / ".gateway-token"
    assert HEX_64.fullmatch(file.read_text().strip()) and mode(file) == 0o600
    first = own.token
    own.restart()
    assert own.token == first


def test_each_gateway_has_a_token_of_its_own(own, gateway):
    assert own.token != gateway.token
    refused(own.anonymous.get("/threads", headers=gateway.authorization), 401, "unauthorized")


@pytest.mark.parametrize("bits", [0o640, 0o604, 0o610, 0o666])
def test_a_token_open_to_others_is_refused(make_gateway, bits):
    gateway = make_gateway().start()
    assert gateway.stop() == 0
    (gateway.data / ".gateway-token").chmod(bits)
    failed = fails(gateway)
    assert failed.status == 2 and ".gateway-token" in failed.stderr


@pytest.mark.parametrize("options", [{"arguments": ["--no-token"]}, {"config": {"auth": "none"}}])
def test_without_a_token_everything_that_needs_one_answers_401(make_gateway, options):
    gateway = make_gateway(**options).start()
    assert not (gateway.data / ".gateway-token").exists()
    accepted(gateway.anonymous.get("/health"))
    for headers in ({}, {"Authorization": "Bearer"}, {"Authorization": "Bearer x"}):
        refused(gateway.anonymous.get("/threads", headers=headers), 401, "unauthorized")
    with Connection(gateway) as connection:
        connection.request("GET /ws HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                           "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", token=False)
        assert connection.answer().status == 401
    said = gateway.command("status")
    assert "token" in (said.stdout + said.stderr).lower()


def test_without_a_token_there_is_no_pairing(make_gateway):
    gateway = make_gateway(arguments=["--no-token"]).start()
    refused(gateway.anonymous.get("/pair/refresh"), 501, "Pairing not available \u2014 gateway started without token")
    refused(gateway.anonymous.post("/pair", json={"otp": "123456"}), 501, "Pairing not available")


def test_without_a_token_a_stored_one_is_ignored_and_kept(make_gateway):
    gateway = make_gateway().start()
    token, headers = gateway.token, gateway.authorization
    assert gateway.stop() == 0
    gateway.arguments = ["--no-token"]
    gateway.start()
    refused(gateway.anonymous.get("/threads", headers=headers), 401, "unauthorized")
    assert gateway.stop() == 0
    gateway.arguments = []
    gateway.start()
    assert gateway.token == token
    accepted(gateway.http.get("/threads"))


# Configuration.


def test_a_commented_example_is_written_on_first_start(own):
    text = (own.data / "config.yaml").read_text()
    assert text.strip() and all(line.startswith("#") or not line.strip() for line in text.splitlines())
    own.restart()
    assert (own.data / "config.yaml").read_text() == text


def test_a_configuration_that_is_there_is_left_alone(make_gateway):
    gateway = make_gateway(config="# mine\nlimits:\n  body_mib: 3\n").start()
    assert (gateway.data / "config.yaml").read_text() == "# mine\nlimits:\n  body_mib: 3\n"


@pytest.mark.parametrize("text, line, key", [
    ("limits:\n  body_mib: many\n", 2, "body_mib"), ("limits:\n  body_mib: -1\n", 2, "body_mib"),
    ("\n\nlimits:\n  connections: []\n", 4, "connections"), ("limits: 5\n", 1, "limits"), ("auth: maybe\n", 1, "auth"),
    ("hosts: 5\n", 1, "hosts"), ("# c\norigins:\n  a: b\n", 2, "origins"),
    ("providers:\n  mine:\n    kind: telepathy\n", 3, "kind"), ("models: yes\n", 1, "models"),
])
def test_a_wrong_value_is_named_with_file_line_key_and_reason(make_gateway, text, line, key):
    gateway = make_gateway(config=text)
    failed = fails(gateway)
    assert failed.status == 2
    file = re.escape(str(gateway.data / "config.yaml"))
    assert re.search(rf"{file}:{line}: [\w.\-\[\]]*{key}[\w.\-\[\]]*: \S+", failed.stderr), failed.stderr


@pytest.mark.parametrize("text", ["limits: [\n", "a: b: c\n", "\tlimits: 5\n", "- 1\n- 2\n", "just text\n", "\xff\n"])
def test_what_is_no_yaml_mapping_is_named_with_its_line(make_gateway, text):
    gateway = make_gateway(config="")
    (gateway.data / "config.yaml").write_bytes(text.encode("latin-1"))
    failed = fails(gateway)
    assert failed.status == 2 and re.search(r"config\.yaml:\d+: ", failed.stderr)


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "{}\n"])
def test_an_empty_configuration_is_fine(make_gateway, text):
    make_gateway(config=text).start()


def test_another_file_can_be_named(make_gateway, tmp_path):
    other = tmp_path / "other.yaml"
    other.write_text("hosts: [other.example]\n")
    gateway = make_gateway(config={"hosts": ["default.example"]}, arguments=["--config", str(other)]).start()
    for host, status in (("other.example", 200), ("default.example", 403)):
        with Connection(gateway) as connection:
            connection.request("GET /health HTTP/1.1", f"Host: {host}", host=False)
            assert connection.answer().status == status
    failed = fails(make_gateway(arguments=["--config", str(tmp_path / "missing.yaml")]))
    assert failed.status == 2 and "missing.yaml" in failed.stderr


def test_a_flag_wins_over_the_file(make_gateway):
    gateway = make_gateway(config={"host": "::1", "port": 1}).start()
    assert gateway.port != 1


def test_the_environment_wins_over_the_file_and_a_flag_over_both(make_gateway):
    def is_quiet(**options):
        gateway = make_gateway(**options).start()
        assert gateway.stop() == 0
        return gateway.stderr == ""

    file, variable = {"log_level": "info"}, {"AGENT_GATEWAY_LOG_LEVEL": "off"}
    assert not is_quiet(config=file)
    assert is_quiet(config=file, environment=variable)
    assert not is_quiet(config=file, environment=variable, arguments=["--log-level", "info"])


def test_a_wrong_value_in_the_environment_is_named(make_gateway):
    failed = fails(make_gateway(environment={"AGENT_GATEWAY_LOG_LEVEL": "loud"}))
    assert failed.status == 2 and "AGENT_GATEWAY_LOG_LEVEL" in failed.stderr


# One gateway in a data directory.


def test_a_second_start_fails_at_once(own, make_gateway):
    started = time.monotonic()
    failed = fails(make_gateway(data=own.data))
    assert failed.status == 3 and time.monotonic() - started < 5
    assert str(own.process.pid) in failed.stderr or own.url in failed.stderr
    accepted(own.http.get("/health"))


def test_the_lock_file_holds_process_id_and_url(own):
    holding = [file for file in own.data.iterdir() if file.is_file() and "lock" in file.name]
    assert len(holding) == 1
    text = holding[0].read_text()
    assert str(own.process.pid) in text and own.url in text and mode(holding[0]) & 0o077 == 0


def test_a_lock_that_a_killed_gateway_left_does_not_hold(own):
    own.kill()
    own.start()
    accepted(own.http.get("/health"))


def test_of_many_starts_at_once_one_runs(make_gateway, tmp_path):
    gateways = [make_gateway(data=tmp_path / "wanted") for _ in range(4)]

    def start(number):
        try:
            return gateways[number].start()
        except StartFailed as failed:
            return failed.status

    outcomes = at_once(4, start)
    assert sorted(outcome for outcome in outcomes if isinstance(outcome, int)) == [3, 3, 3]


# The end.


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_process_with_0(own, by):
    with own.events() as events:
        events.drain()
        started = time.monotonic()
        assert own.stop(by) == 0
        assert time.monotonic() - started < 2
        assert events.closed() == 1001


@pytest.mark.parametrize("path, word, status, least, most", [
    ("/daemon/stop", "stopping", 0, 0.1, 1.0), ("/daemon/restart", "restarting", 75, 0.4, 1.3),
])
def test_stop_and_restart_answer_and_then_end(own, path, word, status, least, most):
    with own.events() as events:
        events.drain()
        assert accepted(own.http.post(path)) == {"status": word}
        answered = time.monotonic()
        assert own.wait() == status
        assert least < time.monotonic() - answered < most
        assert events.closed() == 1001
    assert own.stdout == f"listening on {own.url}\n"


def test_stop_needs_the_token(own):
    refused(own.anonymous.post("/daemon/stop"), 401, "unauthorized")
    refused(own.http.get("/daemon/stop"), 405, "method not allowed")
    accepted(own.http.get("/health"))


def test_stop_may_be_asked_for_twice(own):
    with Connection(own) as first, Connection(own) as second:
        for connection in (first, second):
            assert connection.request("GET /health HTTP/1.1").answer().status == 200
        for connection in (first, second):
            connection.request("POST /daemon/stop HTTP/1.1")
        for connection in (first, second):
            assert connection.answer().json() == {"status": "stopping"}
    assert own.wait() == 0


def test_a_second_signal_while_ending_does_no_harm(own):
    own.process.send_signal(signal.SIGTERM)
    own.process.send_signal(signal.SIGINT)
    assert own.wait() == 0


def test_open_connections_do_not_hold_up_the_end(own):
    idle = [Connection(own) for _ in range(10)]
    half = Connection(own).send("GET /hea")
    started = time.monotonic()
    assert own.stop() == 0 and time.monotonic() - started < 3
    for connection in [*idle, half]:
        assert connection.closed()
        connection.close()


def test_the_end_leaves_one_database_file(own):
    for _ in range(20):
        accepted(own.http.post("/threads", json={}), 201)
    assert own.stop() == 0
    log = own.data / "gateway.db-wal"
    assert not log.exists() or log.stat().st_size == 0
    with sqlite3.connect(f"file:{own.data / 'gateway.db'}?mode=ro", uri=True) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_write_that_was_answered_is_there_after_stop(own):
    made = accepted(own.http.post("/threads", json={"title": "kept"}), 201)
    accepted(own.http.post("/daemon/stop"))
    assert own.wait() == 0
    own.start()
    assert accepted(own.http.get(f"/threads/{made['id']}"))["title"] == "kept"


# A database that cannot be used.


def corrupted(gateway, change):
    """The data directory of a gateway that ran, with its database changed; answers the file's new bytes."""
    gateway.start()
    accepted(gateway.http.post("/threads", json={}), 201)
    assert gateway.stop() == 0
    file = gateway.data / "gateway.db"
    change(file)
    return file.read_bytes()


@pytest.mark.parametrize("change", [
    lambda file: file.write_bytes(b"this is no database, but some text that is long enough" * 100),
    lambda file: file.write_bytes(file.read_bytes()[:5000]),
    lambda file: file.write_bytes(file.read_bytes()[:100] + os.urandom(len(file.read_bytes()) - 100)),
], ids=["text", "cut off", "overwritten"])
def test_a_corrupt_database_is_named_and_left_alone(make_gateway, change):
    gateway = make_gateway()
    left = corrupted(gateway, change)
    failed = fails(gateway)
    assert failed.status == 5 and str(gateway.data / "gateway.db") in failed.stderr
    assert (gateway.data / "gateway.db").read_bytes() == left


def test_a_newer_database_is_named_and_left_alone(make_gateway):
    def raise_version(file):
        with sqlite3.connect(file) as database:
            version = database.execute("PRAGMA user_version").fetchone()[0]
            assert version > 0, "the schema's version is the database's user_version"
            database.execute(f"PRAGMA user_version = {version + 1000}")
        database.close()

    gateway = make_gateway()
    left = corrupted(gateway, raise_version)
    failed = fails(gateway)
    assert failed.status == 5 and str(gateway.data / "gateway.db") in failed.stderr and "newer" in failed.stderr
    assert (gateway.data / "gateway.db").read_bytes() == left


def test_a_database_that_cannot_be_written_is_a_clear_error(make_gateway):
    gateway = make_gateway(user=65534 if os.geteuid() == 0 else None)
    left = corrupted(gateway, lambda file: file.chmod(0o400))
    failed = fails(gateway)
    assert failed.status not in (0, 75) and str(gateway.data / "gateway.db") in failed.stderr
    assert (gateway.data / "gateway.db").read_bytes() == left


# Logs.


def test_logs_go_to_stderr_and_to_the_data_directory(own):
    accepted(own.http.get("/threads"))
    assert own.stop() == 0
    files = list((own.data / "logs").iterdir())
    assert own.stderr.strip() and files and any(file.read_text().strip() for file in files)


def test_the_token_never_stands_in_a_log(make_gateway):
    gateway = make_gateway(arguments=["--log-level", "trace"]).start()
    token = gateway.token
    accepted(gateway.http.get("/threads"))
    gateway.http.get("/threads", params={"token": token})
    with gateway.events(token="query") as by_query, gateway.events(token="subprotocol") as by_protocol:
        by_query.drain()
        by_protocol.drain()
    with gateway.connect() as connection:
        connection.request(f"GET /nothing/{token} HTTP/1.1", "Content-Length: x").answer()
    assert gateway.stop() == 0
    logs = "".join(file.read_text() for file in (gateway.data / "logs").iterdir())
    assert logs and token not in logs.replace(f"/nothing/{token}", "") and token not in gateway.stderr.replace(
        f"/nothing/{token}", "")


def test_the_log_level_off_keeps_quiet(make_gateway):
    gateway = make_gateway(arguments=["--log-level", "off"]).start()
    accepted(gateway.http.get("/threads"))
    assert gateway.stop() == 0 and gateway.stderr == ""


@pytest.mark.parametrize("level", ["trace", "debug", "info", "warn", "error"])
def test_every_log_level_is_known(make_gateway, level):
    make_gateway(arguments=["--log-level", level]).start()


# A disk that is full.


@pytest.mark.skipif(os.geteuid() != 0, reason="a small file system can only be mounted by root")
def test_a_full_disk_is_507_and_loses_nothing_that_was_answered(make_gateway, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=24m,mode=700", "tmpfs", small]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("mounting is not permitted")
    gateway = make_gateway(data=small)
    try:
        fill_and_free(gateway.start())
        gateway.close()
    finally:
        if gateway.running:
            gateway.kill()
        subprocess.run(["umount", small], check=True)


def fill_and_free(gateway):
    """Writes until the disk is full, looks, makes room and writes again."""
    made = accepted(gateway.http.post("/threads", json={}), 201)
    path, body = f"/threads/{made['id']}/turns", {"content": "x" * 200_000, "role": "user"}
    kept = []
    for _ in range(300):
        response = gateway.http.post(path, json=body)
        if response.status_code != 201:
            break
        kept.append(response.json()["id"])
    refused(response, 507, "disk full")
    accepted(gateway.http.get("/health"))
    assert [turn["id"] for turn in accepted(gateway.http.get(path, params={"limit": 1000}))] == kept[::-1]
    refused(gateway.http.post(path, json=body), 507, "disk full")
    subprocess.run(["mount", "-o", "remount,size=64m", gateway.data], check=True)
    after = accepted(gateway.http.post(path, json=body), 201)["id"]
    gateway.restart()
    found = [turn["id"] for turn in accepted(gateway.http.get(path, params={"limit": 1000}))]
    assert found == [after, *kept[::-1]]


def test_health_is_small_and_plain(own):
    response = own.anonymous.get("/health")
    assert set(accepted(response)) == {"status", "uptime"} and json.loads(response.text)["uptime"] < 60
