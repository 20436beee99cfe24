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
