"""Creates integrations and finds their tools in requests to the model."""

from jobs import new_extension


def new_integration(gateway, name, kind, enabled=True, source="user", **definition):
    return new_extension(gateway, "integration", name, {"kind": kind, **definition}, enabled=enabled, source=source)


def tools_of(talker, integration):
    offered = talker.stub.requests[-1].json.get("tools", [])
    return {tool["function"]["name"].removeprefix(integration + "__"): tool["function"]
            for tool in offered if tool["function"]["name"].startswith(integration + "__")}
