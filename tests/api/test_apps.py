"""Apps: their servers started, stopped, watched, restarted, swept (decisions, 11)."""

import os
import signal
import socket
from pathlib import Path

import pytest

from apps import log_of, make_app, make_static, proxied, show, start, until
from checks import TRIES, accepted, refused, seconds_of
from connection import Connection, free_port
from extensions import toggle
from jobs import wait_for


def processes_of(gateway):
    """Every process that is in the directory of an app of the gateway, and that directory."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == gateway.process.pid:
            continue
        try:
            where = os.readlink(entry / "cwd")
        except OSError:
            continue
        if where.startswith(str(gateway.home / "apps")):
            found[int(entry.name)] = where
    return found


def processes_in(gateway, app):
    """Those of the app's own directory."""
    directory = str(gateway.home / "apps" / app)
    return [pid for pid, where in processes_of(gateway).items() if where == directory]


def test_an_app_is_started_and_stopped(gateway, name):
    app = name("app")
    make_app(gateway, app)
    shown = show(gateway, app)
    assert shown == {"name": app, "type": "python", "status": "stopped", "port": None, "pid": None, "url": None,
                     "started_at": None, "restarts": 0}
    assert shown in gateway.http.get("/apps").json()
    running = start(gateway, app)
    assert running["url"] == f"http://127.0.0.1:{running['port']}"
    assert running["pid"] and running["started_at"] and running["restarts"] == 0
    socket.create_connection(("127.0.0.1", running["port"])).close()
    stopped = gateway.http.post(f"/apps/{app}/stop")
    assert stopped.status_code == 200 and stopped.json() == shown
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", running["port"])).close()
    assert not os.path.exists(f"/proc/{running['pid']}")


@pytest.mark.parametrize("kind", ["app", "integration"])
def test_a_variable_must_have_a_name_that_can_be(gateway, name, kind):
    for variable in ("A=B", "", "A\0"):
        body = {"type": kind, "name": name("app"), "description": "", "definition": {"env": {variable: "x"}}}
        refused(gateway.http.post("/extensions", json=body), 400, "validation failed")


def test_what_holds_a_projects_guarded_places_is_gone_behind_a_kill(own, name):
    """Left there it would be taken for a repository, and filled with more."""
    app = make_app(own, "held")["name"]
    place = own.home / "apps" / app
    start(own, app)
    assert (place / ".git").is_dir() and (place / ".agents").is_dir()
    (place / ".agents" / "skills").mkdir()
    own.kill()
    own.start()
    assert not (place / ".git").exists() and (place / ".agents" / "skills").is_dir()
    start(own, app)
    assert list((place / ".git").iterdir()) == []
    own.stop()
    assert not (place / ".git").exists() and (place / ".agents" / "skills").is_dir()


def test_an_app_is_found_by_its_id_too(gateway, name):
    app = make_app(gateway, name("app"))
    assert show(gateway, app["id"]) == show(gateway, app["name"])


@pytest.mark.parametrize("method, path", [("GET", ""), ("POST", "/start"), ("POST", "/stop"), ("POST", "/restart"),
                                          ("GET", "/logs"), ("GET", "/proxy/")])
def test_an_unknown_app(gateway, method, path):
    answer = gateway.http.request(method, f"/apps/no-such-app{path}")
    assert answer.status_code == 404 and answer.json() == {"error": "app not found", "name": "no-such-app"}


def test_an_extension_of_another_type_is_no_app(gateway):
    answer = gateway.http.get("/apps/assistant")
    assert answer.status_code == 404 and answer.json()["error"] == "app not found"


def test_starting_a_running_one_changes_nothing(gateway, name):
    app = name("app")
    make_app(gateway, app)
    running = start(gateway, app)
    again = gateway.http.post(f"/apps/{app}/start")
    assert again.status_code == 200 and again.json() == running
    gateway.http.post(f"/apps/{app}/stop")


def test_one_that_was_only_just_started_is_stopped_at_once(gateway, name):
    app = name("app")
    make_app(gateway, app)

    def stop():
        assert accepted(gateway.http.post(f"/apps/{app}/stop"))["status"] == "stopped"

    def seconds_to_stop():
        accepted(gateway.http.post(f"/apps/{app}/start"))
        return seconds_of(stop)

    assert any(seconds_to_stop() < 2 for _ in range(TRIES))


def test_what_does_not_run_cannot_be_stopped(gateway, name):
    app = name("app")
    make_app(gateway, app)
    for method, path in (("POST", "stop"), ("GET", "proxy/"), ("POST", "proxy/x")):
        answer = gateway.http.request(method, f"/apps/{app}/{path}")
        assert answer.status_code == 404 and answer.json() == {"error": f"No running dev server for {app}"}


def test_restarting_a_stopped_one_starts_it(gateway, name):
    app = name("app")
    make_app(gateway, app)
    assert gateway.http.post(f"/apps/{app}/restart").status_code == 200
    first = until(gateway, app, "running")
    assert gateway.http.post(f"/apps/{app}/restart").status_code == 200
    second = until(gateway, app, "running")
    assert second["pid"] != first["pid"] and second["restarts"] == 0
    gateway.http.post(f"/apps/{app}/stop")


def test_a_port_of_its_own_is_taken(gateway, name):
    app, port = name("app"), free_port()
    make_app(gateway, app, port=port)
    assert start(gateway, app)["port"] == port
    gateway.http.post(f"/apps/{app}/stop")


def test_a_port_may_be_written_with_a_fraction_of_nothing(gateway, name):
    app, port = name("app"), free_port()
    make_app(gateway, app, port=float(port))
    assert start(gateway, app)["port"] == port
    gateway.http.post(f"/apps/{app}/stop")


def test_a_port_that_another_program_has_is_said(gateway, name):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        app = name("app")
        make_app(gateway, app, port=port)
        for action in ("start", "restart"):
            answer = gateway.http.post(f"/apps/{app}/{action}")
            assert answer.status_code == 500
            assert answer.json()["error"] == f"Failed to {action}: port {port} is in use by another program"
        assert show(gateway, app)["status"] == "stopped"


@pytest.mark.parametrize("definition, problems", [
    ({}, ["path is required", "command is required"]), ({"type": "node"}, ["path is required", "command is required"]),
    ({"type": "vite", "path": "/tmp"}, ["command is required"]),
    ({"type": "command", "command": "true"}, ["path is required"]),
    ({"type": "python", "path": "relative", "command": "true"}, ["path must be an absolute path, not relative"]),
    ({"type": "python", "path": "~/site", "command": "true"}, ["path must be an absolute path, not ~/site"]),
    ({"type": "python", "path": "", "command": "true"}, ["path is required"]),
    ({"type": "node", "path": "/tmp", "command": ""}, ["command is required"]),
    ({"type": "node", "path": "/tmp", "command": "a\0b"}, ["command must not hold a NUL character"]),
    ({"type": "node", "path": "/tmp", "command": "true", "health_path": "/is it up"},
     ["health_path must not hold a blank (write %20), a line break or a NUL character"]),
])
def test_a_definition_that_lacks_something_is_told_and_logged(gateway, name, definition, problems):
    app = name("app")
    gateway.http.post("/extensions", json={"type": "app", "name": app, "description": "", "definition": definition})
    for action in ("start", "restart"):
        details = refused(gateway.http.post(f"/apps/{app}/{action}"), 500, "invalid app definition")["details"]
        assert [entry["message"] for entry in details] == [f"definition.{problem}" for problem in problems]
        line = next(line for line in gateway.stderr.splitlines() if f"/apps/{app}/{action}: invalid app" in line)
        assert f"definition.{problems[0]}" in line


def test_a_command_of_null_is_none(gateway, name):
    app, directory = name("app"), gateway.home / "nulls"
    directory.mkdir()
    gateway.http.post("/extensions", json={"type": "app", "name": app, "description": "", "definition": {
        "type": None, "path": str(directory), "command": None}})
    assert show(gateway, app)["type"] == "static"


@pytest.mark.parametrize("where", ["missing", "file", "outside", "home", "data", "hidden"])
def test_a_directory_that_no_app_may_have(gateway, name, where):
    (gateway.home / "a-file").write_text("")
    (gateway.home / ".hidden").mkdir(exist_ok=True)
    path = {"missing": gateway.home / "missing", "file": gateway.home / "a-file", "outside": "/etc",
            "home": gateway.home, "data": gateway.data / "jobs", "hidden": gateway.home / ".hidden"}[where]
    app = name("app")
    gateway.http.post("/extensions", json={"type": "app", "name": app, "description": "", "definition": {
        "type": "command", "path": str(path), "command": "true"}})
    answer = gateway.http.post(f"/apps/{app}/start")
    assert answer.status_code == 500 and answer.json()["error"].startswith("Failed to start: ")
    assert show(gateway, app)["status"] == "stopped"


@pytest.mark.parametrize("action", ["start", "stop", "restart"])
def test_static_apps_have_no_server(gateway, name, action):
    app = name("site")
    make_static(gateway, app, {"index.html": "hello"})
    answer = gateway.http.post(f"/apps/{app}/{action}")
    assert answer.status_code == 400 and answer.json() == {"error": "static apps do not use a dev server"}


def test_what_it_writes_is_kept(gateway, name):
    app = name("app")
    make_app(gateway, app, """
        print("to the output")
        print("to the errors", file=sys.stderr)
        sys.stdout.buffer.write(b"no utf-8: \\xff\\n")
        sys.stdout.flush()
        serve()
        """)
    start(gateway, app)
    wait_for(lambda: len(log_of(gateway, app)) >= 3)
    assert log_of(gateway, app, "stdout") == ["to the output", "no utf-8: \ufffd"]
    assert log_of(gateway, app, "stderr") == ["to the errors"]
    lines = gateway.http.get(f"/apps/{app}/logs", params={"limit": 1}).json()
    assert len(lines) == 1 and set(lines[0]) == {"at", "stream", "line"}
    answer = gateway.http.get(f"/apps/{app}/logs", params={"limit": "x"})
    assert answer.status_code == 400 and answer.json() == {"error": "limit must be a positive integer"}
    gateway.http.post(f"/apps/{app}/stop")


def test_its_environment_is_its_own(make_gateway, name):
    gateway = make_gateway(environment={"OPENAI_API_KEY": "sk-not-for-apps"}).start()
    gateway.command("secret", "set", "DEPLOY", typed="told to the app\n")
    app = name("app")
    make_app(gateway, app, "print(json.dumps(dict(os.environ)), flush=True)\nserve()",
             env={"COLOUR": "green", "KEY": "${secret:DEPLOY}"})
    port = start(gateway, app)["port"]
    wait_for(lambda: log_of(gateway, app, "stdout"))
    text = log_of(gateway, app, "stdout")[0]
    assert '"COLOUR": "green"' in text and '"KEY": "told to the app"' in text and f'"PORT": "{port}"' in text
    assert "sk-not-for-apps" not in text and gateway.token not in text


def test_its_environment_is_told_to_nothing_outside_of_the_sandbox(gateway, name):
    app = name("app")
    outside = gateway.home / f"outside-{app}"
    make_app(gateway, app, env={"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(outside)})
    start(gateway, app)
    assert list(gateway.home.glob(f"outside-{app}*")) == []


def test_it_sees_its_own_files_and_not_those_of_others(gateway, name):
    (gateway.home / "private.txt").write_text("not yours")
    app = name("app")
    make_app(gateway, app, """
        for path in sys.argv[1:] or [os.environ["ELSE"], os.environ["TOKEN"]]:
            try:
                print("read", open(path).read())
            except OSError as error:
                print("refused")
        open("made", "w").write("mine")
        sys.stdout.flush()
        serve()
        """, env={"ELSE": str(gateway.home / "private.txt"), "TOKEN": str(gateway.data / ".gateway-token")})
    start(gateway, app)
    wait_for(lambda: len(log_of(gateway, app, "stdout")) >= 2)
    assert log_of(gateway, app, "stdout") == ["refused", "refused"]
    assert (gateway.home / "apps" / app / "made").read_text() == "mine"
    gateway.http.post(f"/apps/{app}/stop")


# Bad apps.


def test_one_that_exits_at_once_is_restarted_five_times(gateway, name):
    app = name("app")
    make_app(gateway, app, "sys.exit(3)")
    gateway.http.post(f"/apps/{app}/start")
    failed = until(gateway, app, "failed")
    assert failed["restarts"] == 5 and failed["pid"] is None and failed["url"] is None
    assert log_of(gateway, app, "gateway").count("exited with 3") == 6
    answer = gateway.http.get(f"/apps/{app}/proxy/")
    assert answer.status_code == 404 and answer.json() == {"error": f"No running dev server for {app}"}
    assert gateway.http.post(f"/apps/{app}/stop").status_code == 404
    again = gateway.http.post(f"/apps/{app}/start")
    assert again.status_code == 200 and again.json()["restarts"] == 0
    assert gateway.http.post(f"/apps/{app}/stop").status_code == 200


def test_one_that_crashes_later_is_started_again(gateway, name):
    app = name("app")
    make_app(gateway, app, routes="os._exit(1)")
    first = start(gateway, app)
    answer = gateway.http.get(f"/apps/{app}/proxy/")
    assert answer.status_code == 502 and answer.json() == {"error": "Dev server proxy failed"}
    wait_for(lambda: show(gateway, app)["restarts"] == 1 and show(gateway, app)["status"] == "running")
    assert show(gateway, app)["pid"] != first["pid"]
    gateway.http.post(f"/apps/{app}/stop")


def test_one_that_never_listens_is_starting_and_can_be_stopped(gateway, name):
    app = name("app")
    make_app(gateway, app, "time.sleep(600)")
    assert gateway.http.post(f"/apps/{app}/start").json()["status"] == "starting"
    answer = gateway.http.get(f"/apps/{app}/proxy/")
    assert answer.status_code == 502 and answer.json() == {"error": "Dev server proxy failed"}
    assert gateway.http.post(f"/apps/{app}/stop").json()["status"] == "stopped"


def test_one_that_floods_its_log_holds_nobody_up(gateway, name):
    app = name("app")
    make_app(gateway, app, """
        threading.Thread(target=serve, daemon=True).start()
        line = "x" * 5000
        while True:
            print("y\\n" * 1000 + line)
        """)
    start(gateway, app)

    def ask():
        for _ in range(20):
            assert gateway.http.get("/health").status_code == 200

    assert any(seconds_of(ask) < 2 for _ in range(TRIES))
    lines = gateway.http.get(f"/apps/{app}/logs", params={"limit": 5000}).json()
    assert len(lines) == 1000 and max(len(line["line"]) for line in lines) <= 2001
    assert gateway.http.post(f"/apps/{app}/stop").status_code == 200


def test_one_with_very_many_variables_holds_nobody_up(gateway, name):
    definition = {"path": str(gateway.home), "command": "true", "env": {f"V{number}": "x" for number in range(500_000)}}
    body = {"type": "app", "name": name("app"), "description": "", "definition": definition}
    app = accepted(gateway.http.post("/extensions", json=body), 201)
    assert any(seconds_of(lambda: accepted(gateway.http.get("/apps"))) < 0.1 for _ in range(TRIES))
    assert gateway.http.delete(f"/extensions/{app['id']}").status_code == 204


def test_one_that_is_deaf_to_sigterm_is_killed(gateway, name):
    app = name("app")
    make_app(gateway, app, "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nserve()")
    pid = start(gateway, app)["pid"]
    assert gateway.http.post(f"/apps/{app}/stop").json()["status"] == "stopped"
    assert not os.path.exists(f"/proc/{pid}")


def test_what_it_started_ends_with_it(gateway, name):
    app = name("app")
    make_app(gateway, app, """
        import subprocess
        subprocess.Popen(["sleep", "600"], start_new_session=True)
        serve()
        """)
    start(gateway, app)
    assert processes_in(gateway, app)
    gateway.http.post(f"/apps/{app}/stop")
    wait_for(lambda: not processes_in(gateway, app))


# Health.


def test_the_health_path_says_when_it_is_up(gateway, name):
    app = name("app")
    make_app(gateway, app, health_path="/up", routes="""
        ready = os.path.exists("ready")
        self.answer("", 200 if ready else 503)
        """)
    gateway.http.post(f"/apps/{app}/start")
    wait_for(lambda: proxied(gateway, app, "/up").status_code == 503)
    assert show(gateway, app)["status"] == "starting"
    (gateway.home / "apps" / app / "ready").write_text("")
    until(gateway, app, "running")
    gateway.http.post(f"/apps/{app}/stop")


# Events and records.


def test_each_change_is_told(gateway, name):
    app = name("app")
    make_app(gateway, app)
    with gateway.events() as events:
        events.subscribe("no-thread")
        start(gateway, app)
        gateway.http.post(f"/apps/{app}/stop")
        told = lambda event: event["type"] == "app-status" and event["app"]["name"] == app
        found = events.until(lambda event: told(event) and event["app"]["status"] == "stopped")
        first = next(event["app"] for event in found if told(event))
        seen = [event["app"]["status"] for event in found if told(event)]
    assert first["port"] and first["url"] == f"http://127.0.0.1:{first['port']}"
    assert seen[0] == "starting" and seen[-2:] == ["running", "stopped"]


@pytest.mark.parametrize("change", ["deleted", "disabled", "toggled"])
def test_an_app_that_is_deleted_or_disabled_ends(gateway, name, change):
    extension = make_app(gateway, name("app"))
    pid = start(gateway, extension["name"])["pid"]
    if change == "deleted":
        gateway.http.delete(f"/extensions/{extension['id']}")
    elif change == "disabled":
        gateway.http.patch(f"/extensions/{extension['id']}", json={"enabled": False})
    else:
        accepted(toggle(gateway, extension))
    wait_for(lambda: not os.path.exists(f"/proc/{pid}"))
    if change != "deleted":
        until(gateway, extension["name"], "stopped")


def test_an_app_that_becomes_static_while_it_starts_has_no_server(gateway, name):
    extension = make_app(gateway, name("app"))
    app = extension["name"]
    definition = {**extension["definition"], "type": "static"}
    with Connection(gateway) as connection:
        connection.request(f"POST /apps/{app}/start HTTP/1.1")
        assert gateway.http.patch(f"/extensions/{extension['id']}", json={"definition": definition}).status_code == 200
        connection.answer()
    wait_for(lambda: not processes_in(gateway, app))


def test_one_that_is_deleted_while_others_restart_it_stays_gone(gateway, name):
    extension = make_app(gateway, name("app"), "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nserve()")
    app = extension["name"]
    start(gateway, app)
    with Connection(gateway) as first, Connection(gateway) as second:
        for connection in (first, second):
            connection.request(f"POST /apps/{app}/restart HTTP/1.1")
        gateway.http.delete(f"/extensions/{extension['id']}")
        answers = [connection.answer() for connection in (first, second)]
    assert (404, "app not found") in [(answer.status, answer.error) for answer in answers]
    wait_for(lambda: not processes_in(gateway, app))


# The end of the gateway.


def seconds_to_end(gateway):
    seconds = gateway.seconds_to_stop()
    wait_for(lambda: not processes_of(gateway))
    return seconds


def test_all_end_with_the_gateway(own, name):
    for _ in range(2):
        start(own, make_app(own, name("app"))["name"])
    assert processes_of(own)
    assert own.http.post("/daemon/stop").status_code == 200
    assert own.wait() == 0
    wait_for(lambda: not processes_of(own))


def test_a_deaf_one_holds_up_the_end_no_longer_than_150_ms(own, name):
    app = make_app(own, name("app"), "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nserve()")["name"]

    def seconds_to_end_with_it():
        start(own, app)
        return seconds_to_end(own)

    assert any(seconds_to_end_with_it() < 1.5 for _ in range(TRIES))


def test_one_that_is_just_being_stopped_holds_it_up_no_longer(own, name):
    app = make_app(own, name("app"), "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nserve()")["name"]

    def seconds_to_end_while_it_is_stopped():
        start(own, app)
        with own.connect() as connection:
            connection.request(f"POST /apps/{app}/stop HTTP/1.1", "Content-Length: 0")
            own.http.get("/health")
            return seconds_to_end(own)

    assert any(seconds_to_end_while_it_is_stopped() < 1.5 for _ in range(TRIES))


def test_all_end_with_a_killed_gateway(own, name):
    app = name("app")
    make_app(own, app, "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nserve()")
    start(own, app)
    own.kill()
    wait_for(lambda: not processes_of(own))
    own.start()
    assert show(own, app)["status"] == "stopped"
    start(own, app)
    assert own.stop(signal.SIGINT) == 0
