"""Request bodies for the APIs that the gateway shares with model services: complete ones and random mutations."""

import base64
import json

from talker import MODEL
from test_openai_chat import PIXEL

PICTURE = f"data:image/png;base64,{PIXEL}"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string", "enum": ["Rome", "Köln"]}, "next": {"$ref": "#"}},
          "required": ["city"]}
COMPACTED = base64.b64encode(b"A summary of the conversation so far:\n\nThey met.").decode()
MARK = {"type": "ephemeral", "ttl": "1h"}
FUNCTION = {"name": "weather", "description": "d", "parameters": SCHEMA, "strict": True}
LABELS = {"service_tier": "auto", "safety_identifier": "s", "prompt_cache_key": "p", "prompt_cache_retention": "24h"}
SAMPLING = {"model": MODEL, "temperature": 0.5, "top_p": 0.9, "stream": True}

CHAT = {
    **SAMPLING,
    "messages": [
        {"role": "system", "content": "Be brief."}, {"role": "developer", "content": [{"type": "text", "text": "Kind."}]},
        {"role": "user", "name": "Ada", "content": [
            {"type": "text", "text": "Weather?", "cache_control": MARK},
            {"type": "image_url", "image_url": {"url": PICTURE, "detail": "low"}}]},
        {"role": "assistant", "content": None, "reasoning_content": "Hm.", "refusal": None, "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}}]},
        {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "sunny"}]},
        {"role": "user", "content": "And now?"}],
    "tools": [{"type": "function", "function": FUNCTION}], "tool_choice": "auto", "parallel_tool_calls": True,
    "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True}},
    "reasoning_effort": "low", "verbosity": "high", "stop": ["END"], "max_completion_tokens": 99, "max_tokens": 99,
    "seed": 7, "n": 1, "frequency_penalty": 0.1, "presence_penalty": -0.1, "stream_options": {"include_usage": True},
    "metadata": {"thread_id": "x"}, "user": "u", "logprobs": False, "top_k": 4, "store": False, **LABELS,
}
RESPONSE = {
    **SAMPLING,
    "instructions": "Be brief.", "previous_response_id": "resp_x", "conversation": {"id": "x"},
    "input": [
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Kind."}]},
        {"role": "user", "content": [{"type": "input_text", "text": "Weather?"},
                                     {"type": "input_image", "image_url": PICTURE, "detail": "auto"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}],
         "encrypted_content": "secret"},
        {"type": "function_call", "call_id": "c", "name": "weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "sunny"}]},
        {"type": "compaction", "encrypted_content": COMPACTED},
        {"role": "assistant", "content": [{"type": "output_text", "text": "Yes.", "annotations": []},
                                          {"type": "refusal", "refusal": "No."}]}],
    "tools": [{"type": "function", **FUNCTION},
              {"type": "namespace", "name": "helpers", "description": "d", "tools": [{"type": "function", **FUNCTION}]}],
    "tool_choice": {"type": "function", "name": "weather"}, "parallel_tool_calls": True,
    "text": {"format": {"type": "json_schema", "name": "answer", "schema": SCHEMA}, "verbosity": "low"},
    "reasoning": {"effort": "high", "summary": "auto"}, "max_output_tokens": 99, "store": True, "background": False,
    "include": ["reasoning.encrypted_content"], "metadata": {"thread_id": "x"}, "truncation": "disabled",
    "stream_options": {"include_obfuscation": False}, "top_logprobs": 0, **LABELS,
}
MESSAGES = {
    **SAMPLING,
    "system": [{"type": "text", "text": "Be brief.", "cache_control": MARK}],
    "messages": [
        {"role": "user", "content": [
            {"type": "text", "text": "Weather?", "citations": None},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
            {"type": "document", "title": "t", "source": {"type": "text", "media_type": "text/plain", "data": "d"}},
            {"type": "search_result", "source": "s", "title": "t", "content": [{"type": "text", "text": "found"}]}]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "s"}, {"type": "redacted_thinking", "data": "d"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Rome"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "is_error": False, "content": [
            {"type": "text", "text": "sunny"}, {"type": "tool_reference", "tool_name": "stocks"}]}]}],
    "tools": [{"name": "weather", "description": "d", "input_schema": SCHEMA, "input_examples": [{"city": "Rome"}]},
              {"type": "custom", "name": "stocks", "input_schema": SCHEMA, "defer_loading": True,
               "allowed_callers": ["direct"]}],
    "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
    "thinking": {"type": "enabled", "budget_tokens": 1024, "display": "omitted"}, "output_config": {
        "effort": "high", "format": {"type": "json_schema", "schema": SCHEMA}},
    "max_tokens": 4096, "stop_sequences": ["END"], "top_k": 4, "metadata": {"user_id": "u", "thread_id": "x"},
    "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}, "mcp_servers": [],
    "service_tier": "standard_only", "inference_geo": "global",
}
BODIES = {
    "/v1/chat/completions": CHAT, "/v1/responses": RESPONSE, "/v1/messages": MESSAGES,
    "/v1/responses/compact": {name: RESPONSE[name] for name in ("model", "input", "instructions", "previous_response_id")},
    "/v1/messages/count_tokens": {name: MESSAGES[name] for name in ("model", "system", "messages", "tools", "thinking")},
    "/v1/embeddings": {"model": MODEL, "input": ["a", "b"], "encoding_format": "float", "dimensions": 8, "user": "u"},
}
# Members without which a body is rejected immediately, so mutations seldom omit them.
REQUIRED = {"model", "messages", "input", "max_tokens", "role", "type"}
# Members that refer to another object, which may not exist: most bodies omit them.
RARE = {"previous_response_id", "conversation", "metadata", "tool_choice", "background"}


def names_of(value):
    """Returns the names of all members, at any depth."""
    if isinstance(value, list):
        return set().union(*map(names_of, value))
    return set(value).union(*map(names_of, value.values())) if isinstance(value, dict) else set()


NAMES = sorted(names_of(list(BODIES.values())))


class Changes:
    """Mutates bodies at random. `any_value()` returns a random value."""

    def __init__(self, random, any_value):
        self.random = random
        self.any_value = any_value

    def body(self, path):
        """Returns a body for the route with a random subset of its members, some of them mutated at any depth."""
        whole = BODIES[path]
        kept = {name: whole[name] for name in whole
                if name in REQUIRED or self.random.random() < (0.1 if name in RARE else 0.5)}
        return json.dumps(self.changed(kept, self.random.choice((0, 0.01, 0.03, 0.1)))).encode()

    def changed(self, value, rate):
        if self.random.random() < rate / (3 if isinstance(value, (dict, list)) else 1):
            return self.any_value()
        if isinstance(value, list):
            kept = [each for each in value for _ in range(self.times(rate))]
            return [self.changed(each, rate) for each in kept]
        if isinstance(value, dict):
            kept = {name: self.changed(each, rate) for name, each in value.items()
                    if self.random.random() >= rate / (10 if name in REQUIRED else 1)}
            return kept | ({self.random.choice(NAMES): self.any_value()} if self.random.random() < rate else {})
        return value

    def times(self, rate):
        return self.random.choice((0, 2)) if self.random.random() < rate else 1
