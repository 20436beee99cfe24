"""The wire formats of the providers: frames of their streams, and errors."""

import json

from . import refusals

_KINDS = {400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
          404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 500: "api_error",
          504: "timeout_error", 529: "overloaded_error"}


def of_path(path):
    """Returns the wire format of a path, or None."""
    for suffix, wire in ((("/messages"), Anthropic), ("/chat/completions", Chat), ("/responses", Responses),
                         ("/api/chat", Ollama), (":streamGenerateContent", Gemini)):
        if path.endswith(suffix):
            return wire
    return None


def listing(path, models):
    """Returns the list of models in the form of the path, or None if the path lists none. `models` are ids, or objects
    as the service sends them."""
    if path.endswith("/api/tags"):
        return {"models": [model if isinstance(model, dict) else {"name": model, "model": model} for model in models]}
    if path.endswith("/v1beta/models"):
        return {"models": [model if isinstance(model, dict) else {
            "name": f"models/{model}", "inputTokenLimit": 1048576, "outputTokenLimit": 65536,
            "supportedGenerationMethods": ["generateContent", "countTokens"]} for model in models]}
    if path.endswith("/models"):
        return {"object": "list", "data": [
            model if isinstance(model, dict) else {"id": model, "object": "model"} for model in models]}
    return None


def _json(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _event(value):
    return b"event: %b\ndata: %b\n\n" % (value["type"].encode(), _json(value))


def _data(value):
    return b"data: %b\n\n" % _json(value)


def _ids(calls, prefix):
    return [(f"{prefix}{number + 1}" if call.id is None else call.id, call) for number, call in enumerate(calls)]


def _tier(reply):
    return {"service_tier": reply.service_tier} if reply.service_tier else {}


class Anthropic:
    content_type = "text/event-stream; charset=utf-8"
    problem = staticmethod(refusals.anthropic)

    @staticmethod
    def begin(request, reply):
        usage = {"input_tokens": reply.usage["input"], "cache_creation_input_tokens": reply.usage["cache_write"],
                 "cache_read_input_tokens": reply.usage["cache_read"], "output_tokens": 1, **_tier(reply)}
        yield _event({"type": "message_start", "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "model": request.json["model"], "content": [],
            "stop_reason": None, "stop_sequence": None, "usage": usage}})
        if reply.reasoning:
            yield _event({"type": "content_block_start", "index": 0,
                          "content_block": {"type": "thinking", "thinking": "", "signature": ""}})
            yield _event({"type": "content_block_delta", "index": 0,
                          "delta": {"type": "thinking_delta", "thinking": reply.reasoning}})
            yield _event({"type": "content_block_delta", "index": 0,
                          "delta": {"type": "signature_delta", "signature": "stub-signature"}})
            yield _event({"type": "content_block_stop", "index": 0})
        yield _event({"type": "ping"})
        yield _event({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}})

    @staticmethod
    def text(request, piece):
        return _event({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": piece}})

    @staticmethod
    def end(request, reply):
        yield _event({"type": "content_block_stop", "index": 1})
        for index, (id, call) in enumerate(_ids(reply.tool_calls, "toolu_"), 2):
            yield _event({"type": "content_block_start", "index": index,
                          "content_block": {"type": "tool_use", "id": id, "name": call.name, "input": {}}})
            arguments = call.text
            for part in (arguments[:len(arguments) // 2], arguments[len(arguments) // 2:]):
                yield _event({"type": "content_block_delta", "index": index,
                              "delta": {"type": "input_json_delta", "partial_json": part}})
            yield _event({"type": "content_block_stop", "index": index})
        stop = reply.stop or ("tool_use" if reply.tool_calls else "end_turn")
        yield _event({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None},
                      "usage": {"output_tokens": reply.usage["output"]}})
        yield _event({"type": "message_stop"})

    @staticmethod
    def error(status, kind, message):
        return {"type": "error", "error": {"type": kind or _KINDS.get(status, "api_error"), "message": message},
                "request_id": "req_stub"}

    @staticmethod
    def stream_error():
        return _event({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})

    @staticmethod
    def garbage():
        return b"event: content_block_delta\ndata: {\"type\": \x00\xff not json\n\n"


class Chat:
    content_type = "text/event-stream"
    problem = staticmethod(refusals.chat)

    @staticmethod
    def _chunk(request, choices, **more):
        return _data({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
                      "model": request.json["model"], "choices": choices, **more})

    @classmethod
    def _delta(cls, request, delta, finish_reason=None):
        return cls._chunk(request, [{"index": 0, "delta": delta, "finish_reason": finish_reason}])

    @classmethod
    def begin(cls, request, reply):
        yield b": STUB PROCESSING\n\n"
        yield cls._chunk(request, [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}],
                         **_tier(reply))
        if reply.reasoning:
            yield cls._delta(request, {"reasoning_content": reply.reasoning})

    @classmethod
    def text(cls, request, piece):
        return cls._delta(request, {"content": piece})

    @classmethod
    def end(cls, request, reply):
        for index, (id, call) in enumerate(_ids(reply.tool_calls, "call_")):
            yield cls._delta(request, {"tool_calls": [
                {"index": index, "id": id, "type": "function", "function": {"name": call.name, "arguments": ""}}]})
            arguments = call.text
            for part in (arguments[:len(arguments) // 2], arguments[len(arguments) // 2:]):
                yield cls._delta(request, {"tool_calls": [{"index": index, "function": {"arguments": part}}]})
        yield cls._delta(request, {}, reply.stop or ("tool_calls" if reply.tool_calls else "stop"))
        prompt = reply.usage["input"] + reply.usage["cache_read"] + reply.usage["cache_write"]
        yield cls._chunk(request, [], **_tier(reply), usage={
            "prompt_tokens": prompt, "completion_tokens": reply.usage["output"],
            "total_tokens": prompt + reply.usage["output"],
            "prompt_tokens_details": {"cached_tokens": reply.usage["cache_read"],
                                      "cache_write_tokens": reply.usage["cache_write"]},
            "completion_tokens_details": {"reasoning_tokens": reply.usage.get("reasoning", 0)}})
        yield b"data: [DONE]\n\n"

    @staticmethod
    def error(status, kind, message):
        return {"error": {"message": message, "type": kind or _KINDS.get(status, "server_error"), "param": None,
                          "code": kind}}

    @staticmethod
    def stream_error():
        return _data({"error": {"message": "The server had an error", "type": "server_error"}})

    @staticmethod
    def garbage():
        return b"data: {\"choices\": \x00\xff not json\n\n"


class Responses:
    content_type = "text/event-stream; charset=utf-8"
    problem = staticmethod(refusals.responses)

    @staticmethod
    def begin(request, reply):
        yield _event({"type": "response.created", "response": {
            "id": "resp_1", "status": "in_progress", "service_tier": "auto"}})
        if reply.reasoning:
            yield _event({"type": "response.output_item.added", "output_index": 0,
                          "item": {"type": "reasoning", "id": "rs_1", "summary": []}})
            yield _event({"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0,
                          "delta": reply.reasoning})
            yield _event({"type": "response.output_item.done", "output_index": 0,
                          "item": {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "stub"}})

    @staticmethod
    def text(request, piece):
        return _event({"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": piece})

    @staticmethod
    def end(request, reply):
        for index, (id, call) in enumerate(_ids(reply.tool_calls, "call_"), 2):
            item = {"type": "function_call", "id": f"fc_{index}", "call_id": id, "name": call.name, "arguments": ""}
            yield _event({"type": "response.output_item.added", "output_index": index, "item": item})
            arguments = call.text
            yield _event({"type": "response.function_call_arguments.delta", "output_index": index, "delta": arguments})
            yield _event({"type": "response.output_item.done", "output_index": index,
                          "item": {**item, "arguments": arguments}})
        prompt = reply.usage["input"] + reply.usage["cache_read"] + reply.usage["cache_write"]
        response = {"id": "resp_1", "status": "incomplete" if reply.stop else "completed",
                    "incomplete_details": {"reason": reply.stop} if reply.stop else None, **_tier(reply),
                    "usage": {"input_tokens": prompt, "output_tokens": reply.usage["output"],
                              "input_tokens_details": {"cached_tokens": reply.usage["cache_read"],
                                                       "cache_write_tokens": reply.usage["cache_write"]}}}
        yield _event({"type": f"response.{response['status']}", "response": response})

    error = Chat.error

    @staticmethod
    def stream_error():
        return _event({"type": "response.failed", "response": {
            "status": "failed", "error": {"code": "server_error", "message": "The server had an error"}}})

    @staticmethod
    def garbage():
        return b"event: response.output_text.delta\ndata: {\"type\": \x00\xff not json\n\n"


class Ollama:
    content_type = "application/x-ndjson"

    @staticmethod
    def _line(request, message, **more):
        return _json({"model": request.json["model"], "created_at": "2026-01-01T00:00:00Z",
                      "message": {"role": "assistant", "content": "", **message}, "done": False, **more}) + b"\n"

    @classmethod
    def begin(cls, request, reply):
        if reply.reasoning:
            yield cls._line(request, {"thinking": reply.reasoning})

    @classmethod
    def text(cls, request, piece):
        return cls._line(request, {"content": piece})

    @classmethod
    def end(cls, request, reply):
        if reply.tool_calls:
            yield cls._line(request, {"tool_calls": [
                {"function": {"name": call.name, "arguments": call.arguments}} for call in reply.tool_calls]})
        yield cls._line(request, {}, done=True, done_reason=reply.stop or "stop",
                        prompt_eval_count=reply.usage["input"], eval_count=reply.usage["output"])

    @staticmethod
    def error(status, kind, message):
        return {"error": message}

    @staticmethod
    def stream_error():
        return _json({"error": "llama runner process has terminated"}) + b"\n"

    @staticmethod
    def garbage():
        return b"{\"message\": \x00\xff not json\n"


class Gemini:
    """Google's generateContent with alt=sse. As since Gemini 3, calls of the current turn must have their signatures."""

    content_type = "text/event-stream"
    problem = staticmethod(refusals.gemini)

    @staticmethod
    def _chunk(parts, **more):
        return _data({"candidates": [{"content": {"parts": parts, "role": "model"}, "index": 0, **more.pop("of", {})}],
                      "modelVersion": "stub", "responseId": "r1", **more})

    @classmethod
    def begin(cls, request, reply):
        if reply.reasoning:
            yield cls._chunk([{"text": reply.reasoning, "thought": True}])

    @classmethod
    def text(cls, request, piece):
        return cls._chunk([{"text": piece}])

    @classmethod
    def end(cls, request, reply):
        calls = []
        for number, call in enumerate(reply.tool_calls):
            part = {"functionCall": {"name": call.name, "args": call.arguments}}
            if call.id:
                part["functionCall"]["id"] = call.id
            if number == 0:
                part["thoughtSignature"] = "c2lnbmF0dXJl"
            calls.append(part)
        usage = {"promptTokenCount": reply.usage["input"] + reply.usage["cache_read"],
                 "candidatesTokenCount": reply.usage["output"], "cachedContentTokenCount": reply.usage["cache_read"]}
        yield cls._chunk(calls or [{"text": "", "thoughtSignature": "dGV4dA=="}], of={"finishReason": reply.stop or "STOP"},
                         usageMetadata=usage)

    @staticmethod
    def error(status, kind, message):
        return {"error": {"code": status, "message": message, "status": kind or "INTERNAL"}}

    @staticmethod
    def stream_error():
        return _data({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}})

    @staticmethod
    def garbage():
        return b"data: {\"candidates\": \x00\xff not json\n\n"


def without_format(request):
    """Returns status and body of a response that is not a model's answer: OpenAI's embeddings, or an error."""
    if not request.path.endswith("/embeddings"):
        return 404, b'{"error":{"message":"no such route"}}'
    made = {"object": "list", "data": [{"object": "embedding", "index": 0, "embedding": [0.5]}],
            "model": request.json["model"], "usage": {"prompt_tokens": 3, "total_tokens": 3}}
    return 200, json.dumps(made).encode()
