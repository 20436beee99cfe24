"""Servers of apps: starting, stopping, health, restarts, logs and limits.

See docs/contract/apps.md#apps.
"""

import os
import signal
import socket
from pathlib import Path

import pytest

from apps import log_of, make_app, make_static, proxy_request, show, start, wait_for_status
from checks import TRIES, accepted, refused, seconds_of
from connection import Connection, free_port
from extensions import toggle
from jobs import wait_for


def processes_of(gateway):
    """Returns the processes that run in directories of the gateway's apps: the directory by process id."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == gateway.process.pid:
            continue
        try:
            directory = os.readlink(entry / "cwd")
        except OSError:
            continue
        if directory.startswith(str(gateway.home / "apps")):
            found[int(entry.name)] = directory
    return found


def processes_in(gateway, app):
    """Returns the processes that run in the app's directory."""
    directory = str(gateway.home / "apps" / app)
    return [pid for pid, cwd in processes_of(gateway).items() if cwd == directory]


def test_app_is_started_and_stopped(gateway, new_name):
    app = new_name("app")
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
def test_invalid_variable_name_is_refused(gateway, new_name, kind):
    for variable in ("A=B", "", "A\0"):
        body = {"type": kind, "name": new_name("app"), "description": "", "definition": {"env": {variable: "x"}}}
        refused(gateway.http.post("/extensions", json=body), 400, "validation failed")


def test_placeholders_of_protected_paths_are_removed_after_a_kill(own_gateway, new_name):
    """A remaining `.git` directory would be taken for a repository."""
    app = make_app(own_gateway, "held")["name"]
    directory = own_gateway.home / "apps" / app
    start(own_gateway, app)
    assert (directory / ".git").is_dir() and (directory / ".agents").is_dir()
    (directory / ".agents" / "skills").mkdir()
    own_gateway.kill()
    own_gateway.start()
    assert not (directory / ".git").exists() and (directory / ".agents" / "skills").is_dir()
    start(own_gateway, app)
    assert list((directory / ".git").iterdir()) == []
    own_gateway.stop()
    assert not (directory / ".git").exists() and (directory / ".agents" / "skills").is_dir()


def test_app_is_found_by_id(gateway, new_name):
    app = make_app(gateway, new_name("app"))
    assert show(gateway, app["id"]) == show(gateway, app["name"])


@pytest.mark.parametrize("method, path", [("GET", ""), ("POST", "/start"), ("POST", "/stop"), ("POST", "/restart"),
                                          ("GET", "/logs"), ("GET", "/proxy/")])
def test_unknown_app_is_not_found(gateway, method, path):
    response = gateway.http.request(method, f"/apps/no-such-app{path}")
    assert response.status_code == 404 and response.json() == {"error": "app not found", "name": "no-such-app"}


def test_extension_of_another_type_is_not_an_app(gateway):
    response = gateway.http.get("/apps/assistant")
    assert response.status_code == 404 and response.json()["error"] == "app not found"


def test_starting_a_running_app_changes_nothing(gateway, new_name):
    app = new_name("app")
    make_app(gateway, app)
    running = start(gateway, app)
    again = gateway.http.post(f"/apps/{app}/start")
    assert again.status_code == 200 and again.json() == running
    gateway.http.post(f"/apps/{app}/stop")


def test_app_can_be_stopped_while_starting(gateway, new_name):
    app = new_name("app")
    make_app(gateway, app)

    def stop():
        assert accepted(gateway.http.post(f"/apps/{app}/stop"))["status"] == "stopped"

    def seconds_to_stop():
        accepted(gateway.http.post(f"/apps/{app}/start"))
        return seconds_of(stop)

    assert any(seconds_to_stop() < 2 for _ in range(TRIES))


def test_stopping_a_stopped_app_is_refused(gateway, new_name):
    app = new_name("app")
    make_app(gateway, app)
    for method, path in (("POST", "stop"), ("GET", "proxy/"), ("POST", "proxy/x")):
        response = gateway.http.request(method, f"/apps/{app}/{path}")
        assert response.status_code == 404 and response.json() == {"error": f"No running dev server for {app}"}


def test_restarting_a_stopped_app_starts_it(gateway, new_name):
    app = new_name("app")
    make_app(gateway, app)
    assert gateway.http.post(f"/apps/{app}/restart").status_code == 200
    first = wait_for_status(gateway, app, "running")
    assert gateway.http.post(f"/apps/{app}/restart").status_code == 200
    second = wait_for_status(gateway, app, "running")
    assert second["pid"] != first["pid"] and second["restarts"] == 0
    gateway.http.post(f"/apps/{app}/stop")


def test_configured_port_is_used(gateway, new_name):
    app, port = new_name("app"), free_port()
    make_app(gateway, app, port=port)
    assert start(gateway, app)["port"] == port
    gateway.http.post(f"/apps/{app}/stop")


def test_port_may_be_a_float_with_zero_fraction(gateway, new_name):
    app, port = new_name("app"), free_port()
    make_app(gateway, app, port=float(port))
    assert start(gateway, app)["port"] == port
    gateway.http.post(f"/apps/{app}/stop")


def test_port_in_use_is_reported(gateway, new_name):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        app = new_name("app")
        make_app(gateway, app, port=port)
        for action in ("start", "restart"):
            response = gateway.http.post(f"/apps/{app}/{action}")
            assert response.status_code == 500
            assert response.json()["error"] == f"Failed to {action}: port {port} is in use by another program"
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
def test_incomplete_definition_is_reported_and_logged(gateway, new_name, definition, problems):
    app = new_name("app")
    gateway.http.post("/extensions", json={"type": "app", "name": app, "description": "", "definition": definition})
    for action in ("start", "restart"):
        details = refused(gateway.http.post(f"/apps/{app}/{action}"), 500, "invalid app definition")["details"]
        assert [entry["message"] for entry in details] == [f"definition.{problem}" for problem in problems]
        line = next(line for line in gateway.stderr.splitlines() if f"/apps/{app}/{action}: invalid app" in line)
        assert f"definition.{problems[0]}" in line


def test_null_command_makes_a_static_app(gateway, new_name):
    app, directory = new_name("app"), gateway.home / "nulls"
    directory.mkdir()
    gateway.http.post("/extensions", json={"type": "app", "name": app, "description": "", "definition": {
        "type": None, "path": str(directory), "command": None}})
    assert show(gateway, app)["type"] == "static"


@pytest.mark.parametrize("where", ["missing", "file", "outside", "home", "data", "hidden"])
def test_forbidden_app_directory(gateway, new_name, where):
    (gateway.home / "a-file").write_text("")
    (gateway.home / ".hidden").mkdir(exist_ok=True)
    path = {"missing": gateway.home / "missing", "file": gateway.home / "a-file", "outside": "/etc",
            "home": gateway.home, "data": gateway.data / "jobs", "hidden": gateway.home / ".hidden"}[where]
    app = new_name("app")
    gateway.http.post("/extensions", json={"type": "app", "name": app, "description": "", "definition": {
        "type": "command", "path": str(path), "command": "true"}})
    response = gateway.http.post(f"/apps/{app}/start")
    assert response.status_code == 500 and response.json()["error"].startswith("Failed to start: ")
    assert show(gateway, app)["status"] == "stopped"


@pytest.mark.parametrize("action", ["start", "stop", "restart"])
def test_static_apps_have_no_server(gateway, new_name, action):
    app = new_name("site")
    make_static(gateway, app, {"index.html": "hello"})
    response = gateway.http.post(f"/apps/{app}/{action}")
    assert response.status_code == 400 and response.json() == {"error": "static apps do not use a dev server"}


def test_output_is_logged(gateway, new_name):
    app = new_name("app")
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
    response = gateway.http.get(f"/apps/{app}/logs", params={"limit": "x"})
    assert response.status_code == 400 and response.json() == {"error": "limit must be a positive integer"}
    gateway.http.post(f"/apps/{app}/stop")


def test_app_has_its_own_environment(make_gateway, new_name):
    gateway = make_gateway(environment={"OPENAI_API_KEY": "sk-not-for-apps"}).start()
    gateway.command("secret", "set", "DEPLOY", typed="told to the app\n")
    app = new_name("app")
    make_app(gateway, app, "print(json.dumps(dict(os.environ)), flush=True)\nserve()",
             env={"COLOUR": "green", "KEY": "${secret:DEPLOY}"})
    port = start(gateway, app)["port"]
    wait_for(lambda: log_of(gateway, app, "stdout"))
    text = log_of(gateway, app, "stdout")[0]
    assert '"COLOUR": "green"' in text and '"KEY": "told to the app"' in text and f'"PORT": "{port}"' in text
    assert "sk-not-for-apps" not in text and gateway.token not in text


def test_environment_is_hidden_from_other_processes(gateway, new_name):
    app = new_name("app")
    outside = gateway.home / f"outside-{app}"
    make_app(gateway, app, env={"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(outside)})
    start(gateway, app)
    assert list(gateway.home.glob(f"outside-{app}*")) == []


def test_app_can_read_only_its_own_files(gateway, new_name):
    (gateway.home / "private.txt").write_text("not yours")
    app = new_name("app")
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


# Failing apps.


def test_app_that_exits_at_once_is_restarted_five_times(gateway, new_name):
    app = new_name("app")
    make_app(gateway, app, "sys.exit(3)")
    gateway.http.post(f"/apps/{app}/start")
    failed = wait_for_status(gateway, app, "failed")
    assert failed["restarts"] == 5 and failed["pid"] is None and failed["url"] is None
    assert log_of(gateway, app, "gateway").count("exited with 3") == 6
    response = gateway.http.get(f"/apps/{app}/proxy/")
    assert response.status_code == 404 and response.json() == {"error": f"No running dev server for {app}"}
    assert gateway.http.post(f"/apps/{app}/stop").status_code == 404
    again = gateway.http.post(f"/apps/{app}/start")
    assert again.status_code == 200 and again.json()["restarts"] == 0
    assert gateway.http.post(f"/apps/{app}/stop").status_code == 200


def test_app_crashing_later_is_restarted(gateway, new_name):
    app = new_name("app")
    make_app(gateway, app, routes="os._exit(1)")
    first = start(gateway, app)
    response = gateway.http.get(f"/apps/{app}/proxy/")
    assert response.status_code == 502 and response.json() == {"error": "Dev server proxy failed"}
    wait_for(lambda: show(gateway, app)["restarts"] == 1 and show(gateway, app)["status"] == "running")
    assert show(gateway, app)["pid"] != first["pid"]
    gateway.http.post(f"/apps/{app}/stop")


def test_app_that_never_listens_can_be_stopped(gateway, new_name):
    app = new_name("app")
    make_app(gateway, app, "time.sleep(600)")
    assert gateway.http.post(f"/apps/{app}/start").json()["status"] == "starting"
    response = gateway.http.get(f"/apps/{app}/proxy/")
    assert response.status_code == 502 and response.json() == {"error": "Dev server proxy failed"}
    assert gateway.http.post(f"/apps/{app}/stop").json()["status"] == "stopped"


def test_app_flooding_its_log_blocks_no_other_requests(gateway, new_name):
    app = new_name("app")
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


def test_app_with_many_variables_blocks_no_other_requests(gateway, new_name):
    definition = {"path": str(gateway.home), "command": "true", "env": {f"V{number}": "x" for number in range(500_000)}}
    body = {"type": "app", "name": new_name("app"), "description": "", "definition": definition}
    app = accepted(gateway.http.post("/extensions", json=body), 201)
    assert any(seconds_of(lambda: accepted(gateway.http.get("/apps"))) < 0.1 for _ in range(TRIES))
    assert gateway.http.delete(f"/extensions/{app['id']}").status_code == 204


def test_app_ignoring_sigterm_is_killed(gateway, new_name):
    app = new_name("app")
    make_app(gateway, app, "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nserve()")
    pid = start(gateway, app)["pid"]
    assert gateway.http.post(f"/apps/{app}/stop").json()["status"] == "stopped"
    assert not os.path.exists(f"/proc/{pid}")


def test_children_end_with_the_app(gateway, new_name):
    app = new_name("app")
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


def test_health_path_decides_when_the_app_is_up(gateway, new_name):
    app = new_name("app")
    make_app(gateway, app, health_path="/up", routes="""
        ready = os.path.exists("ready")
        self.answer("", 200 if ready else 503)
        """)
    gateway.http.post(f"/apps/{app}/start")
    wait_for(lambda: proxy_request(gateway, app, "/up").status_code == 503)
    assert show(gateway, app)["status"] == "starting"
    (gateway.home / "apps" / app / "ready").write_text("")
    wait_for_status(gateway, app, "running")
    gateway.http.post(f"/apps/{app}/stop")


# Events and records.


def test_status_changes_are_published(gateway, new_name):
    app = new_name("app")
    make_app(gateway, app)
    with gateway.events() as events:
        events.subscribe("no-thread")
        start(gateway, app)
        gateway.http.post(f"/apps/{app}/stop")
        is_own = lambda event: event["type"] == "app-status" and event["app"]["name"] == app
        found = events.until(lambda event: is_own(event) and event["app"]["status"] == "stopped")
        first = next(event["app"] for event in found if is_own(event))
        seen = [event["app"]["status"] for event in found if is_own(event)]
    assert first["port"] and first["url"] == f"http://127.0.0.1:{first['port']}"
    assert seen[0] == "starting" and seen[-2:] == ["running", "stopped"]


@pytest.mark.parametrize("change", ["deleted", "disabled", "toggled"])
def test_deleting_or_disabling_stops_the_app(gateway, new_name, change):
    extension = make_app(gateway, new_name("app"))
    pid = start(gateway, extension["name"])["pid"]
    if change == "deleted":
        gateway.http.delete(f"/extensions/{extension['id']}")
    elif change == "disabled":
        gateway.http.patch(f"/extensions/{extension['id']}", json={"enabled": False})
    else:
        accepted(toggle(gateway, extension))
    wait_for(lambda: not os.path.exists(f"/proc/{pid}"))
    if change != "deleted":
        wait_for_status(gateway, extension["name"], "stopped")


def test_app_turned_static_while_starting_has_no_server(gateway, new_name):
    extension = make_app(gateway, new_name("app"))
    app = extension["name"]
    definition = {**extension["definition"], "type": "static"}
    with Connection(gateway) as connection:
        connection.request(f"POST /apps/{app}/start HTTP/1.1")
        assert gateway.http.patch(f"/extensions/{extension['id']}", json={"definition": definition}).status_code == 200
        connection.response()
    wait_for(lambda: not processes_in(gateway, app))


def test_app_deleted_during_restarts_is_not_started(gateway, new_name):
    extension = make_app(gateway, new_name("app"), "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nserve()")
    app = extension["name"]
    start(gateway, app)
    with Connection(gateway) as first, Connection(gateway) as second:
        for connection in (first, second):
            connection.request(f"POST /apps/{app}/restart HTTP/1.1")
        gateway.http.delete(f"/extensions/{extension['id']}")
        responses = [connection.response() for connection in (first, second)]
    assert (404, "app not found") in [(response.status, response.error) for response in responses]
    wait_for(lambda: not processes_in(gateway, app))


# Shutdown of the gateway.


def seconds_to_end(gateway):
    seconds = gateway.seconds_to_stop()
    wait_for(lambda: not processes_of(gateway))
    return seconds


def test_apps_end_with_the_gateway(own_gateway, new_name):
    for _ in range(2):
        start(own_gateway, make_app(own_gateway, new_name("app"))["name"])
    assert processes_of(own_gateway)
    assert own_gateway.http.post("/daemon/stop").status_code == 200
    assert own_gateway.wait() == 0
    wait_for(lambda: not processes_of(own_gateway))


def test_app_ignoring_sigterm_hardly_delays_the_end(own_gateway, new_name):
    app = make_app(own_gateway, new_name("app"), "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nserve()")["name"]

    def seconds_to_end_with_the_app():
        start(own_gateway, app)
        return seconds_to_end(own_gateway)

    assert any(seconds_to_end_with_the_app() < 1.5 for _ in range(TRIES))


def test_app_being_stopped_does_not_delay_the_end(own_gateway, new_name):
    app = make_app(own_gateway, new_name("app"), "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nserve()")["name"]

    def seconds_to_end_during_its_stop():
        start(own_gateway, app)
        with own_gateway.connect() as connection:
            connection.request(f"POST /apps/{app}/stop HTTP/1.1", "Content-Length: 0")
            own_gateway.http.get("/health")
            return seconds_to_end(own_gateway)

    assert any(seconds_to_end_during_its_stop() < 1.5 for _ in range(TRIES))


def test_apps_end_with_a_killed_gateway(own_gateway, new_name):
    app = new_name("app")
    make_app(own_gateway, app, "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nserve()")
    start(own_gateway, app)
    own_gateway.kill()
    wait_for(lambda: not processes_of(own_gateway))
    own_gateway.start()
    assert show(own_gateway, app)["status"] == "stopped"
    start(own_gateway, app)
    assert own_gateway.stop(signal.SIGINT) == 0
