"""Features of the MCP server: tools, prompts, resources, completion, notifications of changes.

See docs/contract/mcp.md.
"""

import json

import pytest

from checks import UNKNOWN_ID, accepted
from knowledge import page
from mcp_client import LEGACY, MODERN, SUBSCRIPTION, Client, text_of
from proposals import write as write_proposal

BOTH = ["2025-11-25", MODERN]


@pytest.fixture(params=BOTH)
def client(request, gateway):
    with Client(gateway, request.param) as connected:
        yield connected


@pytest.fixture(params=BOTH)
def own_client(request, own_gateway):
    with Client(own_gateway, request.param) as connected:
        yield connected


def new_command(gateway, name, prompt):
    body = {"type": "command", "name": name, "description": "A command", "enabled": True,
            "definition": {"prompt": prompt}}
    return accepted(gateway.http.post("/extensions", json=body), 201)


def new_thread_with(gateway, *contents):
    thread = accepted(gateway.http.post("/threads", json={"title": "Talk"}), 201)
    for content in contents:
        accepted(gateway.http.post(f"/threads/{thread['id']}/turns", json={"content": content, "role": "user"}), 201)
    return thread


# Tools that correspond to routes.

@pytest.mark.parametrize("version", [*LEGACY, MODERN])
def test_default_tools_read_or_talk(gateway, version):
    with Client(gateway, version) as connected:
        offered = {tool["name"] for tool in connected.result("tools/list")["tools"]}
        assert {"chat", "ask_assistant", "propose", "post_run_job", "get_threads", "get_turns_search"} <= offered
        assert not {"put_soul", "post_extensions", "post_chat"} & offered
        assert not any("pair" in name for name in offered)


def test_all_tools_are_offered_on_request(own_gateway):
    with Client(own_gateway, path="/mcp?tools=all") as everything:
        offered = {tool["name"] for tool in everything.result("tools/list")["tools"]}
        assert {"put_soul", "delete_threads_id"} <= offered and not any("pair" in name for name in offered)
        assert everything.call("put_soul", body={"content": "We help."})["isError"] is False
    assert accepted(own_gateway.http.get("/soul"))["content"] == "We help."


@pytest.mark.parametrize("name", ["put_soul", "post_chat", "get_pair_refresh", "post_pair", "ask_nobody", "nonsense", "x" * 9000])
def test_tool_that_is_not_offered_cannot_be_called(client, name):
    assert client.error("tools/call", name=name, arguments={})["code"] == -32602


def test_arguments_are_path_and_query(client, gateway):
    thread = new_thread_with(gateway, "one", "two & three/four")
    result = client.call("get_threads_id_turns", id=thread["id"], limit=1)
    assert [turn["content"] for turn in json.loads(text_of(result))] == ["two & three/four"]
    assert result["structuredContent"] == {"result": json.loads(text_of(result))}
    assert client.call("get_extensions_id", id="help")["structuredContent"]["name"] == "help"


@pytest.mark.parametrize("name, arguments, why", [
    ("get_extensions_id", {"id": "nobody"}, "extension not found"), ("get_extensions_id", {}, "id is required"),
    ("get_extensions_id", {"id": "a/../b"}, "extension not found"), ("get_extensions_id", {"id": "a\0b"}, "invalid path"),
    ("get_threads", {"limit": "x"}, "limit"), ("chat", {}, "message is required"),
    ("chat", {"message": 5}, "message must be a string"), ("chat", {"message": "x", "thread": UNKNOWN_ID}, "thread not found"),
    ("chat", {"message": "x", "agent": "nobody"}, "agent not found"), ("propose", {"type": "soul"}, "is required"),
])
def test_failure_within_a_tool_is_a_result(client, name, arguments, why):
    result = client.call(name, **arguments)
    assert result["isError"] is True and why in text_of(result), result


def test_chat_that_is_refused_leaves_no_thread(client, gateway):
    before = len(accepted(gateway.http.get("/threads")))
    assert client.call("chat", message="x", model="nobody/none")["isError"]
    assert client.call("chat", message="x", agent="nobody")["isError"]
    after = accepted(gateway.http.get("/threads"))
    assert len([thread for thread in after if thread["turn_count"] == 0]) <= before


@pytest.mark.parametrize("params", [{"arguments": {}}, {"name": ""}, {"name": "chat", "arguments": []}], ids=str)
def test_malformed_call_is_refused(gateway, params):
    with Client(gateway) as connected:
        assert connected.error("tools/call", **params)["code"] == -32602


def test_change_is_proposed(own_client, own_gateway):
    result = own_client.call("propose", type="soul", title="Be kinder", target="soul.md", content="Kind.\n")
    assert text_of(result).startswith("staged as proposal mcp/")
    assert [one["title"] for one in accepted(own_gateway.http.get("/proposals"))] == ["Be kinder"]


# Agents.

@pytest.mark.parametrize("version", BOTH)
def test_agents_answer_is_reported_while_it_is_written(talker, version):
    held = talker.holds("Half")
    with Client(talker.gateway, version) as connected:
        arguments = {"message": "Say it slowly"}
        with connected.streamed("tools/call", name="ask_assistant", arguments=arguments,
                                _meta={"progressToken": "p"}) as stream:
            first = stream.until("notifications/progress")["params"]
            assert (first["progressToken"], first["message"]) == ("p", "Half") and first["progress"] > 0
            held.release(" whole")
            second = stream.until("notifications/progress")["params"]
            assert second["progress"] > first["progress"] and second["message"] == " whole"
            text = text_of(stream.result())
    assert text.startswith("Half whole\n(thread ")


def test_thread_is_continued(talker):
    with Client(talker.gateway) as connected:
        talker.answers("Forty-two.")
        thread = text_of(connected.call("ask_assistant", message="What is it?")).rsplit("(thread ", 1)[1].rstrip(")")
        talker.answers("Still.")
        assert text_of(connected.call("chat", message="And now?", thread=thread)) == f"Still.\n(thread {thread})"
    assert ("user", "What is it?") in talker.conversation()


def test_disabled_agent_is_not_a_tool(talker, new_name):
    body = {"type": "agent", "name": new_name("shy"), "description": "", "enabled": False, "definition": {"prompt": "x"}}
    accepted(talker.gateway.http.post("/extensions", json=body), 201)
    with Client(talker.gateway) as connected:
        assert f"ask_{body['name']}" not in {tool["name"] for tool in connected.result("tools/list")["tools"]}
        assert connected.error("tools/call", name=f"ask_{body['name']}", arguments={"message": "x"})["code"] == -32602


def test_cancelled_call_stops_its_run_and_gets_no_response(talker):
    held = talker.holds("Half")
    with Client(talker.gateway) as connected:
        with connected.streamed("tools/call", name="chat", arguments={"message": "x"}, _meta={"progressToken": 1}) as stream:
            stream.until("notifications/progress")
            response = connected.post(method="notifications/cancelled", params={"requestId": connected.ids})
            assert response.status_code == 202
            assert not [message for message in stream.messages if "method" not in message]
        assert held.was_aborted()
        assert connected.result("ping") == {}


def test_closing_the_stream_cancels_a_stateless_call(talker):
    held = talker.holds("Half")
    with Client(talker.gateway, MODERN) as connected:
        with connected.streamed("tools/call", name="chat", arguments={"message": "x"}, _meta={"progressToken": 1}) as stream:
            stream.until("notifications/progress")
            stream.response.close()
        assert held.was_aborted()


def test_deleted_session_cancels_its_calls(talker):
    held = talker.holds("Half")
    with Client(talker.gateway) as connected:
        with connected.streamed("tools/call", name="chat", arguments={"message": "x"}, _meta={"progressToken": 1}) as stream:
            stream.until("notifications/progress")
            assert connected.http.delete("/mcp", headers=connected.headers).status_code == 204
            assert held.was_aborted()


def test_answer_is_resumed_after_a_lost_connection(talker):
    held = talker.holds("Half")
    with Client(talker.gateway) as connected:
        message, headers = connected.request("tools/call", name="chat", arguments={"message": "x"},
                                             _meta={"progressToken": 1})
        with connected.http.stream("POST", "/mcp", json=message, headers=headers) as response:
            lines = response.iter_lines()
            event = next(line for line in lines if line.startswith("id: ")).removeprefix("id: ").strip()
            assert "Half" in next(line for line in lines if "Half" in line)
        held.release(" whole")
        with connected.listening(**{"Last-Event-ID": event}) as resumed:
            assert text_of(resumed.result()).startswith("Half whole")
        for unknown in ("77-1", "0-99999999999999999999", "0-18446744073709551615", "0-1", "x"):
            answer = connected.http.get("/mcp", headers={**connected.headers, "Last-Event-ID": unknown})
            assert answer.status_code == 404, unknown


def test_subscriptions_at_the_same_time_are_limited_too(gateway):
    def subscribe(uris):
        return json.dumps([{"jsonrpc": "2.0", "id": uri, "method": "resources/subscribe", "params": {"uri": uri}}
                           for uri in uris])

    with Client(gateway, "2025-03-26") as connected:
        for first in range(0, 480, 60):
            answers = connected.post_raw(subscribe(f"agw://threads/{first + i}" for i in range(60))).json()
            assert all("result" in answer for answer in answers), answers
        # The versions of pages are read first, all at the same time.
        answers = connected.post_raw(subscribe(f"agw://knowledge/page-{i}" for i in range(60))).json()
        assert sum("result" in answer for answer in answers) == 20, answers


def test_id_of_an_active_request_is_refused(talker):
    held = talker.holds("Half")
    with Client(talker.gateway) as connected:
        with connected.streamed("tools/call", name="chat", arguments={"message": "x"}, _meta={"progressToken": 1}) as stream:
            stream.until("notifications/progress")
            again = connected.post(id=connected.ids, method="ping")
            assert (again.status_code, again.json()["error"]["code"]) == (400, -32600)
            held.release()
            stream.result()


# Prompts.

def test_commands_are_prompts(client, gateway, new_name):
    command = new_command(gateway, new_name("greet"), "Greet $ARGUMENTS twice: $1")
    plain = new_command(gateway, new_name("plain"), "Say hello")
    prompts = {prompt["name"]: prompt for prompt in client.result("prompts/list")["prompts"]}
    assert [one["name"] for one in prompts[command["name"]]["arguments"]] == ["arguments"]
    assert "arguments" not in prompts[plain["name"]]
    prompt = client.result("prompts/get", name=command["name"], arguments={"arguments": "Ada now"})
    assert prompt["messages"] == [{"role": "user", "content": {"type": "text", "text": "Greet Ada now twice: Ada"}}]


@pytest.mark.parametrize("params", [
    {"name": "nonsense"}, {"name": "help", "arguments": {"arguments": 5}}, {"name": "help", "arguments": {"other": "x"}},
], ids=str)
def test_invalid_prompt_is_refused(client, params):
    assert client.error("prompts/get", **params)["code"] == -32602


# Resources.

def test_page_thread_and_proposal_are_resources(own_client, own_gateway):
    page(own_gateway, "a-page", "Some text of the page.\n")
    thread = new_thread_with(own_gateway, "first", "second")
    write_proposal(own_gateway, date="2026-01-02", name="idea")
    uris = {"page": "agw://knowledge/a-page", "thread": f"agw://threads/{thread['id']}",
            "proposal": "agw://proposals/assistant/2026-01-02/idea"}
    listed = {one["uri"] for one in own_client.result("resources/list")["resources"]}
    assert set(uris.values()) <= listed
    texts = {name: own_client.result("resources/read", uri=uri)["contents"][0]["text"] for name, uri in uris.items()}
    assert "Some text of the page." in texts["page"]
    assert texts["thread"].index("first") < texts["thread"].index("second")
    assert json.loads(texts["proposal"])["status"] == "pending"


@pytest.mark.parametrize("uri", [
    "agw://threads/none", f"agw://threads/{UNKNOWN_ID}", "agw://knowledge/none", "agw://proposals/a/b", "agw://threads",
    "agw://threads/a/b", "agw://knowledge/..%2f..%2fconfig.yaml", "agw://knowledge/%00", "agw://knowledge/%zz", "agw://",
    "file:///etc/passwd", "http://127.0.0.1/", "x",
])
@pytest.mark.parametrize("version, code", [("2025-11-25", -32002), (MODERN, -32602)])
def test_unknown_resource_is_not_found(gateway, version, code, uri):
    with Client(gateway, version) as connected:
        assert connected.error("resources/read", uri=uri) == {"code": code, "message": "resource not found",
                                                              "data": {"uri": uri}}


def test_list_of_resources_is_paged(own_gateway):
    with Client(own_gateway) as connected:
        for number in range(230):
            page(own_gateway, f"page-{number}")
        first = connected.result("resources/list")
        rest = connected.result("resources/list", cursor=first["nextCursor"])
        uris = [one["uri"] for one in first["resources"] + rest["resources"]]
        assert len(first["resources"]) == 200 and len(set(uris)) == 230 and "nextCursor" not in rest


@pytest.mark.parametrize("cursor", ["x", "-1", "99999", "1x", 5])
@pytest.mark.parametrize("method", ["resources/list", "tools/list", "prompts/list", "resources/templates/list"])
def test_unknown_cursor_is_refused(gateway, method, cursor):
    with Client(gateway) as connected:
        assert connected.error(method, cursor=cursor)["code"] == -32602


def test_templates_are_completed(own_client, own_gateway):
    for slug in ("apples", "apricots", "pears"):
        page(own_gateway, slug)
    write_proposal(own_gateway, agent="assistant", date="2026-01-02", name="idea")
    templates = {one["uriTemplate"] for one in own_client.result("resources/templates/list")["resourceTemplates"]}

    def complete(template, name, value, **context):
        assert template in templates
        return own_client.result("completion/complete", ref={"type": "ref/resource", "uri": template},
                                 argument={"name": name, "value": value}, **context)["completion"]["values"]

    assert complete("agw://knowledge/{slug}", "slug", "ap") == ["apples", "apricots"]
    nested = "agw://proposals/{agent}/{date}/{name}"
    assert complete(nested, "agent", "") == ["assistant"]
    assert complete(nested, "name", "", context={"arguments": {"agent": "assistant", "date": "2026-01-02"}}) == ["idea"]
    assert complete(nested, "name", "", context={"arguments": {"agent": "other"}}) == []


@pytest.mark.parametrize("ref", [{}, {"type": "ref/prompt", "name": "nonsense"}, {"type": "ref/resource", "uri": "x"}],
                         ids=str)
def test_completion_of_an_unknown_reference_is_refused(client, ref):
    assert client.error("completion/complete", ref=ref, argument={"name": "a", "value": ""})["code"] == -32602


# Changes.

def test_session_is_notified_of_a_thread_that_it_subscribed_to(gateway):
    thread, other = new_thread_with(gateway), new_thread_with(gateway)
    uri = f"agw://threads/{thread['id']}"
    with Client(gateway) as connected, connected.listening() as stream:
        assert connected.result("resources/subscribe", uri=uri) == {}
        for one in (other, thread):
            accepted(gateway.http.post(f"/threads/{one['id']}/turns", json={"content": "x", "role": "user"}), 201)
        assert stream.next() == {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}}
        assert connected.result("resources/unsubscribe", uri=uri) == {}


def test_session_is_notified_of_a_deleted_thread(gateway):
    thread = new_thread_with(gateway)
    uri = f"agw://threads/{thread['id']}"
    with Client(gateway) as connected, connected.listening() as stream:
        connected.result("resources/list")
        connected.result("resources/subscribe", uri=uri)
        assert gateway.http.delete(f"/threads/{thread['id']}").status_code == 204
        assert stream.until("notifications/resources/updated")["params"] == {"uri": uri}
        assert stream.until("notifications/resources/list_changed")
        assert connected.error("resources/read", uri=uri)["code"] == -32002


def test_notifications_wait_for_a_reader(gateway):
    thread = new_thread_with(gateway)
    with Client(gateway) as connected:
        connected.result("resources/subscribe", uri=f"agw://threads/{thread['id']}")
        accepted(gateway.http.post(f"/threads/{thread['id']}/turns", json={"content": "x", "role": "user"}), 201)
        with connected.listening() as stream:
            assert stream.next()["method"] == "notifications/resources/updated"


def test_second_reader_of_the_general_stream_replaces_the_first(gateway):
    with Client(gateway) as connected, connected.listening() as first, connected.listening():
        assert list(first.messages) == []


def test_head_does_not_replace_the_reader_of_the_general_stream(gateway):
    thread = new_thread_with(gateway)
    with Client(gateway) as connected, connected.listening() as stream:
        connected.result("resources/subscribe", uri=f"agw://threads/{thread['id']}")
        assert connected.http.head("/mcp", headers=connected.headers).status_code == 200
        accepted(gateway.http.post(f"/threads/{thread['id']}/turns", json={"content": "x", "role": "user"}), 201)
        assert stream.next()["method"] == "notifications/resources/updated"


def test_session_is_notified_of_a_changed_page(own_gateway):
    page(own_gateway, "a-page", "Old.\n")
    with Client(own_gateway) as connected, connected.listening() as stream:
        connected.result("resources/subscribe", uri="agw://knowledge/a-page")
        page(own_gateway, "a-page", "New.\n")
        assert stream.until("notifications/resources/updated")["params"]["uri"] == "agw://knowledge/a-page"


@pytest.mark.parametrize("uri", ["x", "file:///etc/passwd", "agw://nonsense/x"])
def test_subscription_to_an_unknown_resource_is_refused(gateway, uri):
    with Client(gateway) as connected:
        assert connected.error("resources/subscribe", uri=uri)["code"] == -32002


def test_session_is_notified_of_changes_of_lists_that_it_has_read(own_gateway):
    with Client(own_gateway) as connected, connected.listening() as stream:
        connected.result("prompts/list")
        body = {"type": "agent", "name": "newcomer", "description": "", "enabled": True, "definition": {"prompt": "x"}}
        accepted(own_gateway.http.post("/extensions", json=body), 201)
        new_command(own_gateway, "greet", "Hello")
        assert stream.next()["method"] == "notifications/prompts/list_changed"


def test_stateless_client_gets_only_notifications_that_it_names(own_gateway):
    thread = new_thread_with(own_gateway)
    uri = f"agw://threads/{thread['id']}"
    notifications = {"toolsListChanged": True, "resourceSubscriptions": [uri], "nonsense": True}
    with Client(own_gateway, MODERN) as connected:
        with connected.streamed("subscriptions/listen", notifications=notifications) as stream:
            acknowledged = stream.next()
            assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
            assert acknowledged["params"]["notifications"] == {"toolsListChanged": True, "resourceSubscriptions": [uri]}
            new_command(own_gateway, "greet", "Hello")
            accepted(own_gateway.http.post(f"/threads/{thread['id']}/turns", json={"content": "x", "role": "user"}), 201)
            updated = stream.next()
            assert updated["method"] == "notifications/resources/updated" and updated["params"]["uri"] == uri
            assert updated["params"]["_meta"][SUBSCRIPTION] == connected.ids


def test_stopping_gateway_ends_subscriptions_with_a_result(own_gateway):
    with Client(own_gateway, MODERN) as connected:
        with connected.streamed("subscriptions/listen", notifications={"toolsListChanged": True}) as stream:
            stream.next()
            accepted(own_gateway.http.post("/daemon/stop"))
            assert stream.result()["_meta"][SUBSCRIPTION] == connected.ids
    assert own_gateway.wait() == 0


def test_listening_without_a_filter_is_refused(gateway):
    with Client(gateway, MODERN) as connected:
        assert connected.error("subscriptions/listen")["code"] == -32602


@pytest.mark.parametrize("level", ["loud", 5, None])
def test_unknown_log_level_is_refused(gateway, level):
    with Client(gateway) as connected:
        assert connected.error("logging/setLevel", level=level)["code"] == -32602
        assert connected.result("logging/setLevel", level="debug") == {}
