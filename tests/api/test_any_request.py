"""Sends random requests to every route: the gateway responds to each by its rules and does not crash. The routes of the
OpenAI and Anthropic APIs also get nearly valid bodies.

The requests are built from meaningful and meaningless values, with a fixed seed. The client checks every response
against the general rules and its declared shape.

See docs/contract/requests.md.
"""

import json
import random

import pytest

from checks import UNKNOWN_ID, accepted
from client_bodies import BODIES, NAMES, Changes
from client_streams import read_chat_completion, read_message, read_response
from contract import METHODS
from talker import MODEL
from tools import new_agent

ENDS_THE_PROCESS = {"/daemon/stop", "/daemon/restart"}
TEXTS = ["", " ", "a", "assistant", "hello", "act", "plan", "user", "agent", "theme", "true", "1", "0", "-1", "1.5",
         "2020-01-01",
         "null", "\u00e9\U0001f600", "a\u0000b", "../..", "%00", "'\"", "x" * 5000, UNKNOWN_ID, "/", "\\", "{}", "*",
         "offline/librarian"]
VALUES = [None, True, False, 0, -1, 1.5, 2**63, 1e308, [], {}, [[]], {"a": {"b": [1, None]}}, {"": ""}, ["a"] * 50]
MEMBERS = ["content", "role", "metadata", "threadId", "agentId", "agent_id", "model", "title", "project_id",
           "archived", "mode",
           "turnId", "type", "name", "description", "definition", "trigger_def", "trigger", "source", "enabled",
           "owner_agent_id", "if_updated_at", "otp", "path", "trusted", "kind", "message", "severity", "attachments",
           "messages", "input", "max_tokens", "stream", "tools", "instructions", "previous_response_id"]
STREAMS = {"/v1/chat/completions": read_chat_completion, "/v1/responses": read_response, "/v1/messages": read_message}


class RandomRequests:
    """Builds random requests; `known` are ids of existing records."""

    def __init__(self, seed, known):
        self.random = random.Random(seed)
        self.known = known

    def text(self):
        return self.random.choice(self.known if self.random.random() < 0.4 else TEXTS)

    def value(self):
        return self.text() if self.random.random() < 0.6 else self.random.choice(VALUES)

    def body(self, template):
        if template in BODIES and self.random.random() < 0.8:
            body = Changes(self.random, self.value).body(template)
        else:
            body = self.members()
        if self.random.random() < 0.1:
            position = self.random.randrange(len(body))
            body = body[:position] + bytes([self.random.randrange(256)]) + body[position + 1:]
        return body

    def members(self):
        chosen = self.random.sample(MEMBERS, self.random.randint(0, 8))
        return json.dumps({member: self.value() for member in chosen}).encode()

    def path(self, template, percent_encoded):
        segments = [percent_encoded(self.text()) or "x" if segment.startswith("{") else segment
                    for segment in template.split("/")]
        return "/".join(segments)

    def query(self, operation):
        declared = [parameter["name"] for parameter in operation.get("parameters", [])
                    if parameter.get("in") == "query"]
        return {name: self.text() for name in declared if self.random.random() < 0.6}


def percent_encoded(text):
    return "".join(f"%{byte:02X}" for byte in text.encode())


@pytest.mark.parametrize("seed", range(2))
def test_no_request_causes_an_internal_error(own_gateway, seed):
    thread = accepted(own_gateway.http.post("/threads", json={}), 201)
    turn = accepted(own_gateway.http.post(f"/threads/{thread['id']}/turns", json={"content": "a", "role": "user"}), 201)
    extension = accepted(own_gateway.http.post("/extensions", json={
        "type": "agent", "name": "known", "description": "", "definition": {}, "enabled": True}), 201)
    document = accepted(own_gateway.http.get("/openapi.json"))
    routes = [(method, path, operation) for path, operations in document["paths"].items()
              for method, operation in operations.items() if method in METHODS and path not in ENDS_THE_PROCESS]
    requests = RandomRequests(seed, [thread["id"], turn["id"], extension["id"], "known"])
    for _ in range(300):
        method, template, operation = requests.random.choice(routes)
        path, params = requests.path(template, percent_encoded), requests.query(operation)
        body = requests.body(template) if method in ("post", "put", "patch") else None
        response = own_gateway.http.request(method, path, params=params, content=body)
        assert "internal server error" not in response.text, f"{method} {path} {params} {body}"
    accepted(own_gateway.http.get("/health"))


@pytest.mark.parametrize("path", BODIES)
def test_no_body_for_a_compatible_api_causes_an_internal_error(own_talker, path):
    """Most bodies are complete except for a few mutations, so they reach every parser, and many reach the model."""
    gateway = own_talker.gateway
    agent = new_agent(gateway, "asked", stage="apprentice")
    thread = accepted(gateway.http.post("/threads", json={"agent_id": agent["id"]}), 201)
    response = accepted(gateway.http.post("/v1/responses", json={"model": MODEL, "input": "Hi"}))
    requests = RandomRequests(path, [thread["id"], response["id"], agent["name"], MODEL, *NAMES])
    answered = 0
    for _ in range(200):
        body = requests.body(path)
        response = gateway.http.post(path, content=body)
        details = f"{body}\n{response.status_code} {response.text}"
        assert response.status_code in (200, 400, 404, 409), details
        if response.status_code != 200:
            assert set(response.json()["error"]) >= {"type", "message"} and response.json()["error"]["message"], details
        elif response.headers["content-type"].startswith("text/event-stream"):
            assert STREAMS[path](response.text).stop, details
        answered += response.status_code == 200
    assert answered > 10
    accepted(gateway.http.get("/health"))
