"""Integrations that are MCP servers (decisions, 3, 4 and 13)."""

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
from tools import asked, called, calls, new_agent, new_thread

SERVER = str(Path(__file__).parent / "stubs" / "mcp_server.py")
PYTHON = "/usr/bin/python3"


def stdio(gateway, name, *options, **more):
    return new_integration(gateway, name, "mcp-stdio", command=PYTHON, args=[SERVER, *options], **more)


class HttpServer:
    def __init__(self, *options):
        self.process = subprocess.Popen([sys.executable, SERVER, "--http", *options], stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()

    def stop(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def http_server():
    made = []

    def make(*options):
        made.append(HttpServer(*options))
        return made[-1]

    yield make
    for server in made:
        server.stop()


@pytest.fixture
def connected(talker, name, http_server):
    """Makes an integration over each transport and era, and answers its name."""
    def make(transport="stdio", era="legacy", *options):
        called_name = name("server")
        if transport == "stdio":
            stdio(talker.gateway, called_name, "--era", era, *options)
        else:
            new_integration(talker.gateway, called_name, "mcp-http", url=http_server("--era", era, *options).url)
        return called_name
    return make


@pytest.fixture
def thread(talker, name):
    return new_thread(talker.gateway, new_agent(talker.gateway, name("user"), "trusted"))


def notes(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


EVERY = [("stdio", "legacy"), ("stdio", "modern"), ("http", "legacy"), ("http", "modern")]


# Every transport, every revision.


@pytest.mark.parametrize("transport,era", EVERY)
def test_the_tools_of_a_server_are_offered_and_called(talker, thread, connected, transport, era):
    server = connected(transport, era)
    end = called(talker, thread, f"{server}__echo", {"text": "hello ü"})
    assert (end["output"], end["isError"]) == ("hello ü", False)
    offered = tools_of(talker, server)
    assert set(offered) == {"echo", "add_numbers", "fail", "picture", "structured", "look", "hang", "slow", "grow", "die",
                            "large", "variable", "forget", "cut"}, "all pages were read"
    assert offered["echo"]["description"] == "The tool echo"
    assert offered["echo"]["parameters"]["required"] == ["text"]
    assert called(talker, thread, f"{server}__add_numbers", {"a": 2, "b": 3})["output"] == "5"


@pytest.mark.parametrize("transport,era", EVERY)
def test_results_become_text(talker, thread, connected, transport, era):
    server = connected(transport, era)
    end = called(talker, thread, f"{server}__fail", {})
    assert (end["output"], end["isError"]) == ("it went wrong", True)
    assert called(talker, thread, f"{server}__structured", {})["output"] == '{"degrees":21.5}'
    picture = called(talker, thread, f"{server}__picture", {})["output"]
    assert picture == "See:\n[image: image/png, about 72 bytes]\n[test://a]\nInside.\n[test://b: B]"
    assert called(talker, thread, f"{server}__slow", {})["output"] == "done slowly"
    assert "text is required" in called(talker, thread, f"{server}__echo", {})["output"]


@pytest.mark.parametrize("transport,era", EVERY)
def test_a_text_that_was_cut_within_a_character_is_taken(talker, thread, connected, transport, era):
    end = called(talker, thread, f"{connected(transport, era)}__cut", {})
    assert (end["output"], end["isError"]) == ("half of \ufffd", False)


def test_a_model_that_sees_is_shown_the_pictures_of_a_result(talker, thread, connected):
    server = connected()
    called(talker, thread, f"{server}__picture", {}, model=f"{talker.provider}/vision-1")
    *_, result, shown = talker.stub.requests[-1].json["messages"]
    assert (result["role"], shown["role"]) == ("tool", "user")
    assert shown["content"][0]["image_url"]["url"].startswith("data:image/png;base64,")
    assert f"{server}__picture" in shown["content"][1]["text"]
    called(talker, thread, f"{server}__picture", {})
    assert "image_url" not in str(talker.stub.requests[-1].json["messages"][-2:])


@pytest.mark.parametrize("transport,era", EVERY)
def test_new_tools_are_heard_of(talker, thread, connected, transport, era):
    server = connected(transport, era)
    assert called(talker, thread, f"{server}__grow", {"name": "newcomer"})["output"] == "grown"
    tool = f"{server}__newcomer"
    wait_for(lambda: called(talker, thread, tool, {})["output"] == "I am newcomer")


def test_a_tool_whose_name_is_none_is_left_out_and_the_log_says_so(talker, thread, connected):
    server = connected()
    assert called(talker, thread, f"{server}__grow", {"name": "odd name"})["output"] == "grown"
    log = talker.gateway.data / "logs" / "gateway.log"
    wait_for(lambda: "odd name" in log.read_text() and server in log.read_text())
    told = next(line for line in log.read_text().splitlines() if "odd name" in line)
    assert f"integration {server}: the tool" in told and "is left out" in told
    called(talker, thread, f"{server}__echo", {"text": "x"})
    assert not any("odd" in tool for tool in tools_of(talker, server))


def test_of_two_tools_of_one_name_the_exact_one_has_it(talker, thread, connected):
    server = connected()
    exact = f"{server}__add_numbers"
    assert called(talker, thread, exact, {"a": 2, "b": 3})["output"] == "5", "so it is while there is only one"
    called(talker, thread, f"{server}__grow", {"name": "add_numbers"})
    wait_for(lambda: called(talker, thread, exact, {})["output"] == "I am add_numbers")
    asked(talker, thread, "What there is now.")
    other = [tool for tool in tools_of(talker, server) if tool.startswith("add_numbers_")]
    assert len(other) == 1
    assert called(talker, thread, f"{server}__{other[0]}", {"a": 2, "b": 3})["output"] == "5"


def test_a_program_of_an_environment_of_its_own(talker, thread, name, tmp_path):
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
        server = name("own")
        new_integration(talker.gateway, server, "mcp-stdio", command=arguments[0], args=arguments[1:])
        assert called(talker, thread, f"{server}__echo", {"text": "x"})["output"] == "x"


def test_a_script_in_a_directory_that_all_share(talker, thread, name):
    with tempfile.NamedTemporaryFile(dir="/tmp", suffix=".py") as script:
        script.write(Path(SERVER).read_bytes())
        script.flush()
        server = name("shared")
        new_integration(talker.gateway, server, "mcp-stdio", command=PYTHON, args=[script.name])
        assert called(talker, thread, f"{server}__echo", {"text": "x"})["output"] == "x"
        with tempfile.NamedTemporaryFile(dir="/tmp") as other:
            assert called(talker, thread, f"{server}__look", {"path": other.name})["output"] == "FileNotFoundError"


@pytest.mark.parametrize("version", ["2025-11-25", "2025-06-18", "2025-03-26"])
def test_older_revisions(talker, thread, connected, version):
    server = connected("stdio", "legacy", "--version", version)
    assert called(talker, thread, f"{server}__echo", {"text": "x"})["output"] == "x"


def test_the_handshakes(talker, thread, name, http_server, tmp_path):
    for era in ("legacy", "modern"):
        path = tmp_path / era
        server = http_server("--era", era, "--notes", str(path))
        integration = new_integration(talker.gateway, name("server"), "mcp-http", url=server.url, headers={"X-Key": "k"})
        assert called(talker, thread, f"{integration['name']}__echo", {"text": "x"})["output"] == "x"
        accepted(toggle(talker.gateway, integration))
        seen = notes(path)
        assert all(note["http"]["x-key"] == "k" for note in seen if "http" in note)
        seen = [note for note in seen if "http" in note]
        asked_for = [note["method"] for note in seen if "method" in note]
        call = next(note for note in seen if note.get("method") == "tools/call")
        if era == "modern":
            assert asked_for[0] == "server/discover" and "initialize" not in asked_for
            assert call["http"]["mcp-method"] == "tools/call" and call["http"]["mcp-name"] == "echo"
            assert call["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
        else:
            assert asked_for[:4] == ["server/discover", "initialize", "notifications/initialized", "tools/list"]
            assert call["http"]["mcp-session-id"] == "session-0" and call["http"]["mcp-protocol-version"] == "2025-11-25"
            wait_for(lambda: {"deleted": "session-0"} in notes(path))


# What people set.


def test_only_trusted_agents_use_integrations(talker, connected, name):
    server = connected()
    for stage in ("apprentice", "operator"):
        thread = new_thread(talker.gateway, new_agent(talker.gateway, name("low"), stage))
        end = called(talker, thread, f"{server}__echo", {"text": "x"})
        assert end["isError"] and end["output"].startswith("permission denied:"), end
        assert not tools_of(talker, server)


def test_allowed_tools(talker, thread, name):
    server = stdio(talker.gateway, name("server"), allowed_tools=["echo"])
    assert called(talker, thread, f"{server['name']}__echo", {"text": "x"})["output"] == "x"
    assert set(tools_of(talker, server["name"])) == {"echo"}
    assert "there is no tool" in called(talker, thread, f"{server['name']}__fail", {})["output"]


def test_a_record_connects_and_disconnects_at_once(talker, thread, name):
    server = stdio(talker.gateway, name("server"), enabled=False)
    tool = f"{server['name']}__echo"
    assert "there is no tool" in called(talker, thread, tool, {"text": "x"})["output"]
    accepted(toggle(talker.gateway, server))
    assert called(talker, thread, tool, {"text": "x"})["output"] == "x"
    accepted(patch(talker.gateway, server, enabled=False))
    assert "there is no tool" in called(talker, thread, tool, {"text": "x"})["output"]
    accepted(patch(talker.gateway, server, enabled=True))
    assert called(talker, thread, tool, {"text": "x"})["output"] == "x"
    talker.gateway.http.delete(f"/extensions/{server['id']}")
    assert "there is no tool" in called(talker, thread, tool, {"text": "x"})["output"]


def test_it_stays_connected_when_only_words_about_it_change(talker, thread, name):
    server = stdio(talker.gateway, name("server"), "--notes", "marker-" + name("x"))
    assert called(talker, thread, f"{server['name']}__echo", {"text": "x"})["output"] == "x"
    before = processes_with(server["definition"]["args"][-1])
    accepted(patch(talker.gateway, server, description="another text", trigger_def=None))
    assert called(talker, thread, f"{server['name']}__echo", {"text": "y"})["output"] == "y"
    assert before and processes_with(server["definition"]["args"][-1]) == before


def test_integrations_are_connected_at_the_start(make_gateway, stub, name):
    talker = Talker(make_gateway(config=configuration(stub)).start(), stub)
    thread = new_thread(talker.gateway, new_agent(talker.gateway, name("user"), "trusted"))
    server = stdio(talker.gateway, name("server"))
    talker.gateway.restart()
    assert called(talker, thread, f"{server['name']}__echo", {"text": "x"})["output"] == "x"


def test_an_action_calls_a_tool_of_an_integration(talker, thread, connected, name):
    server = connected()
    body = {"type": "action", "name": name("adder"), "description": "", "enabled": True,
            "definition": {"kind": "mcp", "integration": server, "tool": "add.numbers"}}
    action = accepted(talker.gateway.http.post("/extensions", json=body), 201)
    assert called(talker, thread, action["name"], {"a": 20, "b": 22})["output"] == "42"
    accepted(patch(talker.gateway, action, definition={"kind": "mcp", "integration": "none", "tool": "x"}))
    end = called(talker, thread, action["name"], {})
    assert end["isError"] and end["output"] == "there is no integration none"


def test_secrets_are_filled_into_environment_and_headers(make_gateway, stub, name, http_server, tmp_path):
    gateway = make_gateway(config=configuration(stub), environment={"OPENAI_API_KEY": "gateways-own"}).start()
    talker = Talker(gateway, stub)
    thread = new_thread(gateway, new_agent(gateway, name("user"), "trusted"))
    gateway.command("secret", "set", "KEY", typed="hunter2\n")
    server = stdio(gateway, name("server"), env={"SERVICE_KEY": "is ${secret:KEY}", "PLAIN": "1"})
    variables = json.loads(called(talker, thread, f"{server['name']}__variable", {})["output"])
    assert variables["SERVICE_KEY"] == "is hunter2" and variables["PLAIN"] == "1"
    assert set(variables) <= {"SERVICE_KEY", "PLAIN", "PATH", "HOME", "LANG", "TERM", "TMPDIR", "PWD", "LC_CTYPE",
                              "SHLVL", "_"}, "nothing of the gateway's own environment"
    remote = http_server("--notes", str(tmp_path / "notes"))
    new_integration(gateway, name("server"), "mcp-http", url=remote.url, headers={"Authorization": "Bearer ${secret:KEY}"})
    wait_for(lambda: notes(tmp_path / "notes"))
    assert notes(tmp_path / "notes")[0]["http"]["authorization"] == "Bearer hunter2"
    assert "hunter2" not in gateway.http.get("/extensions").text + gateway.stderr


def test_the_variables_of_a_server_are_read_beside_the_loop(own, name):
    server = new_integration(own, name("server"), "mcp-stdio", enabled=False, command="/bin/sh",
                             args=["-c", "touch started; cat"], env={f"V{number}": "x" for number in range(20_000)})
    loop, beside = own.cpu_of("agw"), own.cpu_of("agw-blocking")
    assert toggle(own, server).status_code == 200
    wait_for((own.data / "integrations" / server["name"] / "started").exists)
    assert own.cpu_of("agw") - loop < (own.cpu_of("agw-blocking") - beside) / 2


def test_what_a_server_says_when_it_ends_is_told_without_its_secrets(make_gateway, stub, name):
    gateway = make_gateway(config=configuration(stub)).start()
    gateway.command("secret", "set", "KEY", typed="hunter2secret\n")
    program = ("import os, sys; key = os.environ['SERVICE_KEY']; print('no message of', key, flush=True); "
               "sys.stderr.write('login with key ' + key[:5]); sys.stderr.flush(); sys.exit(key[5:] + ' failed')")
    server = new_integration(gateway, name("server"), "mcp-stdio", command=PYTHON, args=["-c", program],
                             env={"SERVICE_KEY": "${secret:KEY}"})
    said = f"integration {server['name']}: it ended; it last said: login with key [secret] failed"
    wait_for(lambda: said in gateway.stderr)
    assert "no message of [secret]" in gateway.stderr
    assert "hunter2" not in gateway.stderr


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_what_a_server_refuses_is_told_without_its_secrets(make_gateway, stub, name, transport):
    gateway = make_gateway(config=configuration(stub)).start()
    gateway.command("secret", "set", "KEY", typed="hunter2secret\n")
    refusal = {"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "no such key: hunter2secret"}}
    with WebStub() as web:
        web.answers("/mcp", json.dumps(refusal), "application/json")
        if transport == "stdio":
            program = (f"import json, sys; refusal = {refusal!r}\n"
                       "for line in sys.stdin: print(json.dumps(refusal | {'id': json.loads(line)['id']}), flush=True)")
            server = new_integration(gateway, name("server"), "mcp-stdio", command=PYTHON, args=["-c", program],
                                     env={"SERVICE_KEY": "${secret:KEY}"})
        else:
            server = new_integration(gateway, name("server"), "mcp-http", url=web.url("/mcp"),
                                     headers={"X-Key": "${secret:KEY}"})
        wait_for(lambda: f"integration {server['name']}: no such key: [secret] (error -32000)" in gateway.stderr)
    assert "hunter2" not in gateway.stderr


def test_what_a_tool_of_a_server_refuses_is_told_without_its_secrets(make_gateway, stub, name):
    gateway = make_gateway(config=configuration(stub)).start()
    gateway.command("secret", "set", "KEY", typed="hunter2secret\n")
    server = stdio(gateway, name("server"), env={"SERVICE_KEY": "${secret:KEY}"})
    talker = Talker(gateway, stub)
    thread = new_thread(gateway, new_agent(gateway, name("agent"), "trusted"))
    refusal = called(talker, thread, f"{server['name']}__fail", {"text": "no such key: hunter2secret"})
    assert refusal["isError"] is True and refusal["output"] == "no such key: [secret]"


@pytest.mark.parametrize("source", ["agent", "community"])
def test_only_a_persons_integration_calls_private_addresses(talker, name, http_server, tmp_path, source):
    server = http_server("--notes", str(tmp_path / "notes"))
    made = new_integration(talker.gateway, name("server"), "mcp-http", source=source, url=server.url)
    wait_for(lambda: f"integration {made['name']}: it has the address 127.0.0.1" in talker.gateway.stderr)
    assert not (tmp_path / "notes").exists()
    talker.gateway.http.delete(f"/extensions/{made['id']}")


# What a server must not see.


def test_a_server_sees_no_private_file(make_gateway, stub, name):
    gateway = make_gateway(config=configuration(stub)).start()
    talker = Talker(gateway, stub)
    thread = new_thread(gateway, new_agent(gateway, name("user"), "sovereign"))
    (gateway.home / ".ssh").mkdir()
    for path in (".ssh/id_rsa", "server.pem", "notes.txt"):
        (gateway.home / path).write_text("content of it")
    server = stdio(gateway, name("server"))
    look = f"{server['name']}__look"
    assert called(talker, thread, look, {"path": str(gateway.home / "notes.txt")})["output"] == "content of it"
    for path in (".ssh/id_rsa", "server.pem", ".agent-gateway/.gateway-token", ".agent-gateway/config.yaml",
                 ".agent-gateway/gateway.db"):
        assert "content" not in called(talker, thread, look, {"path": str(gateway.home / path)})["output"]
    token = called(talker, thread, look, {"path": str(gateway.data / ".gateway-token")})
    assert token["isError"] and gateway.token not in token["output"]
    end = called(talker, thread, look, {"path": f"/proc/{gateway.process.pid}/environ"})
    assert end["isError"]


# Hostile and broken servers.


def test_a_server_that_dies_is_started_anew(talker, thread, connected):
    server = connected()
    assert called(talker, thread, f"{server}__echo", {"text": "x"})["output"] == "x"
    end = called(talker, thread, f"{server}__die", {})
    assert end["isError"] and "it ended" in end["output"]
    assert called(talker, thread, f"{server}__echo", {"text": "again"})["output"] == "again"


@pytest.mark.parametrize("fault", ["", "forgets-in-silence"])
def test_a_call_in_a_session_that_the_server_forgot_is_repeated_in_a_new_one(talker, thread, connected, fault):
    server = connected("http", "legacy", "--fault", fault)
    for text in ("once", "again"):
        assert called(talker, thread, f"{server}__forget", {})["output"] == "forgotten"
        assert called(talker, thread, f"{server}__echo", {"text": text})["output"] == text


def test_garbage_between_messages_is_passed_over(talker, thread, connected):
    server = connected("stdio", "legacy", "--fault", "garbage")
    assert called(talker, thread, f"{server}__echo", {"text": "x"})["output"] == "x"


@pytest.mark.parametrize("fault,said", [("only-garbage", "it prints what is no MCP"),
                                        ("endless-line", "it sent a message of more than 8 MiB"),
                                        ("dies", "it ended; it last said: I cannot work like that"),
                                        ("endless-pages", "connected")])
def test_a_broken_server_is_given_up_and_harms_nobody(talker, thread, connected, fault, said):
    broken = connected("stdio", "legacy", "--fault", fault)
    sound = connected()
    assert called(talker, thread, f"{sound}__echo", {"text": "x"})["output"] == "x"
    wait_for(lambda: f"integration {broken}: {said}" in talker.gateway.stderr)
    accepted(talker.gateway.http.get("/health"))


def test_what_a_server_asks_of_us_is_answered(talker, thread, connected, tmp_path, name):
    path = talker.gateway.home / "notes-of-asking"
    server = stdio(talker.gateway, name("server"), "--fault", "asks", "--notes", "asked.json")
    assert called(talker, thread, f"{server['name']}__echo", {"text": "x"})["output"] == "x"
    path = talker.gateway.data / "integrations" / server["name"] / "asked.json"
    answers = {note["id"]: note for note in notes(path) if "method" not in note}
    assert answers["p1"]["result"] == {} and answers["p2"]["error"]["code"] == -32601
    talker.gateway.http.delete(f"/extensions/{server['id']}")


def test_hostile_schemas_are_passed_on_and_the_server_judges(talker, thread, connected):
    server = connected("stdio", "legacy", "--fault", "hostile-schema")
    assert called(talker, thread, f"{server}__echo", {"text": "x"})["output"] == "x"
    end = called(talker, thread, f"{server}__add_numbers", {"a": "a" * 50_000 + "!"})
    assert end["isError"] and end["durationMs"] < 5000


@pytest.mark.parametrize("transport,era", [("stdio", "legacy"), ("http", "legacy"), ("http", "modern")])
def test_answers_of_any_size_are_bounded(talker, thread, connected, transport, era):
    server = connected(transport, era)
    agent = {"id": thread["agent_id"]}
    end = called(talker, new_thread(talker.gateway, agent), f"{server}__large", {"size": 3_000_000})
    assert not end["isError"] and len(end["output"]) < 102_000
    end = called(talker, thread, f"{server}__large", {"size": 100_000_000})
    assert end["isError"] and "more than 8 MiB" in end["output"]
    assert called(talker, thread, f"{server}__echo", {"text": "x"})["output"] == "x"


@contextlib.contextmanager
def hanging_call(talker, thread, server):
    """The thread's events from when a server that has answered before is called and does not answer."""
    assert called(talker, thread, f"{server}__echo", {"text": "x"})["output"] == "x"
    talker.stub.script(calls((f"{server}__hang", {})))
    with talker.gateway.events(thread["id"]) as events:
        accepted(talker.gateway.http.post("/chat", json={"content": "Go.", "threadId": thread["id"]}), 201)
        events.until(lambda event: event["type"] == "tool-start")
        yield events


@pytest.mark.parametrize("transport,era", EVERY)
def test_a_call_that_hangs_is_cancelled_with_its_run(talker, name, thread, connected, transport, era):
    server = connected(transport, era)
    gateway = talker.gateway
    with hanging_call(talker, thread, server) as events:
        accepted(gateway.http.post("/chat/stop", json={"threadId": thread["id"]}))
        events.until(lambda event: event["type"] == "stopped")
    assert called(talker, thread, f"{server}__echo", {"text": "y"})["output"] == "y"


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_call_under_way_is_told_that_its_integration_was_disabled(talker, thread, connected, transport):
    server = connected(transport)
    gateway = talker.gateway
    with hanging_call(talker, thread, server) as events:
        accepted(gateway.http.patch(f"/extensions/{server}", json={"enabled": False}))
        end = events.until(lambda event: event["type"] == "tool-end")[-1]
        assert end["isError"] and "the integration was changed, disabled or deleted" in end["output"], end
        events.until(lambda event: event["type"] == "finish")


def test_a_server_that_hangs_at_its_start_does_not_hold_up_the_gateway(make_gateway, stub, name):
    talker = Talker(make_gateway(config=configuration(stub)).start(), stub)
    server = stdio(talker.gateway, name("server"), "--fault", "hang-at-start")
    thread = new_thread(talker.gateway, new_agent(talker.gateway, name("user"), "trusted"))

    def seconds_to_stop():
        assert "there is no tool" in called(talker, thread, f"{server['name']}__echo", {"text": "x"})["output"]
        return talker.gateway.seconds_to_stop()

    assert any(seconds_to_stop() < 3 for _ in range(TRIES))


def test_servers_end_with_the_gateway(make_gateway, stub, name):
    gateway = make_gateway(config=configuration(stub)).start()
    talker = Talker(gateway, stub)
    thread = new_thread(gateway, new_agent(gateway, name("user"), "trusted"))
    server = stdio(gateway, name("server"), "--notes", "marker-" + name("x"))
    assert called(talker, thread, f"{server['name']}__echo", {"text": "x"})["output"] == "x"
    marker = server["definition"]["args"][-1]
    assert processes_with(marker)
    assert gateway.stop() == 0
    assert not processes_with(marker)


def processes_with(argument):
    """The ids of the processes that have it in their command lines."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if argument in path.read_text(errors="replace"):
                found.add(path.parent.name)
    return found
