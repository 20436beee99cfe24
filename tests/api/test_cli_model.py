"""agw model: connecting and managing model services.

See docs/contract/models.md#services-that-come-and-go.
"""

import termios

from checks import accepted
from gateway import BINARY
from stubs.provider import Fault
from terminal import Terminal

KEY = "sk-live-0123456789abcdef"


def test_command_connects_a_service_with_a_key_from_stdin(own_gateway, stub):
    stub.models = ["m1", "m2"]
    done = own_gateway.command("model", "add", "mine", "--api", "openai-chat", "--base-url", stub.openai_url,
                               "--default-model", "m2", typed=f"{KEY}\n")
    assert done.returncode == 0, done.stderr
    assert "it has 2 models" in done.stderr and "mine/m2" in done.stderr and KEY not in done.stdout + done.stderr
    record = accepted(own_gateway.http.get("/extensions/mine"))
    assert record["definition"]["api_key"] == "${secret:MINE_KEY}" and record["enabled"] is True
    assert "mine/m1" in own_gateway.command("model", "list").stdout
    assert own_gateway.command("model", "check", "mine").returncode == 0
    assert own_gateway.command("model", "default").stdout == "mine/m2\n"
    assert own_gateway.command("model", "default", "mine/m1").stdout == "mine/m1\n"
    assert own_gateway.command("model", "rm", "mine").returncode == 0
    assert own_gateway.http.get("/extensions/mine").status_code == 404


def test_command_removes_a_service_in_use_only_by_force(own_gateway, stub):
    stub.models = ["m1"]
    added = own_gateway.command("model", "add", "mine", "--api", "openai-chat", "--base-url", stub.openai_url,
                                typed=f"{KEY}\n")
    assert added.returncode == 0, added.stderr
    body = {"type": "agent", "name": "reader", "description": "", "enabled": True, "definition": {"model": "mine/m1"}}
    accepted(own_gateway.http.post("/extensions", json=body), 201)
    done = own_gateway.command("model", "rm", "mine")
    assert done.returncode == 1 and "reader" in done.stderr and "--force" in done.stderr
    assert own_gateway.http.get("/extensions/mine").status_code == 200
    assert own_gateway.command("model", "rm", "mine", "--force").returncode == 0
    assert own_gateway.http.get("/extensions/mine").status_code == 404
    assert own_gateway.http.get("/extensions/reader").status_code == 200


def test_command_leaves_other_extensions_alone(own_gateway):
    body = {"type": "agent", "name": "reader", "description": "", "enabled": True, "definition": {"kind": "model"}}
    accepted(own_gateway.http.post("/extensions", json=body), 201)
    for command in ("rm", "check"):
        done = own_gateway.command("model", command, "reader")
        assert done.returncode == 1 and "reader is no model service" in done.stderr
    assert own_gateway.http.get("/extensions/reader").status_code == 200


def test_command_stores_nothing_if_the_service_refuses_the_key(own_gateway, stub):
    stub.models = Fault(401)
    done = own_gateway.command("model", "add", "mine", "--api", "openai-chat", "--base-url", stub.openai_url,
                               typed=f"{KEY}\n")
    assert done.returncode == 1 and "refused the key" in done.stderr and KEY not in done.stderr
    assert accepted(own_gateway.http.get("/secrets")) == []
    assert own_gateway.http.get("/extensions/mine").status_code == 404


def test_command_prints_the_default_model_of_the_new_service(own_gateway, stub):
    stub.models = ["m1"]
    done = own_gateway.command("model", "add", "mine", "--api", "openai-chat", "--base-url", stub.openai_url)
    assert done.returncode == 0 and "The default model is mine/m1." in done.stderr, done.stderr


def test_command_does_not_replace_the_key_of_an_existing_service(own_gateway, stub):
    stub.models = ["m1"]
    arguments = ["model", "add", "mine", "--api", "openai-chat", "--base-url", stub.openai_url]
    assert own_gateway.command(*arguments, typed=f"{KEY}\n").returncode == 0
    done = own_gateway.command(*arguments, typed="another-key\n")
    assert done.returncode == 1 and "agw ext edit mine" in done.stderr
    assert own_gateway.command("model", "check", "mine").returncode == 0
    assert {request.headers["authorization"] for request in stub.list_requests} == {f"Bearer {KEY}"}


def test_command_lists_the_known_services(own_gateway):
    done = own_gateway.command("model", "add", "nobody", typed="")
    assert done.returncode == 2 and "anthropic" in done.stderr and "--base-url" in done.stderr
    done = own_gateway.command("model", "add", "azure-openai", typed="")
    assert done.returncode == 2 and "<resource>" in done.stderr


def test_command_asks_for_the_key_without_echo(own_gateway, stub):
    stub.models = ["m1"]
    environment = {**own_gateway.variables(), "AGENT_GATEWAY_DATA_DIR": str(own_gateway.data)}
    arguments = [str(BINARY), "model", "add", "mine", "--api", "openai-chat", "--base-url", stub.openai_url]
    with Terminal(arguments, environment, own_gateway.home) as terminal:
        terminal.wait_for("(it is not shown): ")
        assert not terminal.flags() & termios.ECHO
        terminal.type(f"{KEY}\n")
        assert terminal.exit_status() == 0 and KEY not in terminal.shown
    assert stub.list_requests[0].headers["authorization"] == f"Bearer {KEY}"
