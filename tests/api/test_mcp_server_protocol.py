"""The MCP server's messages, revisions, sessions and errors.

See docs/contract/mcp.md.
"""

import contextlib
import http.client
import json

import httpx
import pytest

from checks import PATIENCE, accepted, nested
from mcp_client import CAPABILITIES, LEGACY, MODERN, VERSION, Client

ALL_VERSIONS = [*LEGACY, MODERN]


@pytest.mark.parametrize("version", LEGACY)
def test_handshake_of_each_revision(gateway, version):
    with Client(gateway, version) as client:
        assert client.initialized["protocolVersion"] == version
        assert client.initialized["serverInfo"]["name"] == "agent-gateway"
        assert {"tools", "prompts", "resources", "completions", "logging"} == set(client.initialized["capabilities"])
        assert client.result("ping") == {}


def test_unknown_revision_gets_the_newest_with_a_handshake(gateway):
    with Client(gateway) as client:
        params = {"protocolVersion": "1999-01-01", "capabilities": {}}
        headers = {"Authorization": client.http.headers["Authorization"]}
        response = httpx.post(gateway.url + "/mcp", headers=headers, json={
            "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
        assert response.json()["result"]["protocolVersion"] == "2025-11-25"


def test_newest_revision_needs_no_handshake(gateway):
    with Client(gateway, MODERN) as client:
        found = client.result("server/discover")
        assert found["resultType"] == "complete" and found["supportedVersions"] == [MODERN, *reversed(LEGACY)]
        listed = client.result("tools/list")
        assert listed["resultType"] == "complete" and listed["cacheScope"] == "private" and listed["ttlMs"] > 0
        assert client.call("get_health")["structuredContent"]["status"] == "ok"


@pytest.mark.parametrize("method", ["initialize", "ping", "logging/setLevel", "resources/subscribe", "nonsense"])
def test_method_of_other_revisions_is_unknown_without_a_session(gateway, method):
    with Client(gateway, MODERN) as client:
        message, headers = client.request(method)
        response = client.http.post("/mcp", json=message, headers=headers)
        assert response.status_code == 404 and response.json()["error"]["code"] == -32601
        assert response.json()["id"] == message["id"]


@pytest.mark.parametrize("method", ["server/discover", "subscriptions/listen", "tools/nonsense", "nonsense"])
def test_unknown_method_in_a_session_is_refused(gateway, method):
    with Client(gateway) as client:
        assert client.error(method) == {"code": -32601, "message": f"unknown method {method}"}


@pytest.mark.parametrize("token", [None, "Bearer wrong", "Basic eDp5"])
@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
def test_request_without_the_token_is_challenged(gateway, method, token):
    response = httpx.request(method, gateway.url + "/mcp", headers={"Authorization": token} if token else {})
    assert response.status_code == 401 and response.json() == {"error": "unauthorized"}
    assert response.headers["www-authenticate"] == 'Bearer realm="agent-gateway"'


def test_page_of_another_origin_is_refused(gateway):
    with Client(gateway) as client:
        response = client.post({"Origin": "https://evil.example"}, id=1, method="ping")
        assert (response.status_code, response.json()) == (403, {"error": "origin not allowed"})
        assert client.post({"Host": "evil.example"}, id=1, method="ping").status_code == 403
        assert client.post({"Origin": gateway.url}, id=1, method="ping").status_code == 200


@pytest.mark.parametrize("body, code", [
    ("{", -32700), ("", -32700), ("\x00", -32700), ('{"a":1e999}', -32700), ("[" * 100_000, -32700), ('"text"', -32600),
    ("null", -32600), ("[]", -32600), ("[1]", -32600), ('{"id":1,"method":"ping"}', -32600),
    ('{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600), ('{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
    ('{"jsonrpc":"2.0","id":[],"method":"ping"}', -32600), ('{"jsonrpc":"2.0","id":1,"method":5}', -32600),
    ('{"jsonrpc":"2.0","id":1,"method":"ping","params":5}', -32600), ('{"jsonrpc":"2.0"}', -32600),
    ('{"jsonrpc":"2.0","id":1}', -32600),
], ids=lambda value: str(value)[:40])
@pytest.mark.parametrize("version", ["2025-11-25", MODERN])
def test_invalid_message_is_refused_and_harmless(gateway, version, body, code):
    with Client(gateway, version) as client:
        response = client.post_raw(body)
        assert response.status_code == 400 and response.json()["error"]["code"] == code, response.text
        assert client.result("tools/list")["tools"]


def test_ten_mebibytes_of_nesting_are_refused_without_harm(gateway):
    with Client(gateway) as client:
        response = client.post_raw("[" * (10 * 1024 * 1024))
        assert (response.status_code, response.json()["error"]["code"]) == (400, -32700)
        deep = '{"a":' * 2_000_000 + "1" + "}" * 50_000
        assert client.post_raw(deep[:10 * 1024 * 1024]).json()["error"]["code"] == -32700
        flat = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":[' + "[]," * 3_000_000 + "[]]}}"
        error = client.post_raw(flat).json()["error"]
        assert error["code"] == -32700 and "over 500,000 values" in error["message"]
        assert client.result("ping") == {}


def test_larger_body_is_refused(gateway):
    with Client(gateway) as client:
        response = client.post_raw("x" * (10 * 1024 * 1024 + 1))
        assert (response.status_code, response.json()) == (413, {"error": "request body too large"})


def test_deeply_nested_arguments_are_forwarded(own_gateway):
    with Client(own_gateway, path="/mcp?tools=all") as client:
        body = {"type": "widget", "name": "deep", "description": "", "definition": {"x": nested(62)}}
        assert client.call("post_extensions", body=body)["structuredContent"]["definition"] == body["definition"]


# Sessions.

def test_request_without_a_session_is_refused(gateway):
    with Client(gateway) as client:
        client.headers.pop("Mcp-Session-Id")
        response = client.post(id=7, method="tools/list")
        assert response.status_code == 400 and response.json()["id"] == 7
        assert response.json()["error"] == {"code": -32600, "message": "Mcp-Session-Id is required: send initialize first"}


def test_unknown_session_is_not_found(gateway):
    with Client(gateway) as client:
        client.headers["Mcp-Session-Id"] = "0" * 32
        for response in (client.post(id=1, method="ping"), client.http.get("/mcp", headers=client.headers),
                         client.http.delete("/mcp", headers=client.headers)):
            assert response.status_code == 404 and response.json()["error"]["code"] == -32600


def test_session_ends_when_it_is_deleted(gateway):
    with Client(gateway) as client:
        assert client.http.delete("/mcp", headers=client.headers).status_code == 204
        assert client.post(id=1, method="ping").status_code == 404


def test_session_has_a_single_revision(gateway):
    with Client(gateway, "2025-06-18") as client:
        for version, status in (("2025-06-18", 200), ("2025-11-25", 400), ("2025-03-26", 400)):
            response = client.post({"MCP-Protocol-Version": version}, id=1, method="ping")
            assert response.status_code == status, version
        response = client.post({"MCP-Protocol-Version": "1999-01-01"}, id=1, method="ping")
        error = response.json()["error"]
        assert response.status_code == 400 and error["code"] == -32022 and error["data"]["requested"] == "1999-01-01"
        assert error["data"]["supported"][0] == MODERN and "2025-06-18" in error["data"]["supported"]


def test_second_handshake_in_a_session_is_refused(gateway):
    with Client(gateway) as client:
        response = client.post(id=1, method="initialize", params={"protocolVersion": "2025-11-25", "capabilities": {}})
        assert response.status_code == 400 and response.json()["error"]["code"] == -32600


@pytest.mark.slow
def test_101st_session_replaces_an_idle_one(own_gateway):
    with Client(own_gateway) as first, Client(own_gateway) as second:
        for _ in range(99):
            Client(own_gateway).http.close()
        assert first.post(id=1, method="ping").status_code == 404
        assert second.post(id=1, method="ping").status_code == 200


def test_other_methods_are_not_allowed(gateway):
    with Client(gateway) as client:
        response = client.http.put("/mcp", headers=client.headers)
        assert response.status_code == 405 and "POST" in response.headers["allow"]


def test_response_to_head_has_no_body(gateway):
    """A body would be read as the next response of the connection."""
    connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=PATIENCE)
    with Client(gateway) as client, contextlib.closing(connection) as plain:
        unknown = {**client.headers, "Mcp-Session-Id": "0" * 32}
        for headers, status in ((client.headers, 200), (unknown, 404), ({**unknown, "Accept": "text/plain"}, 406)):
            plain.request("HEAD", "/mcp", headers={**headers, "Authorization": f"Bearer {gateway.token}"})
            response = plain.getresponse()
            assert (response.status, response.read()) == (status, b"")
            plain.request("GET", "/health")
            assert json.loads(plain.getresponse().read())["status"] == "ok"


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_stateless_revision_has_neither_streams_nor_sessions(gateway, method):
    with Client(gateway, MODERN) as client:
        response = client.http.request(method, "/mcp", headers=client.headers)
        assert (response.status_code, response.headers["allow"]) == (405, "POST")


def test_general_stream_needs_a_client_that_reads_events(gateway):
    with Client(gateway) as client:
        assert client.http.get("/mcp", headers={**client.headers, "Accept": "application/json"}).status_code == 406


# Batches.

def test_batch_is_accepted_in_the_revision_that_has_batches(gateway):
    with Client(gateway, "2025-03-26") as client:
        batch = accepted(client.post_raw(json.dumps([
            {"jsonrpc": "2.0", "id": "a", "method": "ping"}, {"jsonrpc": "2.0", "method": "notifications/nonsense"},
            {"jsonrpc": "2.0", "id": "b", "method": "nonsense"}, 5])))
        assert {one["id"]: one.get("error", {}).get("code") for one in batch} == {"a": None, "b": -32601, None: -32600}
        only = client.post_raw(json.dumps([{"jsonrpc": "2.0", "method": "notifications/nonsense"}]))
        assert (only.status_code, only.content) == (202, b"")


@pytest.mark.parametrize("version", [version for version in LEGACY if version != "2025-03-26"])
def test_batch_of_another_revision_is_refused(gateway, version):
    with Client(gateway, version) as client:
        response = client.post_raw('[{"jsonrpc":"2.0","id":1,"method":"ping"}]')
        assert (response.status_code, response.json()["error"]["code"]) == (400, -32600)


def test_batch_of_too_many_messages_is_refused(gateway):
    with Client(gateway, "2025-03-26") as client:
        response = client.post_raw(json.dumps([{"jsonrpc": "2.0", "id": 1, "method": "ping"}] * 101))
        assert (response.status_code, response.json()["error"]["code"]) == (400, -32600)


# Requests of 2026-07-28.

@pytest.mark.parametrize("params", [
    {}, {"_meta": {}}, {"_meta": 5}, {"_meta": {VERSION: MODERN}}, {"_meta": {CAPABILITIES: {}}},
    {"_meta": {VERSION: MODERN, CAPABILITIES: []}},
], ids=str)
def test_request_names_its_revision_and_the_clients_capabilities(gateway, params):
    with Client(gateway, MODERN) as client:
        response = client.post({"Mcp-Method": "tools/list"}, id=9, method="tools/list", params=params)
        assert (response.status_code, response.json()["error"]["code"], response.json()["id"]) == (400, -32602, 9)


@pytest.mark.parametrize("headers", [
    {"MCP-Protocol-Version": "2025-11-25"}, {"Mcp-Method": "tools/list"}, {"Mcp-Name": "get_soul"},
    {"Mcp-Name": "=?base64?%%%?="},
], ids=str)
def test_header_that_differs_from_the_body_is_refused(gateway, headers):
    with Client(gateway, MODERN) as client:
        message, correct_headers = client.request("tools/call", name="get_health", arguments={})
        response = client.http.post("/mcp", json=message, headers={**correct_headers, **headers})
        assert (response.status_code, response.json()["error"]["code"]) == (400, -32020)


@pytest.mark.parametrize("name", ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"])
def test_missing_header_is_refused(gateway, name):
    with Client(gateway, MODERN) as client:
        message, headers = client.request("tools/call", name="get_health", arguments={})
        headers.pop(name)
        response = client.http.post("/mcp", json=message, headers=headers)
        assert (response.status_code, response.json()["error"]["code"]) == (400, -32020)


def test_name_in_a_header_may_be_encoded(gateway):
    with Client(gateway, MODERN) as client:
        message, headers = client.request("tools/call", name="get_health", arguments={})
        headers["Mcp-Name"] = "=?base64?Z2V0X2hlYWx0aA==?="
        assert accepted(client.http.post("/mcp", json=message, headers=headers))["result"]["isError"] is False


def test_later_revision_is_refused_with_the_supported_one(gateway):
    with Client(gateway, MODERN) as client:
        response = client.post({"MCP-Protocol-Version": "2030-01-01", "Mcp-Method": "tools/list"}, id=1, method="tools/list",
                               params={"_meta": {VERSION: "2030-01-01", CAPABILITIES: {}}})
        assert response.status_code == 400 and response.json()["error"]["code"] == -32022
        assert response.json()["error"]["data"] == {"supported": [MODERN], "requested": "2030-01-01"}


@pytest.mark.parametrize("params", [{"inputResponses": None}, {"inputResponses": {"a": 5}}, {"requestState": 5}], ids=str)
def test_malformed_input_responses_are_refused(gateway, params):
    with Client(gateway, MODERN) as client:
        assert client.error("tools/call", name="chat", arguments={"message": "x"}, **params)["code"] == -32602


def test_client_that_reads_only_json_gets_json(gateway):
    with Client(gateway) as client:
        client.headers["Accept"] = "application/json"
        response = client.post(id=1, method="tools/call", params={"name": "get_health"})
        assert response.headers["content-type"].startswith("application/json") and "result" in response.json()


def test_client_that_reads_only_events_gets_events(gateway):
    with Client(gateway) as client:
        client.headers["Accept"] = "text/event-stream"
        response = client.post(id=1, method="ping")
        assert response.headers["content-type"] == "text/event-stream" and '"result":{}' in response.text


@pytest.mark.parametrize("version", ALL_VERSIONS)
def test_notifications_and_stray_responses_are_accepted_without_a_body(gateway, version):
    with Client(gateway, version) as client:
        response = client.post(method="notifications/cancelled", params={"requestId": 99})
        assert (response.status_code, response.content) == (202, b"")
        stray = client.post(id=99, result={"action": "accept"})
        assert stray.status_code == (400 if version == MODERN else 202)
