"""Complete programs finish a task with one of their own tools, configured as in docs/connect-clients.md."""

import json

import pytest

from stubs.provider import Reply, ToolCall
from talker import MODEL, PROVIDER

CALL = "call_of_the_test"


def makes_a_file(name, **arguments):
    """Returns replies of a model that calls the program's tool once it is offered, and confirms its result."""
    def reply(request):
        offered = {tool.get("name") or tool.get("function", {}).get("name") for tool in request.json.get("tools", [])}
        if name not in offered:
            return Reply("A title")
        if CALL in json.dumps(request.json["messages"]):
            return Reply("The file is there.")
        return Reply("", tool_calls=[ToolCall(name, arguments, id=CALL)])
    return [reply] * 10


def clients_that_finished(programs, printed):
    """Asserts that the file was made, and returns the clients in the costs."""
    assert "The file is there." in printed
    assert (programs.work / "made.txt").read_text() == "made\n"
    clients = programs.talker.gateway.http.get("/costs").json()["by_client"]
    return {row["client"] for row in clients}


def test_claude_code_finishes_a_task(programs):
    programs.stub.script(*makes_a_file("Bash", command="echo made > made.txt", description="Make a file"))
    printed = programs.run(
        "claude", "-p", "Make a file.", "--allowedTools", "Bash", ANTHROPIC_BASE_URL=programs.url,
        ANTHROPIC_AUTH_TOKEN=programs.talker.gateway.token, ANTHROPIC_MODEL=MODEL,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1")
    assert clients_that_finished(programs, printed) == {"claude-cli"}
    prompts = [request.json["messages"][0]["content"] for request in programs.stub.requests]
    assert not any("x-anthropic-billing-header" in prompt for prompt in prompts)


def test_continue_finishes_a_task(programs):
    programs.stub.script(*makes_a_file("Bash", command="echo made > made.txt"))
    configuration = programs.home / "config.yaml"
    configuration.write_text(f"""
name: gateway
version: 0.0.1
schema: v1
models:
  - name: assistant
    provider: openai
    model: {MODEL}
    apiBase: {programs.url}/v1
    apiKey: {programs.talker.gateway.token}
""")
    printed = programs.run("cn", "-p", "--auto", "--config", str(configuration), "Make a file.")
    assert clients_that_finished(programs, printed) == {"ls"}  # the minified name of a class of its library


@pytest.mark.parametrize("model", [MODEL, f"{PROVIDER}/claude-sonnet-4-5"])
def test_opencode_finishes_a_task(programs, model):
    """For Claude, it marks what shall be cached."""
    programs.stub.script(*makes_a_file("bash", command="echo made > made.txt", description="Make a file"))
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "Gateway",
                "options": {"baseURL": f"{programs.url}/v1", "apiKey": programs.talker.gateway.token},
                "models": {model: {}}}
    configuration = programs.home / ".config" / "opencode" / "opencode.json"
    configuration.parent.mkdir(parents=True)
    configuration.write_text(json.dumps({
        "provider": {"gateway": provider}, "model": f"gateway/{model}", "permission": "allow", "autoupdate": False}))
    assert clients_that_finished(programs, programs.run("opencode", "run", "Make a file.")) == {"opencode"}


def test_codex_finishes_a_task(programs):
    programs.stub.script(*makes_a_file("exec_command", cmd="echo made > made.txt"))
    configuration = programs.home / ".codex" / "config.toml"
    configuration.parent.mkdir()
    configuration.write_text(f"""
model = "{MODEL}"
model_provider = "gateway"
web_search = "disabled"
[model_providers.gateway]
name = "Gateway"
base_url = "{programs.url}/v1"
env_key = "TOKEN"
wire_api = "responses"
""")
    printed = programs.run("codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox",
                           "Make a file.")
    assert clients_that_finished(programs, printed) == {"codex_exec"}
