"""Integrations that are no MCP servers: OpenAPI documents and plain services (decisions, 3 and 13)."""

import json

import pytest

from integrations import new_integration, tools_of
from jobs import wait_for
from stubs.web import WebStub
from talker import Talker, configuration
from tools import called, new_agent, new_thread

@pytest.fixture
def thread(talker, name):
    return new_thread(talker.gateway, new_agent(talker.gateway, name("user"), "trusted"))


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


def test_operations_of_an_openapi_document_are_tools(talker, thread, web, name):
    shop = new_integration(talker.gateway, name("shop"), "openapi", url=web.url("/openapi.json"), headers={"X-Key": "k"})
    tool = shop["name"] + "__getItem"
    end = called(talker, thread, tool, {"id": "a/b", "full": True, "X-Trace": "t"})
    assert (end["output"], end["isError"]) == ("an item", False)
    request = web.requests[-1]
    assert request.path == "/api/items/a%2Fb?full=true" and request.headers["x-trace"] == "t"
    assert request.headers["x-key"] == "k"
    offered = tools_of(talker, shop["name"])
    assert set(offered) == {"getItem", "putItem", "post_tree"}
    assert offered["putItem"]["parameters"]["properties"]["body"]["properties"] == {"name": {"type": "string"}}
    assert called(talker, thread, shop["name"] + "__putItem", {"id": "a/b", "body": {"name": "x"}})["output"] == "an item"
    assert json.loads(web.requests[-1].body) == {"name": "x"}
    assert called(talker, thread, shop["name"] + "__putItem", {"id": "a/b"})["output"] == "invalid input: body is required"
    for id in ("..", "", "."):
        assert called(talker, thread, tool, {"id": id})["isError"]


def test_operations_keep_the_query_of_their_server(talker, thread, web, name):
    web.answers("/queried.json", json.dumps({**DOCUMENT, "servers": [{"url": "/api/?v=1"}]}), "application/json")
    shop = new_integration(talker.gateway, name("shop"), "openapi", url=web.url("/queried.json"))
    assert called(talker, thread, shop["name"] + "__getItem", {"id": "a/b", "full": True})["output"] == "an item"
    assert web.requests[-1].path == "/api/items/a%2Fb?v=1&full=true"


def test_a_document_leads_to_no_other_private_address_and_learns_no_key(talker, thread, web, name):
    with WebStub() as other:
        for target in ("http://169.254.169.254/", f"http://localhost:{other.port}/"):
            web.answers("/evil.json", json.dumps({**DOCUMENT, "servers": [{"url": target}]}), "application/json")
            shop = new_integration(talker.gateway, name("shop"), "openapi", url=web.url("/evil.json"),
                                   headers={"X-Key": "hunter2"})
            end = called(talker, thread, shop["name"] + "__getItem", {"id": "1"})
            assert end["isError"] and "not one of the public internet" in end["output"], end
        web.answers("/evil.json", json.dumps({**DOCUMENT, "servers": [{"url": other.url("/")}]}), "application/json")
        shop = new_integration(talker.gateway, name("shop"), "openapi", url=web.url("/evil.json"),
                               headers={"X-Key": "hunter2"})
        called(talker, thread, shop["name"] + "__getItem", {"id": "1"})
        assert "x-key" not in other.requests[-1].headers


def test_operations_beyond_the_most_are_told_of(talker, web, name):
    many = {**DOCUMENT, "paths": {f"/{number}": {"get": {}} for number in range(302)}}
    web.answers("/many.json", json.dumps(many), "application/json")
    shop = new_integration(talker.gateway, name("many"), "openapi", url=web.url("/many.json"))
    wait_for(lambda: f"integration {shop['name']}: 2 further operations" in talker.gateway.command("logs").stdout)


def test_a_document_that_is_none(talker, web, name):
    for body in ("[", "{}", '{"openapi": "3.0.0"}', "a: &x [*x]", "<html>"):
        web.answers("/none", body, "application/json")
        shop = new_integration(talker.gateway, name("shop"), "openapi", url=web.url("/none"))
        wait_for(lambda: f"integration {shop['name']}: its " in talker.gateway.stderr)
        talker.gateway.http.delete(f"/extensions/{shop['id']}")


def test_a_plain_service_keeps_the_query_of_its_url(talker, thread, web, name):
    service = new_integration(talker.gateway, name("service"), "http", url=web.url("/v1?key=K"))
    tool = service["name"] + "__request"
    called(talker, thread, tool, {"path": "/things"})
    assert web.requests[-1].path == "/v1/things?key=K"
    called(talker, thread, tool, {"path": "/things?a=1", "query": {"b": 2}})
    assert web.requests[-1].path == "/v1/things?key=K&a=1&b=2"


def test_a_plain_service_that_is_not_there_is_told_without_its_secrets(make_gateway, stub, name):
    gateway = make_gateway(config=configuration(stub)).start()
    talker = Talker(gateway, stub)
    thread = new_thread(gateway, new_agent(gateway, name("user"), "trusted"))
    gateway.command("secret", "set", "KEY", typed="hunter2secret\n")
    service = new_integration(gateway, name("service"), "http", url="http://${secret:KEY}.invalid/")
    end = called(talker, thread, service["name"] + "__request", {"path": "/"})
    assert end["isError"] and "[secret]" in end["output"] and "hunter2secret" not in end["output"]
    assert "hunter2secret" not in gateway.http.get(f"/threads/{thread['id']}/turns").text + gateway.stderr


def test_a_plain_service_has_one_tool(talker, thread, web, name):
    service = new_integration(talker.gateway, name("service"), "http", url=web.url("/v1/"), headers={"X-Key": "k"})
    tool = service["name"] + "__request"
    end = called(talker, thread, tool, {"path": "/things", "query": {"a": "x y", "b": [1, 2]}})
    assert end["output"] == "things" and web.requests[-1].path == "/v1/things?a=x%20y&b=1&b=2"
    called(talker, thread, tool, {"path": "things", "method": "POST", "body": {"n": 1}})
    assert web.requests[-1].method == "POST" and json.loads(web.requests[-1].body) == {"n": 1}
    assert web.requests[-1].headers["x-key"] == "k"
    count = len(web.requests)
    for path in ("/../secret", "/a/%2e%2E/../x", "/..", "\\..\\x"):
        assert called(talker, thread, tool, {"path": path})["isError"], path
    assert len(web.requests) == count
    called(talker, thread, tool, {"path": "@evil.example/"})
    assert web.requests[-1].path.startswith("/v1/"), "it stays with the service"
