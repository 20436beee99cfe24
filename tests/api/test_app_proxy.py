"""What an app serves, seen through the gateway (decisions, 11)."""

import hashlib
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from apps import make_app, proxied, start, show
from checks import PATIENCE, accepted, seconds_of
from connection import BINARY, PING, TEXT, Connection, FrameConnection
from jobs import wait_for

FENCE = "sandbox allow-scripts allow-forms allow-popups"
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
def echo(gateway, name):
    """An app that answers with what it got, and echoes over WebSockets."""
    app = name("echo")
    make_app(gateway, app, routes=WEBSOCKET)
    start(gateway, app)
    yield app
    gateway.http.post(f"/apps/{app}/stop")


@pytest.fixture
def serving(gateway, name):
    """Starts an app with the given `route`."""
    started = []

    def make(routes, script="serve()", on=gateway):
        app = name("proxied")
        make_app(on, app, script, routes=routes)
        start(on, app)
        started.append((on, app))
        return app

    yield make
    for where, app in started:
        if where.running:
            where.http.post(f"/apps/{app}/stop")


def fields_of(answer):
    return {name: value for name, value in answer.json()["fields"]}


# Requests.


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"])
def test_every_method_reaches_the_app(gateway, echo, method):
    answer = proxied(gateway, echo, "/some/path?a=1&a=2", method)
    assert answer.status_code == 200
    assert answer.json()["method"] == method and answer.json()["path"] == "/some/path?a=1&a=2"


@pytest.mark.parametrize("path", ["/", "/a%2Fb", "/a//b", "/%C3%A4?q=%20+&&x", "/a/", "/?", "/a;b=c", "/../x", "/%2e%2e/x"])
def test_the_path_is_passed_on_as_it_was_sent(gateway, echo, path):
    with Connection(gateway) as connection:
        answer = connection.request(f"GET /apps/{echo}/proxy{path} HTTP/1.1").answer()
    assert answer.json()["path"] == (path if path != "/?" else "/") or answer.json()["path"] == path.replace("&&", "&")


def test_without_the_token_nothing_reaches_the_app(gateway, echo):
    for headers in ({"Authorization": ""}, {"Authorization": "Bearer wrong"}):
        answer = proxied(gateway, echo, headers=headers)
        assert answer.status_code == 401 and answer.json() == {"error": "unauthorized"}
    assert proxied(gateway, echo, f"/?token={gateway.token}", headers={"Authorization": ""}).status_code == 401


def test_the_app_never_sees_the_token(gateway, echo):
    token = gateway.token
    path = f"/?token={token}&a=1&%74oken={token}&token=own&x={token}"
    answer = proxied(gateway, echo, path, headers={"Referer": f"http://x/?token={token}", "X-Copy": token,
                                                   "Cookie": f"token={token}"})
    assert token not in answer.text
    assert answer.json()["path"] == "/?a=1&token=own"
    assert "authorization" not in fields_of(answer)


def test_the_app_sees_its_own_host_and_origin(gateway, echo):
    own = f"127.0.0.1:{show(gateway, echo)['port']}"
    fields = fields_of(proxied(gateway, echo, headers={"Origin": gateway.url}))
    assert fields["host"] == own and fields["origin"] == f"http://{own}"
    assert fields["x-forwarded-host"] == f"127.0.0.1:{gateway.port}"
    assert fields["x-forwarded-proto"] == "http" and fields["x-forwarded-prefix"] == f"/apps/{echo}/proxy"


def test_a_foreign_origin_or_host_does_not_reach_it(gateway, echo):
    assert proxied(gateway, echo, headers={"Origin": "http://evil.example"}).status_code == 403
    assert proxied(gateway, echo, headers={"Host": "evil.example"}).status_code == 403


def test_what_concerns_one_connection_is_not_passed_on(gateway, echo):
    fields = fields_of(proxied(gateway, echo, headers={
        "Connection": "x-mine, keep-alive", "X-Mine": "1", "Keep-Alive": "timeout=5", "TE": "trailers",
        "Proxy-Authorization": "Basic x", "Upgrade": "h2c", "X-Theirs": "2"}))
    assert fields["x-theirs"] == "2"
    assert not {"x-mine", "keep-alive", "te", "proxy-authorization", "upgrade"} & set(fields)


@pytest.mark.parametrize("framing", ["length", "chunks"])
def test_a_large_body_is_streamed_both_ways(gateway, serving, framing):
    app = serving("body = self.body()\nself.answer(body)")
    body = os.urandom(1024 * 1024) * 24
    content = body if framing == "length" else iter([body[i:i + 100_000] for i in range(0, len(body), 100_000)])
    answer = proxied(gateway, app, "/", "POST", content=content)
    assert answer.status_code == 200
    assert hashlib.sha256(answer.content).digest() == hashlib.sha256(body).digest()


def test_a_client_that_waits_to_be_told_to_go_on_is_told(gateway, echo):
    with Connection(gateway) as connection:
        connection.request(f"POST /apps/{echo}/proxy/ HTTP/1.1", "Content-Length: 3", "Expect: 100-continue")
        assert connection.answer().status == 100
        answer = connection.send("abc").answer()
    assert answer.status == 200 and answer.json()["size"] == 3
    assert "expect" not in dict(map(tuple, answer.json()["fields"]))


def test_broken_chunks_are_not_passed_on(gateway, echo):
    with Connection(gateway) as connection:
        connection.request(f"POST /apps/{echo}/proxy/ HTTP/1.1", "Transfer-Encoding: chunked", body=b"zz\r\nabc\r\n")
        assert connection.answer().status in (400, 502)
        assert connection.closed()


def test_requests_follow_each_other_on_a_connection(gateway, echo):
    with Connection(gateway) as connection:
        for number in range(5):
            connection.request(f"POST /apps/{echo}/proxy/{number} HTTP/1.1", "Content-Length: 5", body=b"hello")
            assert connection.answer().json()["path"] == f"/{number}"
            connection.request("GET /health HTTP/1.1")
            assert connection.answer().status == 200
        connection.request(f"GET /apps/{echo}/proxy/a HTTP/1.1")
        connection.request(f"GET /apps/{echo}/proxy/b HTTP/1.1")
        assert [connection.answer().json()["path"] for _ in range(2)] == ["/a", "/b"]


def test_a_client_of_http_1_0(gateway, serving):
    app = serving("""
        self.send_response(200); self.send_header("Transfer-Encoding", "chunked"); self.end_headers()
        self.wfile.write(b"5\\r\\nhello\\r\\n0\\r\\n\\r\\n")
        """)
    with Connection(gateway) as connection:
        answer = connection.request(f"GET /apps/{app}/proxy/ HTTP/1.0").answer()
        assert answer.body == b"hello" and "transfer-encoding" not in answer.headers


# Answers.


def test_answers_have_no_cookies_and_a_fence(gateway, serving):
    app = serving("""
        self.answer("<p>page", 201, Content_Type="text/html", Set_Cookie="a=1", Content_Security_Policy="img-src *",
                    Clear_Site_Data='"*"', X_Own="yes", Cache_Control="max-age=5")
        """)
    answer = proxied(gateway, app)
    assert answer.status_code == 201 and answer.text == "<p>page"
    assert answer.headers["content-type"] == "text/html" and answer.headers["x-own"] == "yes"
    assert answer.headers.get_list("content-security-policy") == ["img-src *", FENCE]
    assert answer.headers["x-content-type-options"] == "nosniff" and answer.headers["cache-control"] == "max-age=5"
    assert "set-cookie" not in answer.headers and "clear-site-data" not in answer.headers


def test_answers_come_as_they_are_made(gateway, serving):
    app = serving("""
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


def test_redirects_are_not_followed(gateway, serving):
    app = serving("""self.answer("", 302, Location="http://169.254.169.254/latest/meta-data/")""")
    answer = proxied(gateway, app)
    assert answer.status_code == 302 and answer.headers["location"] == "http://169.254.169.254/latest/meta-data/"


@pytest.mark.parametrize("status", [204, 304])
def test_answers_without_a_body(gateway, serving, status):
    app = serving(f"self.send_response({status}); self.end_headers()")
    with Connection(gateway) as connection:
        for _ in range(2):
            assert connection.request(f"GET /apps/{app}/proxy/ HTTP/1.1").answer().status == status


def test_head_has_no_body(gateway, echo):
    with Connection(gateway) as connection:
        answer = connection.request(f"HEAD /apps/{echo}/proxy/ HTTP/1.1").answer(head_only=True)
        assert answer.status == 200 and int(answer.headers["content-length"]) > 0
        assert connection.request("GET /health HTTP/1.1").answer().status == 200


def test_interim_answers_are_left_out(gateway, serving):
    app = serving("""
        self.wfile.write(b"HTTP/1.1 103 Early Hints\\r\\nLink: </x>\\r\\n\\r\\n")
        self.answer("final")
        """)
    assert proxied(gateway, app).text == "final"


# Apps that break.


def test_one_that_answers_with_nonsense(gateway, serving):
    app = serving("""self.wfile.write(b"this is no HTTP\\r\\n\\r\\n"); self.close_connection = True""")
    answer = proxied(gateway, app)
    assert answer.status_code == 502 and answer.json() == {"error": "Dev server proxy failed"}


def test_one_that_closes_without_an_answer(gateway, serving):
    app = serving("self.close_connection = True")
    answer = proxied(gateway, app)
    assert answer.status_code == 502 and answer.json() == {"error": "Dev server proxy failed"}


@pytest.mark.parametrize("framing", ["length", "chunks"])
def test_one_that_cuts_in_mid_answer_is_seen_to(gateway, serving, framing):
    head = "Content-Length: 100" if framing == "length" else "Transfer-Encoding: chunked"
    body = "half" if framing == "length" else "4\\r\\nhalf\\r\\n"
    app = serving(f"""
        self.wfile.write(b"HTTP/1.1 200 OK\\r\\n{head}\\r\\n\\r\\n{body}"); self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR); self.close_connection = True
        """)
    with Connection(gateway) as connection:
        connection.request(f"GET /apps/{app}/proxy/ HTTP/1.1")
        with pytest.raises((EOFError, ValueError)):
            connection.answer()


def test_one_that_hangs_holds_nobody_else_up(gateway, serving):
    app = serving("""
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
    until_there(directory / "hung")
    assert proxied(gateway, app, "/other").status_code == 200
    assert gateway.http.get("/health").status_code == 200
    # A client that goes takes its request along.
    connection.reader.close()
    connection.socket.close()
    until_there(directory / "left")


def until_there(path, seconds=PATIENCE):
    deadline = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < deadline, path
        time.sleep(0.01)


def test_a_slow_reader_slows_the_app_down_and_nobody_else(gateway, serving):
    app = serving("""
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
    until_there(gateway.home / "apps" / app / "sent")
    assert int((gateway.home / "apps" / app / "sent").read_text()) < 64 << 20
    connection.close()


def test_an_endless_head_is_refused(gateway, serving):
    app = serving("""
        self.wfile.write(b"HTTP/1.1 200 OK\\r\\n")
        try:
            for _ in range(100000):
                self.wfile.write(b"X: " + b"y" * 1000 + b"\\r\\n")
        except OSError:
            pass
        self.close_connection = True
        """)
    assert proxied(gateway, app).status_code == 502


# WebSockets.


def socket_of(gateway, app, *headers, path="/socket?a=1", **options):
    return FrameConnection(gateway, f"/apps/{app}/proxy{path}", *headers, **options)


@pytest.mark.parametrize("credential", ["header", "subprotocol", "subprotocol and another", "query"])
def test_a_websocket_reaches_the_app_without_the_token(gateway, echo, credential):
    headers, path, chosen = [], "/socket?a=1", None
    if credential == "query":
        path = f"/socket?a=1&token={gateway.token}"
    elif credential == "subprotocol":
        headers, chosen = [f"Sec-WebSocket-Protocol: bearer, {gateway.token}"], "bearer"
    elif credential != "header":
        headers, chosen = [f"Sec-WebSocket-Protocol: bearer, {gateway.token}, app-protocol"], "app-protocol"
    with socket_of(gateway, echo, *headers, path=path, token=credential == "header") as connection:
        assert connection.handshake.headers.get("sec-websocket-protocol") == chosen
        opcode, seen = connection.receive()
        assert gateway.token.encode() not in seen and json.loads(seen)[0] == "/socket?a=1"
        for opcode, message in ((TEXT, b"hello"), (BINARY, b"\x00\x01"), (TEXT, b"x" * 100_000), (PING, b"ping")):
            connection.frame(opcode, message)
            assert connection.receive() == (opcode, message)


def test_an_app_may_use_a_token_parameter_of_its_own(gateway, echo):
    with socket_of(gateway, echo, path="/socket?token=own") as connection:
        assert json.loads(connection.receive()[1])[0] == "/socket?token=own"


@pytest.mark.parametrize("headers", [
    [], ["Sec-WebSocket-Protocol: bearer, wrong"], ["Authorization: Bearer wrong"],
])
def test_a_websocket_without_the_token_is_refused(gateway, echo, headers):
    socket_of(gateway, echo, *headers, token=False, expect=401).close()


def test_a_websocket_of_a_foreign_page_is_refused(gateway, echo):
    socket_of(gateway, echo, "Origin: http://evil.example", expect=403).close()


def test_a_websocket_that_the_app_does_not_want(gateway, serving):
    app = serving("""self.answer("no", 426)""")
    socket_of(gateway, app, expect=426).close()


def test_an_upgrade_with_a_body_is_an_ordinary_request(gateway, echo):
    with Connection(gateway) as connection:
        answer = connection.request(f"GET /apps/{echo}/proxy/x HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket",
                                    "Content-Length: 4", body=b"body").answer()
    assert answer.status == 200 and answer.json()["size"] == 4
    assert "upgrade" not in dict(map(tuple, answer.json()["fields"]))


def test_each_side_hears_when_the_other_goes(gateway, serving):
    app = serving(WEBSOCKET)
    connection = socket_of(gateway, app)
    connection.receive()
    connection.close()
    until_there(gateway.home / "apps" / app / "left")
    with socket_of(gateway, app) as connection:
        connection.receive()
        gateway.http.post(f"/apps/{app}/stop")
        assert connection.closed()


@pytest.mark.parametrize("change", ["disabled", "stopped"])
def test_an_app_that_is_to_end_is_asked_nothing_more(gateway, name, change):
    """Also while it still answers, or is about to end: that is neither its own answer nor a 502."""
    app = name("app")
    extension = make_app(gateway, app, "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); serve()")
    start(gateway, app)
    with ThreadPoolExecutor() as side:
        if change == "disabled":
            accepted(gateway.http.patch(f"/extensions/{extension['id']}", json={"enabled": False}))
        else:
            side.submit(httpx.post, f"{gateway.url}/apps/{app}/stop", headers=gateway.authorization, timeout=PATIENCE)
            wait_for(lambda: proxied(gateway, app).status_code != 200)
        answer = proxied(gateway, app)
        assert show(gateway, app)["pid"], "it has not ended yet"
        assert answer.status_code == 404 and answer.json() == {"error": f"No running dev server for {app}"}


def test_another_token_ends_what_is_passed_on(own, serving):
    app = serving(WEBSOCKET, on=own)
    with socket_of(own, app) as connection:
        connection.receive()
        assert own.command("token", "rotate").returncode == 0
        assert connection.closed()


def test_the_gateway_ends_in_spite_of_open_connections(own, serving):
    app = serving(WEBSOCKET, on=own)
    with socket_of(own, app) as connection:
        connection.receive()
        # A client is given 10 s to answer that its socket is closed, where nobody is in a hurry.
        assert seconds_of(own.stop) < 9 and own.process.returncode == 0
