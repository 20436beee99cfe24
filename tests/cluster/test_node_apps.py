"""The server of an app runs at one node. The others show how it is, pass on what it is asked to start and stop, and reach
it through that node.

See docs/run-a-cluster.md#apps-and-mcp-servers.
"""

import concurrent.futures
import hashlib
import os
import socket
import ssl
import threading

import httpx
import pytest

from apps import log_of, make_app, proxy_request, show
from certificates import make_certificate
from checks import PATIENCE, accepted, refused
from connection import TEXT, FrameConnection, free_port
from story import fault_library
from test_app_proxy import WEBSOCKET
from test_changes import eventually
from test_nodes import fails
from test_status import doctor, nodes_of, shown


def known(node, app):
    """Waits until the node knows the app."""
    eventually(lambda: node.http.get(f"/apps/{app}").status_code, 200)


def place(server, database):
    """The nodes that run programs."""
    return [row[0] for row in server.psql(database, "SELECT node FROM placements")]


def runs(node, app):
    """The process of an app that runs, at whichever node, or its status."""
    shown = show(node, app)
    return shown["pid"] if shown["status"] == "running" else shown["status"]


def running(app, *nodes, before=None):
    """Waits until the app runs, by another process than the one before, and all nodes know it; returns the process."""
    found = []

    def known_everywhere():
        seen = {runs(node, app) for node in nodes}
        found[:] = [process for process in seen if isinstance(process, int) and process != before]
        return len(seen) == len(found) == 1
    eventually(known_everywhere, True)
    return found[0]


def run_app(node, app, *others, **more):
    """Makes an app and starts it."""
    made = make_app(node, app, **more)
    accepted(node.http.post(f"/apps/{app}/start"))
    for other in others:
        known(other, app)
    running(app, node, *others)
    return made


@pytest.fixture
def three(make_neighbour):
    return [make_neighbour(name).start() for name in ("a", "b", "c")]


def test_one_server_is_used_at_every_node(three, server, database):
    a, b, c = three
    run_app(b, "web", a, c, script="print('it runs')\nserve()")
    process = running("web", *three)
    assert place(server, database) == ["b"]
    for node in three:
        assert accepted(node.http.post("/apps/web/start"))["pid"] == process
        response = proxy_request(node, "web", "/some/path?a=1", "PUT", content=b"x" * 300_000)
        assert response.json()["path"] == "/some/path?a=1" and response.json()["size"] == 300_000
        fields = dict(response.json()["fields"])
        assert fields["host"] == f"127.0.0.1:{show(b, 'web')['port']}" and "x-agw-node" not in fields
        assert fields["x-forwarded-prefix"] == "/apps/web/proxy"
        eventually(lambda node=node: "it runs" in log_of(node, "web"), True)
    assert [show(node, "web")["url"] is not None for node in three] == [False, True, False]
    again = accepted(c.http.post("/apps/web/restart"))
    assert again["pid"] != process and running("web", *three, before=process) == again["pid"]
    assert accepted(a.http.post("/apps/web/stop"))["status"] == "stopped"
    for node in three:
        eventually(lambda node=node: show(node, "web")["status"], "stopped")
        assert proxy_request(node, "web").status_code == 404
    assert place(server, database) == [] and not os.path.exists(f"/proc/{again['pid']}")


def test_bodies_and_web_sockets_pass_between_nodes_in_pieces(three):
    a, b, _ = three
    run_app(a, "web", b, routes=WEBSOCKET)
    content = os.urandom(3_000_000)
    pieces = (content[start:start + 70_001] for start in range(0, len(content), 70_001))
    seen = proxy_request(b, "web", "/upload", "POST", content=pieces).json()
    assert (seen["size"], seen["digest"]) == (len(content), hashlib.sha256(content).hexdigest())
    with FrameConnection(b, "/apps/web/proxy/socket") as frames:
        frames.receive()
        for text in (b"one", b"x" * 60_000, b"three"):
            frames.frame(TEXT, text)
            assert frames.receive()[1] == text
    assert [proxy_request(b, "web", f"/{number}").json()["path"] for number in range(20)] == [f"/{number}" for number in range(20)]


def test_another_node_goes_on_with_the_apps_of_a_lost_one(three, server, database):
    a, b, c = three
    run_app(a, "web", b, c)
    process = running("web", *three)
    a.kill()
    refusal = proxy_request(b, "web")
    assert refusal.status_code == 503
    assert refusal.json()["error"].startswith("the node a runs this, and cannot be reached at http://127.0.0.1:")
    eventually(lambda: place(server, database) in (["b"], ["c"]), True)
    running("web", b, c, before=process)
    for node in (b, c):
        assert proxy_request(node, "web").status_code == 200
    a.start()
    assert running("web", *three) == running("web", b, c)
    assert proxy_request(a, "web").status_code == 200
    eventually(lambda: os.path.exists(f"/proc/{process}"), False)


def test_apps_go_on_elsewhere_when_a_node_ends_and_at_the_next_start_if_it_was_the_last(three, server, database):
    a, b, c = three
    run_app(a, "web", b, c)
    process = running("web", *three)
    assert a.stop() == 0, a.stderr
    eventually(lambda: place(server, database) in (["b"], ["c"]), True)
    running("web", b, c, before=process)
    assert proxy_request(b, "web").status_code == 200
    assert b.stop() == 0 and c.stop() == 0
    assert place(server, database) == [""]
    a.start()
    running("web", a)
    assert place(server, database) == ["a"] and proxy_request(a, "web").status_code == 200


def test_an_app_runs_where_its_files_are(make_neighbour, messages, tmp_path, server, database):
    """The directory is one of b's own files, which b does not serve: as if it were not there."""
    a = make_neighbour("a").start()
    b = make_neighbour("b", data=tmp_path / "shared" / "home" / "apps").start()
    make_app(a, "web")
    known(b, "web")
    assert accepted(b.http.post("/apps/web/start"))["status"] in ("starting", "running")
    running("web", a, b)
    assert place(server, database) == ["a"] and proxy_request(b, "web").status_code == 200
    assert a.stop() == 0
    eventually(lambda: show(b, "web")["status"], "starting")
    assert proxy_request(b, "web").json()["error"] == "the app web is about to start at another node, try again"
    assert accepted(b.http.post("/apps/web/stop"))["status"] == "stopped"
    failed = b.http.post("/apps/web/start")
    assert failed.status_code == 500 and "is no place for an app" in failed.json()["error"], failed.text
    assert place(server, database) == []


def test_a_disabled_app_is_started_only_where_its_files_are(make_neighbour, tmp_path, server, database):
    a = make_neighbour("a").start()
    b = make_neighbour("b", data=tmp_path / "shared" / "home" / "apps").start()
    make_app(a, "web", enabled=False)
    known(b, "web")
    refused(b.http.post("/apps/web/start"), 500, "Failed to start: the app web is disabled, and its directory is not at this "
            "node: enable it, or start it at a node that has it")
    assert place(server, database) == []
    accepted(a.http.post("/apps/web/start"))
    running("web", a, b)


@pytest.fixture
def waiting(make_neighbour, tmp_path):
    """The one node that could run the app has ended; the other one waits for it."""
    a = make_neighbour("a").start()
    b = make_neighbour("b", data=tmp_path / "shared" / "home" / "apps").start()
    made = run_app(a, "web", b)
    assert a.stop() == 0
    eventually(lambda: show(b, "web")["status"], "starting")
    return a, b, made


def test_a_disabled_app_is_not_taken_over(waiting, server, database):
    a, b, made = waiting
    accepted(b.http.patch(f"/extensions/{made['id']}", json={"enabled": False}))
    assert place(server, database) == [""]
    a.start()
    eventually(lambda: place(server, database), [])
    for node in (a, b):
        eventually(lambda node=node: show(node, "web")["status"], "stopped")
    assert log_of(a, "web") == []


def test_a_stop_that_comes_just_after_a_node_has_taken_the_app_says_so(waiting, server, database):
    _, b, _ = waiting
    script = "BEGIN; UPDATE placements SET node = 'a'; SELECT pg_sleep(2); COMMIT;"
    taking = threading.Thread(target=server.psql, args=(database, script))
    taking.start()
    asleep = f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{database}' AND wait_event = 'PgSleep'"
    eventually(lambda: server.psql("postgres", asleep), [["1"]])
    refused(b.http.post("/apps/web/stop"), 503, "the app web is about to start at another node, try again")
    taking.join()
    assert place(server, database) != []


def test_deleting_an_app_ends_it_at_its_node(three, server, database):
    a, b, c = three
    made = run_app(a, "web", b, c)
    process = running("web", *three)
    assert c.http.delete(f"/extensions/{made['id']}").status_code == 204
    eventually(lambda: os.path.exists(f"/proc/{process}"), False)
    eventually(lambda: place(server, database), [])


class Recorder:
    """Between two nodes: passes on what the first one sends, and records it."""

    def __init__(self, port):
        self.port, self.sent, self.threads = port, [], []
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.accepting = threading.Thread(target=self.accept, daemon=True)
        self.accepting.start()

    def url(self):
        return f"http://127.0.0.1:{self.listening.getsockname()[1]}"

    def accept(self):
        try:
            while True:
                near, _ = self.listening.accept()
                far = socket.create_connection(("127.0.0.1", self.port))
                for source, target, record in ((near, far, self.sent), (far, near, [])):
                    threading.Thread(target=self.pass_on, args=(source, target, record), daemon=True).start()
        except OSError:
            pass

    def pass_on(self, source, target, record):
        try:
            while piece := source.recv(65536):
                record.append(piece)
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()


def head_answered(port, head):
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(head)
        return client.makefile("rb").readline().split()[1]


def test_only_nodes_are_let_through_and_each_of_their_calls_only_once(three, server, database):
    a, b, c = three
    made = run_app(a, "web", b, c)
    path = f"/cluster/apps/{made['id']}"
    for headers in ({}, {"x-agw-node": ""}, {"x-agw-node": "b 1 1 " + "0" * 64}, {"x-agw-node": "x" * 4000}):
        for node in three:
            upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", **headers}
            refused(node.http.get(path, headers=upgrade), 403, "only another node of this cluster may ask for this")
    recorder = Recorder(a.port)
    try:
        server.psql(database, f"UPDATE node_addresses SET address = '{recorder.url()}' WHERE node = 'a'")
        assert proxy_request(b, "web").status_code == 200
        head = recorder.sent[0]
        assert head.startswith(f"GET {path} HTTP/1.1\r\n".encode()) and b.token.encode() not in b"".join(recorder.sent)
        assert head_answered(a.port, head) == b"403"
        assert head_answered(c.port, head) == b"403", "another node than the one it is for"
    finally:
        recorder.close()


def test_a_node_that_cannot_be_reached_is_named(three, server, database):
    a, b, c = three
    run_app(a, "web", b, c)
    own_loopback = "address = regexp_replace(address, '#.*', '#0123456789abcdef')"  # as on another host
    for change in (own_loopback, "address = ''"):
        server.psql(database, f"UPDATE node_addresses SET {change} WHERE node = 'a'")
        refused(proxy_request(b, "web"), 503, "the node a runs this, and cannot be reached from here: set cluster.address in "
                "its configuration")
    server.psql(database, "UPDATE node_addresses SET address = (SELECT address FROM node_addresses WHERE node = 'c') "
                "WHERE node = 'a'")
    refused(proxy_request(b, "web"), 503, f"the node a runs this, and cannot be reached at {c.url}: it answered 403")
    silent = f"http://127.0.0.1:{free_port()}"
    server.psql(database, f"UPDATE node_addresses SET address = '{silent}' WHERE node = 'a'")
    refused(proxy_request(b, "web"), 503, f"the node a runs this, and cannot be reached at {silent}: Connection refused")


def test_a_name_whose_lookup_hangs_holds_up_nobody(make_neighbour, server, database, tmp_path):
    library = fault_library("names_that_hang", tmp_path)
    if not library:
        pytest.skip("AddressSanitizer must be the first library that is loaded")
    a, c = (make_neighbour(name).start() for name in ("a", "c"))
    b = make_neighbour("b", environment={"LD_PRELOAD": str(library)}).start()
    run_app(a, "web", b)
    run_app(c, "other", b)
    named = "http://a.hang.example:7420"
    server.psql(database, f"UPDATE node_addresses SET address = '{named}' WHERE node = 'a'")
    with concurrent.futures.ThreadPoolExecutor() as clients:
        asked = [clients.submit(proxy_request, b, "web") for _ in range(20)]
        port = c.url.rsplit(":", 1)[1]
        server.psql(database, f"UPDATE node_addresses SET address = 'http://localhost:{port}' WHERE node = 'c'")
        assert proxy_request(b, "other").status_code == 200, "other names are found meanwhile"
        for response in asked:
            refused(response.result(), 503, f"the node a runs this, and cannot be reached at {named}: its name is not found in "
                    "time")
    assert b.stop() == 0, b.stderr


def test_nodes_reach_each_other_encrypted(make_neighbour, tmp_path):
    certificate, key = make_certificate(tmp_path)
    port = free_port()
    a = make_neighbour("a", arguments=["--port", str(port)], cluster={"address": f"https://localhost:{port}"},
                       keys={"tls": {"cert": str(certificate), "key": str(key)}}).start()
    b = make_neighbour("b", environment={"SSL_CERT_FILE": str(certificate)}).start()
    c = make_neighbour("c").start()
    make_app(b, "web", routes=WEBSOCKET)
    known(c, "web")
    trusting = ssl.create_default_context(cafile=str(certificate))
    with httpx.Client(base_url=a.url, headers=a.authorization, verify=trusting, trust_env=False, timeout=PATIENCE) as client:
        eventually(lambda: client.get("/apps/web").status_code, 200)
        accepted(client.post("/apps/web/start"))
    running("web", b, c)
    content = os.urandom(1_000_000)
    seen = proxy_request(b, "web", "/x", "PUT", content=content).json()
    assert (seen["path"], seen["digest"]) == ("/x", hashlib.sha256(content).hexdigest())
    with FrameConnection(b, "/apps/web/proxy/socket") as frames:
        frames.receive()
        frames.frame(TEXT, b"x" * 60_000)
        assert frames.receive()[1] == b"x" * 60_000
    refused(proxy_request(c, "web"), 503, f"the node a runs this, and cannot be reached at https://localhost:{port}: its "
            "certificate is not trusted (self-signed certificate)")


def test_people_see_where_apps_run(make_neighbour):
    a, b = (make_neighbour(name).start() for name in ("a", "b"))
    run_app(b, "web", a)
    assert [(node["node"], node["programs"]) for node in nodes_of(a)] == [("a", []), ("b", ["web"])]
    assert shown(a).split()[-1] == "web"
    assert [finding["what"] for finding in doctor(a)["programs"]] == ["web at b"]


def test_addresses_that_cannot_be_used_are_refused(make_node):
    for address, words in (("10.0.0.5:7420", "an address such as https://10.0.0.5:7420"), ("https://a/b", "an address such as"),
                           ("http://10.0.0.5:7420", "cluster.address: http://10.0.0.5:7420 would be reached unencrypted: use "
                            "https://, and give this gateway a certificate")):
        fails(make_node("a", cluster={"address": address}), 2, words)
    fails(make_node(None, cluster={"address": "https://10.0.0.5:7420"}), 2, "cluster.address needs cluster.node")
