"""Requests and WebSockets forwarded to an app.

See docs/contract/apps.md#the-proxy.
"""

import hashlib
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import http_client
from apps import make_app, proxy_request, start, show
from checks import PATIENCE, accepted, seconds_of
from connection import (BINARY, DELAYED_ACKNOWLEDGEMENT, PING, TEXT, Connection, FrameConnection,
                        seconds_of_separate_body)
from jobs import wait_for

SANDBOX_POLICY = "sandbox allow-scripts allow-forms allow-popups"
WEBSOCKET = """
if self.headers.get("Upgrade", "").lower() == "websocket":
    accept = base64.b64encode(hashlib.sha1((self.headers["Sec-WebSocket-Key"] +
        "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()
    self.send_response(101)
    self.send_header("Upgrade", "websocket"); self.send_header("Connection", "Upgrade")
    self.send_header("Sec-WebSocket-Accept", accept)
    offered = [part.strip() for part in self.headers.get("Sec-WebSocket-Protocol", "").split(",")]
    if "app-protocol" in offered:
        self.send_header("Sec-WebSocket-Protocol", "app-protocol")
    self.end_headers()
    self.wfile.flush()
    seen = json.dumps([self.path, [[n.lower(), v] for n, v in self.headers.items()]]).encode()
    self.wfile.write(bytes([0x81, 126]) + len(seen).to_bytes(2, "big") + seen)
    self.wfile.flush()
    try:
        while True:
            first, second = self.rfile.read(2)
            size = second & 127
            if size == 126: size = int.from_bytes(self.rfile.read(2), "big")
            if size == 127: size = int.from_bytes(self.rfile.read(8), "big")
            mask = self.rfile.read(4)
            data = bytes(b ^ mask[i % 4] for i, b in enumerate(self.rfile.read(size)))
            head = bytes([first]) + (bytes([size]) if size < 126 else bytes([126]) + size.to_bytes(2, "big")
                                     if size < 65536 else bytes([127]) + size.to_bytes(8, "big"))
            self.wfile.write(head + data); self.wfile.flush()
            if first & 15 == 8: break
    except (ValueError, OSError):
        open("left", "w").write("")
    self.close_connection = True
else:
    self.echo()
"""


@pytest.fixture(scope="module")
def echo_app(gateway, new_name):
    """An app that echoes requests and WebSocket messages."""
    app = new_name("echo")
    make_app(gateway, app, routes=WEBSOCKET)
    start(gateway, app)
    yield app
    gateway.http.post(f"/apps/{app}/stop")


@pytest.fixture
def serve_app(gateway, new_name):
    """Starts apps whose handler has the given `route`; they are stopped after the test."""
    started = []

    def make(routes, script="serve()", on=gateway):
        app = new_name("proxied")
        make_app(on, app, script, routes=routes)
        start(on, app)
        started.append((on, app))
        return app

    yield make
    for where, app in started:
        if where.running:
            where.http.post(f"/apps/{app}/stop")


def fields_of(response):
    return {name: value for name, value in response.json()["fields"]}


# Requests.


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"])
def test_every_method_reaches_the_app(gateway, echo_app, method):
    response = proxy_request(gateway, echo_app, "/some/path?a=1&a=2", method)
    assert response.status_code == 200
    assert response.json()["method"] == method and response.json()["path"] == "/some/path?a=1&a=2"


def test_body_after_its_head_is_not_delayed(gateway, echo_app):
    with Connection(gateway) as connection:
        line = f"POST /apps/{echo_app}/proxy/a HTTP/1.1"
        assert seconds_of_separate_body(connection, line, b"{}", 200) < DELAYED_ACKNOWLEDGEMENT / 2


@pytest.mark.parametrize("path", ["/", "/a%2Fb", "/a//b", "/%C3%A4?q=%20+&&x", "/a/", "/?", "/a;b=c", "/../x", "/%2e%2e/x"])
def test_path_is_forwarded_unchanged(gateway, echo_app, path):
    with Connection(gateway) as connection:
        response = connection.request(f"GET /apps/{echo_app}/proxy{path} HTTP/1.1").response()
    assert response.json()["path"] == (path if path != "/?" else "/") or response.json()["path"] == path.replace("&&", "&")


def test_without_token_nothing_reaches_the_app(gateway, echo_app):
    for headers in ({"Authorization": ""}, {"Authorization": "Bearer wrong"}):
        response = proxy_request(gateway, echo_app, headers=headers)
        assert response.status_code == 401 and response.json() == {"error": "unauthorized"}
    assert proxy_request(gateway, echo_app, f"/?token={gateway.token}", headers={"Authorization": ""}).status_code == 401


def test_app_never_sees_the_token(gateway, echo_app):
    token = gateway.token
    path = f"/?token={token}&a=1&%74oken={token}&token=own&x={token}"
    response = proxy_request(gateway, echo_app, path, headers={"Referer": f"http://x/?token={token}", "X-Copy": token,
                                                   "Cookie": f"token={token}"})
    assert token not in response.text
    assert response.json()["path"] == "/?a=1&token=own"
    assert "authorization" not in fields_of(response)


def test_app_sees_its_own_host_and_origin(gateway, echo_app):
    own_host = f"127.0.0.1:{show(gateway, echo_app)['port']}"
    fields = fields_of(proxy_request(gateway, echo_app, headers={"Origin": gateway.url}))
    assert fields["host"] == own_host and fields["origin"] == f"http://{own_host}"
    assert fields["x-forwarded-host"] == f"127.0.0.1:{gateway.port}"
    assert fields["x-forwarded-proto"] == "http" and fields["x-forwarded-prefix"] == f"/apps/{echo_app}/proxy"


def test_foreign_origin_or_host_is_refused(gateway, echo_app):
    assert proxy_request(gateway, echo_app, headers={"Origin": "http://evil.example"}).status_code == 403
    assert proxy_request(gateway, echo_app, headers={"Host": "evil.example"}).status_code == 403


def test_hop_by_hop_headers_are_not_forwarded(gateway, echo_app):
    fields = fields_of(proxy_request(gateway, echo_app, headers={
        "Connection": "x-mine, keep-alive", "X-Mine": "1", "Keep-Alive": "timeout=5", "TE": "trailers",
        "Proxy-Authorization": "Basic x", "Upgrade": "h2c", "X-Theirs": "2"}))
    assert fields["x-theirs"] == "2"
    assert not {"x-mine", "keep-alive", "te", "proxy-authorization", "upgrade"} & set(fields)


@pytest.mark.parametrize("framing", ["length", "chunks"])
def test_large_body_is_streamed_both_ways(gateway, serve_app, framing):
    app = serve_app("body = self.body()\nself.answer(body)")
    body = os.urandom(1024 * 1024) * 24
    content = body if framing == "length" else iter([body[i:i + 100_000] for i in range(0, len(body), 100_000)])
    response = proxy_request(gateway, app, "/", "POST", content=content)
    assert response.status_code == 200
    assert hashlib.sha256(response.content).digest() == hashlib.sha256(body).digest()


def test_client_waiting_for_100_continue_gets_it(gateway, echo_app):
    with Connection(gateway) as connection:
        connection.request(f"POST /apps/{echo_app}/proxy/ HTTP/1.1", "Content-Length: 3", "Expect: 100-continue")
        assert connection.response().status == 100
        response = connection.send("abc").response()
    assert response.status == 200 and response.json()["size"] == 3
    assert "expect" not in dict(map(tuple, response.json()["fields"]))


def test_malformed_chunks_are_not_forwarded(gateway, echo_app):
    with Connection(gateway) as connection:
        connection.request(f"POST /apps/{echo_app}/proxy/ HTTP/1.1", "Transfer-Encoding: chunked", body=b"zz\r\nabc\r\n")
        assert connection.response().status in (400, 502)
        assert connection.closed()


def test_connection_serves_several_requests(gateway, echo_app):
    with Connection(gateway) as connection:
        for number in range(5):
            connection.request(f"POST /apps/{echo_app}/proxy/{number} HTTP/1.1", "Content-Length: 5", body=b"hello")
            assert connection.response().json()["path"] == f"/{number}"
            connection.request("GET /health HTTP/1.1")
            assert connection.response().status == 200
        connection.request(f"GET /apps/{echo_app}/proxy/a HTTP/1.1")
        connection.request(f"GET /apps/{echo_app}/proxy/b HTTP/1.1")
        assert [connection.response().json()["path"] for _ in range(2)] == ["/a", "/b"]


def test_http_1_0_client(gateway, serve_app):
    app = serve_app("""
        self.send_response(200); self.send_header("Transfer-Encoding", "chunked"); self.end_headers()
        self.wfile.write(b"5\\r\\nhello\\r\\n0\\r\\n\\r\\n")
        """)
    with Connection(gateway) as connection:
        response = connection.request(f"GET /apps/{app}/proxy/ HTTP/1.0").response()
        assert response.body == b"hello" and "transfer-encoding" not in response.headers


# Responses.


def test_cookies_are_removed_and_a_sandbox_policy_is_added(gateway, serve_app):
    app = serve_app("""
        self.answer("<p>page", 201, Content_Type="text/html", Set_Cookie="a=1", Content_Security_Policy="img-src *",
                    Clear_Site_Data='"*"', X_Own="yes", Cache_Control="max-age=5")
        """)
    response = proxy_request(gateway, app)
    assert response.status_code == 201 and response.text == "<p>page"
    assert response.headers["content-type"] == "text/html" and response.headers["x-own"] == "yes"
    assert response.headers.get_list("content-security-policy") == ["img-src *", SANDBOX_POLICY]
    assert response.headers["x-content-type-options"] == "nosniff" and response.headers["cache-control"] == "max-age=5"
    assert "set-cookie" not in response.headers and "clear-site-data" not in response.headers


def test_response_is_streamed(gateway, serve_app):
    app = serve_app("""
        self.send_response(200); self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close"); self.end_headers()
        self.wfile.write(b"data: first\\n\\n"); self.wfile.flush()
        while not os.path.exists("go"):
            time.sleep(0.01)
        self.wfile.write(b"data: second\\n\\n"); self.close_connection = True
        """)
    with Connection(gateway) as connection:
        connection.request(f"GET /apps/{app}/proxy/ HTTP/1.1")
        while connection._line():
            pass
        assert connection._line() == "d"
        assert connection._exactly(15) == b"data: first\n\n\r\n"
        (gateway.home / "apps" / app / "go").write_text("")
        assert connection._line() == "e" and connection._exactly(16) == b"data: second\n\n\r\n"
        assert connection._line() == "0"


def test_redirects_are_not_followed(gateway, serve_app):
    app = serve_app("""self.answer("", 302, Location="http://169.254.169.254/latest/meta-data/")""")
    response = proxy_request(gateway, app)
    assert response.status_code == 302 and response.headers["location"] == "http://169.254.169.254/latest/meta-data/"


def test_redirect_to_a_path_of_the_gateway_stays_in_the_app(gateway, serve_app):
    app = serve_app("""
        if self.path.startswith("/threads"):
            self.answer("of the app", 200)
        else:
            self.answer("", 307, Location="/threads")
        """)
    response = http_client.request("POST", f"{gateway.url}/apps/{app}/proxy/first", headers=gateway.authorization,
                                   json={"title": "made by a redirect"}, follow_redirects=True)
    assert response.status_code == 200 and response.text == "of the app"
    assert response.url.path == f"/apps/{app}/proxy/threads"
    assert not any(thread["title"] == "made by a redirect" for thread in accepted(gateway.http.get("/threads")))


@pytest.mark.parametrize("status", [204, 304])
def test_response_without_a_body(gateway, serve_app, status):
    app = serve_app(f"self.send_response({status}); self.end_headers()")
    with Connection(gateway) as connection:
        for _ in range(2):
            assert connection.request(f"GET /apps/{app}/proxy/ HTTP/1.1").response().status == status


def test_head_has_no_body(gateway, echo_app):
    with Connection(gateway) as connection:
        response = connection.request(f"HEAD /apps/{echo_app}/proxy/ HTTP/1.1").response(head_only=True)
        assert response.status == 200 and int(response.headers["content-length"]) > 0
        assert connection.request("GET /health HTTP/1.1").response().status == 200


def test_interim_responses_are_discarded(gateway, serve_app):
    app = serve_app("""
        self.wfile.write(b"HTTP/1.1 103 Early Hints\\r\\nLink: </x>\\r\\n\\r\\n")
        self.answer("final")
        """)
    assert proxy_request(gateway, app).text == "final"


# Broken apps.


def test_app_sending_garbage(gateway, serve_app):
    app = serve_app("""self.wfile.write(b"this is no HTTP\\r\\n\\r\\n"); self.close_connection = True""")
    response = proxy_request(gateway, app)
    assert response.status_code == 502 and response.json() == {"error": "Dev server proxy failed"}


def test_app_closing_without_a_response(gateway, serve_app):
    app = serve_app("self.close_connection = True")
    response = proxy_request(gateway, app)
    assert response.status_code == 502 and response.json() == {"error": "Dev server proxy failed"}


@pytest.mark.parametrize("framing", ["length", "chunks"])
def test_app_aborting_mid_response(gateway, serve_app, framing):
    head = "Content-Length: 100" if framing == "length" else "Transfer-Encoding: chunked"
    body = "half" if framing == "length" else "4\\r\\nhalf\\r\\n"
    app = serve_app(f"""
        self.wfile.write(b"HTTP/1.1 200 OK\\r\\n{head}\\r\\n\\r\\n{body}"); self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR); self.close_connection = True
        """)
    with Connection(gateway) as connection:
        connection.request(f"GET /apps/{app}/proxy/ HTTP/1.1")
        with pytest.raises((EOFError, ValueError)):
            connection.response()


def test_hanging_app_blocks_no_other_requests(gateway, serve_app):
    app = serve_app("""
        if self.path == "/hang":
            open("hung", "w").write("")
            self.connection.settimeout(30)
            try:
                self.connection.recv(1)
            except OSError:
                pass
            open("left", "w").write("")
            self.close_connection = True
        else:
            self.echo()
        """)
    directory = gateway.home / "apps" / app
    connection = Connection(gateway).request(f"GET /apps/{app}/proxy/hang HTTP/1.1")
    wait_for_file(directory / "hung")
    assert proxy_request(gateway, app, "/other").status_code == 200
    assert gateway.http.get("/health").status_code == 200
    # A disconnecting client cancels its request.
    connection.reader.close()
    connection.socket.close()
    wait_for_file(directory / "left")


def wait_for_file(path, seconds=PATIENCE):
    deadline = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < deadline, path
        time.sleep(0.01)


def test_slow_reader_slows_only_the_app(gateway, serve_app):
    app = serve_app("""
        self.send_response(200); self.send_header("Connection", "close"); self.end_headers()
        sent = 0
        self.connection.settimeout(1)
        try:
            while sent < 1 << 30:
                sent += self.connection.send(b"x" * 65536)
        except OSError:
            pass
        open("sending", "w").write(str(sent)); os.rename("sending", "sent"); self.close_connection = True
        """)
    connection = Connection(gateway, receive_buffer=4096)
    connection.request(f"GET /apps/{app}/proxy/ HTTP/1.1")
    wait_for_file(gateway.home / "apps" / app / "sent")
    assert int((gateway.home / "apps" / app / "sent").read_text()) < 64 << 20
    connection.close()


def test_endless_response_head_is_refused(gateway, serve_app):
    app = serve_app("""
        self.wfile.write(b"HTTP/1.1 200 OK\\r\\n")
        try:
            for _ in range(100000):
                self.wfile.write(b"X: " + b"y" * 1000 + b"\\r\\n")
        except OSError:
            pass
        self.close_connection = True
        """)
    assert proxy_request(gateway, app).status_code == 502


# WebSockets.


def socket_of(gateway, app, *headers, path="/socket?a=1", **options):
    return FrameConnection(gateway, f"/apps/{app}/proxy{path}", *headers, **options)


@pytest.mark.parametrize("credential", ["header", "subprotocol", "subprotocol and another", "query"])
def test_websocket_reaches_the_app_without_the_token(gateway, echo_app, credential):
    headers, path, chosen = [], "/socket?a=1", None
    if credential == "query":
        path = f"/socket?a=1&token={gateway.token}"
    elif credential == "subprotocol":
        headers, chosen = [f"Sec-WebSocket-Protocol: bearer, {gateway.token}"], "bearer"
    elif credential != "header":
        headers, chosen = [f"Sec-WebSocket-Protocol: bearer, {gateway.token}, app-protocol"], "app-protocol"
    with socket_of(gateway, echo_app, *headers, path=path, token=credential == "header") as connection:
        assert connection.handshake.headers.get("sec-websocket-protocol") == chosen
        opcode, seen = connection.receive()
        assert gateway.token.encode() not in seen and json.loads(seen)[0] == "/socket?a=1"
        for opcode, message in ((TEXT, b"hello"), (BINARY, b"\x00\x01"), (TEXT, b"x" * 100_000), (PING, b"ping")):
            connection.frame(opcode, message)
            assert connection.receive() == (opcode, message)


def test_app_may_have_its_own_token_parameter(gateway, echo_app):
    with socket_of(gateway, echo_app, path="/socket?token=own") as connection:
        assert json.loads(connection.receive()[1])[0] == "/socket?token=own"


@pytest.mark.parametrize("headers", [
    [], ["Sec-WebSocket-Protocol: bearer, wrong"], ["Authorization: Bearer wrong"],
])
def test_websocket_without_token_is_refused(gateway, echo_app, headers):
    socket_of(gateway, echo_app, *headers, token=False, expect=401).close()


def test_websocket_from_a_foreign_page_is_refused(gateway, echo_app):
    socket_of(gateway, echo_app, "Origin: http://evil.example", expect=403).close()


def test_websocket_refused_by_the_app(gateway, serve_app):
    app = serve_app("""self.answer("no", 426)""")
    socket_of(gateway, app, expect=426).close()


def test_upgrade_with_a_body_is_an_ordinary_request(gateway, echo_app):
    with Connection(gateway) as connection:
        response = connection.request(f"GET /apps/{echo_app}/proxy/x HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket",
                                    "Content-Length: 4", body=b"body").response()
    assert response.status == 200 and response.json()["size"] == 4
    assert "upgrade" not in dict(map(tuple, response.json()["fields"]))


def test_closing_one_side_of_a_websocket_closes_the_other(gateway, serve_app):
    app = serve_app(WEBSOCKET)
    connection = socket_of(gateway, app)
    connection.receive()
    connection.close()
    wait_for_file(gateway.home / "apps" / app / "left")
    with socket_of(gateway, app) as connection:
        connection.receive()
        gateway.http.post(f"/apps/{app}/stop")
        assert connection.closed()


@pytest.mark.parametrize("change", ["disabled", "stopped"])
def test_app_that_is_stopping_gets_no_more_requests(gateway, new_name, change):
    """Neither its own response nor a 502 is returned, even while the process still responds or is exiting."""
    app = new_name("app")
    extension = make_app(gateway, app, "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); serve()")
    start(gateway, app)
    with ThreadPoolExecutor() as side:
        if change == "disabled":
            accepted(gateway.http.patch(f"/extensions/{extension['id']}", json={"enabled": False}))
        else:
            side.submit(http_client.request, "POST", f"{gateway.url}/apps/{app}/stop", headers=gateway.authorization)
            wait_for(lambda: proxy_request(gateway, app).status_code != 200)
        response = proxy_request(gateway, app)
        assert show(gateway, app)["pid"], "it has not ended yet"
        assert response.status_code == 404 and response.json() == {"error": f"No running dev server for {app}"}


def test_token_rotation_ends_proxied_connections(own_gateway, serve_app):
    app = serve_app(WEBSOCKET, on=own_gateway)
    with socket_of(own_gateway, app) as connection:
        connection.receive()
        assert own_gateway.command("token", "rotate").returncode == 0
        assert connection.closed()


def test_gateway_stops_despite_open_connections(own_gateway, serve_app):
    app = serve_app(WEBSOCKET, on=own_gateway)
    with socket_of(own_gateway, app) as connection:
        connection.receive()
        # Otherwise a client has 10 s to reply to a close frame.
        assert seconds_of(own_gateway.stop) < 9 and own_gateway.process.returncode == 0
