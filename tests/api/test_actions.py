"""Actions as tools of agents.

See docs/contract/tools.md#actions and docs/contract/agents.md#permissions.
"""

import datetime
import json

import pytest

from checks import accepted
from extensions import patch, toggle
from jobs import new_extension
from stubs.web import WebStub
from talker import Talker, configuration
from tools import call_tool, new_agent, new_bound_agent, new_thread


@pytest.fixture
def web():
    with WebStub() as running:
        running.answers("/", "fine", "text/plain")
        yield running


@pytest.fixture
def thread(talker, new_name):
    return new_thread(talker.gateway, new_agent(talker.gateway, new_name("actor"), "trusted"))


def new_action(gateway, name, kind, source="user", enabled=True, **definition):
    body = {"type": "action", "name": name, "description": "An action", "enabled": enabled, "source": source,
            "definition": {"kind": kind, **definition}}
    return accepted(gateway.http.post("/extensions", json=body), 201)


def offered(talker):
    return {tool["function"]["name"]: tool["function"] for tool in talker.stub.requests[-1].json.get("tools", [])}


# As tools.


def test_action_is_a_tool_with_its_name_and_input(talker, thread, new_name):
    schema = {"type": "object", "required": ["who"], "properties": {"who": {"type": "string"}}}
    action = new_action(talker.gateway, new_name("greet"), "prompt", prompt="Greet {{who}} and {{ who }}.", input_schema=schema)
    end = call_tool(talker, thread, action["name"], {"who": "Ada"})
    assert (end["output"], end["isError"]) == ("Greet Ada and Ada.", False)
    assert offered(talker)[action["name"]]["parameters"]["properties"] == schema["properties"]
    assert call_tool(talker, thread, action["name"], {})["output"] == "invalid input: who is required"


@pytest.mark.parametrize("kind, definition", [
    ("prompt", {"prompt": "{{text}}" * 20_000}), ("http", {"url": "http://127.0.0.1:1", "body": "{{text}}" * 20_000}),
    ("http", {"url": "http://127.0.0.1:1", "body": {"all": ["a {{text}}"] * 20_000}}),
    ("http", {"url": "http://127.0.0.1:1", "headers": {f"x-{number}": "{{text}}" * 200 for number in range(100)}})])
def test_input_that_fills_too_many_places_is_an_error(talker, thread, new_name, kind, definition):
    action = new_action(talker.gateway, new_name("echo"), kind, **definition)
    end = call_tool(talker, thread, action["name"], {"text": "x" * 1_000})
    assert end["isError"] and end["output"] == "the input is too long for all the places of the action that it fills"
    assert "too long" not in call_tool(talker, thread, action["name"], {"text": "x"})["output"]


def test_secrets_that_make_a_text_too_long_are_an_error(talker, thread, new_name):
    assert talker.gateway.http.put("/secrets/LONG", json={"value": "x" * 60_000}).status_code == 204
    action = new_action(talker.gateway, new_name("ask"), "http", url="http://127.0.0.1:1",
                        headers={"x-key": "${secret:LONG}" * 200})
    end = call_tool(talker, thread, action["name"], {})
    assert end["isError"] and end["output"] == "a text is longer than 10 MiB with its secrets filled in"


def test_changed_action_takes_effect_at_once(talker, thread, new_name):
    action = new_action(talker.gateway, new_name("greet"), "prompt", prompt="one", enabled=False)
    assert "there is no tool" in call_tool(talker, thread, action["name"], {})["output"]
    accepted(toggle(talker.gateway, action))
    assert call_tool(talker, thread, action["name"], {})["output"] == "one"
    accepted(patch(talker.gateway, action, definition={"kind": "prompt", "prompt": "two"}))
    assert call_tool(talker, thread, action["name"], {})["output"] == "two"
    talker.gateway.http.delete(f"/extensions/{action['id']}")
    assert "there is no tool" in call_tool(talker, thread, action["name"], {})["output"]


@pytest.mark.parametrize("kind,minimum", [("prompt", "apprentice"), ("shell", "operator"), ("http", "trusted"),
                                          ("mcp", "trusted")])
def test_stage_required_by_each_kind(talker, new_name, kind, minimum):
    stages = ["apprentice", "operator", "trusted", "sovereign"]
    action = new_action(talker.gateway, new_name("act"), kind, prompt="x", command="true", url="http://192.0.2.1/",
                        integration="none", tool="none")
    for stage in stages:
        thread = new_thread(talker.gateway, new_agent(talker.gateway, new_name("staged"), stage))
        end = call_tool(talker, thread, action["name"], {})
        denied = end["output"].startswith("permission denied:")
        assert denied == (stages.index(stage) < stages.index(minimum)), (stage, end)


# builtin


@pytest.mark.parametrize("expression,value", [("(3 + 4) * 2", "14"), ("0.1 + 0.2", "0.3"), ("2 ^ 10 % 7", "2"),
                                              ("sqrt(16) + round(7.5)", "12"), ("-2^2", "-4")])
def test_calculate(talker, thread, expression, value):
    assert call_tool(talker, thread, "calculate", {"expression": expression})["output"] == value


def test_calculate_reports_invalid_input(talker, thread):
    end = call_tool(talker, thread, "calculate", {"expression": "1 / 0"})
    assert (end["output"], end["isError"]) == ("division by zero", True)
    assert call_tool(talker, thread, "calculate", {"expression": "(" * 900})["isError"]


def test_current_time(talker, thread):
    output = call_tool(talker, thread, "current-time", {"timezone": "Asia/Kathmandu"})["output"]
    reported = datetime.datetime.fromisoformat(output.split(" ")[0])
    assert reported.utcoffset() == datetime.timedelta(hours=5, minutes=45)
    assert abs((reported - datetime.datetime.now(datetime.timezone.utc)).total_seconds()) < 60
    assert call_tool(talker, thread, "current-time", {})["output"].split(" ")[0].endswith("+00:00")
    assert call_tool(talker, thread, "current-time", {"timezone": "Mars/Base"})["isError"]


def test_builtin_action_may_have_another_name(talker, thread, new_name):
    action = new_action(talker.gateway, new_name("reckon"), "builtin", tool="calculate")
    assert call_tool(talker, thread, action["name"], {"expression": "6 * 7"})["output"] == "42"
    unknown = new_action(talker.gateway, new_name("reckon"), "builtin", tool="guess")
    end = call_tool(talker, thread, unknown["name"], {})
    assert (end["output"], end["isError"]) == ("the gateway has no builtin action guess", True)


# http


def test_http_sends_its_input_as_json(talker, thread, web, new_name):
    action = new_action(talker.gateway, new_name("call"), "http", method="POST", url=web.url("/"))
    end = call_tool(talker, thread, action["name"], {"a": [1, "x"]})
    assert (end["output"], end["isError"]) == ("fine", False)
    assert web.requests[0].method == "POST" and json.loads(web.requests[0].body) == {"a": [1, "x"]}
    assert web.requests[0].headers["content-type"] == "application/json"


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_http_sends_its_input_as_query(talker, thread, web, new_name, method):
    action = new_action(talker.gateway, new_name("call"), "http", method=method, url=web.url("/"))
    call_tool(talker, thread, action["name"], {"a": "x y&b=1", "n": 2})
    assert (web.requests[0].method, web.requests[0].path) == (method, "/?a=x%20y%26b%3D1&n=2")
    assert web.requests[0].body == b""


def test_http_fills_url_headers_and_body(talker, thread, web, new_name):
    web.answers("/users/a%2Fb", "found", "text/plain")
    action = new_action(talker.gateway, new_name("call"), "http", method="PUT", url=web.url("/users/{{id}}"),
                        headers={"X-For": "{{id}}"}, body={"who": "{{id}}", "n": "{{n}}"})
    assert call_tool(talker, thread, action["name"], {"id": "a/b", "n": 3})["output"] == "found"
    request = web.requests[0]
    assert request.headers["x-for"] == "a/b" and json.loads(request.body) == {"who": "a/b", "n": 3}


@pytest.mark.parametrize("method", ["GET", "DELETE", "PATCH"])
def test_http_sends_a_body_with_any_method(talker, thread, web, new_name, method):
    action = new_action(talker.gateway, new_name("call"), "http", method=method, url=web.url("/"), body={"query": "{{q}}"})
    assert call_tool(talker, thread, action["name"], {"q": "x"})["output"] == "fine"
    assert web.requests[0].method == method and json.loads(web.requests[0].body) == {"query": "x"}


def test_http_input_cannot_change_the_host(talker, thread, web, new_name):
    for url in ("http://{{host}}/", "http://127.0.0.1:{{port}}/", "{{scheme}}://127.0.0.1/", web.url("") + "{{rest}}"):
        action = new_action(talker.gateway, new_name("call"), "http", url=url)
        end = call_tool(talker, thread, action["name"], {"host": "127.0.0.1", "port": web.port, "scheme": "http", "rest": "x"})
        assert end["isError"] and "which no input may change" in end["output"], end
    assert web.requests == []


def test_http_input_cannot_inject_a_header(talker, thread, web, new_name):
    action = new_action(talker.gateway, new_name("call"), "http", url=web.url("/"), headers={"X-For": "{{who}}"})
    end = call_tool(talker, thread, action["name"], {"who": "a\r\nX-Evil: 1"})
    assert end["isError"] and "line breaks" in end["output"] and web.requests == []


def test_http_error_responses_are_errors(talker, thread, web, new_name):
    web.answers("/broken", "why not", "text/plain", status=503)
    action = new_action(talker.gateway, new_name("call"), "http", url=web.url("/broken"))
    end = call_tool(talker, thread, action["name"], {})
    assert end["isError"] and end["output"] == "status 503\nwhy not"


def test_http_decodes_responses_in_other_charsets(talker, thread, web, new_name):
    action = new_action(talker.gateway, new_name("call"), "http", url=web.url("/latin"))
    web.answers("/latin", "Öl".encode("latin-1"), "text/plain; charset=ISO-8859-1")
    assert call_tool(talker, thread, action["name"], {})["output"] == "Öl"
    web.answers("/latin", b"\xff\x00\xfe", "application/octet-stream")
    assert "3 bytes of application/octet-stream, which are no text" in call_tool(talker, thread, action["name"], {})["output"]


@pytest.mark.parametrize("source", ["agent", "community"])
def test_only_a_users_action_calls_private_addresses(talker, thread, web, new_name, source):
    action = new_action(talker.gateway, new_name("call"), "http", source=source, url=web.url("/"))
    end = call_tool(talker, thread, action["name"], {})
    assert end["isError"] and "not one of the public internet" in end["output"] and web.requests == []


def test_action_follows_no_redirect_to_a_private_address(talker, thread, web, new_name):
    for target in ("http://169.254.169.254/latest/meta-data/", f"http://localhost:{web.port}/"):
        web.redirects("/away", target)
        action = new_action(talker.gateway, new_name("call"), "http", url=web.url("/away"))
        end = call_tool(talker, thread, action["name"], {})
        assert end["isError"] and "not one of the public internet" in end["output"]


def test_capabilities_limit_hosts_of_actions(talker, web, new_name):
    agent = new_bound_agent(talker.gateway, new_name, hosts=["example.org"])
    action = new_action(talker.gateway, new_name("call"), "http", url=web.url("/"))
    end = call_tool(talker, new_thread(talker.gateway, agent), action["name"], {})
    assert end["output"].startswith("permission denied: 127.0.0.1 is not among the hosts") and web.requests == []


def test_secrets_are_substituted_per_call_and_never_shown(make_gateway, stub, web, new_name):
    talker = Talker(make_gateway(config=configuration(stub)).start(), stub)
    gateway = talker.gateway
    thread = new_thread(gateway, new_agent(gateway, new_name("actor"), "trusted"))
    action = new_action(gateway, new_name("call"), "http", url=web.url("/?key=${secret:API_KEY}"),
                        headers={"Authorization": "Bearer ${secret:API_KEY}", "X-Input": "{{text}}"})
    end = call_tool(talker, thread, action["name"], {"text": "x"})
    assert end["isError"] and "agw secret set API_KEY" in end["output"] and web.requests == []
    assert gateway.command("secret", "set", "API_KEY", typed="hunter2\n").returncode == 0
    end = call_tool(talker, thread, action["name"], {"text": "${secret:API_KEY}"})
    assert not end["isError"], end
    request = web.requests[0]
    assert request.headers["authorization"] == "Bearer hunter2" and "key=hunter2" in request.path
    assert request.headers["x-input"] == "${secret:API_KEY}", "placeholders in the input are not replaced"
    assert "hunter2" not in gateway.http.get("/extensions").text
    assert "hunter2" not in gateway.http.get(f"/threads/{thread['id']}/turns").text
    assert "hunter2" not in gateway.stderr


def test_secret_echoed_by_a_service_is_redacted(make_gateway, stub, web, new_name):
    talker = Talker(make_gateway(config=configuration(stub)).start(), stub)
    gateway = talker.gateway
    thread = new_thread(gateway, new_agent(gateway, new_name("actor"), "trusted"))
    assert gateway.command("secret", "set", "API_KEY", typed="hunter2\n").returncode == 0
    web.answers("/", '{"error": "no such key: hunter2"}', "application/json", 401)
    action = new_action(gateway, new_name("call"), "http", url=web.url("/"), headers={"X-Key": "${secret:API_KEY}"})
    end = call_tool(talker, thread, action["name"], {})
    assert end["isError"] and end["output"] == 'status 401\n{"error": "no such key: [secret]"}'
    service = new_extension(gateway, "integration", new_name("service"),
                            {"kind": "http", "url": web.url("/"), "headers": {"X-Key": "${secret:API_KEY}"}}, enabled=True)
    end = call_tool(talker, thread, service["name"] + "__request", {"path": "/"})
    assert "[secret]" in end["output"]
    assert web.requests[-1].headers["x-key"] == "hunter2"
    assert "hunter2" not in gateway.http.get(f"/threads/{thread['id']}/turns").text + gateway.stderr


def test_secret_host_name_is_redacted(make_gateway, stub, new_name):
    talker = Talker(make_gateway(config=configuration(stub)).start(), stub)
    gateway = talker.gateway
    thread = new_thread(gateway, new_agent(gateway, new_name("actor"), "trusted"))
    assert gateway.command("secret", "set", "S1", typed="Hunter2secret.invalid\n").returncode == 0
    action = new_action(gateway, new_name("call"), "http", url="http://${secret:S1}/")
    end = call_tool(talker, thread, action["name"], {})
    assert end["isError"] and "[secret]" in end["output"]
    shown = end["output"] + gateway.http.get(f"/threads/{thread['id']}/turns").text + gateway.stderr
    assert "hunter2secret" not in shown.lower()


# shell


@pytest.fixture
def worker(talker, new_name):
    return new_thread(talker.gateway, new_agent(talker.gateway, new_name("worker"), "operator"))


def test_shell_runs_its_command_with_the_input(talker, worker, new_name):
    action = new_action(talker.gateway, new_name("run"), "shell", command='echo "hello {{who}}"; cat')
    end = call_tool(talker, worker, action["name"], {"who": "Ada", "n": 1})
    assert not end["isError"] and "hello Ada\n" in end["output"] and '{"who":"Ada","n":1}' in end["output"]


def test_shell_input_is_never_part_of_the_command(talker, worker, new_name):
    action = new_action(talker.gateway, new_name("run"), "shell", command='echo "{{text}}" {{text}}')
    for text in ("$(touch pwned)", "`touch pwned`", '"; touch pwned; "', "; touch pwned", "| touch pwned", "\n touch pwned"):
        call_tool(talker, worker, action["name"], {"text": text})
    look = new_action(talker.gateway, new_name("look"), "shell", command="ls")
    assert "pwned" not in call_tool(talker, worker, look["name"], {})["output"]


def test_path_capabilities_exclude_commands(talker, new_name):
    thread = new_thread(talker.gateway, new_bound_agent(talker.gateway, new_name, paths=["docs"]))
    action = new_action(talker.gateway, new_name("run"), "shell", command="echo ran")
    for tool, given in ((action["name"], {}), ("Bash", {"command": "echo ran"})):
        end = call_tool(talker, thread, tool, given)
        assert end["isError"] and end["output"].startswith("permission denied: a command cannot be held to the paths")


def test_shell_sees_no_private_file(talker, worker, new_name):
    action = new_action(talker.gateway, new_name("run"), "shell", command=f"cat {talker.gateway.data}/.gateway-token")
    end = call_tool(talker, worker, action["name"], {})
    assert end["isError"] and talker.gateway.token not in end["output"]
