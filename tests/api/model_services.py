"""Fixtures and helpers for the tests of model services."""

import os
from pathlib import Path

import pytest

from checks import accepted

KEY = "sk-live-0123456789abcdef"
APIS = {"anthropic": "/v1/messages", "openai-chat": "/v1/chat/completions", "openai-responses": "/v1/responses",
        "ollama": "/api/chat", "gemini": "/v1beta/models/m1:streamGenerateContent"}
KEY_HEADERS = {"anthropic": "x-api-key", "openai-chat": "authorization", "openai-responses": "authorization",
               "ollama": "authorization", "gemini": "x-goog-api-key"}


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    """A gateway without configured services."""
    from gateway import Gateway
    gateway = Gateway(tmp_path_factory.mktemp("live")).start()
    yield gateway
    gateway.close()


def base_url(stub, api):
    return stub.openai_url if api.startswith("openai") else stub.base_url


def definition(stub, api="openai-chat", **more):
    return {"kind": "model", "api": api, "base_url": base_url(stub, api), **more}


@pytest.fixture
def connect(live, new_name):
    """Connects services, which are deleted after the test."""
    made = []

    def connect(definition, name=None, **more):
        body = {"type": "integration", "name": name or new_name("service"), "description": "", "enabled": True,
                "definition": definition, **more}
        made.append(accepted(live.http.post("/extensions", json=body), 201))
        return made[-1]
    yield connect
    live.http.patch("/settings", json={"default_model": None})
    for record in made:
        live.http.delete(f"/extensions/{record['id']}", params={"force": "true"})


def ask(gateway, model=None, content="a question", **members):
    thread = accepted(gateway.http.post("/threads", json={"title": "a title"}), 201)
    with gateway.events(thread["id"]) as events:
        body = {"content": content, "threadId": thread["id"], **({"model": model} if model else {}), **members}
        turn = accepted(gateway.http.post("/chat", json=body), 201)
        return events.run(turn["id"])


def logged(gateway):
    return "".join(file.read_text() for file in (gateway.data / "logs").iterdir())


def resident_bytes(gateway):
    pages = int(Path(f"/proc/{gateway.process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def rows_of(gateway, name, **params):
    rows = accepted(gateway.http.get("/models", params=params))
    return [row for row in rows if row["provider"] == name]


def secret(gateway, name, value):
    assert gateway.http.put(f"/secrets/{name}", json={"value": value}).status_code == 204


def agent(gateway, name, **members):
    body = {"type": "agent", "name": name, "description": "", "enabled": True, "definition": members}
    return accepted(gateway.http.post("/extensions", json=body), 201)
