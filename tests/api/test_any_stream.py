"""Streams contain exactly the model's output and one end, for any output and any way in which it arrives.

The model's answers are random, with a fixed seed: texts that look like parts of the protocols, thoughts, tool calls,
and failures in the middle. See docs/contract/clients.md.
"""

import json
import random

import pytest

from checks import accepted
from client_streams import read_chat_completion, read_message, read_response
from stubs.provider import Reply, ToolCall, split
from test_client_members import SCHEMA, gateway  # noqa: F401

PIECES = ["Hello", " ", "\n\n", "data: [DONE]\n\n", "event: error\n", "é\U0001f600", "\u2028", "\0", '{"a":', "\\", "x" * 300,
          ": keep-alive\n\n", "\r\n", "\ufeff"]
ARGUMENTS = [{}, {"city": "Rome"}, {"a": [1, {"b": None}], "c": -0.5}, {"text": 'é"\n\\\U0001f600'}, {"": {"": [[]]}}]
# Whether the API of the service has ids of tool calls.
SERVICES = {"anthropic": True, "chat": True, "responses": True, "ollama": False, "gemini": True}
MODEL = "gpt-5"
USER = [{"role": "user", "content": "Hi"}]
FUNCTIONS = [{"name": name, "parameters": SCHEMA} for name in ("weather", "stocks")]

# For each protocol: its route, a body, and the parser of its stream.
PROTOCOLS = {
    "chat": ("/v1/chat/completions", {
        "messages": USER, "stream_options": {"include_usage": True},
        "tools": [{"type": "function", "function": function} for function in FUNCTIONS]}, read_chat_completion),
    "responses": ("/v1/responses", {
        "input": "Hi", "tools": [{"type": "function", **function} for function in FUNCTIONS]}, read_response),
    "messages": ("/v1/messages", {
        "messages": USER, "max_tokens": 4096, "thinking": {"type": "enabled", "budget_tokens": 1024},
        "tools": [{"name": function["name"], "input_schema": SCHEMA} for function in FUNCTIONS]}, read_message),
}


def any_text(rng, max_pieces):
    return "".join(rng.choices(PIECES, k=rng.randint(0, max_pieces)))


def any_reply(rng):
    """Returns a random answer of the model. One that fails has some text before that, and not only white space, which
    waits for what follows it: perhaps a tag before thoughts."""
    calls = [ToolCall(rng.choice(FUNCTIONS)["name"], rng.choice(ARGUMENTS), id=f"call_{number}")
             for number in range(rng.choice((0, 0, 1, 3)))]
    text = any_text(rng, 9) or ("" if calls else "Hello")
    deltas = rng.randint(1, 9)
    may_fail = text and split(text, deltas)[0].strip()
    fault = rng.choice((None, None, None, "error", "cut", "end", "garbage")) if may_fail else None
    return Reply(text, deltas=deltas, reasoning=any_text(rng, 3), tool_calls=calls,
                 chunk_bytes=rng.choice((None, 1, 7, 64)), fault=fault, after=fault and 1)


def named(calls):
    return [(name, json.loads(arguments)) for _, name, arguments in calls]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_stream_has_the_output_of_the_model_and_one_end(gateway, protocol):  # noqa: F811
    path, members, read = PROTOCOLS[protocol]
    rng = random.Random(protocol)
    for number in range(120):
        service = rng.choice(list(SERVICES))
        reply = any_reply(rng)
        gateway.stub.script(reply)
        response = gateway.http.post(path, json={"model": f"{service}/{MODEL}", "stream": True, **members})
        assert response.status_code == 200, f"{service} {reply} {response.text}"
        answer = read(response.text)
        details = f"{number} {service} {reply}\n{response.text}"
        assert (answer.stop is None) == (reply.fault is not None), details
        if reply.fault:
            assert answer.text and reply.text.startswith(answer.text) and not answer.calls, details
            continue
        assert (answer.text, answer.reasoning) == (reply.text, reply.reasoning) and answer.usage, details
        assert named(answer.calls) == [(call.name, call.arguments) for call in reply.tool_calls], details
        ids = [id for id, _, _ in answer.calls]
        assert len(set(ids)) == len(ids) and all(ids), details
        assert not SERVICES[service] or ids == [call.id for call in reply.tool_calls], details
    accepted(gateway.http.get("/health"))
