"""Programs read what the model said, exactly and with one end, whatever it is and however it arrives.

A fixed seed makes the answers of the model: texts that look like parts of the protocols, thoughts, calls, cuts and failures
in the middle. See docs/contract/clients.md.
"""

import json
import random

import pytest

from checks import accepted
from client_streams import read_chat_completion, read_message, read_response
from stubs.provider import Reply, ToolCall
from test_client_members import SCHEMA, gateway  # noqa: F401

PIECES = ["Hello", " ", "\n\n", "data: [DONE]\n\n", "event: error\n", "é\U0001f600", "\u2028", "\0", '{"a":', "\\", "x" * 300,
          ": keep-alive\n\n", "\r\n", "\ufeff"]
ARGUMENTS = [{}, {"city": "Rome"}, {"a": [1, {"b": None}], "c": -0.5}, {"text": 'é"\n\\\U0001f600'}, {"": {"": [[]]}}]
# Whether a service says which call is which.
SERVICES = {"anthropic": True, "chat": True, "responses": True, "ollama": False, "gemini": True}
MODEL = "gpt-5"
USER = [{"role": "user", "content": "Hi"}]
FUNCTIONS = [{"name": name, "parameters": SCHEMA} for name in ("weather", "stocks")]

# For each protocol: its route, a body, and what reads the stream.
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


def any_text(chance, most):
    return "".join(chance.choices(PIECES, k=chance.randint(0, most)))


def any_reply(chance):
    """An answer of the model; one that fails has said something before."""
    calls = [ToolCall(chance.choice(FUNCTIONS)["name"], chance.choice(ARGUMENTS), id=f"call_{number}")
             for number in range(chance.choice((0, 0, 1, 3)))]
    text = any_text(chance, 9) or ("" if calls else "Hello")
    fault = chance.choice((None, None, None, "error", "cut", "end", "garbage")) if text else None
    return Reply(text, deltas=chance.randint(1, 9), reasoning=any_text(chance, 3), tool_calls=calls,
                 chunk_bytes=chance.choice((None, 1, 7, 64)), fault=fault, after=fault and 1)


def named(calls):
    return [(name, json.loads(arguments)) for _, name, arguments in calls]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_program_reads_what_the_model_said_with_one_end(gateway, protocol):  # noqa: F811
    path, members, read = PROTOCOLS[protocol]
    chance = random.Random(protocol)
    for number in range(120):
        service = chance.choice(list(SERVICES))
        reply = any_reply(chance)
        gateway.stub.script(reply)
        response = gateway.http.post(path, json={"model": f"{service}/{MODEL}", "stream": True, **members})
        assert response.status_code == 200, f"{service} {reply} {response.text}"
        answer = read(response.text)
        told = f"{number} {service} {reply}\n{response.text}"
        assert (answer.stop is None) == (reply.fault is not None), told
        if reply.fault:
            assert answer.text and reply.text.startswith(answer.text) and not answer.calls, told
            continue
        assert (answer.text, answer.reasoning) == (reply.text, reply.reasoning) and answer.usage, told
        assert named(answer.calls) == [(call.name, call.arguments) for call in reply.tool_calls], told
        ids = [id for id, _, _ in answer.calls]
        assert len(set(ids)) == len(ids) and all(ids), told
        assert not SERVICES[service] or ids == [call.id for call in reply.tool_calls], told
    accepted(gateway.http.get("/health"))
