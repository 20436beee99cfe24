"""Forms that MCP servers ask for during a call are questions to the person.

See docs/contract/approvals.md#questions.
"""

import json

import pytest

from approvals import answer, decide, person
from checks import accepted, refused
from integrations import new_integration
from tools import call_tool, calls, new_agent, new_thread

# Its tool asks for a form and returns what it was answered.
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


@pytest.fixture
def thread(talker, new_name):
    return new_thread(talker.gateway, new_agent(talker.gateway, new_name("user"), "trusted"))


@pytest.fixture
def tool(talker, new_name):
    name = new_name("shop")
    new_integration(talker.gateway, name, "mcp-stdio", command="/usr/bin/python3", args=["-c", SERVER])
    return f"{name}__order"


def test_a_form_is_put_to_the_person(talker, thread, tool):
    with person(talker, thread, calls((tool, {})), "Done.") as somebody:
        request = somebody.asked()
        assert request["kind"] == "question" and request["tool"] == tool
        assert request["question"]["question"] == "Which size?" and "size" in request["question"]["form"]["properties"]
        refused(answer(talker.gateway, request, {"size": 3}), 400, "decision not possible")
        accepted(answer(talker.gateway, request, {"size": "large"}))
        assert json.loads(somebody.result()["output"]) == {"action": "accept", "content": {"size": "large"}}


def test_a_person_declines_a_form(talker, thread, tool):
    with person(talker, thread, calls((tool, {})), "Done.") as somebody:
        accepted(decide(talker.gateway, somebody.asked(), "deny"))
        assert json.loads(somebody.result()["output"]) == {"action": "decline"}


def test_without_anybody_a_form_is_cancelled_whatever_its_defaults(talker, thread, tool):
    assert json.loads(call_tool(talker, thread, tool, {})["output"]) == {"action": "cancel"}


def test_a_stop_ends_the_question(talker, thread, tool):
    with person(talker, thread, calls((tool, {})), "Done.") as somebody:
        request = somebody.asked()
        accepted(talker.gateway.http.post("/chat/stop", json={"threadId": thread["id"]}))
        refused(answer(talker.gateway, request, {"size": "large"}), 409, "permission request already decided")
        assert somebody.run()[-1]["type"] == "stopped"


def test_an_integration_s_tool_is_asked_for_once_the_stage_forbids_it(talker, new_name, tool):
    thread = new_thread(talker.gateway, new_agent(talker.gateway, new_name("user"), "operator"))
    with person(talker, thread, calls((tool, {})), "Done.") as somebody:
        request = somebody.asked()
        assert (request["kind"], request["target"], request["pattern"]) == ("permission", tool, tool)
        accepted(decide(talker.gateway, request, scope="thread"))
        accepted(answer(talker.gateway, somebody.asked(), {"size": "small"}))
        somebody.run()
    assert not call_tool(talker, thread, tool, {})["isError"]
