"""The tools, prompts and resources for the conformance suite of MCP. The gateway's McpFixture requests them: each POST
has `{method, params, capabilities, inputs, state}`; the response is `{result}`, `{error}` or `{inputRequests, state}`,
with `notifications` to send before it and the lists that have `changed`."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
EMPTY = {"type": "object"}


def text(value):
    return {"type": "text", "text": value}


def says(value, **more):
    return {"result": {"content": [text(value)], **more}}


def resource(uri, mime, content):
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime, "text": content}}


def form(message, **properties):
    return {"method": "elicitation/create", "params": {
        "message": message,
        "requestedSchema": {"type": "object", "properties": properties, "required": list(properties)}}}


def sample(prompt, tokens=100):
    return {"method": "sampling/createMessage", "params": {
        "messages": [{"role": "user", "content": text(prompt)}], "maxTokens": tokens}}


ROOTS = {"method": "roots/list", "params": {}}
STRING = {"type": "string"}
NAME = form("What is your name?", name=STRING)
CONFIRM = form("Please confirm", ok={"type": "boolean"})


def content(inputs, key, member):
    return inputs[key].get("content", {}).get(member, "")


# Tools: functions of the request. `inputs` are the client's responses to input requests, by key.

def asks_name(inputs, **_):
    return says(f"Hello, {content(inputs, 'user_name', 'name')}!") if "user_name" in inputs else asks(user_name=NAME)


def asks(state=None, **requests):
    return {"inputRequests": requests, "state": state}


def asks_sample(inputs, **_):
    if "capital_question" not in inputs:
        return asks(capital_question=sample("What is the capital of France?"))
    return says(f"Sampling result: {inputs['capital_question']['content']['text']}")


def asks_roots(inputs, **_):
    if "client_roots" not in inputs:
        return asks(client_roots=ROOTS)
    return says(f"Found roots: {inputs['client_roots'].get('roots')}")


def asks_with_state(inputs, state, **_):
    if state == "confirming" and "confirm" in inputs:
        return says("state-ok")
    return asks("confirming", confirm=CONFIRM)


def asks_all(inputs, state, **_):
    if state != "all" or {"user_name", "greeting", "client_roots"} - set(inputs):
        return asks("all", user_name=NAME, greeting=sample("Generate a greeting", 50), client_roots=ROOTS)
    return says(f"{inputs['greeting']['content']['text']}, {content(inputs, 'user_name', 'name')}")


def asks_in_rounds(inputs, state, **_):
    if state and state["round"] == 1 and "step1" in inputs:
        return asks({"round": 2, "name": content(inputs, "step1", "name")},
                    step2=form("Step 2: What is your favorite color?", color=STRING))
    if state and state["round"] == 2 and "step2" in inputs:
        return says(f"{state['name']} likes {content(inputs, 'step2', 'color')}")
    return asks({"round": 1}, step1=form("Step 1: What is your name?", name=STRING))


def asks_what_the_client_can(inputs, capabilities, **_):
    if inputs:
        return says("capabilities-ok: received " + ",".join(inputs))
    return asks("asked", elicit_input=form("Elicitation input", value=STRING), sample_input=sample("Sample request", 50))


def needs_sampling(capabilities, **_):
    if "sampling" in capabilities:
        return says("Success")
    return {"error": {"code": -32021, "message": "the client lacks a capability that this request needs",
                      "data": {"requiredCapabilities": {"sampling": {}}}}}


def reports_progress(params, **_):
    token = params.get("_meta", {}).get("progressToken")
    steps = [] if token is None else [
        {"method": "notifications/progress", "params": {"progressToken": token, "progress": done, "total": 100}}
        for done in (0, 50, 100)]
    return {**says("Done."), "notifications": steps}


def logs(params, **_):
    wanted = params.get("_meta", {}).get("io.modelcontextprotocol/logLevel")
    return {**says("Logging evaluated"), "notifications": [log("Diagnostic")] if wanted else []}


def log(said):
    return {"method": "notifications/message", "params": {"level": "info", "data": said}}


def logs_always(**_):
    steps = ("Tool execution started", "Tool processing data", "Tool execution completed")
    return {**says("Done."), "notifications": [log(step) for step in steps]}


def asks_user(inputs, params, **_):
    if "user" not in inputs:
        return asks(user=form(params["arguments"]["message"], username=STRING, email=STRING))
    return says(f"User response: {json.dumps(inputs['user'])}")


def asks_form(properties):
    def asks_it(inputs, **_):
        if "form" not in inputs:
            return asks(form={"method": "elicitation/create", "params": {
                "message": "Please fill this in", "requestedSchema": {"type": "object", "properties": properties}}})
        answer = inputs["form"]
        return says(f"Elicitation completed: action={answer.get('action')}, content={json.dumps(answer.get('content'))}")
    return asks_it


def samples(inputs, params, **_):
    if "sample" not in inputs:
        return asks(sample=sample(params["arguments"]["prompt"]))
    return says(f"LLM response: {inputs['sample']['content']['text']}")


DEFAULTS = {"name": {"type": "string", "default": "John Doe"}, "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5}, "verified": {"type": "boolean", "default": True},
            "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"}}
TITLED = [{"const": f"value{n}", "title": f"Option {n}"} for n in (1, 2, 3)]
OPTIONS = ["option1", "option2", "option3"]
ENUMS = {"untitledSingle": {"type": "string", "enum": OPTIONS}, "titledSingle": {"type": "string", "oneOf": TITLED},
         "legacyEnum": {"type": "string", "enum": OPTIONS, "enumNames": ["One", "Two", "Three"]},
         "untitledMulti": {"type": "array", "items": {"type": "string", "enum": OPTIONS}},
         "titledMulti": {"type": "array", "items": {"anyOf": TITLED}}}
SCHEMA = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
          "$defs": {"address": {"type": "object", "$anchor": "addressDef",
                                "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
          "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
                         "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                         "phone": {"type": "string"}, "email": {"type": "string"}},
          "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
          "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
          "then": {"required": ["phone"]}, "else": {"required": ["email"]}, "additionalProperties": False}


def always(answer):
    return lambda **_: answer


MIXED = resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')
IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}
TOOLS = {
    "test_simple_text": always(says("This is a simple text response for testing.")),
    "test_image_content": always({"result": {"content": [IMAGE]}}),
    "test_audio_content": always({"result": {"content": [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]}}),
    "test_embedded_resource": always({"result": {"content": [
        resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")]}}),
    "test_multiple_content_types": always({"result": {"content": [text("Multiple content types test:"), IMAGE, MIXED]}}),
    "test_error_handling": always(says("This tool intentionally returns an error for testing", isError=True)),
    "test_tool_with_progress": reports_progress,
    "test_tool_with_logging": logs_always,
    "test_sampling": samples,
    "test_elicitation": asks_user,
    "test_elicitation_sep1034_defaults": asks_form(DEFAULTS),
    "test_elicitation_sep1330_enums": asks_form(ENUMS),
    "json_schema_2020_12_tool": always(says("Done.")),
    "test_missing_capability": needs_sampling,
    "test_streaming_elicitation": always(says("Streaming complete")),
    "test_logging_tool": logs,
    "test_trigger_tool_change": always({**says("Mutation triggered"), "changed": ["tools"]}),
    "test_trigger_prompt_change": always({**says("Mutation triggered"), "changed": ["prompts"]}),
    "test_input_required_result_elicitation": asks_name,
    "test_input_required_result_sampling": asks_sample,
    "test_input_required_result_list_roots": asks_roots,
    "test_input_required_result_request_state": asks_with_state,
    "test_input_required_result_multiple_inputs": asks_all,
    "test_input_required_result_multi_round": asks_in_rounds,
    "test_input_required_result_tampered_state": asks_with_state,
    "test_input_required_result_capabilities": asks_what_the_client_can,
}
SCHEMAS = {"json_schema_2020_12_tool": SCHEMA,
           "test_sampling": {"type": "object", "properties": {"prompt": STRING}, "required": ["prompt"]},
           "test_elicitation": {"type": "object", "properties": {"message": STRING}, "required": ["message"]}}

RESOURCES = {
    "test://static-text": ("text/plain", {"text": "This is the content of the static text resource."}),
    "test://static-binary": ("image/png", {"blob": PNG}),
    "test://watched-resource": ("text/plain", {"text": "Watched resource content"}),
}
TEMPLATE = {"uriTemplate": "test://template/{id}/data", "name": "template", "description": "A template",
            "mimeType": "application/json"}


def prompt(*parts):
    return {"result": {"messages": [{"role": "user", "content": part} for part in parts]}}


def prompt_with_arguments(params, **_):
    given = params.get("arguments", {})
    return prompt(text(f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'"))


def prompt_with_resource(params, **_):
    uri = params.get("arguments", {}).get("resourceUri", "")
    return prompt(resource(uri, "text/plain", "Embedded resource content for testing."),
                  text("Please process the embedded resource above."))


def prompt_that_asks(inputs, **_):
    if "user_context" not in inputs:
        return asks(user_context=form("What context should the prompt use?", context=STRING))
    return prompt(text(f"Context: {content(inputs, 'user_context', 'context')}"))


PROMPTS = {
    "test_simple_prompt": (always(prompt(text("This is a simple prompt for testing."))), []),
    "test_prompt_with_arguments": (prompt_with_arguments, ["arg1", "arg2"]),
    "test_prompt_with_embedded_resource": (prompt_with_resource, ["resourceUri"]),
    "test_prompt_with_image": (always(prompt(IMAGE, text("Please analyze the image above."))), []),
    "test_input_required_result_prompt": (prompt_that_asks, []),
}


def refuse(message, **data):
    return {"error": {"code": -32602, "message": message, "data": data}}


def read(params, **_):
    uri = params["uri"]
    if uri.startswith("test://template/") and uri.endswith("/data"):
        number = uri.split("/")[3]
        data = {"id": number, "templateTest": True, "data": f"Data for ID: {number}"}
        mime, body = "application/json", {"text": json.dumps(data)}
    elif uri in RESOURCES:
        mime, body = RESOURCES[uri]
    else:
        return refuse("resource not found", uri=uri)
    return {"result": {"contents": [{"uri": uri, "mimeType": mime, **body}]}}


def call(params, **request):
    tool = TOOLS.get(params["name"])
    return tool(params=params, **request) if tool else refuse(f"unknown tool {params['name']}")


def get_prompt(params, **request):
    found = PROMPTS.get(params["name"])
    return found[0](params=params, **request) if found else refuse(f"unknown prompt {params['name']}")


def listed(**lists):
    return always({"result": lists})


METHODS = {
    "tools/list": listed(tools=[{"name": name, "description": f"The tool {name}", "inputSchema": SCHEMAS.get(name, EMPTY)}
                                for name in TOOLS]),
    "prompts/list": listed(prompts=[
        {"name": name, "description": f"The prompt {name}",
         "arguments": [{"name": one, "description": one, "required": True} for one in arguments]}
        for name, (_, arguments) in PROMPTS.items()]),
    "resources/list": listed(resources=[
        {"uri": uri, "name": uri.removeprefix("test://"), "description": uri, "mimeType": mime}
        for uri, (mime, _) in RESOURCES.items()]),
    "resources/templates/list": listed(resourceTemplates=[TEMPLATE]),
    "tools/call": call,
    "prompts/get": get_prompt,
    "resources/read": read,
    "completion/complete": always({"result": {"completion": {"values": ["paris", "park"], "total": 2, "hasMore": False}}}),
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = json.dumps(METHODS[request.pop("method")](**request)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


class McpFixture:
    """The HTTP server, as a context manager. `environment`: the variables with which the gateway uses it."""

    def __enter__(self):
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.environment = {"AGENT_GATEWAY_TEST_MCP_FIXTURE": f"http://127.0.0.1:{self.server.server_port}/"}
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
