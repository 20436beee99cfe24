"""The server of an app runs at one node. The others show its state, forward starts and stops, and reach it through that
node.

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
from test_status import doctor, nodes_of, cluster_status


def wait_until_known(node, app):
    """Waits until the node knows the app."""
    eventually(lambda: node.http.get(f"/apps/{app}").status_code, 200)


def placements(server, database):
    """Returns the nodes that run programs."""
    return [row[0] for row in server.psql(database, "SELECT node FROM placements")]


def process_or_status(node, app):
    """Returns the process of an app that runs at any node; otherwise its status."""
    state = show(node, app)
    return state["pid"] if state["status"] == "running" else state["status"]


def wait_until_running(app, *nodes, before=None):
    """Waits until all nodes know that the app runs in a process other than `before`, and returns the process."""
    found = []

    def known_everywhere():
        seen = {process_or_status(node, app) for node in nodes}
        found[:] = [process for process in seen if isinstance(process, int) and process != before]
        return len(seen) == len(found) == 1
    eventually(known_everywhere, True)
    return found[0]


def run_app(node, app, *others, **options):
    """Creates an app, starts it and waits until all nodes know that it runs."""
    made = make_app(node, app, **options)
    accepted(node.http.post(f"/apps/{app}/start"))
    for other in others:
        wait_until_known(other, app)
    wait_until_running(app, node, *others)
    return made


@pytest.fixture
def three(make_neighbour):
    return [make_neighbour(name).start() for name in ("a", "b", "c")]


def test_one_server_is_used_at_every_node(three, server, database):
    a, b, c = three
    run_app(b, "web", a, c, script="print('it runs')\nserve()")
    process = wait_until_running("web", *three)
    assert placements(server, database) == ["b"]
    for node in three:
        assert accepted(node.http.post("/apps/web/start"))["pid"] == process
        response = proxy_request(node, "web", "/some/path?a=1", "PUT", content=b"x" * 300_000)
        assert response.json()["path"] == "/some/path?a=1" and response.json()["size"] == 300_000
        fields = dict(response.json()["fields"])
        assert fields["host"] == f"127.0.0.1:{show(b, 'web')['port']}" and "x-agw-node" not in fields
        assert fields["x-forwarded-prefix"] == "/apps/web/proxy"
        eventually(lambda node=node: "it runs" in log_of(node, "web"), True)
    assert [show(node, "web")["url"] is not None for node in three] == [False, True, False]
    restarted = accepted(c.http.post("/apps/web/restart"))
    assert restarted["pid"] != process and wait_until_running("web", *three, before=process) == restarted["pid"]
    assert accepted(a.http.post("/apps/web/stop"))["status"] == "stopped"
    for node in three:
        eventually(lambda node=node: show(node, "web")["status"], "stopped")
        assert proxy_request(node, "web").status_code == 404
    assert placements(server, database) == [] and not os.path.exists(f"/proc/{restarted['pid']}")


def test_bodies_and_websockets_are_streamed_between_nodes(three):
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


def test_another_node_runs_the_apps_of_a_killed_one(three, server, database):
    a, b, c = three
    run_app(a, "web", b, c)
    process = wait_until_running("web", *three)
    a.kill()
    refusal = proxy_request(b, "web")
    assert refusal.status_code == 503
    assert refusal.json()["error"].startswith("the node a runs this, and cannot be reached at http://127.0.0.1:")
    eventually(lambda: placements(server, database) in (["b"], ["c"]), True)
    wait_until_running("web", b, c, before=process)
    for node in (b, c):
        assert proxy_request(node, "web").status_code == 200
    a.start()
    assert wait_until_running("web", *three) == wait_until_running("web", b, c)
    assert proxy_request(a, "web").status_code == 200
    eventually(lambda: os.path.exists(f"/proc/{process}"), False)


def test_apps_move_when_their_node_stops_or_wait_for_a_start_after_the_last_one(three, server, database):
    a, b, c = three
    run_app(a, "web", b, c)
    process = wait_until_running("web", *three)
    assert a.stop() == 0, a.stderr
    eventually(lambda: placements(server, database) in (["b"], ["c"]), True)
    wait_until_running("web", b, c, before=process)
    assert proxy_request(b, "web").status_code == 200
    assert b.stop() == 0 and c.stop() == 0
    assert placements(server, database) == [""]
    a.start()
    wait_until_running("web", a)
    assert placements(server, database) == ["a"] and proxy_request(a, "web").status_code == 200


def test_an_app_runs_where_its_files_are(make_neighbour, messages, tmp_path, server, database):
    """The directory belongs to b's own data, from which b serves no apps: as if it did not exist there."""
    a = make_neighbour("a").start()
    b = make_neighbour("b", data=tmp_path / "shared" / "home" / "apps").start()
    make_app(a, "web")
    wait_until_known(b, "web")
    assert accepted(b.http.post("/apps/web/start"))["status"] in ("starting", "running")
    wait_until_running("web", a, b)
    assert placements(server, database) == ["a"] and proxy_request(b, "web").status_code == 200
    assert a.stop() == 0
    eventually(lambda: show(b, "web")["status"], "starting")
    assert proxy_request(b, "web").json()["error"] == "the app web is about to start at another node, try again"
    assert accepted(b.http.post("/apps/web/stop"))["status"] == "stopped"
    failed = b.http.post("/apps/web/start")
    assert failed.status_code == 500 and "is no place for an app" in failed.json()["error"], failed.text
    assert placements(server, database) == []


def test_a_disabled_app_is_started_only_where_its_files_are(make_neighbour, tmp_path, server, database):
    a = make_neighbour("a").start()
    b = make_neighbour("b", data=tmp_path / "shared" / "home" / "apps").start()
    make_app(a, "web", enabled=False)
    wait_until_known(b, "web")
    refused(b.http.post("/apps/web/start"), 500, "Failed to start: the app web is disabled, and its directory is not at this "
            "node: enable it, or start it at a node that has it")
    assert placements(server, database) == []
    accepted(a.http.post("/apps/web/start"))
    wait_until_running("web", a, b)


@pytest.fixture
def waiting(make_neighbour, tmp_path):
    """The only node that could run the app has stopped; the other one waits for it."""
    a = make_neighbour("a").start()
    b = make_neighbour("b", data=tmp_path / "shared" / "home" / "apps").start()
    made = run_app(a, "web", b)
    assert a.stop() == 0
    eventually(lambda: show(b, "web")["status"], "starting")
    return a, b, made


def test_a_disabled_app_is_not_taken_over(waiting, server, database):
    a, b, made = waiting
    accepted(b.http.patch(f"/extensions/{made['id']}", json={"enabled": False}))
    assert placements(server, database) == [""]
    a.start()
    eventually(lambda: placements(server, database), [])
    for node in (a, b):
        eventually(lambda node=node: show(node, "web")["status"], "stopped")
    assert log_of(a, "web") == []


def test_a_stop_just_after_a_node_has_taken_the_app_is_refused(waiting, server, database):
    _, b, _ = waiting
    script = "BEGIN; UPDATE placements SET node = 'a'; SELECT pg_sleep(2); COMMIT;"
    transaction = threading.Thread(target=server.psql, args=(database, script))
    transaction.start()
    asleep = f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{database}' AND wait_event = 'PgSleep'"
    eventually(lambda: server.psql("postgres", asleep), [["1"]])
    refused(b.http.post("/apps/web/stop"), 503, "the app web is about to start at another node, try again")
    transaction.join()
    assert placements(server, database) != []


def test_deleting_an_app_ends_it_at_its_node(three, server, database):
    a, b, c = three
    made = run_app(a, "web", b, c)
    process = wait_until_running("web", *three)
    assert c.http.delete(f"/extensions/{made['id']}").status_code == 204
    eventually(lambda: os.path.exists(f"/proc/{process}"), False)
    eventually(lambda: placements(server, database), [])


class Recorder:
    """A proxy between two nodes that records what the first one sends."""

    def __init__(self, port):
        self.port, self.sent, self.threads = port, [], []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.accepting = threading.Thread(target=self.accept, daemon=True)
        self.accepting.start()

    def url(self):
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def accept(self):
        try:
            while True:
                client_socket, _ = self.listener.accept()
                upstream = socket.create_connection(("127.0.0.1", self.port))
                for source, target, record in ((client_socket, upstream, self.sent), (upstream, client_socket, [])):
                    threading.Thread(target=self.forward, args=(source, target, record), daemon=True).start()
        except OSError:
            pass

    def forward(self, source, target, record):
        try:
            while piece := source.recv(65536):
                record.append(piece)
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def status_of(port, head):
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(head)
        return client.makefile("rb").readline().split()[1]


def test_only_calls_of_nodes_are_accepted_and_each_only_once(three, server, database):
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
        assert status_of(a.port, head) == b"403"
        assert status_of(c.port, head) == b"403", "another node than the one it is for"
    finally:
        recorder.close()


def test_an_unreachable_node_is_reported(three, server, database):
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


def test_a_lookup_that_hangs_does_not_block_other_requests(make_neighbour, server, database, tmp_path):
    library = fault_library("names_that_hang", tmp_path)
    if not library:
        pytest.skip("AddressSanitizer must be the first library that is loaded")
    a, c = (make_neighbour(name).start() for name in ("a", "c"))
    b = make_neighbour("b", environment={"LD_PRELOAD": str(library)}).start()
    run_app(a, "web", b)
    run_app(c, "other", b)
    address = "http://a.hang.example:7420"
    server.psql(database, f"UPDATE node_addresses SET address = '{address}' WHERE node = 'a'")
    with concurrent.futures.ThreadPoolExecutor() as clients:
        responses = [clients.submit(proxy_request, b, "web") for _ in range(20)]
        port = c.url.rsplit(":", 1)[1]
        server.psql(database, f"UPDATE node_addresses SET address = 'http://localhost:{port}' WHERE node = 'c'")
        assert proxy_request(b, "other").status_code == 200, "other names are resolved in the meantime"
        for response in responses:
            refused(response.result(), 503, f"the node a runs this, and cannot be reached at {address}: its name is not found in "
                    "time")
    assert b.stop() == 0, b.stderr


def test_nodes_reach_each_other_by_tls(make_neighbour, tmp_path):
    certificate, key = make_certificate(tmp_path)
    port = free_port()
    a = make_neighbour("a", arguments=["--port", str(port)], cluster={"address": f"https://localhost:{port}"},
                       keys={"tls": {"cert": str(certificate), "key": str(key)}}).start()
    b = make_neighbour("b", environment={"SSL_CERT_FILE": str(certificate)}).start()
    c = make_neighbour("c").start()
    make_app(b, "web", routes=WEBSOCKET)
    wait_until_known(c, "web")
    trusting = ssl.create_default_context(cafile=str(certificate))
    with httpx.Client(base_url=a.url, headers=a.authorization, verify=trusting, trust_env=False, timeout=PATIENCE) as client:
        eventually(lambda: client.get("/apps/web").status_code, 200)
        accepted(client.post("/apps/web/start"))
    wait_until_running("web", b, c)
    content = os.urandom(1_000_000)
    seen = proxy_request(b, "web", "/x", "PUT", content=content).json()
    assert (seen["path"], seen["digest"]) == ("/x", hashlib.sha256(content).hexdigest())
    with FrameConnection(b, "/apps/web/proxy/socket") as frames:
        frames.receive()
        frames.frame(TEXT, b"x" * 60_000)
        assert frames.receive()[1] == b"x" * 60_000
    refused(proxy_request(c, "web"), 503, f"the node a runs this, and cannot be reached at https://localhost:{port}: its "
            "certificate is not trusted (self-signed certificate)")


def test_status_and_doctor_show_where_apps_run(make_neighbour):
    a, b = (make_neighbour(name).start() for name in ("a", "b"))
    run_app(b, "web", a)
    assert [(node["node"], node["programs"]) for node in nodes_of(a)] == [("a", []), ("b", ["web"])]
    assert cluster_status(a).split()[-1] == "web"
    assert [finding["what"] for finding in doctor(a)["programs"]] == ["web at b"]


def test_unusable_addresses_are_refused(make_node):
    for address, words in (("10.0.0.5:7420", "an address such as https://10.0.0.5:7420"), ("https://a/b", "an address such as"),
                           ("http://10.0.0.5:7420", "cluster.address: http://10.0.0.5:7420 would be reached unencrypted: use "
                            "https://, and give this gateway a certificate")):
        fails(make_node("a", cluster={"address": address}), 2, words)
    fails(make_node(None, cluster={"address": "https://10.0.0.5:7420"}), 2, "cluster.address needs cluster.node")
