"""What services refuse, roughly in their words: above all, anything between a tool call and its result. Each
function returns the reason, or None. A body without a conversation is one of the stub's own tests.

https://platform.claude.com/docs/en/api/messages, https://platform.openai.com/docs/api-reference,
https://ai.google.dev/gemini-api/docs/function-calling"""

import base64
import re
import struct

_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_GEMINI_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.-]{0,63}")
_TOOL_ID = re.compile(r"[a-zA-Z0-9_-]+")
_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
# Claude since 4.6.
_WITHOUT_PREFILL = re.compile(r"claude-\w+-(4-[6-9]|[5-9])")


def status_of(problem):
    return 500 if problem.startswith("Jinja") else 400


def _too_long(place, text, limit):
    return (f"Invalid '{place}': string too long. Expected a string with maximum length {limit}, but got a string with "
            f"length {len(text)} instead.")


def _of_names(tools, limit=128):
    for number, tool in enumerate(tools):
        if len(tool["name"]) > limit:
            return _too_long(f"tools[{number}].name", tool["name"], limit)
        if not _TOOL_NAME.fullmatch(tool["name"]):
            return f"tools: {tool['name']} does not match the pattern of names"
    return None


def _of_schemas(schemas, member):
    for schema in schemas:
        if schema.get("type") != "object":
            return f"Invalid schema: {member}.type: must be 'object'"
        if {"oneOf", "anyOf", "allOf"} & set(schema):
            return f"Invalid schema: {member} does not support oneOf, allOf, or anyOf at the top level"
    return None


def _of_arrays(functions):
    for function in functions:
        for name, schema in function["parameters"].get("properties", {}).items():
            if schema.get("type") == "array" and "items" not in schema:
                return (f"Invalid schema for function '{function['name']}': In context=('properties', '{name}'), array "
                        "schema missing items.")
    return None


def _of_keys(tools):
    for number, tool in enumerate(tools):
        if not all(_PROPERTY.fullmatch(key) for key in tool["input_schema"].get("properties", {})):
            return (f"tools.{number}.custom.input_schema.properties: Property keys should match pattern "
                    "'^[a-zA-Z0-9_.-]{1,64}$'")
    return None


def _mistral(body):
    messages = body["messages"]
    if any(message["role"] == "assistant" and not message["content"] and not message.get("tool_calls")
           for message in messages):
        return "Assistant message must have either content or tool_calls, but not none."
    if messages[-1]["role"] == "assistant":
        return "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"
    ids = [call["id"] for message in messages for call in message.get("tool_calls") or []]
    for id in ids:
        if not re.fullmatch("[a-zA-Z0-9]{9}", id):
            return f"Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9."
    return None


def _gemma(body):
    """As llama.cpp serves it."""
    roles = [message["role"] for message in body["messages"]]
    if roles[0] == "system":
        return "Jinja Exception: System role not supported"
    if any(role == after == "user" for role, after in zip(roles, roles[1:])):
        return "Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/..."
    return None


def _gpt_oss(body):
    """As Cerebras and Groq serve it."""
    for number, message in enumerate(body["messages"]):
        if "reasoning_content" in message:
            return (f"messages.{number}.assistant.reasoning_content: property "
                    f"'messages.{number}.assistant.reasoning_content' is unsupported")
    return None


def _llama(body):
    return "`reasoning_effort` is not supported with this model" if "reasoning_effort" in body else None


def _qwen(body):
    """As vLLM serves it, with a window of 32,768 tokens."""
    limit, used = body.get("max_tokens", 0), 17_459
    if limit <= 32_768 - used:
        return None
    return (f"'max_tokens' or 'max_completion_tokens' is too large: {limit}. This model's maximum context length is 32768 "
            f"tokens and your request has {used} input tokens ({limit} > 32768 - {used}). (parameter=max_tokens, "
            f"value={limit})")


def _gemini_as_openai(body):
    for number, message in enumerate(body["messages"]):
        calls = message.get("tool_calls")
        if calls and "google" not in calls[0].get("extra_content", {}):
            return ("Function call is missing a thought_signature in functionCall parts. This is required for tools to "
                    f"work correctly. Additional data, function call, position {number}.")
    return None


# What only some models of Chat Completions refuse, by the beginning of their names.
_MODELS = {"mistral-small": _mistral, "gemma": _gemma, "gpt-oss": _gpt_oss, "llama": _llama, "qwen": _qwen,
           "gemini": _gemini_as_openai}


def _of_model(body):
    return next((problem(body) for name, problem in _MODELS.items() if body["model"].startswith(name)), None)


def _of_chat_ids(messages):
    for number, message in enumerate(messages):
        for call in message.get("tool_calls") or []:
            if len(call["id"]) > 40:
                return _too_long(f"messages[{number}].tool_calls[0].id", call["id"], 40)
    return None


def chat(body):
    waiting = []
    for message in body.get("messages", []):
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'."
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            break
        waiting = [call["id"] for call in message.get("tool_calls") or []]
        if message["content"] is None and not waiting:
            return "Invalid value for 'content': expected a string, got null."
    if waiting:
        return ("An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                f"'tool_call_id'. These had no response: {waiting}")
    functions = [tool["function"] for tool in body.get("tools", [])]
    messages = body.get("messages")
    return (messages and _of_model(body)) or _of_chat_ids(messages or []) or _of_names(functions, 64)


def responses(body):
    called = set()
    answered = set()
    items = body.get("input", [])
    for item, after in zip(items, [*items[1:], {"role": "user"}]):
        kind = item.get("type", "message")
        if kind == "reasoning" and (after.get("role") == "user" or after.get("type") == "function_call_output"):
            return f"Item {item.get('id')} of type 'reasoning' was provided without its required following item."
        if kind == "function_call":
            called.add(item["call_id"])
            if len(item["call_id"]) > 64:
                return _too_long("input[1].call_id", item["call_id"], 64)
        if kind == "function_call_output":
            answered.add(item["call_id"])
            if item["call_id"] not in called:
                return f"No tool call found for function call output with call_id {item['call_id']}."
    if called - answered:
        return f"No tool output found for function call {called - answered}."
    functions = [tool for tool in body.get("tools", []) if tool["type"] == "function"]
    return (_of_names(functions, 64) or _of_schemas([tool["parameters"] for tool in functions], "parameters") or
            _of_arrays(functions))


def _marks(value):
    if isinstance(value, dict):
        return ("cache_control" in value) + sum(_marks(each) for each in value.values())
    return sum(_marks(each) for each in value) if isinstance(value, list) else 0


def _longer_side_of_png(data):
    return max(struct.unpack(">II", data[16:24])) if data.startswith(b"\x89PNG") and len(data) >= 24 else 0


def _of_anthropic_message(before, message, after):
    content = message["content"]
    if not content:
        return "all messages must have non-empty content"
    if any(block["type"] == "text" and not block["text"].strip() for block in content):
        return "text content blocks must contain non-whitespace text"
    called = {block["id"] for block in before["content"] if block["type"] == "tool_use"} if before else set()
    results = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
    first = [block["type"] for block in content[:len(results)]]
    if called != set(results) or len(results) != len(called) or set(first) - {"tool_result"}:
        return (f"`tool_use` ids were found without `tool_result` blocks immediately after, or the reverse: {called} "
                f"{results} {first}")
    if message["role"] == "system" and (not before or before["role"] != "user" or
                                        (after and after["role"] != "assistant")):
        return "role 'system' must precede an 'assistant' message or end the array"
    if message["role"] == "assistant" and content[-1]["type"].endswith("thinking"):
        return "The final block in an assistant message cannot be `thinking`."
    pictures = [block["source"]["data"] for block in content if block["type"] == "image"]
    if any(_longer_side_of_png(base64.b64decode(data)) > 8000 for data in pictures):
        return "image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels"
    if not all(_TOOL_ID.fullmatch(block["id"]) for block in content if block["type"] == "tool_use"):
        return "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
    return None


def anthropic(body):
    messages = body.get("messages")
    if not messages:
        return None
    if messages[0]["role"] != "user":
        return "messages: first message must use the user role"
    for before, message, after in zip([None, *messages], messages, [*messages[1:], None]):
        problem = _of_anthropic_message(before, message, after)
        if problem:
            return problem
    if any(block["type"] == "tool_use" for block in messages[-1]["content"]):
        return "`tool_use` ids were found without `tool_result` blocks immediately after"
    if messages[-1]["role"] == "assistant" and _WITHOUT_PREFILL.match(body["model"]):
        return "This model does not support assistant message prefill. The conversation must end with a user message."
    if _marks(body) > 4:
        return "A maximum of 4 blocks with cache_control may be provided."
    thinking = body.get("thinking", {})
    if thinking.get("type") == "enabled":
        if thinking["budget_tokens"] >= body["max_tokens"]:
            return "`max_tokens` must be greater than `thinking.budget_tokens`"
        if body.get("temperature", 1) != 1:
            return "`temperature` may only be set to 1 when thinking is enabled"
        if body.get("tool_choice", {}).get("type") in ("any", "tool"):
            return "Thinking may not be enabled when tool_choice forces tool use."
        continues = "claude" in body["model"] and messages[-1]["content"][0]["type"] == "tool_result"
        if continues and not messages[-2]["content"][0]["type"].endswith("thinking"):
            return "When `thinking` is enabled, a final `assistant` message must start with a thinking block."
    tools = [tool for tool in body.get("tools", []) if "type" not in tool]
    return _of_names(tools) or _of_schemas([tool["input_schema"] for tool in tools], "input_schema") or _of_keys(tools)


def gemini(body):
    contents = body.get("contents", [{"role": "user"}])
    if not contents or contents[0]["role"] != "user":
        return "Please ensure that the first content is of the role user."
    for before, after in zip(contents, contents[1:]):
        if before["role"] == after["role"]:
            return "Please ensure that roles alternate."
        calls = [part for part in before["parts"] if "functionCall" in part]
        results = [part for part in after["parts"] if "functionResponse" in part]
        if len(calls) != len(results):
            return ("Please ensure that the number of function response parts is equal to the number of function call "
                    "parts of the function call turn.")
        if calls and "thoughtSignature" not in calls[0]:
            return "Function call is missing a thought_signature in functionCall parts."
    for tool in body.get("tools", []):
        for number, function in enumerate(tool["functionDeclarations"]):
            if not _GEMINI_NAME.fullmatch(function["name"]):
                return (f"* GenerateContentRequest.tools[0].function_declarations[{number}].name: Invalid function name. "
                        "Must start with a letter or an underscore, with a maximum length of 64.")
    return None
