"""Actions as tools (decisions, 3, 4 and 13)."""

import datetime
import json

import pytest

from checks import accepted
from extensions import patch, toggle
from jobs import new_extension
from stubs.web import WebStub
from talker import Talker, configuration
from tools import called, new_agent, new_bound_agent, new_thread


@pytest.fixture
def web():
    with WebStub() as running:
        running.answers("/", "fine", "text/plain")
        yield running


@pytest.fixture
def thread(talker, name):
    return new_thread(talker.gateway, new_agent(talker.gateway, name("actor"), "trusted"))


def new_action(gateway, name, kind, source="user", enabled=True, **definition):
    body = {"type": "action", "name": name, "description": "An action", "enabled": enabled, "source": source,
            "definition": {"kind": kind, **definition}}
    return accepted(gateway.http.post("/extensions", json=body), 201)


def offered(talker):
    return {tool["function"]["name"]: tool["function"] for tool in talker.stub.requests[-1].json.get("tools", [])}


# As tools.


def test_an_action_is_a_tool_of_its_name_with_its_input(talker, thread, name):
    schema = {"type": "object", "required": ["who"], "properties": {"who": {"type": "string"}}}
    action = new_action(talker.gateway, name("greet"), "prompt", prompt="Greet {{who}} and {{ who }}.", input_schema=schema)
    end = called(talker, thread, action["name"], {"who": "Ada"})
    assert (end["output"], end["isError"]) == ("Greet Ada and Ada.", False)
    assert offered(talker)[action["name"]]["parameters"]["properties"] == schema["properties"]
    assert called(talker, thread, action["name"], {})["output"] == "invalid input: who is required"


def test_a_change_of_an_action_counts_at_once(talker, thread, name):
    action = new_action(talker.gateway, name("greet"), "prompt", prompt="one", enabled=False)
    assert "there is no tool" in called(talker, thread, action["name"], {})["output"]
    accepted(toggle(talker.gateway, action))
    assert called(talker, thread, action["name"], {})["output"] == "one"
    accepted(patch(talker.gateway, action, definition={"kind": "prompt", "prompt": "two"}))
    assert called(talker, thread, action["name"], {})["output"] == "two"
    talker.gateway.http.delete(f"/extensions/{action['id']}")
    assert "there is no tool" in called(talker, thread, action["name"], {})["output"]


@pytest.mark.parametrize("kind,least", [("prompt", "apprentice"), ("shell", "operator"), ("http", "trusted"),
                                        ("mcp", "trusted")])
def test_the_stage_that_each_kind_needs(talker, name, kind, least):
    stages = ["apprentice", "operator", "trusted", "sovereign"]
    action = new_action(talker.gateway, name("act"), kind, prompt="x", command="true", url="http://192.0.2.1/",
                        integration="none", tool="none")
    for stage in stages:
        thread = new_thread(talker.gateway, new_agent(talker.gateway, name("staged"), stage))
        end = called(talker, thread, action["name"], {})
        denied = end["output"].startswith("permission denied:")
        assert denied == (stages.index(stage) < stages.index(least)), (stage, end)


# builtin


@pytest.mark.parametrize("expression,value", [("(3 + 4) * 2", "14"), ("0.1 + 0.2", "0.3"), ("2 ^ 10 % 7", "2"),
                                              ("sqrt(16) + round(7.5)", "12"), ("-2^2", "-4")])
def test_calculate(talker, thread, expression, value):
    assert called(talker, thread, "calculate", {"expression": expression})["output"] == value


def test_calculate_says_what_is_wrong(talker, thread):
    end = called(talker, thread, "calculate", {"expression": "1 / 0"})
    assert (end["output"], end["isError"]) == ("division by zero", True)
    assert called(talker, thread, "calculate", {"expression": "(" * 900})["isError"]


def test_current_time(talker, thread):
    output = called(talker, thread, "current-time", {"timezone": "Asia/Kathmandu"})["output"]
    told = datetime.datetime.fromisoformat(output.split(" ")[0])
    assert told.utcoffset() == datetime.timedelta(hours=5, minutes=45)
    assert abs((told - datetime.datetime.now(datetime.timezone.utc)).total_seconds()) < 60
    assert called(talker, thread, "current-time", {})["output"].split(" ")[0].endswith("+00:00")
    assert called(talker, thread, "current-time", {"timezone": "Mars/Base"})["isError"]


def test_a_builtin_action_of_another_name_says_which_it_is(talker, thread, name):
    action = new_action(talker.gateway, name("reckon"), "builtin", tool="calculate")
    assert called(talker, thread, action["name"], {"expression": "6 * 7"})["output"] == "42"
    unknown = new_action(talker.gateway, name("reckon"), "builtin", tool="guess")
    end = called(talker, thread, unknown["name"], {})
    assert (end["output"], end["isError"]) == ("the gateway has no builtin action guess", True)


# http


def test_http_sends_its_input_as_json(talker, thread, web, name):
    action = new_action(talker.gateway, name("call"), "http", method="POST", url=web.url("/"))
    end = called(talker, thread, action["name"], {"a": [1, "x"]})
    assert (end["output"], end["isError"]) == ("fine", False)
    assert web.requests[0].method == "POST" and json.loads(web.requests[0].body) == {"a": [1, "x"]}
    assert web.requests[0].headers["content-type"] == "application/json"


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_http_sends_its_input_as_query(talker, thread, web, name, method):
    action = new_action(talker.gateway, name("call"), "http", method=method, url=web.url("/"))
    called(talker, thread, action["name"], {"a": "x y&b=1", "n": 2})
    assert (web.requests[0].method, web.requests[0].path) == (method, "/?a=x%20y%26b%3D1&n=2")
    assert web.requests[0].body == b""


def test_http_fills_url_headers_and_body(talker, thread, web, name):
    web.answers("/users/a%2Fb", "found", "text/plain")
    action = new_action(talker.gateway, name("call"), "http", method="PUT", url=web.url("/users/{{id}}"),
                        headers={"X-For": "{{id}}"}, body={"who": "{{id}}", "n": "{{n}}"})
    assert called(talker, thread, action["name"], {"id": "a/b", "n": 3})["output"] == "found"
    request = web.requests[0]
    assert request.headers["x-for"] == "a/b" and json.loads(request.body) == {"who": "a/b", "n": 3}


@pytest.mark.parametrize("method", ["GET", "DELETE", "PATCH"])
def test_http_sends_a_body_with_any_method(talker, thread, web, name, method):
    action = new_action(talker.gateway, name("call"), "http", method=method, url=web.url("/"), body={"query": "{{q}}"})
    assert called(talker, thread, action["name"], {"q": "x"})["output"] == "fine"
    assert web.requests[0].method == method and json.loads(web.requests[0].body) == {"query": "x"}


def test_http_input_changes_no_host(talker, thread, web, name):
    for url in ("http://{{host}}/", "http://127.0.0.1:{{port}}/", "{{scheme}}://127.0.0.1/", web.url("") + "{{rest}}"):
        action = new_action(talker.gateway, name("call"), "http", url=url)
        end = called(talker, thread, action["name"], {"host": "127.0.0.1", "port": web.port, "scheme": "http", "rest": "x"})
        assert end["isError"] and "which no input may change" in end["output"], end
    assert web.requests == []


def test_http_input_breaks_no_header(talker, thread, web, name):
    action = new_action(talker.gateway, name("call"), "http", url=web.url("/"), headers={"X-For": "{{who}}"})
    end = called(talker, thread, action["name"], {"who": "a\r\nX-Evil: 1"})
    assert end["isError"] and "line breaks" in end["output"] and web.requests == []


def test_http_error_answers_are_errors(talker, thread, web, name):
    web.answers("/broken", "why not", "text/plain", status=503)
    action = new_action(talker.gateway, name("call"), "http", url=web.url("/broken"))
    end = called(talker, thread, action["name"], {})
    assert end["isError"] and end["output"] == "status 503\nwhy not"


def test_http_reads_answers_in_other_charsets(talker, thread, web, name):
    action = new_action(talker.gateway, name("call"), "http", url=web.url("/latin"))
    web.answers("/latin", "Öl".encode("latin-1"), "text/plain; charset=ISO-8859-1")
    assert called(talker, thread, action["name"], {})["output"] == "Öl"
    web.answers("/latin", b"\xff\x00\xfe", "application/octet-stream")
    assert "3 bytes of application/octet-stream, which are no text" in called(talker, thread, action["name"], {})["output"]


@pytest.mark.parametrize("source", ["agent", "community"])
def test_only_a_persons_action_calls_private_addresses(talker, thread, web, name, source):
    action = new_action(talker.gateway, name("call"), "http", source=source, url=web.url("/"))
    end = called(talker, thread, action["name"], {})
    assert end["isError"] and "not one of the public internet" in end["output"] and web.requests == []


def test_a_redirect_of_an_action_leads_to_no_other_private_address(talker, thread, web, name):
    for target in ("http://169.254.169.254/latest/meta-data/", f"http://localhost:{web.port}/"):
        web.redirects("/away", target)
        action = new_action(talker.gateway, name("call"), "http", url=web.url("/away"))
        end = called(talker, thread, action["name"], {})
        assert end["isError"] and "not one of the public internet" in end["output"]


def test_capabilities_bound_the_hosts_of_actions(talker, web, name):
    agent = new_bound_agent(talker.gateway, name, hosts=["example.org"])
    action = new_action(talker.gateway, name("call"), "http", url=web.url("/"))
    end = called(talker, new_thread(talker.gateway, agent), action["name"], {})
    assert end["output"].startswith("permission denied: 127.0.0.1 is not among the hosts") and web.requests == []


def test_secrets_are_filled_at_the_call_and_shown_nowhere(make_gateway, stub, web, name):
    talker = Talker(make_gateway(config=configuration(stub)).start(), stub)
    gateway = talker.gateway
    thread = new_thread(gateway, new_agent(gateway, name("actor"), "trusted"))
    action = new_action(gateway, name("call"), "http", url=web.url("/?key=${secret:API_KEY}"),
                        headers={"Authorization": "Bearer ${secret:API_KEY}", "X-Input": "{{text}}"})
    end = called(talker, thread, action["name"], {"text": "x"})
    assert end["isError"] and "agw secret set API_KEY" in end["output"] and web.requests == []
    assert gateway.command("secret", "set", "API_KEY", typed="hunter2\n").returncode == 0
    end = called(talker, thread, action["name"], {"text": "${secret:API_KEY}"})
    assert not end["isError"], end
    request = web.requests[0]
    assert request.headers["authorization"] == "Bearer hunter2" and "key=hunter2" in request.path
    assert request.headers["x-input"] == "${secret:API_KEY}", "the input names no secret"
    assert "hunter2" not in gateway.http.get("/extensions").text
    assert "hunter2" not in gateway.http.get(f"/threads/{thread['id']}/turns").text
    assert "hunter2" not in gateway.stderr


def test_a_secret_that_a_service_quotes_is_shown_nowhere(make_gateway, stub, web, name):
    talker = Talker(make_gateway(config=configuration(stub)).start(), stub)
    gateway = talker.gateway
    thread = new_thread(gateway, new_agent(gateway, name("actor"), "trusted"))
    assert gateway.command("secret", "set", "API_KEY", typed="hunter2\n").returncode == 0
    web.answers("/", '{"error": "no such key: hunter2"}', "application/json", 401)
    action = new_action(gateway, name("call"), "http", url=web.url("/"), headers={"X-Key": "${secret:API_KEY}"})
    end = called(talker, thread, action["name"], {})
    assert end["isError"] and end["output"] == 'status 401\n{"error": "no such key: [secret]"}'
    service = new_extension(gateway, "integration", name("service"),
                            {"kind": "http", "url": web.url("/"), "headers": {"X-Key": "${secret:API_KEY}"}}, enabled=True)
    end = called(talker, thread, service["name"] + "__request", {"path": "/"})
    assert "[secret]" in end["output"]
    assert web.requests[-1].headers["x-key"] == "hunter2"
    assert "hunter2" not in gateway.http.get(f"/threads/{thread['id']}/turns").text + gateway.stderr


def test_a_host_that_is_a_secret_is_shown_nowhere(make_gateway, stub, name):
    talker = Talker(make_gateway(config=configuration(stub)).start(), stub)
    gateway = talker.gateway
    thread = new_thread(gateway, new_agent(gateway, name("actor"), "trusted"))
    assert gateway.command("secret", "set", "S1", typed="Hunter2secret.invalid\n").returncode == 0
    action = new_action(gateway, name("call"), "http", url="http://${secret:S1}/")
    end = called(talker, thread, action["name"], {})
    assert end["isError"] and "[secret]" in end["output"]
    shown = end["output"] + gateway.http.get(f"/threads/{thread['id']}/turns").text + gateway.stderr
    assert "hunter2secret" not in shown.lower()


# shell


@pytest.fixture
def worker(talker, name):
    return new_thread(talker.gateway, new_agent(talker.gateway, name("worker"), "operator"))


def test_shell_runs_its_command_with_the_input(talker, worker, name):
    action = new_action(talker.gateway, name("run"), "shell", command='echo "hello {{who}}"; cat')
    end = called(talker, worker, action["name"], {"who": "Ada", "n": 1})
    assert not end["isError"] and "hello Ada\n" in end["output"] and '{"who":"Ada","n":1}' in end["output"]


def test_shell_input_is_never_a_piece_of_the_command(talker, worker, name):
    action = new_action(talker.gateway, name("run"), "shell", command='echo "{{text}}" {{text}}')
    for text in ("$(touch pwned)", "`touch pwned`", '"; touch pwned; "', "; touch pwned", "| touch pwned", "\n touch pwned"):
        called(talker, worker, action["name"], {"text": text})
    look = new_action(talker.gateway, name("look"), "shell", command="ls")
    assert "pwned" not in called(talker, worker, look["name"], {})["output"]


def test_capabilities_with_paths_leave_no_commands(talker, name):
    thread = new_thread(talker.gateway, new_bound_agent(talker.gateway, name, paths=["docs"]))
    action = new_action(talker.gateway, name("run"), "shell", command="echo ran")
    for tool, given in ((action["name"], {}), ("Bash", {"command": "echo ran"})):
        end = called(talker, thread, tool, given)
        assert end["isError"] and end["output"].startswith("permission denied: a command cannot be held to the paths")


def test_shell_sees_no_private_file(talker, worker, name):
    action = new_action(talker.gateway, name("run"), "shell", command=f"cat {talker.gateway.data}/.gateway-token")
    end = called(talker, worker, action["name"], {})
    assert end["isError"] and talker.gateway.token not in end["output"]
