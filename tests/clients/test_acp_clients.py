"""Clients of the Agent Client Protocol: its own library, and the headless client acpx. See docs/contract/acp.md."""

import pytest

from checks import accepted
from gateway import BINARY
from tools import calls, new_agent


@pytest.fixture
def agent(programs):
    """The command of an agent that must ask before it runs a command."""
    gateway = programs.talker.gateway
    apprentice = new_agent(gateway, "apprentice", stage="apprentice")
    return [str(BINARY), "acp", "--data-dir", str(gateway.data), "--agent", apprentice["name"]]


def test_library_of_the_protocol_prompts_cancels_and_loads(programs, agent):
    programs.stub.script(calls(("Bash", {"command": "echo hello"})), "All done.")
    half = programs.stub.hold("Half ")
    programs.stub.script("The rest.")
    seen = programs.script("acp.mjs", *agent)
    assert (seen["protocolVersion"], seen["stopReason"], seen["said"]) == (1, "end_turn", "All done.")
    assert seen["calls"] == ["completed"] and seen["replayed"] == "All done.Half The rest."
    assert seen["asked"] == [["allow_once", "allow_always", "allow_always", "reject_once", "reject_always"]]
    # The cancelled request to the model is aborted; the next prompt and the exit are not delayed, and no run remains.
    assert seen["cancelled"] == {"stopReason": "cancelled", "said": "Half "} and half.was_aborted()
    assert seen["next"] == {"stopReason": "end_turn", "said": "The rest."} and seen["exit"] == 0
    thread = accepted(programs.talker.gateway.http.get(f"/threads/{seen['sessionId']}"))
    assert thread["active_run"] is None


def test_acpx_finishes_a_task_with_a_tool_call(programs, agent):
    programs.stub.script(calls(("Bash", {"command": "echo hello"})), "All done.")
    printed = programs.run("acpx", "--approve-all", "--agent", " ".join(agent), "exec", "Do it.")
    assert "All done." in printed and "echo hello" in printed
    message = programs.stub.requests[-1].json["messages"][-1]
    assert message["role"] == "tool" and "hello" in message["content"]
