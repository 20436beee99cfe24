"""Integrations that are MCP servers.

See docs/connect-mcp.md.
"""

import contextlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from checks import TRIES, accepted
from extensions import patch, toggle
from integrations import new_integration, tools_of
from jobs import wait_for
from stubs.web import WebStub
from talker import Talker, configuration
from tools import run_chat, call_tool, calls, new_agent, new_thread

SERVER = str(Path(__file__).parent / "stubs" / "mcp_server.py")
PYTHON = "/usr/bin/python3"


def stdio(gateway, name, *options, **members):
    return new_integration(gateway, name, "mcp-stdio", command=PYTHON, args=[SERVER, *options], **members)


class HttpServer:
    def __init__(self, *options):
        self.process = subprocess.Popen([sys.executable, SERVER, *options], stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()

    def stop(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def http_server():
    servers = []

    def make(*options):
        servers.append(HttpServer(*options))
        return servers[-1]

    yield make
    for server in servers:
        server.stop()


@pytest.fixture
def connect_server(talker, new_name, http_server):
    """Creates an integration over the transport, with a server of the era of the protocol, and returns its name."""
    def make(transport="stdio", era="legacy", *options):
        name = new_name("server")
        if transport == "stdio":
            stdio(talker.gateway, name, "--era", era, *options)
        else:
            new_integration(talker.gateway, name, "mcp-http", url=http_server(f"--{transport}", "--era", era, *options).url)
        return name
    return make


@pytest.fixture
def thread(talker, new_name):
    return new_thread(talker.gateway, new_agent(talker.gateway, new_name("user"), "trusted"))


def notes(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


COMBINATIONS = [("stdio", "legacy"), ("stdio", "modern"), ("http", "legacy"), ("http", "modern"), ("sse", "legacy")]


# Each transport with each revision of the protocol.


@pytest.mark.parametrize("transport,era", COMBINATIONS)
def test_server_tools_are_offered_and_called(talker, thread, connect_server, transport, era):
    server = connect_server(transport, era)
    end = call_tool(talker, thread, f"{server}__echo", {"text": "hello ü"})
    assert (end["output"], end["isError"]) == ("hello ü", False)
    offered = tools_of(talker, server)
    assert set(offered) == {"echo", "add_numbers", "fail", "picture", "structured", "look", "hang", "slow", "grow", "die",
                            "large", "variable", "forget", "cut", "pictures", "ask"}, "all pages were read"
    assert offered["echo"]["description"] == "The tool echo"
    assert offered["echo"]["parameters"]["required"] == ["text"]
    assert call_tool(talker, thread, f"{server}__add_numbers", {"a": 2, "b": 3})["output"] == "5"


@pytest.mark.parametrize("transport,era", COMBINATIONS)
def test_results_become_text(talker, thread, connect_server, transport, era):
    server = connect_server(transport, era)
    end = call_tool(talker, thread, f"{server}__fail", {})
    assert (end["output"], end["isError"]) == ("it went wrong", True)
    assert call_tool(talker, thread, f"{server}__structured", {})["output"] == '{"degrees":21.5}'
    picture = call_tool(talker, thread, f"{server}__picture", {})["output"]
    assert picture == "See:\n[image: image/png, about 72 bytes]\n[test://a]\nInside.\n[test://b: B]"
    assert call_tool(talker, thread, f"{server}__slow", {})["output"] == "done slowly"
    assert "text is required" in call_tool(talker, thread, f"{server}__echo", {})["output"]


@pytest.mark.parametrize("transport,era", COMBINATIONS)
def test_text_truncated_within_a_character_is_accepted(talker, thread, connect_server, transport, era):
    end = call_tool(talker, thread, f"{connect_server(transport, era)}__cut", {})
    assert (end["output"], end["isError"]) == ("half of \ufffd", False)


def test_vision_model_gets_pictures_of_a_result(talker, thread, connect_server):
    server = connect_server()
    call_tool(talker, thread, f"{server}__picture", {}, model=f"{talker.provider}/vision-1")
    *_, result, shown = talker.stub.requests[-1].json["messages"]
    assert (result["role"], shown["role"]) == ("tool", "user")
    assert shown["content"][0]["image_url"]["url"].startswith("data:image/png;base64,")
    assert f"{server}__picture" in shown["content"][1]["text"]
    call_tool(talker, thread, f"{server}__picture", {})
    assert "image_url" not in str(talker.stub.requests[-1].json["messages"][-2:])


@pytest.mark.parametrize("transport,era", COMBINATIONS)
def test_new_tools_are_discovered(talker, thread, connect_server, transport, era):
    server = connect_server(transport, era)
    assert call_tool(talker, thread, f"{server}__grow", {"name": "newcomer"})["output"] == "grown"
    tool = f"{server}__newcomer"
    wait_for(lambda: call_tool(talker, thread, tool, {})["output"] == "I am newcomer")


def test_tool_with_an_invalid_name_is_omitted_and_logged(talker, thread, connect_server):
    server = connect_server()
    assert call_tool(talker, thread, f"{server}__grow", {"name": "odd name"})["output"] == "grown"
    log = talker.gateway.data / "logs" / "gateway.log"
    wait_for(lambda: "odd name" in log.read_text() and server in log.read_text())
    warning = next(line for line in log.read_text().splitlines() if "odd name" in line)
    assert f"integration {server}: the tool" in warning and "is left out" in warning
    call_tool(talker, thread, f"{server}__echo", {"text": "x"})
    assert not any("odd" in tool for tool in tools_of(talker, server))


def test_exact_name_wins_over_a_converted_one(talker, thread, connect_server):
    server = connect_server()
    exact = f"{server}__add_numbers"
    assert call_tool(talker, thread, exact, {"a": 2, "b": 3})["output"] == "5", "the converted name is unambiguous"
    call_tool(talker, thread, f"{server}__grow", {"name": "add_numbers"})
    wait_for(lambda: call_tool(talker, thread, exact, {})["output"] == "I am add_numbers")
    run_chat(talker, thread, "What there is now.")
    other = [tool for tool in tools_of(talker, server) if tool.startswith("add_numbers_")]
    assert len(other) == 1
    assert call_tool(talker, thread, f"{server}__{other[0]}", {"a": 2, "b": 3})["output"] == "5"


def test_program_in_a_virtual_environment_is_started(talker, thread, new_name, tmp_path):
    environment = tmp_path / "environment"
    (environment / "bin").mkdir(parents=True)
    (environment / "lib").mkdir()
    (environment / "lib" / "fact.txt").write_text("seen")
    (environment / "bin" / "python").symlink_to(PYTHON)
    (environment / "bin" / "run").write_text(
        f"#!{environment}/bin/python\nimport runpy, sys\nassert open('{environment}/lib/fact.txt').read() == 'seen'\n"
        f"sys.argv = ['{SERVER}']\nrunpy.run_path('{SERVER}', run_name='__main__')\n")
    (environment / "bin" / "run").chmod(0o755)
    for arguments in ([str(environment / "bin" / "python"), SERVER], [str(environment / "bin" / "run"), SERVER]):
        server = new_name("own")
        new_integration(talker.gateway, server, "mcp-stdio", command=arguments[0], args=arguments[1:])
        assert call_tool(talker, thread, f"{server}__echo", {"text": "x"})["output"] == "x"


def test_script_in_a_shared_directory_sees_no_other_file(talker, thread, new_name):
    with tempfile.NamedTemporaryFile(dir="/tmp", suffix=".py") as script:
        script.write(Path(SERVER).read_bytes())
        script.flush()
        server = new_name("shared")
        new_integration(talker.gateway, server, "mcp-stdio", command=PYTHON, args=[script.name])
        assert call_tool(talker, thread, f"{server}__echo", {"text": "x"})["output"] == "x"
        with tempfile.NamedTemporaryFile(dir="/tmp") as other:
            assert call_tool(talker, thread, f"{server}__look", {"path": other.name})["output"] == "FileNotFoundError"


@pytest.mark.parametrize("version", ["2025-11-25", "2025-06-18", "2025-03-26"])
def test_older_revisions_are_supported(talker, thread, connect_server, version):
    server = connect_server("stdio", "legacy", "--version", version)
    assert call_tool(talker, thread, f"{server}__echo", {"text": "x"})["output"] == "x"


def test_handshake_of_each_revision(talker, thread, new_name, http_server, tmp_path):
    for era in ("legacy", "modern"):
        path = tmp_path / era
        server = http_server("--http", "--era", era, "--notes", str(path))
        integration = new_integration(talker.gateway, new_name("server"), "mcp-http", url=server.url, headers={"X-Key": "k"})
        assert call_tool(talker, thread, f"{integration['name']}__echo", {"text": "x"})["output"] == "x"
        accepted(toggle(talker.gateway, integration))
        seen = notes(path)
        assert all(note["http"]["x-key"] == "k" for note in seen if "http" in note)
        seen = [note for note in seen if "http" in note]
        methods = [note["method"] for note in seen if "method" in note]
        call = next(note for note in seen if note.get("method") == "tools/call")
        if era == "modern":
            assert methods[0] == "server/discover" and "initialize" not in methods
            assert call["http"]["mcp-method"] == "tools/call" and call["http"]["mcp-name"] == "echo"
            assert call["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
        else:
            assert methods[:4] == ["server/discover", "initialize", "notifications/initialized", "tools/list"]
            assert call["http"]["mcp-session-id"] == "session-0" and call["http"]["mcp-protocol-version"] == "2025-11-25"
            wait_for(lambda: {"deleted": "session-0"} in notes(path))


# Configuration.


def test_integrations_need_stage_trusted(talker, connect_server, new_name):
    server = connect_server()
    for stage in ("apprentice", "operator"):
        thread = new_thread(talker.gateway, new_agent(talker.gateway, new_name("low"), stage))
        end = call_tool(talker, thread, f"{server}__echo", {"text": "x"})
        assert end["isError"] and end["output"].startswith("permission denied:"), end
        assert not tools_of(talker, server)


def test_only_allowed_tools_are_offered(talker, thread, new_name):
    server = stdio(talker.gateway, new_name("server"), allowed_tools=["echo"])
    assert call_tool(talker, thread, f"{server['name']}__echo", {"text": "x"})["output"] == "x"
    assert set(tools_of(talker, server["name"])) == {"echo"}
    assert "there is no tool" in call_tool(talker, thread, f"{server['name']}__fail", {})["output"]


def test_record_changes_connect_and_disconnect_immediately(talker, thread, new_name):
    server = stdio(talker.gateway, new_name("server"), enabled=False)
    tool = f"{server['name']}__echo"
    assert "there is no tool" in call_tool(talker, thread, tool, {"text": "x"})["output"]
    accepted(toggle(talker.gateway, server))
    assert call_tool(talker, thread, tool, {"text": "x"})["output"] == "x"
    accepted(patch(talker.gateway, server, enabled=False))
    assert "there is no tool" in call_tool(talker, thread, tool, {"text": "x"})["output"]
    accepted(patch(talker.gateway, server, enabled=True))
    assert call_tool(talker, thread, tool, {"text": "x"})["output"] == "x"
    talker.gateway.http.delete(f"/extensions/{server['id']}")
    assert "there is no tool" in call_tool(talker, thread, tool, {"text": "x"})["output"]


def test_changed_description_keeps_the_connection(talker, thread, new_name):
    server = stdio(talker.gateway, new_name("server"), "--notes", "marker-" + new_name("x"))
    assert call_tool(talker, thread, f"{server['name']}__echo", {"text": "x"})["output"] == "x"
    before = processes_with(server["definition"]["args"][-1])
    accepted(patch(talker.gateway, server, description="another text", trigger_def=None))
    assert call_tool(talker, thread, f"{server['name']}__echo", {"text": "y"})["output"] == "y"
    assert before and processes_with(server["definition"]["args"][-1]) == before


def test_integrations_are_connected_at_the_start(make_gateway, stub, new_name):
    talker = Talker(make_gateway(config=configuration(stub)).start(), stub)
    thread = new_thread(talker.gateway, new_agent(talker.gateway, new_name("user"), "trusted"))
    server = stdio(talker.gateway, new_name("server"))
    talker.gateway.restart()
    assert call_tool(talker, thread, f"{server['name']}__echo", {"text": "x"})["output"] == "x"


def test_action_calls_an_integration_tool(talker, thread, connect_server, new_name):
    server = connect_server()
    body = {"type": "action", "name": new_name("adder"), "description": "", "enabled": True,
            "definition": {"kind": "mcp", "integration": server, "tool": "add.numbers"}}
    action = accepted(talker.gateway.http.post("/extensions", json=body), 201)
    assert call_tool(talker, thread, action["name"], {"a": 20, "b": 22})["output"] == "42"
    accepted(patch(talker.gateway, action, definition={"kind": "mcp", "integration": "none", "tool": "x"}))
    end = call_tool(talker, thread, action["name"], {})
    assert end["isError"] and end["output"] == "there is no integration none"


def test_secrets_are_filled_into_environment_and_headers(make_gateway, stub, new_name, http_server, tmp_path):
    gateway = make_gateway(config=configuration(stub), environment={"OPENAI_API_KEY": "gateways-own"}).start()
    talker = Talker(gateway, stub)
    thread = new_thread(gateway, new_agent(gateway, new_name("user"), "trusted"))
    gateway.command("secret", "set", "KEY", typed="hunter2\n")
    server = stdio(gateway, new_name("server"), env={"SERVICE_KEY": "is ${secret:KEY}", "PLAIN": "1"})
    variables = json.loads(call_tool(talker, thread, f"{server['name']}__variable", {})["output"])
    assert variables["SERVICE_KEY"] == "is hunter2" and variables["PLAIN"] == "1"
    proxy = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy", "NO_PROXY", "no_proxy",
             "NODE_USE_ENV_PROXY", "GIT_SSH_COMMAND"}
    assert set(variables) <= {"SERVICE_KEY", "PLAIN", "PATH", "HOME", "LANG", "TERM", "TMPDIR", "PWD", "LC_CTYPE",
                              "SHLVL", "_", *proxy}, "nothing of the gateway's own environment"
    remote = http_server("--http", "--notes", str(tmp_path / "notes"))
    new_integration(gateway, new_name("server"), "mcp-http", url=remote.url, headers={"Authorization": "Bearer ${secret:KEY}"})
    wait_for(lambda: notes(tmp_path / "notes"))
    assert notes(tmp_path / "notes")[0]["http"]["authorization"] == "Bearer hunter2"
    assert "hunter2" not in gateway.http.get("/extensions").text + gateway.stderr


def test_server_variables_are_read_off_the_loop(own_gateway, new_name):
    server = new_integration(own_gateway, new_name("server"), "mcp-stdio", enabled=False, command="/bin/sh",
                             args=["-c", "touch started; cat"], env={f"V{number}": "x" for number in range(20_000)})
    loop_before, blocking_before = own_gateway.cpu_of("agw"), own_gateway.cpu_of("agw-blocking")
    assert toggle(own_gateway, server).status_code == 200
    wait_for((own_gateway.data / "integrations" / server["name"] / "started").exists)
    assert own_gateway.cpu_of("agw") - loop_before < (own_gateway.cpu_of("agw-blocking") - blocking_before) / 2


def test_last_output_of_a_server_is_redacted(make_gateway, stub, new_name):
    gateway = make_gateway(config=configuration(stub)).start()
    gateway.command("secret", "set", "KEY", typed="hunter2secret\n")
    program = ("import os, sys; key = os.environ['SERVICE_KEY']; print('no message of', key, flush=True); "
               "sys.stderr.write('login with key ' + key[:5]); sys.stderr.flush(); sys.exit(key[5:] + ' failed')")
    server = new_integration(gateway, new_name("server"), "mcp-stdio", command=PYTHON, args=["-c", program],
                             env={"SERVICE_KEY": "${secret:KEY}"})
    message = f"integration {server['name']}: it ended; it last said: login with key [secret] failed"
    wait_for(lambda: message in gateway.stderr)
    assert "no message of [secret]" in gateway.stderr
    assert "hunter2" not in gateway.stderr


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_server_refusals_are_redacted(make_gateway, stub, new_name, transport):
    gateway = make_gateway(config=configuration(stub)).start()
    gateway.command("secret", "set", "KEY", typed="hunter2secret\n")
    refusal = {"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "no such key: hunter2secret"}}
    with WebStub() as web:
        web.answers("/mcp", json.dumps(refusal), "application/json")
        if transport == "stdio":
            program = (f"import json, sys; refusal = {refusal!r}\n"
                       "for line in sys.stdin: print(json.dumps(refusal | {'id': json.loads(line)['id']}), flush=True)")
            server = new_integration(gateway, new_name("server"), "mcp-stdio", command=PYTHON, args=["-c", program],
                                     env={"SERVICE_KEY": "${secret:KEY}"})
        else:
            server = new_integration(gateway, new_name("server"), "mcp-http", url=web.url("/mcp"),
                                     headers={"X-Key": "${secret:KEY}"})
        wait_for(lambda: f"integration {server['name']}: no such key: [secret] (error -32000)" in gateway.stderr)
    assert "hunter2" not in gateway.stderr


def test_tool_refusals_are_redacted(make_gateway, stub, new_name):
    gateway = make_gateway(config=configuration(stub)).start()
    gateway.command("secret", "set", "KEY", typed="hunter2secret\n")
    server = stdio(gateway, new_name("server"), env={"SERVICE_KEY": "${secret:KEY}"})
    talker = Talker(gateway, stub)
    thread = new_thread(gateway, new_agent(gateway, new_name("agent"), "trusted"))
    refusal = call_tool(talker, thread, f"{server['name']}__fail", {"text": "no such key: hunter2secret"})
    assert refusal["isError"] is True and refusal["output"] == "no such key: [secret]"


@pytest.mark.parametrize("source", ["agent", "community"])
def test_only_a_users_integration_calls_private_addresses(talker, new_name, http_server, tmp_path, source):
    server = http_server("--http", "--notes", str(tmp_path / "notes"))
    made = new_integration(talker.gateway, new_name("server"), "mcp-http", source=source, url=server.url)
    wait_for(lambda: f"integration {made['name']}: it has the address 127.0.0.1" in talker.gateway.stderr)
    assert not (tmp_path / "notes").exists()
    talker.gateway.http.delete(f"/extensions/{made['id']}")


# Private files.


def test_server_sees_no_private_file(make_gateway, stub, new_name):
    gateway = make_gateway(config=configuration(stub)).start()
    talker = Talker(gateway, stub)
    thread = new_thread(gateway, new_agent(gateway, new_name("user"), "sovereign"))
    (gateway.home / ".ssh").mkdir()
    for path in (".ssh/id_rsa", "server.pem", "notes.txt"):
        (gateway.home / path).write_text("content of it")
    server = stdio(gateway, new_name("server"))
    look = f"{server['name']}__look"
    assert call_tool(talker, thread, look, {"path": str(gateway.home / "notes.txt")})["output"] == "content of it"
    for path in (".ssh/id_rsa", "server.pem", ".agent-gateway/.gateway-token", ".agent-gateway/config.yaml",
                 ".agent-gateway/gateway.db"):
        assert "content" not in call_tool(talker, thread, look, {"path": str(gateway.home / path)})["output"]
    token = call_tool(talker, thread, look, {"path": str(gateway.data / ".gateway-token")})
    assert token["isError"] and gateway.token not in token["output"]
    end = call_tool(talker, thread, look, {"path": f"/proc/{gateway.process.pid}/environ"})
    assert end["isError"]


# Hostile and broken servers.


def test_dead_server_is_restarted(talker, thread, connect_server):
    server = connect_server()
    assert call_tool(talker, thread, f"{server}__echo", {"text": "x"})["output"] == "x"
    end = call_tool(talker, thread, f"{server}__die", {})
    assert end["isError"] and "it ended" in end["output"]
    assert call_tool(talker, thread, f"{server}__echo", {"text": "again"})["output"] == "again"


def test_garbage_between_messages_is_skipped(talker, thread, connect_server):
    server = connect_server("stdio", "legacy", "--fault", "garbage")
    assert call_tool(talker, thread, f"{server}__echo", {"text": "x"})["output"] == "x"


@pytest.mark.parametrize("fault,problem", [("only-garbage", "it prints what is no MCP"),
                                           ("endless-line", "it sent a message of more than 8 MiB"),
                                           ("dies", "it ended; it last said: I cannot work like that"),
                                           ("endless-pages", "connected")])
def test_broken_server_is_abandoned_and_harmless(talker, thread, connect_server, fault, problem):
    broken = connect_server("stdio", "legacy", "--fault", fault)
    sound = connect_server()
    assert call_tool(talker, thread, f"{sound}__echo", {"text": "x"})["output"] == "x"
    wait_for(lambda: f"integration {broken}: {problem}" in talker.gateway.stderr)
    accepted(talker.gateway.http.get("/health"))


def test_server_requests_are_answered(talker, thread, connect_server, tmp_path, new_name):
    path = talker.gateway.home / "notes-of-asking"
    server = stdio(talker.gateway, new_name("server"), "--fault", "asks", "--notes", "asked.json")
    assert call_tool(talker, thread, f"{server['name']}__echo", {"text": "x"})["output"] == "x"
    path = talker.gateway.data / "integrations" / server["name"] / "asked.json"
    responses = {note["id"]: note for note in notes(path) if "method" not in note}
    assert responses["p1"]["result"] == {} and responses["p2"]["error"]["code"] == -32601
    talker.gateway.http.delete(f"/extensions/{server['id']}")


def test_server_itself_checks_arguments_against_hostile_schemas(talker, thread, connect_server):
    server = connect_server("stdio", "legacy", "--fault", "hostile-schema")
    assert call_tool(talker, thread, f"{server}__echo", {"text": "x"})["output"] == "x"
    end = call_tool(talker, thread, f"{server}__add_numbers", {"a": "a" * 50_000 + "!"})
    assert end["isError"]


@pytest.mark.parametrize("transport,era", [("stdio", "legacy"), ("http", "legacy"), ("http", "modern")])
def test_large_results_are_truncated(talker, thread, connect_server, transport, era):
    server = connect_server(transport, era)
    agent = {"id": thread["agent_id"]}
    end = call_tool(talker, new_thread(talker.gateway, agent), f"{server}__large", {"size": 3_000_000})
    assert not end["isError"] and len(end["output"]) < 102_000
    end = call_tool(talker, thread, f"{server}__large", {"size": 100_000_000})
    assert end["isError"] and "more than 8 MiB" in end["output"]
    assert call_tool(talker, thread, f"{server}__echo", {"text": "x"})["output"] == "x"


@contextlib.contextmanager
def hanging_call(talker, thread, server):
    """Starts a call that the server never answers, after one that it answers. Yields the thread's events."""
    assert call_tool(talker, thread, f"{server}__echo", {"text": "x"})["output"] == "x"
    talker.stub.script(calls((f"{server}__hang", {})))
    with talker.gateway.events(thread["id"]) as events:
        accepted(talker.gateway.http.post("/chat", json={"content": "Go.", "threadId": thread["id"]}), 201)
        events.until(lambda event: event["type"] == "tool-start")
        yield events


@pytest.mark.parametrize("transport,era", COMBINATIONS)
def test_hanging_call_is_cancelled_with_its_run(talker, new_name, thread, connect_server, transport, era):
    server = connect_server(transport, era)
    gateway = talker.gateway
    with hanging_call(talker, thread, server) as events:
        accepted(gateway.http.post("/chat/stop", json={"threadId": thread["id"]}))
        events.until(lambda event: event["type"] == "stopped")
    assert call_tool(talker, thread, f"{server}__echo", {"text": "y"})["output"] == "y"


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_call_fails_when_its_integration_is_disabled(talker, thread, connect_server, transport):
    server = connect_server(transport)
    gateway = talker.gateway
    with hanging_call(talker, thread, server) as events:
        accepted(gateway.http.patch(f"/extensions/{server}", json={"enabled": False}))
        end = events.until(lambda event: event["type"] == "tool-end")[-1]
        assert end["isError"] and "the integration was changed, disabled or deleted" in end["output"], end
        events.until(lambda event: event["type"] == "finish")


def test_server_hanging_at_start_does_not_delay_the_gateway(make_gateway, stub, new_name):
    talker = Talker(make_gateway(config=configuration(stub)).start(), stub)
    server = stdio(talker.gateway, new_name("server"), "--fault", "hang-at-start")
    thread = new_thread(talker.gateway, new_agent(talker.gateway, new_name("user"), "trusted"))

    def seconds_to_stop():
        assert "there is no tool" in call_tool(talker, thread, f"{server['name']}__echo", {"text": "x"})["output"]
        return talker.gateway.seconds_to_stop()

    assert any(seconds_to_stop() < 3 for _ in range(TRIES))


def test_servers_end_with_the_gateway(make_gateway, stub, new_name):
    gateway = make_gateway(config=configuration(stub)).start()
    talker = Talker(gateway, stub)
    thread = new_thread(gateway, new_agent(gateway, new_name("user"), "trusted"))
    server = stdio(gateway, new_name("server"), "--notes", "marker-" + new_name("x"))
    assert call_tool(talker, thread, f"{server['name']}__echo", {"text": "x"})["output"] == "x"
    marker = server["definition"]["args"][-1]
    assert processes_with(marker)
    assert gateway.stop() == 0
    assert not processes_with(marker)


def processes_with(argument):
    """Returns the ids of processes with this text in their command line."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if argument in path.read_text(errors="replace"):
                found.add(path.parent.name)
    return found
