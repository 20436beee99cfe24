"""The process: flags, the ready line, exit statuses, files, configuration, logs, the end (decisions, 1)."""

import contextlib
import json
import re
import signal
import sqlite3
import stat
import subprocess
import time

import httpx
import pytest

from checks import PATIENCE, TRIES, accepted, at_once, refused, seconds_of
from connection import Connection, free_port, needs_ipv6
from gateway import BINARY, StartFailed
from jobs import wait_for

HEX_64 = re.compile(r"[0-9a-f]{64}")


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
    port = free_port()
    gateway = make_gateway(arguments=["--port", str(port)])
    gateway.start()
    assert gateway.url == f"http://127.0.0.1:{port}"
    accepted(gateway.anonymous.get("/health"))


@needs_ipv6
def test_a_host_can_be_chosen(make_gateway):
    gateway = make_gateway(arguments=["--host", "::1"]).start()
    assert re.fullmatch(r"http://\[::1\]:\d+", gateway.url)
    accepted(gateway.anonymous.get("/health"))


def test_a_port_that_is_taken_is_a_clear_error(own, make_gateway):
    failed = make_gateway(arguments=["--port", str(own.port)]).fails()
    assert failed.status not in (0, 75) and str(own.port) in failed.stderr


@pytest.mark.parametrize("arguments", [
    ["--port", "x"], ["--port", "-1"], ["--port", "65536"], ["--unknown"], ["--log-level", "loud"], ["extra"],
    ["--host"], ["--data-dir"],
])
def test_wrong_usage_is_exit_status_2(make_gateway, arguments):
    failed = make_gateway(arguments=arguments).fails()
    assert failed.status == 2 and failed.stderr


def test_a_host_that_is_none_is_a_clear_error(make_gateway):
    failed = make_gateway(arguments=["--host", "no-such-host.invalid"]).fails()
    assert failed.status == 2 and "--host: must be an IP address or localhost" in failed.stderr


def test_without_arguments_help_is_printed():
    printed = subprocess.run([BINARY], capture_output=True, text=True, timeout=PATIENCE).stdout
    assert "serve" in printed and "status" in printed and "chat" in printed


# The data directory.


def test_the_data_directory_is_created_private(own):
    assert mode(own.data) == 0o700


@pytest.mark.parametrize("bits", [0o750, 0o701, 0o777, 0o740, 0o704])
def test_a_data_directory_open_to_others_is_refused(make_gateway, bits):
    gateway = make_gateway(config={})
    gateway.data.chmod(bits)
    failed = gateway.fails()
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
        assert serving.wait(PATIENCE) == 0


def test_a_data_directory_outside_home_is_taken_with_a_warning(make_gateway, tmp_path):
    outside = make_gateway(data=tmp_path / "outside").start()
    assert "warn" in outside.stderr.lower() and str(tmp_path / "outside") in outside.stderr


def test_a_data_directory_that_is_a_file_is_a_clear_error(make_gateway, tmp_path):
    (tmp_path / "file").write_text("")
    failed = make_gateway(data=tmp_path / "file").fails()
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
    failed = gateway.fails()
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


# One gateway in a data directory.


def test_a_second_start_fails_at_once(own, make_gateway):
    second, failures = make_gateway(data=own.data), []
    assert any(seconds_of(lambda: failures.append(second.fails())) < 5 for _ in range(TRIES))
    assert all(failed.status == 3 for failed in failures)
    assert all(str(own.process.pid) in failed.stderr or own.url in failed.stderr for failed in failures)
    accepted(own.http.get("/health"))


def test_the_lock_file_holds_process_id_and_url(own):
    holding = [file for file in own.data.iterdir() if file.is_file() and "lock" in file.name]
    assert len(holding) == 1
    text = holding[0].read_text()
    assert str(own.process.pid) in text and own.url in text and mode(holding[0]) & 0o077 == 0


def test_closed_standard_streams_do_no_harm(make_gateway):
    """Else the first file that is opened gets the number of one, and what is printed is written into it."""
    gateway = make_gateway(first="exec 0<&- >&- 2>&-").launch()
    deadline = time.monotonic() + PATIENCE
    while (status := gateway.command("status", "--json")).returncode != 0:
        assert time.monotonic() < deadline, status.stderr
    gateway.url = json.loads(status.stdout)["url"]
    accepted(gateway.http.get("/health"))
    text = (gateway.data / "gateway.lock").read_text()
    assert "listening" not in text and str(gateway.process.pid) in text and gateway.url in text
    assert gateway.stop() == 0


def test_as_many_files_may_be_open_as_the_system_allows(make_gateway):
    gateway = make_gateway(first="ulimit -S -n 300").start()
    kept = [Connection(gateway) for _ in range(310)]
    for connection in kept:
        assert connection.request("GET /health HTTP/1.1").answer().status == 200
    for connection in kept:
        connection.close()


def test_connections_leave_descriptors_for_files(make_gateway):
    gateway = make_gateway(first="ulimit -n 300").start()
    assert "limits.connections is 150 instead of 16384" in gateway.stderr
    accepted(gateway.http.get("/health"))
    kept = [Connection(gateway) for _ in range(149)]
    for connection in kept:
        assert connection.request("GET /health HTTP/1.1").answer().status == 200
    accepted(gateway.http.get("/filesystem/ls"))
    with Connection(gateway) as one_more:
        assert one_more.request("GET /health HTTP/1.1").answer().status == 503
    for connection in kept:
        connection.close()


def preloaded(tmp_path, source):
    """The environment of a gateway that has some of the system's functions replaced."""
    file, library = tmp_path / "instead.c", tmp_path / "instead.so"
    file.write_text("#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <errno.h>\n" + source)
    subprocess.run(["clang-19", "-shared", "-fPIC", "-o", str(library), str(file)], check=True)
    return {"LD_PRELOAD": str(library)}


def test_without_memory_for_a_connection_it_says_so_once_and_goes_on(make_gateway, tmp_path):
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


def test_with_fewer_threads_than_it_wants_it_says_why_it_cannot_serve_or_stays(make_gateway, tmp_path):
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
    answers = []
    for threads in range(10):
        gateway = make_gateway(environment={**few, "THREADS": str(threads)})
        try:
            gateway.start()
        except StartFailed as failed:
            assert failed.status == 1 and "cannot start a thread" in failed.stderr
            continue
        answers.append({response.status_code for response in at_once(20, lambda _: gateway.http.get("/threads"))})
        assert gateway.stop() == 0, gateway.stderr
    assert answers[-1] == {200} and set().union(*answers) <= {200, 500}


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


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_process_with_0(own, by):
    with own.events() as events:
        events.drain()
        # A client is given 10 s to answer that its socket is closed, where nobody is in a hurry.
        assert seconds_of(lambda: own.stop(by)) < 9 and own.process.returncode == 0
        assert events.closed() == 1001


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_before_the_ready_line_ends_the_process_with_0(own, by):
    assert own.stop() == 0
    # Whoever else holds the database keeps the start waiting.
    with contextlib.closing(sqlite3.connect(own.data / "gateway.db", isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        own.launch()
        wait_for(lambda: f'"pid":{own.process.pid},' in (own.data / "gateway.lock").read_text())
        own.process.send_signal(by)
        assert own.wait() == 0
    assert own.stdout == ""


def test_under_nohup_it_outlives_its_terminal(own):
    own.stop()
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        own.start()
    finally:
        signal.signal(signal.SIGHUP, before)
    own.process.send_signal(signal.SIGHUP)
    accepted(own.http.get("/health"))
    assert own.stop() == 0


@pytest.mark.parametrize("path, word, status, least", [
    ("/daemon/stop", "stopping", 0, 0.1), ("/daemon/restart", "restarting", 75, 0.4),
])
def test_stop_and_restart_answer_and_then_end(own, path, word, status, least):
    with own.events() as events:
        events.drain()
        asked = time.monotonic()
        assert accepted(own.http.post(path)) == {"status": word}
        assert own.wait() == status
        assert least < time.monotonic() - asked < 9  # as above
        assert events.closed() == 1001
    assert own.stdout == f"listening on {own.url}\n"


def test_stop_needs_the_token(own):
    refused(own.anonymous.post("/daemon/stop"), 401, "unauthorized")
    refused(own.http.get("/daemon/stop"), 405, "method not allowed")
    accepted(own.http.get("/health"))


@contextlib.contextmanager
def held_still(gateway):
    """What is sent meanwhile comes all at once: 100 ms behind the first request to stop the gateway ends."""
    gateway.process.send_signal(signal.SIGSTOP)
    yield
    gateway.process.send_signal(signal.SIGCONT)


@pytest.mark.parametrize("order", [("restart", "stop"), ("stop", "restart")], ids=" then ".join)
def test_a_stop_wins_over_a_restart(own, order):
    words = {"stop": "stopping", "restart": "restarting"}
    with Connection(own) as connection:
        with held_still(own):
            for action in order:
                connection.request(f"POST /daemon/{action} HTTP/1.1")
        for action in order:
            assert connection.answer().json() == {"status": words[action]}
    assert own.wait() == 0


def test_stop_may_be_asked_for_twice(own):
    with Connection(own) as first, Connection(own) as second:
        with held_still(own):
            for connection in (first, second):
                connection.request("POST /daemon/stop HTTP/1.1")
        for connection in (first, second):
            assert connection.answer().json() == {"status": "stopping"}
    assert own.wait() == 0


def test_a_second_signal_while_ending_does_no_harm(own):
    own.process.send_signal(signal.SIGTERM)
    own.process.send_signal(signal.SIGINT)
    assert own.wait() == 0


def test_signals_until_the_end_do_no_harm(own):
    for _ in range(200):
        accepted(own.http.post("/threads", json={"title": "long " * 1000}), 201)
    while own.running:
        own.process.send_signal(signal.SIGINT)
    assert own.wait() == 0
    assert not (own.data / "gateway.db-wal").exists()


def test_an_end_that_cannot_be_told_has_its_status(own, make_gateway):
    with open("/dev/full", "w") as full:
        second = subprocess.run([str(BINARY), "serve", "--port", "0", "--data-dir", str(own.data)], stdout=full,
                                stderr=full, timeout=PATIENCE, env=own.variables())
    assert second.returncode == 3


def test_open_connections_do_not_hold_up_the_end(own):
    idle = [Connection(own) for _ in range(10)]
    half = Connection(own).send("GET /hea")
    # A request that has begun is given 30 s to come to its end, where nobody is in a hurry.
    assert seconds_of(own.stop) < 25 and own.process.returncode == 0
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


# Logs.


def test_logs_go_to_stderr_and_to_the_data_directory(own):
    accepted(own.http.get("/threads"))
    assert own.stop() == 0
    files = list((own.data / "logs").iterdir())
    assert own.stderr.strip() and files and any(file.read_text().strip() for file in files)


def test_whoever_does_not_read_stderr_does_not_stop_it(make_gateway):
    gateway = make_gateway()
    serving = subprocess.Popen([BINARY, "serve", "--port", "0", "--log-level", "debug"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=gateway.variables())
    try:
        url = serving.stdout.readline().decode().split()[-1]
        with httpx.Client(base_url=url, timeout=PATIENCE) as http:
            for _ in range(2000):
                assert http.get("/health").status_code == 200
        serving.terminate()
        assert serving.wait(PATIENCE) == 0
        assert 0 < serving.stderr.read().count(b"GET /health 200") < 2000
        assert (gateway.data / "logs" / "gateway.log").read_text().count("GET /health 200") == 2000
    finally:
        serving.kill()
        serving.wait()


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


def test_health_is_small_and_plain(own):
    response = own.anonymous.get("/health")
    assert set(accepted(response)) == {"status", "uptime"} and json.loads(response.text)["uptime"] < 60
