"""Allowed hosts and origins: DNS rebinding and foreign pages.

See docs/contract/access.md#hosts-and-origins.
"""

import pytest

from checks import accepted
from connection import Connection
from gateway import StartFailed

EVIL = "http://evil.example"


def request(gateway, *headers, line="GET /health HTTP/1.1", host=None, token=True):
    """Sends a request with these header lines and this Host, by default the gateway's. Returns the response."""
    host = f"127.0.0.1:{gateway.port}" if host is None else host
    with Connection(gateway) as connection:
        connection.request(line, f"Host: {host.replace('PORT', str(gateway.port))}", *headers, host=False, token=token)
        return connection.response(head_only=line.startswith("HEAD"))


def preflight(gateway, origin, method="POST", path="/threads", **options):
    return request(gateway, f"Origin: {origin}", f"Access-Control-Request-Method: {method}",
                   "Access-Control-Request-Headers: authorization, content-type, idempotency-key",
                   line=f"OPTIONS {path} HTTP/1.1", token=False, **options)


def cors(response):
    return {name: value for name, value in response.headers.items() if name.startswith("access-control-")}


# Hosts.


@pytest.mark.parametrize("host", [
    "127.0.0.1", "127.0.0.1:PORT", "localhost", "localhost:PORT", "LocalHost:PORT", "[::1]", "[::1]:PORT", "127.0.0.2",
    "127.255.255.254:PORT", "localhost:1",
])
def test_loopback_names_and_addresses_are_allowed(gateway, host):
    assert request(gateway, host=host).status == 200


@pytest.mark.parametrize("host", [
    "evil.example", "evil.example:PORT", "localhost.evil.example", "127.0.0.1.evil.example:PORT", "evillocalhost",
    "10.0.0.1",
    "192.168.1.1:PORT", "0.0.0.0", "0.0.0.0:PORT", "[::]", "[2001:db8::1]:PORT", "128.0.0.1", "127.0.0.1.nip.io",
    "1270.0.1",
    "localhost.localdomain", "metadata.google.internal", "169.254.169.254",
])
def test_foreign_host_is_refused(gateway, host):
    for line in ("GET /health HTTP/1.1", "GET /threads HTTP/1.1", "GET /nothing HTTP/1.1", "POST /chat HTTP/1.1"):
        response = request(gateway, line=line, host=host)
        assert (response.status, response.error) == (403, "host not allowed")


@pytest.mark.parametrize("host", ["", "127.0.0.1@evil.example", "evil.example/127.0.0.1", "127.0.0.1 evil.example",
                                  "127.0.0.1,evil.example", "127.0.0.1:PORT:80", "[::1", "localhost:port"])
def test_malformed_host_is_refused(gateway, host):
    assert request(gateway, host=host).status in (400, 403)


def test_foreign_host_is_refused_with_any_credential(gateway):
    assert request(gateway, line="GET /threads HTTP/1.1", host="evil.example", token=False).status == 403
    upgrade = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
               "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]
    response = request(gateway, *upgrade, line="GET /ws HTTP/1.1", host="evil.example")
    assert (response.status, response.error) == (403, "host not allowed")


def test_configured_hosts_are_allowed(make_gateway):
    gateway = make_gateway(config={"hosts": ["gateway.example", "other.example"]}).start()
    for host in ("gateway.example", "GATEWAY.example:PORT", "other.example:443", "localhost"):
        assert request(gateway, host=host).status == 200
    for host in ("evil.example", "sub.gateway.example"):
        assert request(gateway, host=host).status == 403


# Origins.


@pytest.mark.parametrize("origin", [
    "http://localhost:PORT", "http://localhost.:PORT", "http://127.0.0.1:PORT", "http://[::1]:PORT"])
def test_gateways_own_origins_are_allowed(gateway, origin):
    origin = origin.replace("PORT", str(gateway.port))
    assert request(gateway, f"Origin: {origin}").status == 200
    assert request(gateway, f"Origin: {origin}", line="GET /threads HTTP/1.1").status == 200


@pytest.mark.parametrize("origin", [
    EVIL, "null", "", "http://localhost", "http://127.0.0.1", "http://localhost:1",
    "http://localhost.evil.example:PORT", "http://localhost..:PORT",
    "http://127.0.0.1.evil.example:PORT", "http://127.0.0.2:PORT", "file://", "http://localhost:PORT/",
    "localhost:PORT",
    "http://localhost:PORT.evil.example", "http://evil.example, http://localhost:PORT", "http://user@localhost:PORT",
    "ws://localhost:PORT", "chrome-extension://abcdef",
])
def test_foreign_origin_is_refused(gateway, origin):
    origin = origin.replace("PORT", str(gateway.port))
    for line in ("GET /health HTTP/1.1", "GET /threads HTTP/1.1", "POST /chat HTTP/1.1", "GET /nothing HTTP/1.1"):
        response = request(gateway, f"Origin: {origin}", line=line)
        assert (response.status, response.error) == (403, "origin not allowed")
        assert cors(response) == {}


def test_foreign_origin_takes_precedence_over_a_missing_token(gateway):
    assert request(gateway, f"Origin: {EVIL}", line="GET /threads HTTP/1.1", token=False).error == "origin not allowed"


def test_configured_origins_are_allowed(make_gateway):
    gateway = make_gateway(config={"origins": ["https://page.example"]}).start()
    response = request(gateway, "Origin: https://page.example")
    assert response.status == 200 and response.headers["access-control-allow-origin"] == "https://page.example"
    for origin in ("http://page.example", "https://page.example:8443", "https://sub.page.example", EVIL):
        assert request(gateway, f"Origin: {origin}").status == 403
    with gateway.events(origin="https://page.example") as events:
        assert events.ask({"type": "ping"}) == {"type": "pong"}
    assert preflight(gateway, "https://page.example").status == 204


# CORS.


def test_allowed_foreign_origin_gets_cors_headers_on_every_response(gateway):
    origin = f"http://localhost:{gateway.port}"
    for line, token, status in [("GET /health HTTP/1.1", True, 200), ("GET /threads HTTP/1.1", True, 200),
                                ("GET /threads HTTP/1.1", False, 401), ("GET /nothing HTTP/1.1", True, 404),
                                ("PUT /threads HTTP/1.1", True, 405), ("GET /threads?limit=x HTTP/1.1", True, 400)]:
        response = request(gateway, f"Origin: {origin}", line=line, token=token)
        assert response.status == status and response.headers.get("access-control-allow-origin") == origin


def test_own_origin_gets_no_cors_headers(gateway):
    response = request(gateway, f"Origin: http://127.0.0.1:{gateway.port}")
    assert response.status == 200 and cors(response) == {}
    response = request(gateway, f"Origin: http://localhost:{gateway.port}", host="localhost:PORT")
    assert response.status == 200 and cors(response) == {}


def test_request_without_an_origin_gets_no_cors_headers(gateway):
    assert cors(request(gateway)) == {}


def test_every_origin_of_a_request_must_be_allowed(gateway):
    own_origin = f"http://localhost:{gateway.port}"
    for first, second in ((own_origin, EVIL), (EVIL, own_origin)):
        response = request(gateway, f"Origin: {first}", f"Origin: {second}")
        assert (response.status, response.error) == (403, "origin not allowed")


def test_preflight_of_the_page_has_no_cors_headers(gateway):
    response = preflight(gateway, f"http://127.0.0.1:{gateway.port}", "GET", "/modes")
    assert response.status == 204 and not cors(response)


def test_refusal_below_the_page_has_its_headers(gateway):
    for response in (request(gateway, host="evil.example", line="GET /ui/ HTTP/1.1"),
                   request(gateway, f"Origin: {EVIL}", line="GET /ui/assets/x HTTP/1.1")):
        assert response.status == 403 and "frame-ancestors 'none'" in response.headers["content-security-policy"]


@pytest.mark.parametrize("method, path", [("POST", "/threads"), ("PATCH", "/threads/x"), ("DELETE", "/turns/x"),
                                          ("GET", "/extensions"), ("POST", "/chat")])
def test_preflight_is_204_without_a_token(gateway, method, path):
    origin = f"http://localhost:{gateway.port}"
    response = preflight(gateway, origin, method, path)
    assert response.status == 204 and response.body == b""
    assert response.headers["access-control-allow-origin"] == origin
    assert method in {found.strip() for found in response.headers["access-control-allow-methods"].split(",")}
    allowed = {found.strip().lower() for found in response.headers["access-control-allow-headers"].split(",")}
    assert {"authorization", "content-type", "idempotency-key"} <= allowed


def test_mcp_clients_in_a_browser_may_send_and_read_their_headers(gateway):
    origin = f"http://localhost:{gateway.port}"
    allowed = preflight(gateway, origin, path="/mcp").headers["access-control-allow-headers"].lower().split(", ")
    assert {"mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name", "last-event-id"} <= set(allowed)
    response = request(gateway, f"Origin: {origin}", line="GET /mcp HTTP/1.1")
    assert "Mcp-Session-Id" in response.headers["access-control-expose-headers"].split(", ")


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages"])
def test_model_clients_in_a_browser_may_send_and_read_their_headers(gateway, path):
    origin = f"http://localhost:{gateway.port}"
    allowed = preflight(gateway, origin, path=path).headers["access-control-allow-headers"].lower().split(", ")
    assert {"authorization", "*"} <= set(allowed), "* covers x-api-key, anthropic-version, x-stainless-… and others"
    response = request(gateway, f"Origin: {origin}", line=f"GET {path} HTTP/1.1")
    assert {"X-Thread-Id", "Retry-After"} <= set(response.headers["access-control-expose-headers"].split(", "))


def test_page_of_another_origin_may_read_which_run_it_started(gateway):
    response = request(gateway, f"Origin: http://localhost:{gateway.port}", line="POST /run/compile-knowledge HTTP/1.1")
    assert response.status == 202 and response.headers["x-run-id"]
    assert "X-Run-Id" in response.headers["access-control-expose-headers"].split(", ")


def test_preflight_of_a_foreign_origin_or_host_is_refused(gateway):
    for origin in (EVIL, "null"):
        response = preflight(gateway, origin)
        assert (response.status, response.error) == (403, "origin not allowed") and cors(response) == {}
    assert preflight(gateway, f"http://localhost:{gateway.port}", host="evil.example").error == "host not allowed"


def test_options_without_an_origin_is_not_a_preflight(gateway):
    assert request(gateway, line="OPTIONS /threads HTTP/1.1", token=False).status == 401
    assert request(gateway, line="OPTIONS /threads HTTP/1.1").status == 405


# Listening beyond loopback.


def test_beyond_loopback_ip_addresses_and_configured_hosts_are_allowed(make_gateway):
    gateway = make_gateway(config={"hosts": ["gateway.example", "dotted.example."]}, arguments=["--host", "0.0.0.0"])
    gateway.start()
    for host in ("127.0.0.1:PORT", "10.1.2.3:PORT", "[2001:db8::1]:PORT", "gateway.example", "dotted.example:PORT",
                 "dotted.example.:PORT"):
        assert request(gateway, host=host).status == 200
    response = request(gateway, host="evil.example:PORT")
    assert (response.status, response.error) == (403, "host not allowed")
    assert "warn" in gateway.stderr.lower()


def test_beyond_loopback_a_token_is_required_to_start(make_gateway):
    with pytest.raises(StartFailed) as failed:
        make_gateway(arguments=["--host", "0.0.0.0", "--no-token"]).start()
    assert failed.value.status == 2 and "token" in failed.value.stderr and failed.value.stdout == ""


def test_any_loopback_address_counts_as_loopback(make_gateway):
    gateway = make_gateway(arguments=["--host", "localhost"]).start()
    accepted(gateway.http.get("/health"))
    assert request(gateway, host="evil.example").status == 403
