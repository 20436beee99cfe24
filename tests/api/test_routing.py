"""Checks that precede the handler: routes, methods, paths, headers, and their order.

See docs/contract/requests.md#order-of-checks and docs/contract/requests.md#paths-and-queries.
"""

import pytest

from checks import UNKNOWN_ID, accepted, refused
from connection import Connection

GET_ROUTES = ["/health", "/extensions", "/threads", "/turns/search?q=a&agent_id=assistant", "/threads/:id",
              "/threads/:id/turns", "/threads/:id/events?runId=x", "/extensions/:assistant"]
OVER_LIMIT = 10 * 1024 * 1024 + 1


def fill_path(gateway, path, thread):
    """Fills the placeholders of the path."""
    if ":assistant" in path:
        path = path.replace(":assistant", assistant(gateway)["id"])
    return path.replace(":id", thread["id"])


def assistant(gateway):
    return accepted(gateway.http.get("/extensions", params={"type": "agent", "source": "built-in"}))[0]


def raw(gateway, line, *headers, **options):
    """Returns the response to a request whose line is sent exactly as given."""
    with Connection(gateway) as connection:
        return connection.request(line, *headers, **options).response(head_only=line.startswith("HEAD"))


# 401, 404, 405.


@pytest.mark.parametrize("method, path", [
    ("GET", "/extensions"), ("POST", "/extensions"), ("GET", "/threads"), ("POST", "/chat"), ("POST", "/chat/stop"),
    ("GET", "/turns/search"), ("DELETE", f"/turns/{UNKNOWN_ID}"), ("POST", "/daemon/stop"), ("POST", "/daemon/restart"),
    ("PATCH", f"/threads/{UNKNOWN_ID}"), ("GET", "/openapi.json"), ("GET", "/nothing/here"), ("POST", "/health"),
    ("DELETE", "/threads"),
])
def test_every_route_except_health_needs_a_token(gateway, method, path):
    refused(gateway.anonymous.request(method, path), 401, "unauthorized")


@pytest.mark.parametrize("value", [
    "", "Bearer", "Bearer ", "Bearer wrong", "Basic {token}", "{token}", "Bearer {token}x", "Bearer {upper}",
    "Bearer {token} {token}", "Token {token}", "Bearer {half}", "Bearer \"{token}\"", "Bearer={token}",
])
def test_wrong_token_or_scheme_is_unauthorized(gateway, value):
    token = gateway.token
    value = value.format(token=token, upper=token.upper(), half=token[:32])
    response = raw(gateway, "GET /threads HTTP/1.1", f"Authorization: {value}", token=False)
    assert (response.status, response.error) == (401, "unauthorized")


def test_health_needs_no_token_and_ignores_a_wrong_one(gateway):
    body = accepted(gateway.anonymous.get("/health"))
    assert body["status"] == "ok" and isinstance(body["uptime"], (int, float)) and body["uptime"] >= 0
    accepted(gateway.anonymous.get("/health", headers={"Authorization": "Bearer wrong"}))


def test_uptime_grows(gateway):
    first, second = (accepted(gateway.anonymous.get("/health"))["uptime"] for _ in range(2))
    assert second >= first


@pytest.mark.parametrize("path", [
    "/nothing", "/threads/", "/extensions/", "//threads", "/threads//turns", "/health/", "/Threads", "/threads/a/b/c",
    "/chat/", "/graph/nodes", "/turns", "/turns/", "/threads;x=1", "/v1/threads", "/./threads", "/a/../threads",
    "/threads/../health", "/threads%2F", "/health%20",
])
def test_unmatched_path_is_not_found(gateway, path):
    response = raw(gateway, f"GET {path} HTTP/1.1")
    assert (response.status, response.error) == (404, "not found")


@pytest.mark.parametrize("method, path, allowed", [
    ("POST", "/health", {"GET", "HEAD"}), ("DELETE", "/threads", {"GET", "HEAD", "POST"}),
    ("PUT", "/extensions", {"GET", "HEAD", "POST"}), ("GET", "/chat", {"POST"}), ("GET", "/chat/stop", {"POST"}),
    ("GET", "/daemon/stop", {"POST"}), ("PUT", "/threads/:id", {"GET", "HEAD", "PATCH", "DELETE"}),
    ("DELETE", "/threads/:id/turns", {"GET", "HEAD", "POST"}), ("POST", "/turns/search", {"GET", "HEAD"}),
    ("GET", "/threads/:id/fork", {"POST"}), ("BREW", "/threads", {"GET", "HEAD", "POST"}),
    ("PUT", "/extensions/:id/toggle", {"POST"}), ("OPTIONS", "/chat", {"POST"}),
])
def test_wrong_method_is_405_with_allow(gateway, thread, method, path, allowed):
    response = gateway.http.request(method, path.replace(":id", thread["id"]))
    refused(response, 405, "method not allowed")
    named = {found.strip() for found in response.headers["allow"].split(",")}
    assert allowed <= named and method not in named - {"OPTIONS"}


def test_turns_by_id_allow_only_delete(gateway):
    response = gateway.http.get(f"/turns/{UNKNOWN_ID}")
    refused(response, 405, "method not allowed")
    assert "DELETE" in response.headers["allow"]


# HEAD.


@pytest.mark.parametrize("path", GET_ROUTES)
def test_every_get_route_supports_head(gateway, thread, path):
    path = fill_path(gateway, path, thread)
    with Connection(gateway) as connection:
        head = connection.request(f"HEAD {path} HTTP/1.1").response(head_only=True)
        after = connection.request("GET /health HTTP/1.1").response()
    get = gateway.http.get(path)
    assert head.status == get.status_code == 200
    assert head.headers["content-type"] == get.headers["content-type"]
    assert after.status == 200 and after.json()["status"] == "ok", "the answer to HEAD had a body"


def test_head_of_a_missing_record_has_the_status_of_get(gateway):
    assert gateway.http.head(f"/threads/{UNKNOWN_ID}").status_code == 404
    assert gateway.http.head("/nothing").status_code == 404
    assert gateway.http.head("/chat").status_code == 405
    assert gateway.anonymous.head("/threads").status_code == 401


# Paths are split, then decoded, never normalised.


def test_path_is_percent_decoded(gateway, thread):
    assert raw(gateway, "GET /%74hreads HTTP/1.1").status == 200
    assert raw(gateway, f"GET /threads/{thread['id'].replace('-', '%2D')} HTTP/1.1").json()["id"] == thread["id"]
    assert raw(gateway, f"GET /threads/{thread['id'].replace('-', '%2d')} HTTP/1.1").json()["id"] == thread["id"]


@pytest.mark.parametrize("segment", ["..", ".", "%2e%2e", "a%2Fb", "%2e%2e%2fhealth", "a%5Cb", "%20", "a+b", "%C3%A9"])
def test_encoded_slash_does_not_split_a_segment(gateway, segment):
    response = raw(gateway, f"GET /threads/{segment} HTTP/1.1")
    assert (response.status, response.error) == (404, "thread not found")


@pytest.mark.parametrize("path", ["/threads/%00", "/threads/a%00b/turns", "/extensions/%00"])
def test_nul_in_a_path_is_refused(gateway, path):
    assert raw(gateway, f"GET {path} HTTP/1.1").status == 400


@pytest.mark.parametrize("path", ["/threads/%", "/threads/%zz", "/threads/%4", "/threads/%ff%fe"])
def test_undecodable_path_is_refused(gateway, path):
    response = raw(gateway, f"GET {path} HTTP/1.1")
    assert response.status in (400, 404) and response.error


def test_plus_in_a_path_is_a_plus(gateway):
    assert raw(gateway, "GET /he+alth HTTP/1.1").status == 404


def test_id_is_compared_exactly(gateway, thread):
    refused(gateway.http.get(f"/threads/{thread['id'].upper()}"), 404, "thread not found")


@pytest.mark.parametrize("method, path, error", [
    ("GET", "/threads/:x", "thread not found"), ("PATCH", "/threads/:x", "thread not found"),
    ("DELETE", "/threads/:x", "thread not found"), ("GET", "/threads/:x/turns", "thread not found"),
    ("POST", "/threads/:x/turns", "thread not found"), ("POST", "/threads/:x/fork", "thread not found"),
    ("GET", "/threads/:x/events?runId=a", "thread not found"), ("DELETE", "/turns/:x", "turn not found"),
    ("POST", "/turns/:x/regenerate", "turn not found"), ("GET", "/extensions/:x", "extension not found"),
    ("PATCH", "/extensions/:x", "extension not found"), ("DELETE", "/extensions/:x", "extension not found"),
    ("POST", "/extensions/:x/toggle", "extension not found"),
    ("POST", "/permissions/:x", "permission request not found"), ("POST", "/runs/:x/undo", "run not found"),
    ("POST", "/threads/:x/rewind", "thread not found"),
])
def test_unknown_record_in_the_path_is_not_found(gateway, method, path, error):
    for unknown in (UNKNOWN_ID, "x", "%F0%9F%98%80", "a" * 10_000, "'%20OR%201=1--"):
        body = {"json": {}} if method in ("POST", "PATCH") else {}
        refused(gateway.http.request(method, path.replace(":x", unknown), **body), 404, error)


@pytest.mark.parametrize("path, error", [
    ("/turns/:x/regenerate", "turn not found"), ("/permissions/:x", "permission request not found"),
    ("/runs/:x/undo", "run not found"), ("/threads/:x/rewind", "thread not found"),
    ("/threads/:x/turns", "thread not found"), ("/threads/:x/fork", "thread not found"),
])
@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"decision": "maybe"}'])
def test_unknown_record_in_the_path_takes_precedence_over_the_body(gateway, path, error, body):
    refused(gateway.http.post(path.replace(":x", UNKNOWN_ID), content=body), 404, error)


# Headers.


@pytest.mark.parametrize("line, status", [
    ("GET /health HTTP/1.1", 200), ("GET /threads HTTP/1.1", 200), ("GET /nothing HTTP/1.1", 404),
    ("PUT /health HTTP/1.1", 405), ("GET /threads HTTP/9.9", 505), ("GET /threads?limit=x HTTP/1.1", 400),
])
def test_every_response_has_the_general_headers(gateway, line, status):
    response = raw(gateway, line)
    assert response.status == status
    assert response.headers["content-type"] == "application/json; charset=utf-8"
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["x-content-type-options"] == "nosniff"
    once = ("content-type", "cache-control", "content-length", "x-content-type-options")
    assert sorted(name for name, _ in response.repeated if name in once) == sorted(once)


def test_204_has_no_body_and_no_content_type(gateway, thread):
    response = raw(gateway, f"DELETE /threads/{thread['id']} HTTP/1.1")
    assert response.status == 204 and "content-type" not in response.headers
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["x-content-type-options"] == "nosniff"


# The order of checks: each request violates two rules, and the earlier check applies.

FOREIGN_HOST = "Host: evil.example"
FOREIGN_ORIGIN = "Origin: http://evil.example"


@pytest.mark.parametrize("line, headers, options, status, error", [
    ("GET /threads HTTP/1.1", ["Host: evil.example", "Host: evil.example"], {"host": False}, 400, None),
    ("GET /threads HTTP/1.1", [FOREIGN_HOST, FOREIGN_ORIGIN], {"host": False}, 403, "host not allowed"),
    ("POST /threads HTTP/1.1", [FOREIGN_ORIGIN, f"Content-Length: {OVER_LIMIT}"], {}, 403, "origin not allowed"),
    ("POST /threads HTTP/1.1", [f"Content-Length: {OVER_LIMIT}"], {"token": False}, 413, "request body too large"),
    ("GET /nothing HTTP/1.1", [], {"token": False}, 401, "unauthorized"),
    ("PUT /threads HTTP/1.1", [], {"token": False}, 401, "unauthorized"),
    ("POST /nothing HTTP/1.1", ["Content-Length: 1"], {"body": b"{"}, 404, "not found"),
    ("PUT /threads HTTP/1.1", ["Content-Length: 1"], {"body": b"{"}, 405, "method not allowed"),
    (f"POST /threads/{UNKNOWN_ID}/turns HTTP/1.1", ["Content-Length: 1"], {"body": b"{"}, 404, "thread not found"),
    (f"GET /threads/{UNKNOWN_ID}/turns?limit=x HTTP/1.1", [], {}, 404, "thread not found"),
    (f"PATCH /extensions/{UNKNOWN_ID} HTTP/1.1", ["Content-Length: 1"], {"body": b"{"}, 404, "extension not found"),
])
def test_earlier_check_takes_precedence(gateway, line, headers, options, status, error):
    response = raw(gateway, line, *headers, **options)
    assert response.status == status
    assert error is None or response.error == error


def test_endless_chunked_body_without_a_token_is_unauthorized(gateway):
    with Connection(gateway) as connection:
        connection.request("POST /threads HTTP/1.1", "Transfer-Encoding: chunked", token=False)
        for _ in range(OVER_LIMIT // 0x10000 + 1):
            connection.send(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
        response = connection.response()
    assert (response.status, response.error) == (401, "unauthorized")


def test_endless_chunked_body_to_an_unmatched_route_is_not_found(gateway):
    with Connection(gateway) as connection:
        connection.request("POST /nothing HTTP/1.1", "Transfer-Encoding: chunked")
        for _ in range(OVER_LIMIT // 0x10000 + 1):
            connection.send(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
        response = connection.response()
    assert (response.status, response.error) == (404, "not found")


def test_invalid_body_takes_precedence_over_an_unknown_record(gateway):
    body = {"content": 1, "threadId": UNKNOWN_ID}
    refused(gateway.http.post("/chat", json=body), 400, "content must be a string")
    refused(gateway.http.post("/chat", json={"content": "a", "threadId": UNKNOWN_ID}), 404, "thread not found")
    refused(gateway.http.post("/threads", json={"title": 1, "project_id": UNKNOWN_ID}), 400, "title must be a string")


def test_invalid_body_precedes_403_which_precedes_409(gateway, new_name):
    built_in = accepted(gateway.http.get("/extensions", params={"type": "theme", "source": "built-in"}))[0]
    path = f"/extensions/{built_in['id']}"
    assert gateway.http.patch(path, json={"description": 1}).status_code == 400
    refused(gateway.http.patch(path, json={"name": "assistant"}), 403, "built-in extensions are not editable")
    refused(gateway.http.patch(path, json={"description": "a", "if_updated_at": "2000-01-01T00:00:00.000Z"}), 403,
            "built-in extensions are not editable")
