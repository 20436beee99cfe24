"""Records in PostgreSQL: unusable databases, a server that is down, and unsupported operations. All other tests run with
PostgreSQL too if AGW_TEST_POSTGRES is set.

See docs/postgresql.md.
"""

import contextlib
import itertools
import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from checks import TRIES, accepted, at_once, refused, seconds_of
from connection import free_port
from disks import small_disk
from jobs import ended, new_job, rows, run, wait_for
from postgres import postgres, standby

PASSWORD = "never-shown-4711"
_names = itertools.count(1)


@pytest.fixture(scope="module")
def server():
    with postgres() as running:
        yield running


@pytest.fixture
def database(server):
    name = f"records{next(_names)}"
    server.create(name)
    return name


@pytest.fixture
def gateway_on(make_gateway):
    """Creates gateways that keep their records in the database at a URL."""
    return lambda url, **options: make_gateway(config={"cluster": {"database": url}}, **options)


def create_thread(gateway, title="a thread"):
    return accepted(gateway.http.post("/threads", json={"title": title}), status=201)


def titles(gateway):
    return [thread["title"] for thread in accepted(gateway.http.get("/threads"))]


def printed_by(gateway):
    log = gateway.data / "logs" / "gateway.log"
    errors = "".join(file.read_text() for file in gateway.root.glob("stderr-*.txt"))
    return errors + (log.read_text() if log.exists() else "")


@contextlib.contextmanager
def locked(server, database, table):
    """Locks the table in another session, so that it cannot be read."""
    command = ["psql", "-X", "-q", "-A", "-t", server.url(database)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as session:
        session.stdin.write(f"BEGIN; LOCK TABLE {table}; SELECT 'locked';\n")
        session.stdin.flush()
        assert session.stdout.readline() == "locked\n"
        yield


@pytest.fixture
def role_with_password(server, database):
    """The name of a role that owns `database` and logs in with a password."""
    role = f"role{next(_names)}"
    server.psql("postgres", f"CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}'; ALTER DATABASE {database} OWNER TO {role}")
    rules = server.directory / "data" / "pg_hba.conf"
    rules.write_text(f"host all {role} 127.0.0.1/32 scram-sha-256\n{rules.read_text()}")
    server.psql("postgres", "SELECT pg_reload_conf()")
    return role


def test_records_survive_a_restart_and_no_password_is_shown(server, database, role_with_password, gateway_on):
    gateway = gateway_on(f"postgresql://{role_with_password}:${{secret:DATABASE}}@127.0.0.1:{server.port}/{database}")
    assert gateway.command("secret", "set", "DATABASE", typed=PASSWORD + "\n").returncode == 0
    gateway.start()
    thread = create_thread(gateway)
    command_line = Path(f"/proc/{gateway.process.pid}/cmdline").read_text()
    gateway.restart()
    assert accepted(gateway.http.get(f"/threads/{thread['id']}"))["title"] == "a thread"
    assert not list(gateway.data.glob("gateway.db*"))
    assert server.psql(database, "SELECT count(*) FROM threads WHERE title = 'a thread'") == [["1"]]
    assert PASSWORD not in command_line + printed_by(gateway)


def test_concurrent_turns_keep_their_thread_and_order(server, database, gateway_on):
    gateway = gateway_on(server.url(database)).start()
    threads = [create_thread(gateway)["id"] for _ in range(16)]
    contents = [f"turn {number}" for number in range(20)]

    def fill(client):
        for content in contents:
            accepted(gateway.http.post(f"/threads/{threads[client]}/turns", json={"role": "user", "content": content}), 201)
    at_once(len(threads), fill)
    for thread in threads:
        turns = accepted(gateway.http.get(f"/threads/{thread}/turns"))
        assert [turn["content"] for turn in reversed(turns)] == contents
        assert accepted(gateway.http.get(f"/threads/{thread}"))["turn_count"] == len(contents)


def test_wrong_password_is_reported_without_showing_it(server, database, role_with_password, gateway_on):
    gateway = gateway_on(f"postgresql://{role_with_password}:wrong-{PASSWORD}@127.0.0.1:{server.port}/{database}")
    failed = gateway.fails()
    assert failed.status == 1 and f"password authentication failed for user \"{role_with_password}\"" in failed.stderr
    assert "or correct cluster.database, its user or its password" in failed.stderr and PASSWORD not in printed_by(gateway)


def test_missing_secret_is_reported(server, database, gateway_on):
    failed = gateway_on(f"postgresql://agw:${{secret:MISSING}}@127.0.0.1:{server.port}/{database}").fails()
    assert failed.status == 2 and "cluster.database: " in failed.stderr and "MISSING" in failed.stderr


def test_invalid_address_is_reported_without_showing_it(gateway_on):
    failed = gateway_on(f"postgresql://agw:{PASSWORD}@[::1/things").fails()
    assert failed.status == 2 and "cluster.database: " in failed.stderr and PASSWORD not in failed.stderr


def test_unreachable_server_is_reported_within_five_seconds(gateway_on):
    port = free_port()
    gateway = gateway_on(f"postgresql://agw:{PASSWORD}@127.0.0.1:{port}/things")
    assert any(seconds_of(gateway.fails) < 5 for _ in range(TRIES))
    failed = gateway.fails()
    assert failed.status == 1 and PASSWORD not in failed.stderr
    assert f"cannot reach the database things at 127.0.0.1:{port} (cluster.database): " in failed.stderr
    assert "Start the server, or correct cluster.database" in failed.stderr


def test_unresponsive_server_is_reported_within_five_seconds(gateway_on):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        gateway = gateway_on(f"postgresql://agw@127.0.0.1:{port}/things")
        assert any(seconds_of(gateway.fails) < 5 for _ in range(TRIES))
        assert f"cannot reach the database things at 127.0.0.1:{port} (cluster.database): it does not answer" in gateway.stderr


def test_missing_database_is_reported(server, gateway_on):
    failed = gateway_on(server.url("missing")).fails()
    assert failed.status == 1 and "database \"missing\" does not exist" in failed.stderr


UNUSABLE = {
    "a newer release's": ("CREATE TABLE schema_migrations (number bigint PRIMARY KEY, name text NOT NULL);"
                          "INSERT INTO schema_migrations VALUES (99999, 'later')",
                          1, "was written by a newer agw (schema 99999, this one knows"),
    "another program's": ("CREATE TABLE theirs (x text)",
                          1, "is not a gateway's: it holds tables of another program. Name an empty one"),
    "read-only": ("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', "
                  "current_database()); END $$",
                  1, "is read-only (default_transaction_read_only): set it to off for the role agw"),
    "without a schema": ("DROP SCHEMA public", 1, "has no schema that the role agw may use: create one, or set search_path"),
}


@pytest.mark.parametrize("script, status, text", UNUSABLE.values(), ids=UNUSABLE.keys())
def test_serve_and_doctor_report_an_unusable_database(server, database, gateway_on, script, status, text):
    server.psql(database, script)
    gateway = gateway_on(server.url(database))
    failed = gateway.fails()
    assert failed.status == status
    assert f"the database {database} at 127.0.0.1:{server.port} (cluster.database) {text}" in failed.stderr
    result = gateway.command("doctor")
    assert result.returncode == 1 and text in result.stdout


@pytest.mark.parametrize("options, text", [
    ("ENCODING 'LATIN1' LOCALE 'C'", "does not store text as UTF-8"),
    ("ENCODING 'UTF8' LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'en'", "does not compare text byte by byte"),
])
def test_unsupported_encoding_is_refused_with_the_remedy(server, gateway_on, options, text):
    name = f"other{next(_names)}"
    server.create(name, options)
    failed = gateway_on(server.url(name)).fails()
    assert failed.status == 1 and text in failed.stderr
    assert "CREATE DATABASE agw TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'" in failed.stderr


def test_role_that_may_not_create_tables_is_refused_with_the_remedy(server, database, gateway_on):
    server.psql(database, "CREATE ROLE guest LOGIN")
    failed = gateway_on(server.url(database, user="guest")).fails()
    assert failed.status == 1 and "GRANT CREATE ON SCHEMA public TO guest" in failed.stderr


def test_role_that_may_not_use_the_tables_is_refused_with_the_remedy(server, database, gateway_on):
    gateway = gateway_on(server.url(database)).start()
    gateway.stop()
    server.psql(database, "CREATE ROLE stranger LOGIN; GRANT CREATE ON SCHEMA public TO stranger")
    failed = gateway_on(server.url(database, user="stranger")).fails()
    assert failed.status == 1 and "must be owner of table" in failed.stderr
    assert "Log in as the role that made the tables" in failed.stderr


def test_replica_is_refused(gateway_on):
    with postgres() as replica:
        replica.create("records")
        replica.stop()
        standby_signal = replica.directory / "data" / "standby.signal"
        standby_signal.touch()
        os.chown(standby_signal, replica.user if replica.user is not None else -1, -1)
        replica.start()
        failed = gateway_on(replica.url("records")).fails()
    assert failed.status == 1 and "is a replica, which only the primary server may write" in failed.stderr


def test_second_gateway_is_refused_until_the_first_has_ended(server, database, gateway_on):
    first, second = gateway_on(server.url(database)).start(), gateway_on(server.url(database))
    create_thread(first)
    failed = second.fails()
    assert failed.status == 3
    assert (f"the database {database} at 127.0.0.1:{server.port} (cluster.database) is in use by another gateway (connected "
            "from 127.0.0.1 since ") in failed.stderr
    assert "several gateways cannot share a database unless each has a name (cluster.node). Stop that one" in failed.stderr
    first.kill()
    assert titles(second.start()) == ["a thread"]


def test_postgresql_is_refused_while_a_database_file_has_records(server, database, make_gateway):
    gateway = make_gateway(config={"cluster": {}}).start()
    gateway.stop()
    gateway.configure({"cluster": {"database": server.url(database)}})
    failed = gateway.fails()
    assert failed.status == 2 and f"{gateway.data / 'gateway.db'} holds records" in failed.stderr
    assert f"mv {gateway.data / 'gateway.db'} " in failed.stderr
    (gateway.data / "gateway.db").rename(gateway.data / "gateway.db.old")
    gateway.start()


def test_backups_are_refused_with_the_alternative(server, database, gateway_on, tmp_path):
    gateway = gateway_on(server.url(database)).start()
    done = gateway.command("backup", str(tmp_path / "b"))
    assert done.returncode == 1 and "the records are in PostgreSQL (cluster.database)" in done.stderr
    assert "pg_dump" in done.stderr and not (tmp_path / "b").exists()


def test_doctor_names_the_database(server, database, gateway_on):
    gateway = gateway_on(server.url(database)).start()
    done = gateway.command("doctor")
    assert done.returncode == 0 and f"the database {database} at 127.0.0.1:{server.port} can be used" in done.stdout


def test_acknowledged_writes_survive_restarts_of_the_server(gateway_on):
    with postgres() as own_server:
        own_server.create("records")
        gateway = gateway_on(own_server.url("records")).start()
        made = []
        for stop_signal in (signal.SIGINT, signal.SIGQUIT):
            made.append(create_thread(gateway, f"before {stop_signal}")["title"])
            own_server.stop(stop_signal)
            own_server.start()
        made.append(create_thread(gateway, "at last")["title"])
        assert sorted(titles(gateway)) == sorted(made)
        assert gateway.stop() == 0


@pytest.mark.slow
def test_requests_are_refused_while_the_server_is_down(gateway_on):
    with postgres() as own_server:
        own_server.create("records")
        gateway = gateway_on(own_server.url("records")).start()
        create_thread(gateway)
        own_server.stop()
        try:
            refused(gateway.http.post("/threads", json={}, timeout=60), 503, "the database cannot be reached, try again")
            accepted(gateway.http.get("/health"))
        finally:
            own_server.start()
        create_thread(gateway)
        assert len(titles(gateway)) == 2
        assert gateway.stop() == 0


def test_gateway_stops_while_the_server_is_down(gateway_on):
    with postgres() as own_server:
        own_server.create("records")
        gateway = gateway_on(own_server.url("records")).start()
        create_thread(gateway)
        own_server.stop()
        try:
            # Shutdown waits for the server only once, not in each of its steps.
            assert seconds_of(gateway.stop) < 30 and gateway.process.returncode == 0
        finally:
            own_server.start()


def test_read_only_server_is_503_until_it_takes_changes_again(server, database, gateway_on):
    gateway = gateway_on(server.url(database)).start()
    create_thread(gateway, "before")
    server.psql("postgres", "ALTER SYSTEM SET default_transaction_read_only = on; SELECT pg_reload_conf()")
    try:
        assert any(gateway.http.post("/threads", json={}).status_code == 503 for _ in range(TRIES))
        refused(gateway.http.post("/threads", json={}), 503, "the database is read-only now, try again")
        assert "before" in titles(gateway)
    finally:
        server.psql("postgres", "ALTER SYSTEM RESET default_transaction_read_only; SELECT pg_reload_conf()")
    assert any(gateway.http.post("/threads", json={"title": "after"}).status_code == 201 for _ in range(TRIES))
    assert "after" in titles(gateway) and gateway.stop() == 0


def test_writes_go_to_the_standby_once_it_is_promoted(gateway_on):
    with postgres() as first:
        first.create("records")
        with standby(first) as second:
            hosts = f"127.0.0.1:{first.port},127.0.0.1:{second.port}"
            gateway = gateway_on(f"postgresql://agw@{hosts}/records").start()
            create_thread(gateway, "before")
            first.stop()
            try:
                refused(gateway.http.post("/threads", json={}), 503, "the database is read-only now, try again")
                second.psql("postgres", "SELECT pg_promote()")
                create_thread(gateway, "after")
                assert sorted(titles(gateway)) == ["after", "before"]
                assert gateway.stop() == 0
            finally:
                first.start()


def test_statement_that_the_server_cancels_is_503(server, database, gateway_on):
    gateway = gateway_on(server.url(database)).start()
    create_thread(gateway)
    server.psql("postgres", "ALTER ROLE agw SET statement_timeout = '300ms'")
    server.psql(database, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
                          "AND pid <> pg_backend_pid()")
    try:
        with locked(server, database, "threads"):
            refused(gateway.http.post("/threads", json={}), 503, "busy, try again")
            refused(gateway.http.get("/threads"), 503, "busy, try again")
    finally:
        server.psql("postgres", "ALTER ROLE agw RESET statement_timeout")
    assert len(titles(gateway)) == 1


@contextlib.contextmanager
def full(disk):
    filler = disk / "filler"
    subprocess.run(["dd", "if=/dev/zero", f"of={filler}", "bs=64k"], capture_output=True)
    yield
    filler.unlink()


def test_full_disk_of_the_server_is_507_and_nothing_is_stored(server, gateway_on, tmp_path):
    with small_disk(server.directory / "small", "size=48m") as disk:
        os.chown(disk, server.user if server.user is not None else -1, -1)
        server.psql("postgres", f"CREATE TABLESPACE small LOCATION '{disk}'")
        try:
            server.create("little", "ENCODING 'UTF8' LOCALE 'C' TABLESPACE small")
            gateway = gateway_on(server.url("little")).start()
            with full(disk):
                made = 0
                while (response := gateway.http.post("/threads", json={"title": "long " * 30})).status_code == 201:
                    made += 1
                refused(response, 507, "disk full")
                assert len(titles(gateway)) == made
            create_thread(gateway)
            gateway.stop()
        finally:
            server.psql("postgres", "DROP DATABASE IF EXISTS little WITH (FORCE)")
            server.psql("postgres", "DROP TABLESPACE small")


def test_client_of_postgresql_is_not_loaded_for_a_database_file(make_gateway):
    gateway = make_gateway(config={"cluster": {}}).start()
    create_thread(gateway)
    assert "libpq" not in Path(f"/proc/{gateway.process.pid}/maps").read_text()


def test_first_event_after_a_start_runs_its_job(server, database, gateway_on):
    gateway = gateway_on(server.url(database))
    gateway.start()
    job = new_job(gateway, "woken", {"type": "event", "event": "signal.test"})
    assert gateway.stop() == 0
    with locked(server, database, "job_due_times"):
        gateway.start()
        accepted(gateway.http.post("/signals", json={"kind": "test", "message": "wake up"}), status=201)
        assert len(accepted(gateway.http.get(f"/jobs/{job['name']}/runs"))) == 1


def test_runs_of_a_job_stay_in_order_although_the_database_refuses_the_first(server, database, gateway_on):
    gateway = gateway_on(server.url(database)).start()
    workspace = gateway.data / "agents" / "assistant" / "workspace"
    workspace.mkdir(parents=True, exist_ok=True)
    for name in ("first", "second"):
        os.mkfifo(workspace / name)
    job = new_job(gateway, "patient", concurrency="queue", precheck="mkdir begun 2> /dev/null && cat first || cat second")
    run(gateway, job)
    wait_for((workspace / "begun").exists)
    run(gateway, job)
    refused_id = rows(gateway, job)[-1]["id"]
    server.psql(database, f"""
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = 'serialization_failure'; END $$;
        CREATE TRIGGER refuse BEFORE INSERT ON runs FOR EACH ROW WHEN (NEW.id = '{refused_id}')
        EXECUTE FUNCTION refuse()""")
    (workspace / "first").write_text("go")
    wait_for(lambda: "waits for the database" in printed_by(gateway))
    (workspace / "second").write_text("go")
    server.psql(database, "DROP TRIGGER refuse ON runs")
    second, first = ended(gateway, job, count=2)
    assert (first["status"], second["status"]) == ("completed", "completed")
    assert first["id"] == refused_id and first["finished_at"] <= second["started_at"]
