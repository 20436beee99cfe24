"""What a model's service refuses, and programs cannot know, does not end their conversation."""

import json

import pytest

from checks import accepted
from stubs.provider import Fault, Reply, ToolCall
from test_client_members import SCHEMA, chat, gateway, message, respond, user  # noqa: F401 (a fixture)

ASKED = [{"role": "user", "content": "Hi"}]


def test_limit_becomes_what_the_window_leaves(gateway):  # noqa: F811
    """Claude Code asks for 32,000 tokens, whatever the window."""
    for limit, sent, requests in ((32_000, 15_309, 2), (500, 500, 3), (32_000, 15_309, 5)):
        asked = message(gateway, "chat", model="chat/qwen3", max_tokens=limit)
        assert asked["max_tokens"] == sent and len(gateway.stub.requests) == requests


def test_array_without_items_does_not_end_the_conversation(gateway):  # noqa: F811
    tools = [{"type": "function", "name": f"tool{number}", "parameters": {
        "type": "object", "properties": {"tags": {"type": "array"}}}} for number in range(12)]
    for tool in respond(gateway, tools=tools)["tools"]:
        assert tool["parameters"]["properties"] == {"tags": {"type": "array", "items": {}}}


def test_schema_that_a_service_cannot_read_is_described_in_words(gateway):  # noqa: F811
    schema = {"type": "object", "properties": {"$filter": {"type": "string"}}}
    tools = [{"name": "weather", "input_schema": SCHEMA}, {"name": "search", "input_schema": schema}]
    for requests in (2, 3):  # what the service refuses is remembered
        weather, search = message(gateway, tools=tools)["tools"]
        assert weather["input_schema"] == SCHEMA and search["input_schema"] == {"type": "object", "properties": {}}
        assert search["description"] == f"The input must match this JSON Schema: {json.dumps(schema, separators=(',', ':'))}"
        assert len(gateway.stub.requests) == requests
