"""agw mcp: the gateway as a server of the Model Context Protocol.

See docs/command-line.md#mcp.
"""

import json
import os
import subprocess
import time

import pytest

from checks import PATIENCE, accepted, nested
from gateway import BINARY
from jobs import ended, new_job

LEGACY = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


class Server:
    """`agw mcp` as clients run it: a child process connected by pipes."""

    def __init__(self, gateway, *arguments):
        self.process = subprocess.Popen([str(BINARY), "mcp", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=gateway.variables())
        self.ids = 0

    def send(self, **message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def receive(self):
        return json.loads(self.process.stdout.readline())

    def ask(self, method, **params):
        self.ids += 1
        self.send(id=self.ids, method=method, params=params)
        answer = self.receive()
        assert answer["jsonrpc"] == "2.0" and answer["id"] == self.ids, answer
        return answer

    def shake_hands(self, version="2025-11-25"):
        result = self.ask("initialize", protocolVersion=version, capabilities={},
                          clientInfo={"name": "test", "version": "1"})["result"]
        self.send(method="notifications/initialized")
        return result

    def call(self, name, **arguments):
        return self.ask("tools/call", name=name, arguments=arguments)["result"]

    def end(self):
        self.process.stdin.close()
        return self.process.wait(PATIENCE)


@pytest.fixture
def start_mcp():
    """Starts servers, which are killed after the test."""
    servers = []

    def start(gateway, *arguments):
        servers.append(Server(gateway, *arguments))
        return servers[-1]

    yield start
    for server in servers:
        server.process.kill()
        server.process.wait()


def names(server, **params):
    return {tool["name"] for tool in server.ask("tools/list", **params)["result"]["tools"]}


def test_exit_status_without_a_gateway_is_4(make_gateway):
    done = make_gateway().command("mcp")
    assert done.returncode == 4 and "agw serve" in done.stderr and done.stdout == ""


def test_client_without_a_gateway_learns_what_to_do(make_gateway, start_mcp):
    server = start_mcp(make_gateway())
    error = server.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "a", "version": "1"})
    assert "start it with `agw serve`" in error["error"]["message"]
    assert "agw serve" in server.call("chat", agent="assistant", message="Hi")["content"][0]["text"]
    assert server.end() == 4


@pytest.mark.parametrize("first", ["initialize", "server/discover"])
def test_client_may_connect_before_the_gateway_runs(make_gateway, start_mcp, first):
    gateway = make_gateway()
    server = start_mcp(gateway)
    params = {"_meta": META} if first == "server/discover" else {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    server.send(id=1, method=first, params=params)
    gateway.start()
    assert "agent-gateway" in json.dumps(server.receive()["result"])
    assert server.end() == 0


def test_standard_streams_may_be_non_blocking(gateway):
    """A launcher that shares its own streams may have made them so."""
    (theirs, ours), (answers, output) = os.pipe(), os.pipe()
    for stream in (theirs, output):
        os.set_blocking(stream, False)
    with subprocess.Popen([str(BINARY), "mcp"], stdin=theirs, stdout=output, env=gateway.variables()) as process:
        os.close(theirs), os.close(output)
        with open(answers) as lines, open(ours, "w") as requests:
            time.sleep(0.3)  # it finds nothing to read
            requests.write('{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
            requests.flush()
            assert json.loads(lines.readline())["result"] == {}
        assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize("version", LEGACY)
def test_each_revision_with_a_handshake_is_accepted(gateway, start_mcp, version):
    result = start_mcp(gateway).shake_hands(version)
    assert result["protocolVersion"] == version and result["serverInfo"]["name"] == "agent-gateway"
    assert set(result["capabilities"]) == {"tools", "prompts", "resources", "completions", "logging"}


def test_handshake_with_an_unknown_revision_selects_the_newest(gateway, start_mcp):
    assert start_mcp(gateway).shake_hands("1999-01-01")["protocolVersion"] == "2025-11-25"


def test_revision_without_a_handshake_is_accepted(gateway, start_mcp):
    server = start_mcp(gateway)
    found = server.ask("server/discover", _meta=META)["result"]
    assert found["resultType"] == "complete" and found["supportedVersions"][0] == "2026-07-28"
    listed = server.ask("tools/list", _meta=META)["result"]
    assert listed["resultType"] == "complete" and listed["ttlMs"] > 0 and listed["cacheScope"] == "private"
    called = server.ask("tools/call", name="get_health", arguments={}, _meta=META)["result"]
    assert called["resultType"] == "complete" and called["structuredContent"]["status"] == "ok"
    later = {**META, "io.modelcontextprotocol/protocolVersion": "2030-01-01"}
    refused = server.ask("tools/list", _meta=later)["error"]
    assert refused["code"] == -32022 and refused["data"]["supported"] == ["2026-07-28"]


def test_default_tools_read_chat_run_jobs_and_propose(gateway, start_mcp):
    offered = names(start_mcp(gateway))
    assert {"chat", "propose", "post_run_job", "get_threads", "get_turns_search", "get_extensions"} <= offered
    manual = accepted(gateway.http.get("/utcp"))["tools"]
    reading = {tool["name"] for tool in manual if "read" in tool["tags"]}
    talking = {name for name in offered if name.startswith("ask_")} | {"chat"}
    assert offered - talking - {"propose", "post_run_job", "post_chat_stop"} <= reading
    assert not any("pair" in name for name in offered), "clients must not be able to pair others"


def test_option_all_offers_everything_except_credentials(gateway, start_mcp):
    offered = names(start_mcp(gateway, "--all"))
    assert {"post_extensions", "delete_threads_id", "put_soul"} <= offered
    assert not any("pair" in name for name in offered)


def test_tools_have_schemas_and_hints(gateway, start_mcp):
    tools = {tool["name"]: tool for tool in start_mcp(gateway, "--all").ask("tools/list")["result"]["tools"]}
    assert tools["get_turns_search"]["inputSchema"]["required"] == ["q", "agent_id"]
    assert tools["get_threads"]["annotations"]["readOnlyHint"] is True
    assert tools["delete_threads_id"]["annotations"]["destructiveHint"] is True


def test_tool_reads_with_path_and_query(gateway, start_mcp):
    thread = accepted(gateway.http.post("/threads", json={"title": "by mcp"}), 201)
    for content in ("one", "two & three/four"):
        body = {"content": content, "role": "user"}
        accepted(gateway.http.post(f"/threads/{thread['id']}/turns", json=body), 201)
    server = start_mcp(gateway)
    server.shake_hands()
    result = server.call("get_threads_id_turns", id=thread["id"], limit=1)
    assert result["isError"] is False
    assert [turn["content"] for turn in json.loads(result["content"][0]["text"])] == ["two & three/four"]
    assert server.call("get_extensions_id", id="help")["structuredContent"]["name"] == "help"


def test_tools_that_change_records_require_the_option_all(gateway, start_mcp):
    server = start_mcp(gateway)
    for name in ("put_soul", "post_chat", "get_pair_refresh", "nonsense"):
        error = server.ask("tools/call", name=name, arguments={})["error"]
        assert error["code"] == -32602, name


def test_unknown_tool_is_reported(gateway, start_mcp):
    assert "--all" in start_mcp(gateway).ask("tools/call", name="nonsense")["error"]["message"]
    assert start_mcp(gateway, "--all").ask("tools/call", name="nonsense")["error"]["message"] == "unknown tool nonsense"


def test_null_counts_as_omitted(gateway, start_mcp):
    server = start_mcp(gateway)
    listed = server.call("get_filesystem_ls", path=None)
    assert listed["isError"] is False and listed["structuredContent"]["path"] == str(gateway.home)
    assert server.call("get_extensions_id", id=None)["content"][0]["text"] == "id is required"


def test_deeply_nested_input_is_forwarded(own_gateway, start_mcp):
    server = start_mcp(own_gateway, "--all")
    body = {"type": "widget", "name": "deep", "description": "", "definition": {"x": nested(62)}}
    made = server.call("post_extensions", body=body)
    assert made["isError"] is False and made["structuredContent"]["definition"] == body["definition"], made


def test_body_can_be_sent_with_the_option_all(own_gateway, start_mcp):
    server = start_mcp(own_gateway, "--all")
    assert server.call("put_soul", body={"content": "We help."})["isError"] is False
    assert accepted(own_gateway.http.get("/soul"))["content"] == "We help."
    made = server.call("post_threads", body={"title": "made"})["structuredContent"]
    assert server.call("delete_threads_id", id=made["id"])["isError"] is False


def test_gateway_error_is_a_tool_error(gateway, start_mcp):
    server = start_mcp(gateway)
    result = server.call("get_extensions_id", id="nobody")
    assert result["isError"] is True and "extension not found" in result["content"][0]["text"]
    assert "id is required" in server.call("get_extensions_id")["content"][0]["text"]


def test_chat_waits_for_the_answer(talker, start_mcp):
    server = start_mcp(talker.gateway)
    talker.answers("The answer", " is 42.")
    answer = server.call("chat", message="What is it?")["content"][0]["text"]
    assert answer.startswith("The answer is 42.") and "(thread " in answer
    thread = answer.rsplit("(thread ", 1)[1].rstrip(")")
    talker.answers("Still 42.")
    assert "Still 42." in server.call("chat", message="And now?", thread=thread)["content"][0]["text"]
    assert server.call("chat")["content"][0]["text"] == "message is required"


def test_error_names_the_argument_that_is_not_a_string(gateway, start_mcp):
    server = start_mcp(gateway)
    for tool, given, name in (("chat", {"message": 5}, "message"), ("chat", {"message": "x", "agent": 5}, "agent"),
                              ("propose", {"type": ["soul"]}, "type")):
        refused = server.call(tool, **given)
        assert refused["isError"] and refused["content"][0]["text"].startswith(f"{name} must be a string")


def paused_chat(talker, start_mcp):
    """Returns a server with a pending chat, whose call has the id `long`, and its paused answer."""
    server = start_mcp(talker.gateway)
    held = talker.holds("Half")
    server.send(id="long", method="tools/call", params={"name": "chat", "arguments": {"message": "slowly"}})
    assert held.was_asked()
    return server, held


def test_other_requests_proceed_while_a_chat_waits(talker, start_mcp):
    server, held = paused_chat(talker, start_mcp)
    assert server.ask("ping")["result"] == {}
    held.release(" whole")
    answer = server.receive()
    assert answer["id"] == "long" and "Half whole" in answer["result"]["content"][0]["text"]


def test_cancelled_call_gets_no_response(talker, start_mcp):
    server, held = paused_chat(talker, start_mcp)
    server.send(method="notifications/cancelled", params={"requestId": "long"})
    assert server.ask("ping")["result"] == {}
    assert held.was_aborted()
    assert server.ask("ping")["result"] == {}


def test_job_is_run(gateway, start_mcp, new_name):
    job = new_job(gateway, new_name("mcp"))
    result = start_mcp(gateway).call("post_run_job", job=job["name"], dry=True)
    assert result["structuredContent"]["status"] == "started"
    assert ended(gateway, job)[0]["dry"] is True


def test_change_is_proposed(own_gateway, start_mcp):
    result = start_mcp(own_gateway).call("propose", type="soul", title="Be kinder: a line", target="soul.md", content="Kind.\n",
                             reason="It helps")
    assert result["isError"] is False, result
    listed = accepted(own_gateway.http.get("/proposals"))
    assert [(one["agent"], one["title"], one["type"]) for one in listed] == [("mcp", "Be kinder: a line", "soul")]
    shown = accepted(own_gateway.http.get(f"/proposals/mcp/{listed[0]['date']}/{listed[0]['name']}"))
    assert (shown["content"], shown["target"], shown["status"]) == ("Kind.\n", "soul.md", "pending")
    assert "target is required" in start_mcp(own_gateway).call("propose", type="soul", title="x")["content"][0]["text"]


@pytest.mark.parametrize("member, value, why", [
    ("type", "wish", "type must be one of soul, extension, file, knowledge"), ("type", None, "type is required"),
    ("title", "\n", "title is required"), ("title", " ", "title is required"), ("target", "", "target is required"),
    ("target", " ", "target is required"), ("reason", 5, "reason must be a string"),
    ("target", "knowledge/", "validation failed"), ("target", "config.yaml", "a person makes a folder a project"),
    ("target", "/etc/hosts", "a person makes a folder a project"), ("type", "extension", "validation failed"),
])
def test_invalid_proposal_is_refused(own_gateway, start_mcp, member, value, why):
    change = {"type": "soul", "title": "x", "target": "soul.md", "content": "Kind.\n", member: value}
    result = start_mcp(own_gateway).call("propose", **change)
    assert result["isError"] and why in result["content"][0]["text"]
    assert accepted(own_gateway.http.get("/proposals")) == []


@pytest.mark.parametrize("line, code", [
    ("{", -32700), ("\x00", -32700), ('"text"', -32600), ("[]", -32600), ('{"id":1,"method":"ping"}', -32600),
    ('{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600), ('{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
    ('{"jsonrpc":"2.0","id":1,"method":"resources/nonsense"}', -32601), ("[" * 100_000, -32700),
], ids=lambda value: str(value)[:40])
def test_server_survives_an_invalid_request(gateway, start_mcp, line, code):
    server = start_mcp(gateway)
    server.process.stdin.write(line + "\n\n")
    server.process.stdin.flush()
    assert server.receive()["error"]["code"] == code
    assert server.ask("ping")["result"] == {}


def test_request_without_a_valid_method_is_refused_by_id(gateway, start_mcp):
    refused = start_mcp(gateway).ask(5)
    assert refused["error"] == {"code": -32600, "message": "a method is a string"}


def test_call_without_a_name_is_refused(gateway, start_mcp):
    refused = start_mcp(gateway).ask("tools/call", arguments={})
    assert refused["error"] == {"code": -32602, "message": "name is required: which tool is called"}


def test_notifications_are_not_answered(gateway, start_mcp):
    server = start_mcp(gateway)
    server.send(method="notifications/nonsense")
    server.send(method="tools/list")
    assert server.ask("ping")["result"] == {}


def test_server_exits_at_the_end_of_input(gateway, start_mcp):
    server = start_mcp(gateway)
    server.shake_hands()
    assert server.end() == 0 and server.process.stdout.read() == ""


def test_requests_before_end_of_input_are_answered(gateway):
    requests = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}]
    requests += [{"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "get_health"}}
                 for number in range(1, 7)]
    done = gateway.command("mcp", typed="".join(json.dumps(request) + "\n" for request in requests))
    answers = {answer["id"]: answer["result"] for answer in map(json.loads, done.stdout.splitlines())}
    assert done.returncode == 0 and sorted(answers) == list(range(7))
    assert not any(answers[number]["isError"] for number in range(1, 7))


def test_chat_continues_after_end_of_input(talker, start_mcp):
    server, held = paused_chat(talker, start_mcp)
    server.process.stdin.close()
    held.release(" whole")
    assert "Half whole" in server.receive()["result"]["content"][0]["text"]
    assert server.process.wait(PATIENCE) == 0


def test_chat_is_abandoned_when_its_answer_cannot_be_delivered(talker, start_mcp):
    server, held = paused_chat(talker, start_mcp)
    server.process.stdout.close()
    assert server.end() == 0
    assert held.was_aborted()


def test_unreachable_gateway_is_a_tool_error_until_it_returns(own_gateway, start_mcp):
    server = start_mcp(own_gateway)
    assert server.call("get_health")["isError"] is False
    assert own_gateway.stop() == 0
    assert "agw serve" in server.call("get_health")["content"][0]["text"]
    own_gateway.start()
    assert server.call("get_health")["isError"] is False
