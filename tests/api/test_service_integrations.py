"""Integrations that are not MCP servers: OpenAPI documents and plain HTTP services.

See docs/connect-mcp.md.
"""

import json

import pytest

from integrations import new_integration, tools_of
from jobs import wait_for
from stubs.web import WebStub
from talker import Talker, configuration
from tools import call_tool, new_agent, new_thread

@pytest.fixture
def thread(talker, new_name):
    return new_thread(talker.gateway, new_agent(talker.gateway, new_name("user"), "trusted"))


DOCUMENT = {
    "openapi": "3.1.0", "info": {"title": "Shop", "version": "1"}, "servers": [{"url": "/api"}],
    "paths": {
        "/items/{id}": {
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
            "get": {"operationId": "getItem", "summary": "One item",
                    "parameters": [{"name": "full", "in": "query", "schema": {"type": "boolean"}},
                                   {"name": "X-Trace", "in": "header", "schema": {"type": "string"}}]},
            "put": {"operationId": "putItem", "requestBody": {"required": True, "content": {
                "application/json": {"schema": {"$ref": "#/components/schemas/Item"}}}}}},
        "/tree": {"post": {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Tree"}}}}}}},
    "components": {"schemas": {
        "Item": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
        "Tree": {"type": "object", "properties": {"left": {"$ref": "#/components/schemas/Tree"},
                                                  "right": {"$ref": "#/components/schemas/Tree"}}}}}}


@pytest.fixture
def web():
    with WebStub() as running:
        running.answers("/openapi.json", json.dumps(DOCUMENT), "application/json")
        running.answers("/api/items/a%2Fb", "an item", "text/plain")
        running.answers("/v1/things", "things", "text/plain")
        yield running


def test_openapi_operations_are_tools(talker, thread, web, new_name):
    shop = new_integration(talker.gateway, new_name("shop"), "openapi", url=web.url("/openapi.json"), headers={"X-Key": "k"})
    tool = shop["name"] + "__getItem"
    end = call_tool(talker, thread, tool, {"id": "a/b", "full": True, "X-Trace": "t"})
    assert (end["output"], end["isError"]) == ("an item", False)
    request = web.requests[-1]
    assert request.path == "/api/items/a%2Fb?full=true" and request.headers["x-trace"] == "t"
    assert request.headers["x-key"] == "k"
    offered = tools_of(talker, shop["name"])
    assert set(offered) == {"getItem", "putItem", "post_tree"}
    assert offered["putItem"]["parameters"]["properties"]["body"]["properties"] == {"name": {"type": "string"}}
    assert call_tool(talker, thread, shop["name"] + "__putItem", {"id": "a/b", "body": {"name": "x"}})["output"] == "an item"
    assert json.loads(web.requests[-1].body) == {"name": "x"}
    assert call_tool(talker, thread, shop["name"] + "__putItem", {"id": "a/b"})["output"] == "invalid input: body is required"
    for id in ("..", "", "."):
        assert call_tool(talker, thread, tool, {"id": id})["isError"]


def test_operations_keep_the_query_of_their_server(talker, thread, web, new_name):
    web.answers("/queried.json", json.dumps({**DOCUMENT, "servers": [{"url": "/api/?v=1"}]}), "application/json")
    shop = new_integration(talker.gateway, new_name("shop"), "openapi", url=web.url("/queried.json"))
    assert call_tool(talker, thread, shop["name"] + "__getItem", {"id": "a/b", "full": True})["output"] == "an item"
    assert web.requests[-1].path == "/api/items/a%2Fb?v=1&full=true"


def test_document_reaches_no_other_private_address_and_gets_no_key(talker, thread, web, new_name):
    with WebStub() as other:
        for target in ("http://169.254.169.254/", f"http://localhost:{other.port}/"):
            web.answers("/evil.json", json.dumps({**DOCUMENT, "servers": [{"url": target}]}), "application/json")
            shop = new_integration(talker.gateway, new_name("shop"), "openapi", url=web.url("/evil.json"),
                                   headers={"X-Key": "hunter2"})
            end = call_tool(talker, thread, shop["name"] + "__getItem", {"id": "1"})
            assert end["isError"] and "not one of the public internet" in end["output"], end
        web.answers("/evil.json", json.dumps({**DOCUMENT, "servers": [{"url": other.url("/")}]}), "application/json")
        shop = new_integration(talker.gateway, new_name("shop"), "openapi", url=web.url("/evil.json"),
                               headers={"X-Key": "hunter2"})
        call_tool(talker, thread, shop["name"] + "__getItem", {"id": "1"})
        assert "x-key" not in other.requests[-1].headers


def test_operations_over_the_limit_are_reported(talker, web, new_name):
    many = {**DOCUMENT, "paths": {f"/{number}": {"get": {}} for number in range(302)}}
    web.answers("/many.json", json.dumps(many), "application/json")
    shop = new_integration(talker.gateway, new_name("many"), "openapi", url=web.url("/many.json"))
    wait_for(lambda: f"integration {shop['name']}: 2 further operations" in talker.gateway.command("logs").stdout)


def test_invalid_document_is_reported(talker, web, new_name):
    for body in ("[", "{}", '{"openapi": "3.0.0"}', "a: &x [*x]", "<html>"):
        web.answers("/none", body, "application/json")
        shop = new_integration(talker.gateway, new_name("shop"), "openapi", url=web.url("/none"))
        wait_for(lambda: f"integration {shop['name']}: its " in talker.gateway.stderr)
        talker.gateway.http.delete(f"/extensions/{shop['id']}")


def test_plain_service_keeps_the_query_of_its_url(talker, thread, web, new_name):
    service = new_integration(talker.gateway, new_name("service"), "http", url=web.url("/v1?key=K"))
    tool = service["name"] + "__request"
    call_tool(talker, thread, tool, {"path": "/things"})
    assert web.requests[-1].path == "/v1/things?key=K"
    call_tool(talker, thread, tool, {"path": "/things?a=1", "query": {"b": 2}})
    assert web.requests[-1].path == "/v1/things?key=K&a=1&b=2"


def test_unreachable_service_is_reported_without_its_secrets(make_gateway, stub, new_name):
    gateway = make_gateway(config=configuration(stub)).start()
    talker = Talker(gateway, stub)
    thread = new_thread(gateway, new_agent(gateway, new_name("user"), "trusted"))
    gateway.command("secret", "set", "KEY", typed="hunter2secret\n")
    service = new_integration(gateway, new_name("service"), "http", url="http://${secret:KEY}.invalid/")
    end = call_tool(talker, thread, service["name"] + "__request", {"path": "/"})
    assert end["isError"] and "[secret]" in end["output"] and "hunter2secret" not in end["output"]
    assert "hunter2secret" not in gateway.http.get(f"/threads/{thread['id']}/turns").text + gateway.stderr


def test_plain_service_has_one_tool(talker, thread, web, new_name):
    service = new_integration(talker.gateway, new_name("service"), "http", url=web.url("/v1/"), headers={"X-Key": "k"})
    tool = service["name"] + "__request"
    end = call_tool(talker, thread, tool, {"path": "/things", "query": {"a": "x y", "b": [1, 2]}})
    assert end["output"] == "things" and web.requests[-1].path == "/v1/things?a=x%20y&b=1&b=2"
    call_tool(talker, thread, tool, {"path": "things", "method": "POST", "body": {"n": 1}})
    assert web.requests[-1].method == "POST" and json.loads(web.requests[-1].body) == {"n": 1}
    assert web.requests[-1].headers["x-key"] == "k"
    count = len(web.requests)
    for path in ("/../secret", "/a/%2e%2E/../x", "/..", "\\..\\x", "/..%2Fx", "/a%2f..%2F..%5cx", "/.%5C"):
        assert call_tool(talker, thread, tool, {"path": path})["isError"], path
    assert len(web.requests) == count
    call_tool(talker, thread, tool, {"path": "@evil.example/"})
    assert web.requests[-1].path.startswith("/v1/"), "it stays with the service"
