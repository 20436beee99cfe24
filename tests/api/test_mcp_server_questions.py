"""Questions of the MCP server to the user of a client, by elicitation/create or an input_required result.

See docs/contract/mcp.md#questions-to-the-person.
"""

import pytest

from approvals import pending
from checks import accepted
from mcp_client import MODERN, Client, text_of
from stubs.mcp_fixture import McpFixture
from stubs.provider import Reply, ToolCall
from tools import turns_of

ELICITATION = {"elicitation": {}}
ALLOW = {"action": "accept", "content": {"decision": "allow once"}}


def script(talker, *calls, answer="Well."):
    talker.stub.script(Reply("", tool_calls=list(calls)), Reply(answer))


def write(name):
    return ToolCall("Write", {"path": name, "content": "Buy milk.\n"})


def acting_thread(gateway):
    thread = accepted(gateway.http.post("/threads", json={"title": "a title"}), 201)
    return accepted(gateway.http.patch(f"/threads/{thread['id']}", json={"mode": "act"}))


def tool_result(gateway, thread):
    return turns_of(gateway, thread, "tool")[-1]["content"]


# A client with a session.

def test_person_is_asked_on_the_stream_of_the_call(talker):
    script(talker, write("by-http.md"))
    thread = acting_thread(talker.gateway)
    with Client(talker.gateway, capabilities=ELICITATION) as client:
        with client.streamed("tools/call", name="chat", arguments={"message": "x", "thread": thread["id"]}) as stream:
            question = stream.until("elicitation/create")
            assert "+Buy milk." in question["params"]["message"] and question["params"]["mode"] == "form"
            assert question["params"]["requestedSchema"]["properties"]["decision"]["enum"][0] == "allow once"
            assert client.post(id=question["id"], result=ALLOW).status_code == 202
            assert text_of(stream.result()).startswith("Well.")
    assert not tool_result(talker.gateway, thread).startswith("permission denied")


@pytest.mark.parametrize("answer", [
    {"result": {"action": "decline"}}, {"result": {"action": "cancel"}}, {"result": {}}, {"error": {"code": -1, "message": "x"}},
    {"result": {"action": "accept", "content": {"decision": "allow everything"}}}, {"result": 5},
], ids=str)
def test_any_other_answer_denies_the_call(talker, answer):
    script(talker, write("no.md"))
    thread = acting_thread(talker.gateway)
    with Client(talker.gateway, capabilities=ELICITATION) as client:
        with client.streamed("tools/call", name="chat", arguments={"message": "x", "thread": thread["id"]}) as stream:
            client.post(id=stream.until("elicitation/create")["id"], **answer)
            stream.result()
    assert tool_result(talker.gateway, thread).startswith("permission denied")


def test_another_sessions_answer_is_ignored(talker):
    script(talker, write("other.md"))
    thread = acting_thread(talker.gateway)
    with Client(talker.gateway, capabilities=ELICITATION) as client, Client(talker.gateway) as other:
        with client.streamed("tools/call", name="chat", arguments={"message": "x", "thread": thread["id"]}) as stream:
            question = stream.until("elicitation/create")
            other.post(id=question["id"], result=ALLOW)
            assert len(pending(talker.gateway, thread)) == 1
            client.post(id=question["id"], result={"action": "decline"})
            stream.result()


def test_client_is_notified_of_a_decision_made_elsewhere(talker):
    script(talker, write("elsewhere.md"))
    thread = acting_thread(talker.gateway)
    with Client(talker.gateway, capabilities=ELICITATION) as client:
        with client.streamed("tools/call", name="chat", arguments={"message": "x", "thread": thread["id"]}) as stream:
            question = stream.until("elicitation/create")
            request = pending(talker.gateway, thread)[0]
            accepted(talker.gateway.http.post(f"/permissions/{request['id']}", json={"decision": "deny"}))
            assert stream.until("notifications/cancelled")["params"]["requestId"] == question["id"]
            stream.result()


@pytest.mark.parametrize("version", ["2025-11-25", MODERN])
def test_client_without_elicitation_is_not_asked(talker, version):
    script(talker, write("silent.md"))
    thread = acting_thread(talker.gateway)
    with Client(talker.gateway, version) as client:
        assert text_of(client.call("chat", message="x", thread=thread["id"])).startswith("Well.")
    assert tool_result(talker.gateway, thread).startswith("staged as proposal")


# A client of 2026-07-28.

def chat_stateless(client, thread, **params):
    return client.ask("tools/call", name="chat", arguments={"message": "x", "thread": thread["id"]}, **params)


def test_person_is_asked_by_a_result(talker):
    script(talker, ToolCall("AskUser", {"question": "Which colour?", "options": ["Red", "Blue"]}),
           write("stateless.md"))
    thread = acting_thread(talker.gateway)
    with Client(talker.gateway, MODERN, capabilities=ELICITATION) as client:
        first = chat_stateless(client, thread)["result"]
        assert first["resultType"] == "input_required"
        (key, question), = first["inputRequests"].items()
        assert question["method"] == "elicitation/create"
        assert question["params"]["requestedSchema"]["properties"]["answer"]["enum"] == ["Red", "Blue"]
        answers = {key: {"action": "accept", "content": {"answer": "Blue"}}, "unknown": {"action": "accept"}}
        second = chat_stateless(client, thread, inputResponses=answers, requestState=first["requestState"])["result"]
        assert second["resultType"] == "input_required" and second["requestState"] != first["requestState"]
        answers = {key: ALLOW for key in second["inputRequests"]}
        third = chat_stateless(client, thread, inputResponses=answers, requestState=second["requestState"])["result"]
        assert third["resultType"] == "complete" and text_of(third).startswith("Well.")
    results = [turn["content"] for turn in turns_of(talker.gateway, thread, "tool")]
    assert any("Blue" in result for result in results)
    assert not any(result.startswith("permission denied") for result in results)


def test_missing_answer_is_requested_again(talker):
    script(talker, write("again.md"))
    thread = acting_thread(talker.gateway)
    with Client(talker.gateway, MODERN, capabilities=ELICITATION) as client:
        first = chat_stateless(client, thread)["result"]
        second = chat_stateless(client, thread, inputResponses={"other": ALLOW}, requestState=first["requestState"])["result"]
        assert second["inputRequests"] == first["inputRequests"]
        answers = {key: {"action": "decline"} for key in second["inputRequests"]}
        chat_stateless(client, thread, inputResponses=answers, requestState=second["requestState"])
    assert tool_result(talker.gateway, thread).startswith("permission denied")


def test_state_is_refused_if_it_was_changed_used_or_made_for_another_tool(talker):
    script(talker, write("state.md"))
    thread = acting_thread(talker.gateway)
    with Client(talker.gateway, MODERN, capabilities=ELICITATION) as client:
        first = chat_stateless(client, thread)["result"]
        state = first["requestState"]
        answers = {key: {"action": "decline"} for key in first["inputRequests"]}
        for other in (state + "x", "", "0" * 32):
            assert chat_stateless(client, thread, inputResponses=answers, requestState=other)["error"]["code"] == -32602
        elsewhere = client.error("tools/call", name="ask_assistant", arguments={"message": "x"}, requestState=state,
                                 inputResponses=answers)
        assert elsewhere["code"] == -32602
        assert "result" in chat_stateless(client, thread, inputResponses=answers, requestState=state)
        assert chat_stateless(client, thread, inputResponses=answers, requestState=state)["error"]["code"] == -32602


# Tools that need more than a form, such as those of the conformance suite.

@pytest.fixture(scope="module")
def fixture_gateway(tmp_path_factory):
    from gateway import Gateway
    with McpFixture() as fixture:
        running = Gateway(tmp_path_factory.mktemp("fixture") / "gateway", environment=fixture.environment).start()
        yield running
        running.close()


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
def test_session_is_asked_for_a_completion(fixture_gateway, version):
    with Client(fixture_gateway, version, capabilities={"sampling": {}}) as client:
        with client.streamed("tools/call", name="test_sampling", arguments={"prompt": "Hi"}) as stream:
            question = stream.until("sampling/createMessage")
            client.post(id=question["id"], result={"role": "assistant", "model": "m", "content": {"type": "text", "text": "Yo"}})
            assert text_of(stream.result()) == "LLM response: Yo"


def test_client_is_asked_only_for_what_it_supports(fixture_gateway):
    with Client(fixture_gateway, MODERN, capabilities={"sampling": {}}) as client:
        question = client.result("tools/call", name="test_input_required_result_capabilities", arguments={})
        assert list(question["inputRequests"]) == ["sample_input"]
    with Client(fixture_gateway, MODERN) as client:
        message, headers = client.request("tools/call", name="test_sampling", arguments={"prompt": "Hi"})
        refusal = client.http.post("/mcp", json=message, headers=headers)
        assert refusal.status_code == 400 and refusal.json()["error"]["code"] == -32021
        assert refusal.json()["error"]["data"] == {"requiredCapabilities": {"sampling": {}}}


def test_prompt_may_require_input(fixture_gateway):
    with Client(fixture_gateway, MODERN, capabilities=ELICITATION) as client:
        asked = client.result("prompts/get", name="test_input_required_result_prompt")
        assert asked["resultType"] == "input_required"
        got = client.result("prompts/get", name="test_input_required_result_prompt", requestState=asked["requestState"],
                            inputResponses={"user_context": {"action": "accept", "content": {"context": "rain"}}})
        assert got["messages"][0]["content"]["text"] == "Context: rain"


def test_fixture_is_offered_only_if_its_address_is_set(gateway):
    with Client(gateway) as client:
        assert not any(tool["name"].startswith("test_") for tool in client.result("tools/list")["tools"])
        assert client.error("tools/call", name="test_simple_text")["code"] == -32602
