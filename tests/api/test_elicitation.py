"""Forms that MCP servers request during a call become questions to the person.

See docs/contract/approvals.md#questions.
"""

import json
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from approvals import answer, decide, person
from checks import PATIENCE, accepted, refused
from integrations import new_integration
from tools import call_tool, calls, new_agent, new_thread

# Its tool requests a form and returns the response.
SERVER = """
import json, sys
def send(**message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
asked = None
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        send(id=id, result={"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                            "serverInfo": {"name": "stub", "version": "1"}})
    elif method == "tools/list":
        send(id=id, result={"tools": [{"name": "order", "inputSchema": {"type": "object"}}]})
    elif method == "tools/call":
        asked = id
        form = {"type": "object", "properties": {"size": {"type": "string", "default": "small"}}, "required": ["size"]}
        send(id="q", method="elicitation/create", params={"message": "Which size?", "requestedSchema": form})
    elif id == "q":
        send(id=asked, result={"content": [{"type": "text", "text": json.dumps(message["result"])}]})
    elif id is not None:
        send(id=id, error={"code": -32601, "message": "Method not found"})
"""

# Its tool requests a size, then a colour, each as an intermediate result: the protocol without requests by the server.
MODERN_SERVER = """
import json, sys
def send(**message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def form(name): return {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}
def asks(id, name, state, method="elicitation/create"):
    params = {"mode": "form", "message": f"Which {name}?", "requestedSchema": form(name)}
    send(id=id, result={"resultType": "input_required", "inputRequests": {name: {"method": method, "params": params}},
                        "requestState": state})
for line in sys.stdin:
    message = json.loads(line)
    method, id, params = message.get("method"), message.get("id"), message.get("params", {})
    if method == "server/discover":
        send(id=id, result={"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
    elif method == "tools/list":
        send(id=id, result={"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("order", "sample")]})
    elif method == "tools/call" and params["name"] == "sample":
        asks(id, "size", "a", "sampling/createMessage")
    elif method == "tools/call":
        said, state = params.get("inputResponses", {}), params.get("requestState")
        can = "elicitation" in params["_meta"]["io.modelcontextprotocol/clientCapabilities"]
        if not can or any(response["action"] != "accept" for response in said.values()):
            send(id=id, result={"content": [{"type": "text", "text": json.dumps([can, said])}]})
        elif state is None: asks(id, "size", "a")
        elif state == "a": asks(id, "colour", said["size"]["content"]["size"])
        else: send(id=id, result={"content": [{"type": "text", "text": f'{state} {said["colour"]["content"]["colour"]}'}]})
    elif id is not None:
        send(id=id, error={"code": -32601, "message": "Method not found"})
"""


SIZE = {"type": "object", "properties": {"size": {"type": "string"}}, "required": ["size"]}
ASKS = {"mode": "form", "message": "Which size?", "requestedSchema": SIZE}


class HttpShop(BaseHTTPRequestHandler):
    """An HTTP server whose tool requests a form: on the stream of the call, or by its result in the modern protocol."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        id, method, params = message.get("id"), message.get("method"), message.get("params", {})
        if method is None:
            self.server.answers.put(message)
        if method is None or id is None:
            return self.reply(202)
        if method == "tools/call" and not self.server.modern:
            return self.ask_on_stream(id)
        self.reply(200, self.result(method, params), id)

    def result(self, method, params):
        if method == "initialize" and not self.server.modern:
            return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                    "serverInfo": {"name": "shop", "version": "1"}}
        if method == "server/discover" and self.server.modern:
            return {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
        if method == "tools/list":
            return {"tools": [{"name": "order", "inputSchema": {"type": "object"}}]}
        if method == "tools/call" and "inputResponses" not in params:
            asked = {"size": {"method": "elicitation/create", "params": ASKS}}
            return {"resultType": "input_required", "inputRequests": asked, "requestState": "a"}
        if method == "tools/call":
            assert params["requestState"] == "a"
            return {"content": [{"type": "text", "text": json.dumps(params["inputResponses"]["size"])}]}
        return None

    def ask_on_stream(self, id):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.event({"id": "q", "method": "elicitation/create", "params": ASKS})
        answer = self.server.answers.get(timeout=PATIENCE)
        assert answer["id"] == "q"
        self.event({"id": id, "result": {"content": [{"type": "text", "text": json.dumps(answer["result"])}]}})
        self.close_connection = True

    def event(self, message):
        self.wfile.write(f'data: {json.dumps({"jsonrpc": "2.0", **message})}\n\n'.encode())
        self.wfile.flush()

    def reply(self, status, result=None, id=None):
        answer = {"result": result} if result else {"error": {"code": -32601, "message": "Method not found"}}
        body = b"" if status == 202 else json.dumps({"jsonrpc": "2.0", "id": id, **answer}).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.send_response(405)
        self.send_header("content-length", "0")
        self.end_headers()

    do_DELETE = do_GET

    def log_message(self, *_):
        pass


@pytest.fixture(params=["legacy", "modern"])
def http_shop(request, talker, new_name):
    """The tool of an HTTP server, in the legacy and the modern protocol."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), HttpShop)
    server.modern, server.answers, server.daemon_threads = request.param == "modern", queue.Queue(), True
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    name = new_name("shop")
    new_integration(talker.gateway, name, "mcp-http", url=f"http://127.0.0.1:{server.server_port}/mcp")
    yield f"{name}__order"
    server.shutdown()
    serving.join()
    server.server_close()


@pytest.fixture
def thread(talker, new_name):
    return new_thread(talker.gateway, new_agent(talker.gateway, new_name("user"), "trusted"))


@pytest.fixture
def tool(talker, new_name):
    name = new_name("shop")
    new_integration(talker.gateway, name, "mcp-stdio", command="/usr/bin/python3", args=["-c", SERVER])
    return f"{name}__order"


@pytest.fixture
def modern_shop(talker, new_name):
    name = new_name("shop")
    new_integration(talker.gateway, name, "mcp-stdio", command="/usr/bin/python3", args=["-c", MODERN_SERVER])
    return name


def test_a_form_is_a_question_to_the_person(talker, thread, tool):
    with person(talker, thread, calls((tool, {})), "Done.") as user:
        request = user.asked()
        assert request["kind"] == "question" and request["tool"] == tool
        assert request["question"]["question"] == "Which size?" and "size" in request["question"]["form"]["properties"]
        refused(answer(talker.gateway, request, {"size": 3}), 400, "decision not possible")
        accepted(answer(talker.gateway, request, {"size": "large"}))
        assert json.loads(user.result()["output"]) == {"action": "accept", "content": {"size": "large"}}


def test_a_person_can_decline_a_form(talker, thread, tool):
    with person(talker, thread, calls((tool, {})), "Done.") as user:
        accepted(decide(talker.gateway, user.asked(), "deny"))
        assert json.loads(user.result()["output"]) == {"action": "decline"}


def test_a_server_that_requests_a_form_by_its_result_gets_a_call_with_the_answers(talker, thread, modern_shop):
    with person(talker, thread, calls((f"{modern_shop}__order", {})), "Done.") as user:
        request = user.asked()
        assert request["question"]["question"] == "Which size?"
        accepted(answer(talker.gateway, request, {"size": "large"}))
        request = user.asked()
        assert request["question"]["question"] == "Which colour?"
        accepted(answer(talker.gateway, request, {"colour": "red"}))
        assert user.result()["output"] == "large red"


def test_a_person_can_decline_a_form_in_a_result(talker, thread, modern_shop):
    with person(talker, thread, calls((f"{modern_shop}__order", {})), "Done.") as user:
        accepted(decide(talker.gateway, user.asked(), "deny"))
        assert json.loads(user.result()["output"]) == [True, {"size": {"action": "decline"}}]


def test_a_form_of_an_http_server_is_a_question_to_the_person(talker, thread, http_shop):
    with person(talker, thread, calls((http_shop, {})), "Done.") as user:
        request = user.asked()
        assert request["question"]["question"] == "Which size?" and request["tool"] == http_shop
        accepted(answer(talker.gateway, request, {"size": "large"}))
        assert json.loads(user.result()["output"]) == {"action": "accept", "content": {"size": "large"}}


def test_a_form_of_an_http_server_can_be_declined_and_is_otherwise_cancelled(talker, thread, http_shop):
    with person(talker, thread, calls((http_shop, {})), "Done.") as user:
        accepted(decide(talker.gateway, user.asked(), "deny"))
        assert json.loads(user.result()["output"]) == {"action": "decline"}
    assert json.loads(call_tool(talker, thread, http_shop, {})["output"]) == {"action": "cancel"}


def test_a_result_that_requests_other_input_than_forms_is_an_error(talker, thread, modern_shop):
    result = call_tool(talker, thread, f"{modern_shop}__sample", {})
    assert result["isError"] and result["output"] == "the server asks for input that this gateway cannot give"


def test_a_form_with_defaults_is_cancelled_if_nobody_can_answer(talker, thread, tool):
    assert json.loads(call_tool(talker, thread, tool, {})["output"]) == {"action": "cancel"}


def test_a_stop_cancels_the_question(talker, thread, tool):
    with person(talker, thread, calls((tool, {})), "Done.") as user:
        request = user.asked()
        accepted(talker.gateway.http.post("/chat/stop", json={"threadId": thread["id"]}))
        refused(answer(talker.gateway, request, {"size": "large"}), 409, "permission request already decided")
        assert user.run()[-1]["type"] == "stopped"


def test_a_tool_beyond_the_stage_needs_permission_before_its_form(talker, new_name, tool):
    thread = new_thread(talker.gateway, new_agent(talker.gateway, new_name("user"), "operator"))
    with person(talker, thread, calls((tool, {})), "Done.") as user:
        request = user.asked()
        assert (request["kind"], request["target"], request["pattern"]) == ("permission", tool, tool)
        accepted(decide(talker.gateway, request, scope="thread"))
        accepted(answer(talker.gateway, user.asked(), {"size": "small"}))
        user.run()
    assert not call_tool(talker, thread, tool, {})["isError"]
