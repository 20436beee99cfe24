"""The gateway's description of itself: /openapi.json, /asyncapi.json and /utcp.

See docs/contract/system.md#manifests.
"""

import re

import jsonschema
import pytest

from checks import accepted, refused
from connection import Connection

OPEN = {("get", "/health"), ("post", "/pair")}
RUN_KINDS = {"text-delta", "reasoning-delta", "tool-start", "tool-end", "permission-requested",
             "permission-decided", "steered", "error", "finish", "stopped"}
RECORD_KINDS = {"turn-created": "turn", "thread-updated": "thread", "job-started": "run", "job-finished": "run",
                "proposal-created": "proposal", "proposal-decided": "proposal", "app-status": "app",
                "signal": "signal"}
THREAD_KINDS = {"turn-created", "thread-updated", "thread-deleted", "job-started", "job-finished", "tasks-updated",
                "run-started"}


@pytest.fixture(scope="module")
def openapi(gateway):
    return accepted(gateway.http.get("/openapi.json"))


@pytest.fixture(scope="module")
def asyncapi(gateway):
    return accepted(gateway.http.get("/asyncapi.json"))


@pytest.fixture(scope="module")
def manual(gateway):
    return accepted(gateway.http.get("/utcp"))


@pytest.mark.parametrize("path", ["/openapi.json", "/asyncapi.json", "/utcp"])
def test_documents_need_the_token_and_do_not_hold_it(gateway, path):
    refused(gateway.anonymous.get(path), 401, "unauthorized")
    assert gateway.token not in gateway.http.get(path).text


# /openapi.json


def operations(openapi):
    return [(method, path, operation) for path, item in openapi["paths"].items() for method, operation in item.items()]


def test_document_names_the_gateway_and_the_requested_address(gateway, openapi):
    assert openapi["openapi"].startswith("3.1.") and openapi["info"]["title"] == "Agent Gateway"
    assert openapi["servers"] == [{"url": gateway.url}]
    named = accepted(gateway.http.get("/openapi.json", headers={"Host": f"localhost:{gateway.port}"}))
    assert named["servers"] == [{"url": f"http://localhost:{gateway.port}"}]


def test_operation_ids_are_unique_and_described(openapi):
    identifiers = [operation["operationId"] for _, _, operation in operations(openapi)]
    assert len(identifiers) == len(set(identifiers)) > 30
    tags = {tag["name"] for tag in openapi["tags"]}
    for _, _, operation in operations(openapi):
        assert operation["summary"] and operation["description"] and set(operation["tags"]) <= tags


def test_pairing_code_is_not_declared_idempotent(openapi):
    assert "void" in openapi["paths"]["/pair/refresh"]["get"]["description"]


def test_security_is_required_except_for_two_operations(openapi):
    assert openapi["security"] == [{"bearer": []}]
    assert {(method, path) for method, path, operation in operations(openapi) if "security" in operation} == OPEN
    for method, path, operation in operations(openapi):
        assert ("401" in operation["responses"]) or (method, path) in OPEN, path


def test_statuses_follow_from_the_parameters(openapi):
    for method, path, operation in operations(openapi):
        statuses = set(operation["responses"])
        query = [one for one in operation.get("parameters", []) if one.get("in") == "query"]
        if query or "requestBody" in operation or "{" in path:
            assert "400" in statuses, f"{method} {path}"
        if "requestBody" in operation:
            assert "413" in statuses, f"{method} {path}"
        if "{" in path:
            assert "404" in statuses, f"{method} {path}"
        if method == "post" and (method, path) not in OPEN and path != "/mcp":
            assert "409" in statuses, f"{method} {path}"


def test_idempotency_key_is_declared_where_it_has_an_effect(openapi):
    key = {"$ref": "#/components/parameters/IdempotencyKey"}
    declaring = {path for method, path, operation in operations(openapi) if key in operation.get("parameters", [])}
    posting = {path for method, path, operation in operations(openapi) if method == "post"}
    assert posting - declaring == {"/pair", "/mcp"} and declaring <= posting


def test_errors_are_declared_in_the_shape_of_their_protocol(gateway, openapi):
    resolver = jsonschema.RefResolver.from_schema(openapi)
    for method, path, headers in (("get", "/threads/{id}", {}), ("post", "/v1/chat/completions", {}),
                                  ("post", "/v1/messages", {}), ("get", "/v1/models/{id}", {}),
                                  ("get", "/v1/models/{id}", {"anthropic-version": "2023-06-01"}),
                                  ("post", "/mcp", {})):
        error = gateway.http.request(method, path, headers=headers, json={})
        declared = openapi["paths"][path][method]["responses"][str(error.status_code)]["content"]["application/json"]
        jsonschema.Draft202012Validator(declared["schema"], resolver=resolver).validate(error.json())


def test_success_responses_declare_their_content(openapi):
    for method, path, operation in operations(openapi):
        for status, response in operation["responses"].items():
            assert ("content" in response) == (status != "204"), f"{method} {path}"
    assert list(openapi["paths"]["/metrics"]["get"]["responses"]["200"]["content"]) == ["text/plain"]


@pytest.mark.parametrize("path, declared", [
    ("/files/{id}", ["*/*"]),
    ("/extensions/{id}/file", ["application/json", "*/*"]),
    ("/projects/{id}/file", ["application/json", "*/*"]),
])
def test_bytes_are_declared_in_any_type(openapi, path, declared):
    content = openapi["paths"][path]["get"]["responses"]["200"]["content"]
    assert list(content) == declared
    assert content["*/*"]["schema"] == {"type": "string", "format": "binary"}


def test_storing_operations_declare_507(openapi):
    for method, path in (("post", "/extensions"), ("patch", "/threads/{id}"), ("delete", "/turns/{id}")):
        assert "507" in openapi["paths"][path][method]["responses"], f"{method} {path}"


def test_query_parameters_are_not_nullable(openapi, manual):
    for method, path, operation in operations(openapi):
        for parameter in operation.get("parameters", []):
            if parameter.get("in") == "query":
                assert isinstance(parameter["schema"]["type"], str), f"{method} {path} {parameter}"
                assert None not in parameter["schema"].get("enum", []), f"{method} {path} {parameter}"
    listed = next(tool for tool in manual["tools"] if tool["name"] == "get_extensions")["inputs"]["properties"]
    assert listed["owner_agent_id"]["type"] == "string" and listed["type"]["enum"][-1] == "control"


def test_required_expression_is_declared(gateway, openapi, manual):
    parameters = {one["name"]: one["required"] for one in openapi["paths"]["/cron"]["get"]["parameters"]}
    assert parameters == {"expression": True, "timezone": False, "limit": False}
    assert next(tool for tool in manual["tools"] if tool["name"] == "get_cron")["inputs"]["required"] == ["expression"]
    details = refused(gateway.http.get("/cron"), 400, "validation failed")["details"]
    assert details == [{"path": "expression", "message": "expression is required"}]


def test_source_built_in_cannot_be_sent(openapi):
    def sources(method):
        body = openapi["paths"]["/extensions"][method]["requestBody"]["content"]["application/json"]["schema"]
        return body["properties"]["source"]
    assert sources("post")["enum"] == ["user", "agent", "community"] and sources("post")["default"] == "user"


def test_limit_declares_its_default(openapi):
    for method, path, operation in operations(openapi):
        for parameter in operation.get("parameters", []):
            if parameter.get("name") == "limit":
                assert "when omitted" in parameter["description"], f"{method} {path}"


def test_mcp_is_declared_but_is_not_a_tool(openapi, manual):
    declared = openapi["paths"]["/mcp"]
    assert set(declared) == {"get", "post", "delete"}
    assert list(declared["get"]["responses"]["200"]["content"]) == ["text/event-stream"]
    assert list(declared["post"]["responses"]["200"]["content"]) == ["application/json"]
    assert not [tool["name"] for tool in manual["tools"] if tool["name"].endswith("_mcp")]


def test_path_parameters_are_declared(openapi):
    for _, path, operation in operations(openapi):
        declared = [parameter["name"] for parameter in operation.get("parameters", []) if parameter.get("in") == "path"]
        assert declared == re.findall(r"{(\w+)}", path)


def test_references_resolve_to_valid_schemas(openapi):
    def references(value):
        if isinstance(value, dict):
            yield from [value["$ref"]] if "$ref" in value else []
            for member in value.values():
                yield from references(member)
        elif isinstance(value, list):
            for member in value:
                yield from references(member)

    for reference in references(openapi):
        _, components, kind, name = reference.split("/")
        assert name in openapi[components][kind], reference
    for schema in openapi["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_responses_match_their_declared_schema(gateway, openapi):
    declared = openapi["paths"]["/threads"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert declared == {"type": "array", "items": {"$ref": "#/components/schemas/Thread"}}
    schema = openapi["components"]["schemas"]["Thread"]
    assert set(schema["required"]) == set(accepted(gateway.http.post("/threads"), 201))
    assert set(schema["properties"]) - set(schema["required"]) == {"pinned"}  # present only if true


@pytest.mark.parametrize("method, path, required", [
    ("patch", "/extensions/{id}/disk-config", True), ("post", "/hooks/{name}", False)])
def test_free_form_body_is_declared(openapi, manual, method, path, required):
    body = openapi["paths"][path][method]["requestBody"]
    assert body == {"required": required, "content": {"application/json": {"schema": {"type": "object"}}}}
    name = method + re.sub(r"[^a-z]+", "_", path).rstrip("_")
    tool = next(tool for tool in manual["tools"] if tool["name"] == name)
    assert tool["inputs"]["properties"]["body"] == {"type": "object"}
    assert ("body" in tool["inputs"]["required"]) == required and tool["tool_call_template"]["body_field"] == "body"


@pytest.mark.parametrize("path", ["/openapi.json", "/asyncapi.json", "/utcp"])
def test_client_without_a_host_gets_the_listening_address(gateway, path):
    with Connection(gateway) as connection:
        response = connection.request(f"GET {path} HTTP/1.0", host=False).response()
    assert response.status == 200 and response.json() == accepted(gateway.http.get(path))


def test_public_url_decides_the_scheme(make_gateway):
    gateway = make_gateway(config={"hosts": ["pub.example"], "public_url": "https://pub.example"}).start()

    def document(path, host):
        return accepted(gateway.http.get(path, headers={"Host": host}))

    assert document("/openapi.json", "pub.example")["servers"] == [{"url": "https://pub.example"}]
    assert document("/asyncapi.json", "pub.example")["servers"]["gateway"]["protocol"] == "wss"
    tools = document("/utcp", "pub.example")["tools"]
    assert all(tool["tool_call_template"]["url"].startswith("https://pub.example/") for tool in tools)
    own_address = f"127.0.0.1:{gateway.port}"
    assert document("/openapi.json", own_address)["servers"] == [{"url": f"http://{own_address}"}]


def test_creation_examples_work(make_gateway, openapi):
    gateway = make_gateway().start()
    for method, path, operation in operations(openapi):
        content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        if "example" in content and "{" not in path:
            status = gateway.http.request(method.upper(), path, json=content["example"]).status_code
            assert status == int(min(operation["responses"])), f"{method} {path}"


# /utcp


def test_manual_has_exactly_three_members(manual):
    assert set(manual) == {"utcp_version", "manual_version", "tools"}
    assert manual["utcp_version"] == "1.0.1" and re.fullmatch(r"\d+\.\d+\.\d+", manual["manual_version"])


def test_tools_have_only_known_members(manual):
    for tool in manual["tools"]:
        assert set(tool) == {"name", "description", "inputs", "outputs", "tags", "tool_call_template"}
        template = tool["tool_call_template"]
        assert set(template) <= {"call_template_type", "http_method", "url", "content_type", "body_field", "auth"}
        assert template["call_template_type"] == "http" and template["content_type"] == "application/json"
        assert template["http_method"] in {"GET", "POST", "PUT", "DELETE", "PATCH"}
        assert re.fullmatch(r"[A-Za-z0-9_]+", tool["name"]) and tool["description"] and tool["tags"]


def test_tool_names_are_unique(manual):
    names = [tool["name"] for tool in manual["tools"]]
    assert len(names) == len(set(names))
    assert {"get_health", "post_chat", "get_threads_id_turns", "patch_extensions_id", "get_filesystem_search"} <= set(names)


def test_tool_urls_use_the_requested_address(gateway, manual):
    assert all(tool["tool_call_template"]["url"].startswith(gateway.url + "/") for tool in manual["tools"])
    named = accepted(gateway.http.get("/utcp", headers={"Host": f"localhost:{gateway.port}"}))
    assert named["tools"][0]["tool_call_template"]["url"].startswith(f"http://localhost:{gateway.port}/")


def test_token_is_a_client_variable_except_for_open_tools(gateway, manual):
    for tool in manual["tools"]:
        template = tool["tool_call_template"]
        operation = (template["http_method"].lower(), template["url"].removeprefix(gateway.url))
        if operation in OPEN:
            assert "auth" not in template
        else:
            assert template["auth"] == {"auth_type": "api_key", "api_key": "Bearer ${GATEWAY_TOKEN}",
                                        "var_name": "Authorization", "location": "header"}


def test_inputs_are_path_query_and_body(manual):
    tools = {tool["name"]: tool for tool in manual["tools"]}
    for tool in tools.values():
        jsonschema.Draft202012Validator.check_schema(tool["inputs"])
        jsonschema.Draft202012Validator.check_schema(tool["outputs"])
        for name in re.findall(r"{(\w+)}", tool["tool_call_template"]["url"]):
            assert name in tool["inputs"]["required"]
        assert ("body" in tool["inputs"]["properties"]) == ("body_field" in tool["tool_call_template"])
    turns = tools["get_threads_id_turns"]["inputs"]
    assert set(turns["properties"]) == {"id", "limit", "before", "role", "since"} and turns["required"] == ["id"]
    assert tools["post_chat"]["inputs"]["required"] == ["body"]
    assert "content" in tools["post_chat"]["inputs"]["properties"]["body"]["required"]
    assert set(tools["get_turns_search"]["inputs"]["required"]) == {"q", "agent_id"}


def test_tools_can_be_called_as_described(gateway, manual):
    tools = {tool["name"]: tool["tool_call_template"] for tool in manual["tools"]}

    def call(name, **inputs):
        template = tools[name]
        url = re.sub(r"{(\w+)}", lambda found: inputs.pop(found[1]), template["url"])
        body = inputs.pop("body", None)
        return gateway.http.request(template["http_method"], url, params=inputs, json=body)

    made = accepted(call("post_threads", body={"title": "by a tool"}), 201)
    assert accepted(call("patch_threads_id", id=made["id"], body={"title": "changed"}))["title"] == "changed"
    assert accepted(call("get_threads", limit=1))
    assert call("delete_threads_id", id=made["id"]).status_code == 204


# /asyncapi.json


def payloads(asyncapi, operation):
    """Returns the payload schemas by kind."""
    messages = asyncapi["components"]["messages"]
    listed = [reference["$ref"].rsplit("/", 1)[1] for reference in asyncapi["operations"][operation]["messages"]]
    return {messages[name]["name"]: messages[name]["payload"] for name in listed}


def test_every_event_kind_is_described(asyncapi):
    kinds = payloads(asyncapi, "events")
    others = {"extension-changed", "iteration-step", "tasks-updated", "thread-deleted", "run-started"}
    assert set(kinds) == RUN_KINDS | set(RECORD_KINDS) | others
    for kind, schema in kinds.items():
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["properties"]["type"] == {"const": kind}
        assert ("threadId" in schema["required"]) == (kind in RUN_KINDS | THREAD_KINDS)
        assert ({"turnId", "runId", "seq"} <= set(schema["required"])) == (kind in RUN_KINDS)
    for kind, member in RECORD_KINDS.items():
        assert member in kinds[kind]["required"]


def test_client_messages_and_replies_are_described(asyncapi):
    assert set(payloads(asyncapi, "requests")) == {"subscribe", "unsubscribe", "ping"}
    assert set(payloads(asyncapi, "answers")) == {"subscribed", "pong", "error"}
    assert asyncapi["asyncapi"] == "3.0.0" and asyncapi["channels"]["socket"]["address"] == "/ws"


def test_document_names_the_socket_address(gateway, asyncapi):
    server = asyncapi["servers"]["gateway"]
    assert server["host"] == f"127.0.0.1:{gateway.port}" and server["protocol"] == "ws"


def test_messages_match_their_description(talker, asyncapi):
    gateway, kinds, reply_schemas = talker.gateway, payloads(asyncapi, "events"), payloads(asyncapi, "answers")
    with gateway.events() as events:
        talker.answers("one", "two")
        turn = accepted(gateway.http.post("/chat", json={"content": "count"}), 201)
        events.run(turn["id"])
        accepted(gateway.http.post("/signals", json={"kind": "test", "message": "Look."}), 201)
        made = accepted(gateway.http.post("/extensions", json={
            "type": "theme", "name": "described", "description": "d", "definition": {}}), 201)
        gateway.http.delete(f"/extensions/{made['id']}")
        left = accepted(gateway.http.post("/threads", json={}), 201)
        gateway.http.delete(f"/threads/{left['id']}")
        seen = events.drain()
        replies = [events.ask({"type": "subscribe", "threadId": turn["thread_id"], "resume": True}),
                   events.ask({"type": "nonsense"}), events.ask({"type": "ping"})]
    assert {"turn-created", "thread-updated", "thread-deleted", "text-delta", "finish", "signal", "extension-changed"} <= {
        event["type"] for event in seen}
    for message in seen:
        jsonschema.validate(message, kinds[message["type"]])
        assert set(message) <= set(kinds[message["type"]]["properties"]), message
    for message in replies:
        jsonschema.validate(message, reply_schemas[message["type"]])
