"""The network of apps and integrations: a private one with the gateway's proxy, and the port of each app.

See docs/contract/tools.md#the-network-of-programs.
"""

import base64
import os
import socket
import struct

import httpx
import pytest

import http_client
from apps import log_of, make_app, proxy_request, show, start, wait_for_status
from checks import PATIENCE, accepted
from connection import free_port
from integrations import new_integration
from jobs import new_extension, wait_for
from test_command_network import port  # noqa: F401, the destination
from tools import new_agent

CURL = "curl -sS --noproxy '' --max-time 20"
# Serves GET /?ARGUMENTS: the output of curl.
CURL_ROUTE = """
import subprocess
from urllib.parse import unquote
done = subprocess.run(["curl", "-sS", "--max-time", "20", *unquote(self.path.partition("?")[2]).split()],
                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
self.answer(done.stdout)
"""


@pytest.fixture
def curl_app(gateway, new_name):
    """Starts apps that run curl; each returned function has its app run curl with the given arguments."""
    made = []

    def make(**definition):
        name = new_name("asking")
        make_app(gateway, name, routes=CURL_ROUTE, **definition)
        start(gateway, name)
        made.append(name)

        def curl(*arguments):
            return proxy_request(gateway, name, "/?" + "%20".join(arguments)).text
        curl.name = name
        return curl

    yield make
    for name in made:
        gateway.http.post(f"/apps/{name}/stop")


def test_app_reaches_the_hosts_of_its_definition(curl_app, port):  # noqa: F811
    curl = curl_app(hosts=[f"127.0.0.1:{port}"])
    assert curl(f"http://127.0.0.1:{port}/path") == f"reached /path of 127.0.0.1:{port}"
    assert curl("-p", f"http://127.0.0.1:{port}/tunnel") == f"reached /tunnel of 127.0.0.1:{port}"


@pytest.mark.parametrize("hosts", [None, ["*"], ["example.org"], []])
def test_app_cannot_reach_other_ports_of_this_host(gateway, curl_app, port, hosts):  # noqa: F811
    curl = curl_app(**({} if hosts is None else {"hosts": hosts}))
    for address in f"127.0.0.1:{port}", f"[::ffff:127.0.0.1]:{port}", f"127.0.0.1:{gateway.port}":
        assert "reached" not in curl(f"http://{address}/"), "directly"
        refusal = curl("--noproxy", ",", f"http://{address}/")
        assert "is no public address" in refusal or "permission denied: " in refusal, refusal
    logged = [line for line in log_of(gateway, curl.name, "gateway") if str(port) in line]
    assert len(logged) == 2, "each host once"


def test_app_reaches_its_own_server_through_the_proxy(curl_app, gateway, new_name):
    curl = curl_app(hosts=["localhost:1"])
    own = f"http://localhost:{show(gateway, curl.name)['port']}/?--version"
    assert curl(own).startswith("curl "), "through the proxy, which leads back into the sandbox"


def test_apps_do_not_reach_each_other(gateway, curl_app):
    one, other = curl_app(), curl_app()
    address = f"127.0.0.1:{show(gateway, other.name)['port']}"
    assert "curl " not in one("--noproxy", ",", f"http://{address}/?--version")
    allowed = curl_app(hosts=[address])
    assert allowed(f"http://{address}/?--version").startswith("curl ")


def test_app_port_accepts_both_address_families(gateway, new_name):
    app = new_name("app")
    make_app(gateway, app)
    port = start(gateway, app)["port"]  # noqa: F811
    for host in "127.0.0.1", "[::1]", "localhost":
        response = http_client.request("POST", f"http://{host}:{port}/path", content=b"x" * 3_000_000)
        assert response.status_code == 200 and response.json()["size"] == 3_000_000
    gateway.http.post(f"/apps/{app}/stop")


@pytest.mark.parametrize("address", ["::1", "0.0.0.0", "::"])
def test_app_may_listen_on_any_address(gateway, new_name, address):
    app = new_name("app")
    family = "socket.AF_INET6" if ":" in address else "socket.AF_INET"
    make_app(gateway, app, f"""
        Server.address_family = {family}
        Server(("{address}", int(os.environ["PORT"])), Handler).serve_forever()
        """)
    port = start(gateway, app)["port"]  # noqa: F811
    assert http_client.request("GET", f"http://127.0.0.1:{port}/").status_code == 200
    assert proxy_request(gateway, app).status_code == 200
    for other in addresses_of_this_host():
        with pytest.raises(OSError):
            socket.create_connection((other, port), timeout=5).close()
    gateway.http.post(f"/apps/{app}/stop")


def addresses_of_this_host():
    """Returns the addresses that are not loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return []
        return [probe.getsockname()[0]]


def test_websocket_works_at_the_port_of_the_app(gateway, new_name):
    app = new_name("app")
    make_app(gateway, app, routes="""
        digest = hashlib.sha1((self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode())
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(digest.digest()).decode())
        self.end_headers()
        while piece := self.connection.recv(1000):
            self.connection.sendall(piece)
        self.close_connection = True
        """)
    port = start(gateway, app)["port"]  # noqa: F811
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as client:
        key = base64.b64encode(os.urandom(16)).decode()
        client.sendall(f"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                       f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode())
        stream = client.makefile("rb")
        assert stream.readline().startswith(b"HTTP/1.1 101")
        while stream.readline() != b"\r\n":
            pass
        for number in range(100):
            client.sendall(struct.pack("!I", number))
            assert stream.read(4) == struct.pack("!I", number)
        gateway.http.post(f"/apps/{app}/stop")
        assert stream.read(1) == b"", "it ends with the app"


def test_app_is_reached_again_after_a_crash(gateway, new_name):
    app = new_name("app")
    make_app(gateway, app, routes="""
        if self.path == "/crash":
            os._exit(3)
        self.answer(str(os.getpid()))
        """, port=free_port())
    port = start(gateway, app)["port"]  # noqa: F811
    with pytest.raises(httpx.HTTPError):
        http_client.request("GET", f"http://127.0.0.1:{port}/crash")
    wait_for(lambda: show(gateway, app)["restarts"] == 1)
    assert wait_for_status(gateway, app, "running")["port"] == port
    assert http_client.request("GET", f"http://127.0.0.1:{port}/").status_code == 200
    assert proxy_request(gateway, app).status_code == 200
    gateway.http.post(f"/apps/{app}/stop")


def test_app_does_not_start_at_the_port_of_another(gateway, new_name):
    port = free_port()  # noqa: F811
    one, other = new_name("app"), new_name("app")
    make_app(gateway, one, port=port)
    make_app(gateway, other, port=port)
    start(gateway, one)
    response = gateway.http.post(f"/apps/{other}/start")
    assert response.status_code == 500
    assert response.json() == {"error": f"Failed to start: port {port} is in use by another program"}
    gateway.http.post(f"/apps/{one}/stop")


def test_connections_to_an_app_that_no_longer_listens_are_reset(gateway, new_name):
    app = new_name("app")
    make_app(gateway, app, """
        server = Server(("127.0.0.1", int(os.environ["PORT"])), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        while not os.path.exists("enough"):
            time.sleep(0.01)
        server.shutdown()
        server.server_close()
        open("closed", "w").close()
        time.sleep(1000)
        """)
    port = start(gateway, app)["port"]  # noqa: F811
    (gateway.home / "apps" / app / "enough").write_text("")
    wait_for((gateway.home / "apps" / app / "closed").exists)
    # The reset can arrive before connect() returns.
    with pytest.raises(ConnectionResetError), socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as client:
        client.recv(1)
    assert proxy_request(gateway, app).status_code == 502
    gateway.http.post(f"/apps/{app}/stop")


def test_app_of_an_agent_is_limited_by_its_owners_capabilities(gateway, new_name, port):  # noqa: F811
    limits = new_extension(gateway, "capability", new_name("limits"), {"hosts": [f"127.0.0.1:{port}"]}, enabled=True)
    bound = new_agent(gateway, new_name("bound"), "trusted", capabilities=[limits["name"]])
    free = new_agent(gateway, new_name("free"), "trusted")
    for owner, reached in ((bound, True), (free, False)):
        name = new_name("made")
        directory = gateway.home / "apps" / name
        directory.mkdir(parents=True)
        accepted(gateway.http.post("/extensions", json={
            "type": "app", "name": name, "description": "", "enabled": True, "source": "agent",
            "owner_agent_id": owner["id"],
            "definition": {"path": str(directory), "hosts": [f"127.0.0.1:{port}"],
                           "command": f"{CURL} http://127.0.0.1:{port}/ > said 2>&1; exec sleep 1000"}}), 201)
        gateway.http.post(f"/apps/{name}/start")
        output = wait_for(lambda: (directory / "said").exists() and (directory / "said").read_text())
        assert ("reached" in output) == reached, output
        gateway.http.post(f"/apps/{name}/stop")


@pytest.mark.parametrize("is_allowed", [True, False])
def test_stdio_server_reaches_the_hosts_of_its_definition(gateway, new_name, port, is_allowed):  # noqa: F811
    """The command sends a request instead of speaking MCP."""
    name = new_name("server")
    new_integration(gateway, name, "mcp-stdio", command=f"{CURL} http://127.0.0.1:{port}/ > said 2>&1; exec sleep 1000",
                    **({"hosts": ["127.0.0.1"]} if is_allowed else {}))
    output = gateway.data / "integrations" / name / "said"
    text = wait_for(lambda: output.exists() and output.read_text())
    assert ("reached" in text) == is_allowed, text
    if not is_allowed:
        assert f"integration {name}: 127.0.0.1:{port} leads to 127.0.0.1" in gateway.stderr
    gateway.http.patch(f"/extensions/{name}", json={"enabled": False})


def test_connections_of_an_app_end_with_it(gateway, new_name):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(PATIENCE)
        target = f"127.0.0.1:{listener.getsockname()[1]}"
        app = new_name("app")
        make_app(gateway, app, f"""
            proxy = socket.create_connection(("127.0.0.1", 61980))
            proxy.sendall(b"CONNECT {target} HTTP/1.1\\r\\n\\r\\n")
            serve()
            """, hosts=["127.0.0.1"])
        start(gateway, app)
        connection = listener.accept()[0]
        connection.settimeout(PATIENCE)
        gateway.http.post(f"/apps/{app}/stop")
        assert connection.recv(1) == b""
