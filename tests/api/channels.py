"""Telegram channels of a gateway, and the users who write to them."""

import itertools

from checks import accepted

ANN, BOB, EVE = 41, 42, 43
GROUP = -100500
numbers = itertools.count()


def connect(gateway, telegram, allow=(str(ANN),), **members):
    definition = {
        "kind": "channel",
        "service": "telegram",
        "token": "${secret:TELEGRAM}",
        "address": telegram.url,
        "agent_id": "assistant",
        "allow": list(allow),
        "stream": "off",
        **members,
    }
    name = f"messenger-{next(numbers)}"
    body = {"name": name, "type": "integration", "description": "A", "definition": definition, "enabled": True}
    return accepted(gateway.http.post("/extensions", json=body), 201)


def channel(gateway):
    (only,) = accepted(gateway.http.get("/channels"))
    return only


def threads(gateway):
    return accepted(gateway.http.get("/threads"))
