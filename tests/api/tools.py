"""Agents whose stubbed model calls tools."""

from checks import accepted
from jobs import new_extension
from stubs.provider import Reply, ToolCall

STAGES = ("apprentice", "operator", "trusted", "sovereign")


def new_agent(gateway, name, stage="operator", mode="act", **definition):
    body = {"type": "agent", "name": name, "description": "", "enabled": True, "definition": {"mode": mode, **definition}}
    agent = accepted(gateway.http.post("/extensions", json=body), 201)
    if stage != "apprentice":
        accepted(gateway.http.patch(f"/agents/{name}/stage", json={"stage": stage, "reason": "for a test"}))
    return agent


def new_bound_agent(gateway, new_name, **limits):
    """Creates a sovereign agent that a capability of its own restricts to `limits`."""
    capability = new_extension(gateway, "capability", new_name("limits"), limits, enabled=True)
    return new_agent(gateway, new_name("bound"), "sovereign", capabilities=[capability["name"]])


def new_thread(gateway, agent, **members):
    return accepted(gateway.http.post("/threads", json={"agent_id": agent["id"], **members}), 201)


def calls(*tool_calls, text="", **reply):
    """Returns an answer that calls tools, each given as `(name, input)` or `(name, input, id)`."""
    return Reply(text=text, deltas=1 if text else 0, tool_calls=[ToolCall(*call) for call in tool_calls], **reply)


def run_chat(talker, thread, *replies, content="Do it.", **members):
    """Sends a message, to which the model gives these replies, one per request. Returns the run's events."""
    talker.stub.script(*replies)
    with talker.gateway.events(thread["id"]) as events:
        body = {"content": content, "threadId": thread["id"], **members}
        turn = accepted(talker.gateway.http.post("/chat", json=body), 201)
        return events.run(turn["id"])


def call_tool(talker, thread, name, input, **members):
    """Has the model make one call and then finish. Returns its `tool-end` event."""
    run = run_chat(talker, thread, calls((name, input)), "Done.", **members)
    return of_kind(run, "tool-end")[0]


def of_kind(run, kind):
    return [event for event in run if event["type"] == kind]


def turns_of(gateway, thread, role=None):
    """Oldest first."""
    turns = accepted(gateway.http.get(f"/threads/{thread['id']}/turns", params={"limit": 1000}))
    return [turn for turn in reversed(turns) if role in (None, turn["role"])]
