"""Making integrations, and what becomes of them."""

import time

from checks import accepted


def new_integration(gateway, name, kind, enabled=True, source="user", **definition):
    body = {"type": "integration", "name": name, "description": "", "enabled": enabled, "source": source,
            "definition": {"kind": kind, **definition}}
    return accepted(gateway.http.post("/extensions", json=body), 201)


def tools_of(talker, integration):
    offered = talker.stub.requests[-1].json.get("tools", [])
    return {tool["function"]["name"].removeprefix(integration + "__"): tool["function"]
            for tool in offered if tool["function"]["name"].startswith(integration + "__")}


def eventually(look, seconds=15):
    """Calls until it answers something, for what happens outside of the gateway's events."""
    deadline = time.monotonic() + seconds
    while True:
        found = look()
        if found or time.monotonic() > deadline:
            return found
