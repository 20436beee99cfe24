"""The process: flags, the ready line, exit statuses, files, logs and shutdown (docs/contract/process.md)."""

import contextlib
import json
import re
import signal
import sqlite3
import stat
import subprocess
import time

import pytest

import http_client
from checks import PATIENCE, TRIES, accepted, at_once, refused, seconds_of
from connection import Connection, free_port, needs_ipv6
from gateway import BINARY, StartFailed
from jobs import wait_for

HEX_64 = re.compile(r"[0-9a-f]{64}")


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


# Flags and the ready line.


def test_stdout_has_only_the_ready_line(own_gateway):
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+", own_gateway.url)
    accepted(own_gateway.http.get("/threads"))
    with own_gateway.events() as events:
        events.drain()
    assert own_gateway.stop() == 0
    assert own_gateway.stdout == f"listening on {own_gateway.url}\n"


def test_port_option(make_gateway):
    port = free_port()
    gateway = make_gateway(arguments=["--port", str(port)])
    gateway.start()
    assert gateway.url == f"http://127.0.0.1:{port}"
    accepted(gateway.anonymous.get("/health"))


@needs_ipv6
def test_host_option(make_gateway):
    gateway = make_gateway(arguments=["--host", "::1"]).start()
    assert re.fullmatch(r"http://\[::1\]:\d+", gateway.url)
    accepted(gateway.anonymous.get("/health"))


def test_port_in_use_is_a_clear_error(own_gateway, make_gateway):
    failed = make_gateway(arguments=["--port", str(own_gateway.port)]).fails()
    assert failed.status not in (0, 75) and str(own_gateway.port) in failed.stderr


@pytest.mark.parametrize("arguments", [
    ["--port", "x"], ["--port", "-1"], ["--port", "65536"], ["--unknown"], ["--log-level", "loud"], ["extra"],
    ["--host"], ["--data-dir"],
])
def test_wrong_usage_is_exit_status_2(make_gateway, arguments):
    failed = make_gateway(arguments=arguments).fails()
    assert failed.status == 2 and failed.stderr


def test_invalid_host_is_a_clear_error(make_gateway):
    failed = make_gateway(arguments=["--host", "no-such-host.invalid"]).fails()
    assert failed.status == 2 and "--host: must be an IP address or localhost" in failed.stderr


def test_help_is_printed_without_arguments():
    printed = subprocess.run([BINARY], capture_output=True, text=True, timeout=PATIENCE).stdout
    assert "serve" in printed and "status" in printed and "chat" in printed


# The data directory.


def test_data_directory_is_created_private(own_gateway):
    assert mode(own_gateway.data) == 0o700


def test_a_umask_that_takes_the_owners_rights_does_not_lock_the_gateway_out(make_gateway):
    gateway = make_gateway(first="umask 0177").start()
    assert [mode(path) for path in (gateway.data, gateway.data / "agents", gateway.data / "logs")] == [0o700] * 3


@pytest.mark.parametrize("bits", [0o750, 0o701, 0o777, 0o740, 0o704])
def test_data_directory_open_to_others_is_refused(make_gateway, bits):
    gateway = make_gateway(config={})
    gateway.data.chmod(bits)
    failed = gateway.fails()
    assert failed.status == 2 and str(gateway.data) in failed.stderr and list(gateway.data.iterdir()) == [
        gateway.data / "config.yaml"]


def test_data_directory_is_chosen_by_flag_then_environment_then_home(make_gateway, tmp_path):
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
        assert serving.wait(PATIENCE) == 0


def test_data_directory_outside_home_is_accepted_with_a_warning(make_gateway, tmp_path):
    outside = make_gateway(data=tmp_path / "outside").start()
    assert "warn" in outside.stderr.lower() and str(tmp_path / "outside") in outside.stderr


def test_data_directory_that_is_a_file_is_a_clear_error(make_gateway, tmp_path):
    (tmp_path / "file").write_text("")
    failed = make_gateway(data=tmp_path / "file").fails()
    assert failed.status != 0 and str(tmp_path / "file") in failed.stderr


# The token.


def test_token_is_created_on_first_start_and_stays(own_gateway):
    file = own_gateway.data / ".gateway-token"
    assert HEX_64.fullmatch(file.read_text().strip()) and mode(file) == 0o600
    first = own_gateway.token
    own_gateway.restart()
    assert own_gateway.token == first


def test_each_gateway_has_its_own_token(own_gateway, gateway):
    assert own_gateway.token != gateway.token
    refused(own_gateway.anonymous.get("/threads", headers=gateway.authorization), 401, "unauthorized")


@pytest.mark.parametrize("bits", [0o640, 0o604, 0o610, 0o666])
def test_token_open_to_others_is_refused(make_gateway, bits):
    gateway = make_gateway().start()
    assert gateway.stop() == 0
    (gateway.data / ".gateway-token").chmod(bits)
    failed = gateway.fails()
    assert failed.status == 2 and ".gateway-token" in failed.stderr


@pytest.mark.parametrize("options", [{"arguments": ["--no-token"]}, {"config": {"auth": "none"}}])
def test_no_token_requests_are_401(make_gateway, options):
    gateway = make_gateway(**options).start()
    assert not (gateway.data / ".gateway-token").exists()
    accepted(gateway.anonymous.get("/health"))
    for headers in ({}, {"Authorization": "Bearer"}, {"Authorization": "Bearer x"}):
        refused(gateway.anonymous.get("/threads", headers=headers), 401, "unauthorized")
    with Connection(gateway) as connection:
        connection.request("GET /ws HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                           "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", token=False)
        assert connection.response().status == 401
    result = gateway.command("status")
    assert "token" in (result.stdout + result.stderr).lower()


def test_no_token_rules_out_pairing(make_gateway):
    gateway = make_gateway(arguments=["--no-token"]).start()
    refused(gateway.anonymous.get("/pair/refresh"), 501, "Pairing not available \u2014 gateway started without token")
    refused(gateway.anonymous.post("/pair", json={"otp": "123456"}), 501, "Pairing not available")


def test_no_token_ignores_and_keeps_a_stored_token(make_gateway):
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


# One gateway per data directory.


def test_second_start_fails_at_once(own_gateway, make_gateway):
    second, failures = make_gateway(data=own_gateway.data), []
    assert any(seconds_of(lambda: failures.append(second.fails())) < 5 for _ in range(TRIES))
    assert all(failed.status == 3 for failed in failures)
    assert all(str(own_gateway.process.pid) in failed.stderr or own_gateway.url in failed.stderr for failed in failures)
    accepted(own_gateway.http.get("/health"))


def test_lock_file_holds_process_id_and_url(own_gateway):
    lock_files = [file for file in own_gateway.data.iterdir() if file.is_file() and "lock" in file.name]
    assert len(lock_files) == 1
    text = lock_files[0].read_text()
    assert str(own_gateway.process.pid) in text and own_gateway.url in text and mode(lock_files[0]) & 0o077 == 0


def test_closed_standard_streams_are_harmless(make_gateway):
    """Otherwise the first opened file would get the descriptor of a standard stream, and output would be written into it."""
    gateway = make_gateway(first="exec 0<&- >&- 2>&-").launch()
    deadline = time.monotonic() + PATIENCE
    while (status := gateway.command("status", "--json")).returncode != 0:
        assert time.monotonic() < deadline, status.stderr
    gateway.url = json.loads(status.stdout)["url"]
    accepted(gateway.http.get("/health"))
    text = (gateway.data / "gateway.lock").read_text()
    assert "listening" not in text and str(gateway.process.pid) in text and gateway.url in text
    assert gateway.stop() == 0


def preloaded(tmp_path, source):
    """Returns the environment variables that preload the C code `source`, which replaces system functions."""
    file, library = tmp_path / "instead.c", tmp_path / "instead.so"
    file.write_text("#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <errno.h>\n" + source)
    subprocess.run(["clang-19", "-shared", "-fPIC", "-o", str(library), str(file)], check=True)
    return {"LD_PRELOAD": str(library)}


def test_connection_out_of_memory_is_logged_once(make_gateway, tmp_path):
    gateway = make_gateway(environment=preloaded(tmp_path, """
#include <sys/socket.h>
typedef int (*acceptor)(int, struct sockaddr *, socklen_t *, int);
int accept4(int listener, struct sockaddr *address, socklen_t *size, int flags) {
  static int calls;
  acceptor real = (acceptor)dlsym(RTLD_NEXT, "accept4");
  if (++calls > 2) return real(listener, address, size, flags);
  errno = calls == 1 ? ENOMEM : ENOBUFS;
  return -1;
}
""")).start()
    accepted(gateway.http.get("/health"))
    assert gateway.stderr.count("for a further connection") == 1


@pytest.mark.parametrize("arguments", [[], ["--trace-loop"]], ids=["", "traced"])
def test_start_with_too_few_threads_fails_with_a_reason_or_serves(make_gateway, tmp_path, arguments):
    few = preloaded(tmp_path, """
#include <pthread.h>
#include <stdlib.h>
typedef int (*creator)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
  static _Atomic int calls;
  if (++calls > atoi(getenv("THREADS"))) return EAGAIN;
  return ((creator)dlsym(RTLD_NEXT, "pthread_create"))(thread, attributes, body, argument);
}
""")
    status_codes = []
    for threads in range(10):
        gateway = make_gateway(environment={**few, "THREADS": str(threads)}, arguments=arguments)
        try:
            gateway.start()
        except StartFailed as failed:
            assert failed.status == 1 and "cannot start a thread" in failed.stderr
            continue
        status_codes.append({response.status_code for response in at_once(20, lambda _: gateway.http.get("/threads"))})
        assert gateway.stop() == 0, gateway.stderr
    assert status_codes[-1] == {200} and set().union(*status_codes) <= {200, 500}


def test_lock_of_a_killed_gateway_is_released(own_gateway):
    own_gateway.kill()
    own_gateway.start()
    accepted(own_gateway.http.get("/health"))


def test_one_of_many_simultaneous_starts_runs(make_gateway, tmp_path):
    gateways = [make_gateway(data=tmp_path / "wanted") for _ in range(4)]

    def start(number):
        try:
            return gateways[number].start()
        except StartFailed as failed:
            return failed.status

    outcomes = at_once(4, start)
    assert sorted(outcome for outcome in outcomes if isinstance(outcome, int)) == [3, 3, 3]


# Shutdown.


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signal_ends_the_process_with_0(own_gateway, number):
    with own_gateway.events() as events:
        events.drain()
        # A client has 10 s to reply to the close frame, unless the shutdown is urgent.
        assert seconds_of(lambda: own_gateway.stop(number)) < 9 and own_gateway.process.returncode == 0
        assert events.closed() == 1001


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signal_before_the_ready_line_ends_the_process_with_0(own_gateway, number):
    assert own_gateway.stop() == 0
    # The start waits for a process that has locked the database.
    with contextlib.closing(sqlite3.connect(own_gateway.data / "gateway.db", isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        own_gateway.launch()
        wait_for(lambda: f'"pid":{own_gateway.process.pid},' in (own_gateway.data / "gateway.lock").read_text())
        own_gateway.process.send_signal(number)
        assert own_gateway.wait() == 0
    assert own_gateway.stdout == ""


def test_nohup_outlives_the_terminal(own_gateway):
    own_gateway.stop()
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        own_gateway.start()
    finally:
        signal.signal(signal.SIGHUP, before)
    own_gateway.process.send_signal(signal.SIGHUP)
    accepted(own_gateway.http.get("/health"))
    assert own_gateway.stop() == 0


@pytest.mark.parametrize("path, word, status, min_seconds", [
    ("/daemon/stop", "stopping", 0, 0.1), ("/daemon/restart", "restarting", 75, 0.4),
])
def test_stop_and_restart_respond_before_ending(own_gateway, path, word, status, min_seconds):
    with own_gateway.events() as events:
        events.drain()
        requested_at = time.monotonic()
        assert accepted(own_gateway.http.post(path)) == {"status": word}
        assert own_gateway.wait() == status
        assert min_seconds < time.monotonic() - requested_at < 9  # as above
        assert events.closed() == 1001
    assert own_gateway.stdout == f"listening on {own_gateway.url}\n"


def test_stop_needs_the_token(own_gateway):
    refused(own_gateway.anonymous.post("/daemon/stop"), 401, "unauthorized")
    refused(own_gateway.http.get("/daemon/stop"), 405, "method not allowed")
    accepted(own_gateway.http.get("/health"))


@contextlib.contextmanager
def paused(gateway):
    """Pauses the process, so that it receives all requests of the block together: it ends 100 ms after the first stop."""
    gateway.process.send_signal(signal.SIGSTOP)
    yield
    gateway.process.send_signal(signal.SIGCONT)


@pytest.mark.parametrize("order", [("restart", "stop"), ("stop", "restart")], ids=" then ".join)
def test_stop_overrides_a_restart(own_gateway, order):
    words = {"stop": "stopping", "restart": "restarting"}
    with Connection(own_gateway) as connection:
        with paused(own_gateway):
            for action in order:
                connection.request(f"POST /daemon/{action} HTTP/1.1")
        for action in order:
            assert connection.response().json() == {"status": words[action]}
    assert own_gateway.wait() == 0


def test_stop_can_be_requested_twice(own_gateway):
    with Connection(own_gateway) as first, Connection(own_gateway) as second:
        with paused(own_gateway):
            for connection in (first, second):
                connection.request("POST /daemon/stop HTTP/1.1")
        for connection in (first, second):
            assert connection.response().json() == {"status": "stopping"}
    assert own_gateway.wait() == 0


def test_second_signal_during_shutdown_is_harmless(own_gateway):
    own_gateway.process.send_signal(signal.SIGTERM)
    own_gateway.process.send_signal(signal.SIGINT)
    assert own_gateway.wait() == 0


def test_repeated_signals_during_shutdown_are_harmless(own_gateway):
    for _ in range(200):
        accepted(own_gateway.http.post("/threads", json={"title": "long " * 1000}), 201)
    while own_gateway.running:
        own_gateway.process.send_signal(signal.SIGINT)
    assert own_gateway.wait() == 0
    assert not (own_gateway.data / "gateway.db-wal").exists()


def test_exit_status_is_kept_if_the_message_cannot_be_written(own_gateway, make_gateway):
    with open("/dev/full", "w") as full:
        second = subprocess.run([str(BINARY), "serve", "--port", "0", "--data-dir", str(own_gateway.data)], stdout=full,
                                stderr=full, timeout=PATIENCE, env=own_gateway.variables())
    assert second.returncode == 3


def test_open_connections_do_not_delay_shutdown(own_gateway):
    idle = [Connection(own_gateway) for _ in range(10)]
    incomplete = Connection(own_gateway).send("GET /hea")
    # A request in progress has 30 s to finish, unless the shutdown is urgent.
    assert seconds_of(own_gateway.stop) < 25 and own_gateway.process.returncode == 0
    for connection in [*idle, incomplete]:
        assert connection.closed()
        connection.close()


def test_shutdown_leaves_one_database_file(own_gateway):
    for _ in range(20):
        accepted(own_gateway.http.post("/threads", json={}), 201)
    assert own_gateway.stop() == 0
    log = own_gateway.data / "gateway.db-wal"
    assert not log.exists() or log.stat().st_size == 0
    with sqlite3.connect(f"file:{own_gateway.data / 'gateway.db'}?mode=ro", uri=True) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_acknowledged_write_survives_a_stop(own_gateway):
    made = accepted(own_gateway.http.post("/threads", json={"title": "kept"}), 201)
    accepted(own_gateway.http.post("/daemon/stop"))
    assert own_gateway.wait() == 0
    own_gateway.start()
    assert accepted(own_gateway.http.get(f"/threads/{made['id']}"))["title"] == "kept"


# Logs.


def test_logs_go_to_stderr_and_to_the_data_directory(own_gateway):
    accepted(own_gateway.http.get("/threads"))
    assert own_gateway.stop() == 0
    files = list((own_gateway.data / "logs").iterdir())
    assert own_gateway.stderr.strip() and files and any(file.read_text().strip() for file in files)


def test_unread_stderr_does_not_block_the_gateway(make_gateway):
    gateway = make_gateway()
    serving = subprocess.Popen([BINARY, "serve", "--port", "0", "--log-level", "debug"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=gateway.variables())
    try:
        url = serving.stdout.readline().decode().split()[-1]
        with http_client.new_client(base_url=url) as http:
            for _ in range(2000):
                assert http.get("/health").status_code == 200
        serving.terminate()
        assert serving.wait(PATIENCE) == 0
        assert 0 < serving.stderr.read().count(b"GET /health 200") < 2000
        assert (gateway.data / "logs" / "gateway.log").read_text().count("GET /health 200") == 2000
    finally:
        serving.kill()
        serving.wait()


def test_token_is_never_logged(make_gateway):
    gateway = make_gateway(arguments=["--log-level", "trace"]).start()
    token = gateway.token
    accepted(gateway.http.get("/threads"))
    gateway.http.get("/threads", params={"token": token})
    with gateway.events(token="query") as by_query, gateway.events(token="subprotocol") as by_protocol:
        by_query.drain()
        by_protocol.drain()
    with gateway.connect() as connection:
        connection.request(f"GET /nothing/{token} HTTP/1.1", "Content-Length: x").response()
    assert gateway.stop() == 0
    logs = "".join(file.read_text() for file in (gateway.data / "logs").iterdir())
    assert logs and token not in logs.replace(f"/nothing/{token}", "") and token not in gateway.stderr.replace(
        f"/nothing/{token}", "")


def test_log_level_off_is_silent(make_gateway):
    gateway = make_gateway(arguments=["--log-level", "off"]).start()
    accepted(gateway.http.get("/threads"))
    assert gateway.stop() == 0 and gateway.stderr == ""


@pytest.mark.parametrize("level", ["trace", "debug", "info", "warn", "error"])
def test_every_log_level_is_accepted(make_gateway, level):
    make_gateway(arguments=["--log-level", level]).start()


def test_health_has_only_status_and_uptime(own_gateway):
    response = own_gateway.anonymous.get("/health")
    assert set(accepted(response)) == {"status", "uptime"} and json.loads(response.text)["uptime"] < 60
