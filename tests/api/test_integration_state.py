"""The state of integrations, and testing their connections.

See docs/contract/extensions.md#state-of-integrations.
"""

from pathlib import Path

from checks import accepted, refused
from integrations import new_integration

SERVER = str(Path(__file__).parent / "stubs" / "mcp_server.py")


def stdio(gateway, name, **members):
    return new_integration(gateway, name, "mcp-stdio", command="/usr/bin/python3", args=[SERVER], **members)


def state_of(gateway, name):
    return next(state for state in accepted(gateway.http.get("/integrations")) if state["name"] == name)


def test_state_of_an_integration_has_its_tools_or_the_problem(gateway, new_name):
    works, broken = new_name("works"), new_name("broken")
    stdio(gateway, works)
    new_integration(gateway, broken, "mcp-stdio", command="/nowhere/at-all")
    state = accepted(gateway.http.post(f"/integrations/{works}/test"))
    assert (state["status"], state["problem"], state["kind"]) == ("connected", None, "mcp-stdio")
    assert state["tools"] and all(tool["name"] for tool in state["tools"])
    assert state_of(gateway, works) == state
    failed = accepted(gateway.http.post(f"/integrations/{broken}/test"))
    assert failed["status"] == "failed" and failed["problem"] and failed["tools"] == []


def test_only_an_enabled_integration_with_tools_is_tested(gateway, new_name):
    off, model = new_name("off"), new_name("model")
    stdio(gateway, off, enabled=False)
    assert state_of(gateway, off)["status"] == "disabled"
    refused(gateway.http.post(f"/integrations/{off}/test"), 409,
            "the integration is disabled: enable it to test it")
    refused(gateway.http.post("/integrations/nobody/test"), 404, "extension not found")
    new_integration(gateway, model, "model", enabled=False, api="openai-chat", base_url="http://127.0.0.1:9/v1")
    refused(gateway.http.post(f"/integrations/{model}/test"), 404, "the integration offers no tools")
    assert all(state["name"] != model for state in accepted(gateway.http.get("/integrations")))
