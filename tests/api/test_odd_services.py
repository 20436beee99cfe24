"""What servers with OpenAI's and Anthropic's APIs send otherwise than these do. See docs/contract/models.md."""

import json

import pytest

from checks import accepted
from client_streams import read_chat_completion
from stubs.provider import Fault, Raw, Reply
from test_client_members import chat, gateway  # noqa: F401 (a fixture)

COUNTS = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
TOOLS = [{"type": "function", "function": {"name": "weather", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}}}}]
ASKED = [{"role": "user", "content": "Hi"}]


def answer(body, content_type="text/event-stream"):
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {len(body.encode())}\r\n\r\n"
    return Raw((head + body).encode())


def chunk(content=None, finish=None, **delta):
    if content is not None:
        delta["content"] = content
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def chunks(*sent):
    return answer("".join(f"data: {json.dumps(each)}\n\n" for each in [*sent, chunk(finish="stop")]) + "data: [DONE]\n\n")


def ask(gateway, *replies, service="chat", **members):  # noqa: F811
    """Returns the response of Chat Completions."""
    gateway.stub.script(*replies)
    body = {"model": f"{service}/gpt-5", "messages": ASKED, **members}
    return gateway.http.post("/v1/chat/completions", json=body)


def completed(gateway, *replies, **members):  # noqa: F811
    """Returns the message, the reason of its end, and the counted tokens."""
    response = accepted(ask(gateway, *replies, **members))
    choice, = response["choices"]
    return choice["message"], choice["finish_reason"], response["usage"]


def streamed_arguments(response):
    """Returns the arguments of the only call in a stream."""
    (_, _, arguments), = read_chat_completion(response.text).calls
    return arguments


# Counts.


def test_counts_in_the_choice_are_read(gateway):  # noqa: F811
    """As Moonshot sends them."""
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": COUNTS}]}
    usage = completed(gateway, chunks(chunk("Hi"), last))[2]
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (9, 3)


def test_cached_tokens_beside_the_counts_are_read(gateway):  # noqa: F811
    usage = completed(gateway, chunks(chunk("Hi"), {"choices": [], "usage": {**COUNTS, "cached_tokens": 4}}))[2]
    assert usage["prompt_tokens"] == 9 and usage["prompt_tokens_details"]["cached_tokens"] == 4


# Text.


def test_answer_that_is_repeated_as_a_whole_counts_once(gateway):  # noqa: F811
    whole = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}]}
    assert completed(gateway, chunks(chunk("Hel"), chunk("lo"), whole))[0]["content"] == "Hello"


@pytest.mark.parametrize("error", [{}, "", False, {"message": "", "type": "", "param": "", "code": None}])
@pytest.mark.parametrize("place", ["frame", "choice"])
def test_empty_error_is_none(gateway, error, place):  # noqa: F811
    first = chunk("Hi")
    (first if place == "frame" else first["choices"][0])["error"] = error
    assert completed(gateway, chunks(first))[0]["content"] == "Hi"


@pytest.mark.parametrize("closing", ["</think>", "[/THINK]"])
def test_closing_tag_without_thoughts_is_no_text(gateway, closing):  # noqa: F811
    sent = completed(gateway, chunks(chunk(reasoning_content="Hm."), chunk(closing), chunk("\n\nHi")))[0]
    assert (sent["reasoning_content"], sent["content"]) == ("Hm.", "Hi")


def test_thoughts_in_the_brackets_of_mistral_are_thoughts(gateway):  # noqa: F811
    sent = completed(gateway, chunks(chunk("[THINK]Hm."), chunk("[/THINK]Hi")))[0]
    assert (sent["reasoning_content"], sent["content"]) == ("Hm.", "Hi")


def ollama_lines(*texts, reason="stop"):
    lines = [{"message": {"role": "assistant", "content": text}, "done": False} for text in texts]
    return answer("".join(json.dumps(line) + "\n" for line in [*lines, {"done": True, "done_reason": reason}]),
                  "application/x-ndjson")


WITHOUT_TAG = ["Hm", ".</th", "ink>\n\n", "Hi"]


@pytest.mark.parametrize("service, reply", [
    ("chat", lambda texts: chunks(*map(chunk, texts))), ("ollama", lambda texts: ollama_lines(*texts))])
def test_model_that_thinks_without_a_tag_is_known_after_its_first_answer(gateway, service, reply):  # noqa: F811
    """Templates of DeepSeek R1 and Qwen end the prompt with the tag. LM Studio, vLLM and SGLang then send only the rest,
    unless they are told to separate it."""
    assert completed(gateway, reply(WITHOUT_TAG), service=service)[0]["content"] == "Hm.</think>\n\nHi"
    streamed = read_chat_completion(ask(gateway, reply(WITHOUT_TAG), service=service, stream=True).text)
    assert (streamed.reasoning, streamed.text) == ("Hm.", "Hi")
    # An answer without thoughts is not lost, and shows that the next one need not begin with any.
    sent = completed(gateway, reply(["Hi", "."]), service=service)[0]
    assert (sent["reasoning_content"], sent["content"]) == ("Hi.", "Hi.")
    sent = completed(gateway, reply(["Hi", "."]), service=service)[0]
    assert (sent.get("reasoning_content"), sent["content"]) == (None, "Hi.")


def test_thoughts_without_a_tag_that_are_cut_off_are_no_text(gateway):  # noqa: F811
    completed(gateway, chunks(*map(chunk, WITHOUT_TAG)))
    message, reason, _ = completed(gateway, chunks(chunk("Hm, "), chunk("so", finish="length")))
    assert (message["reasoning_content"], message["content"] or "", reason) == ("Hm, so", "", "length")
    assert completed(gateway, chunks(*map(chunk, WITHOUT_TAG)))[0]["content"] == "Hi"


def test_tags_that_are_a_subject_of_the_answer_stay_text(gateway):  # noqa: F811
    for _ in range(2):
        sent = completed(gateway, chunks(chunk("Models write <think> and </think>.")))[0]
        assert (sent.get("reasoning_content"), sent["content"]) == (None, "Models write <think> and </think>.")


# Ends.


@pytest.mark.parametrize("reason, known", [
    ("MAX_TOKENS", "length"), ("max_tokens", "length"), ("SAFETY", "content_filter"), ("refusal", "content_filter"),
    ("content_filter: PROHIBITED_CONTENT", "content_filter"), ("eos", "stop")])
def test_reasons_of_other_apis_are_understood(gateway, reason, known):  # noqa: F811
    assert completed(gateway, chunks(chunk("Hi", finish=reason)))[1] == known


def test_call_that_gemini_could_not_write_is_asked_for_again(gateway):  # noqa: F811
    failed = chunks(chunk(finish="function_call_filter: MALFORMED_FUNCTION_CALL"))
    assert completed(gateway, failed, Reply("Hi"))[0]["content"] == "Hi"


@pytest.mark.parametrize("code", ["tool_use_failed", "output_parse_failed"])
@pytest.mark.parametrize("in_stream", [False, True])
def test_call_that_groq_could_not_read_is_asked_for_again(gateway, code, in_stream):  # noqa: F811
    error = {"error": {"message": "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more "
                       "details.", "type": "invalid_request_error", "code": code, "failed_generation": "<function=f>"}}
    failed = (answer(f"event: error\ndata: {json.dumps(error)}\n\n") if in_stream else
              Fault(400, error["error"]["message"], kind=code))
    assert completed(gateway, failed, Reply("Hi"), tools=TOOLS)[0]["content"] == "Hi"


@pytest.mark.parametrize("body, reason", [
    ({"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}, "choices": None}, "insufficient balance"),
    ({"status": "449", "msg": "too many requests", "body": None}, "too many requests"),
    ({"detail": "Not authenticated"}, "Not authenticated"),
    ({"success": False, "code": 500, "message": "model is loading"}, "model is loading")])
def test_error_without_a_status_and_the_usual_member_is_told(gateway, body, reason):  # noqa: F811
    gateway.stub.always(answer(json.dumps(body), "application/json"))
    error = ask(gateway).json()["error"]
    assert error["message"] == f"chat broke off its answer: {reason}"


@pytest.mark.parametrize("words", [
    "The decoder prompt (length 40960) is longer than the maximum model length of 32768.",
    "length of prompt_tokens (10000) must be less than max_seq_len (4096).",
    "too many tokens: total number of tokens in the prompt cannot exceed 4081",
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096",
    "Input length 40000 exceeds the maximum length 32768"])
def test_conversation_that_is_too_long_is_recognized_by_its_words(gateway, words):  # noqa: F811
    assert ask(gateway, Fault(400, words)).json()["error"]["code"] == "context_length_exceeded"


def test_anthropic_stream_may_end_after_the_reason(gateway):  # noqa: F811
    frames = [{"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Hi"}},
              {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}}]
    reply = answer("".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in frames))
    assert completed(gateway, reply, service="anthropic")[0]["content"] == "Hi"


def gemini_frame(text, reason=None):
    candidate = {"content": {"role": "model", "parts": [{"text": text}] if text else []}, "index": 0}
    return {"candidates": [{**candidate, **({"finishReason": reason} if reason else {})}],
            "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 3}}


def gemini_stream(*frames):
    return answer("".join(f"data: {json.dumps(frame)}\r\n\r\n" for frame in frames))


@pytest.mark.parametrize("frames", [
    [gemini_frame("Hel", "STOP"), gemini_frame("lo", "STOP"), gemini_frame("", "STOP")],
    [gemini_frame("", "STOP"), gemini_frame("Hel"), gemini_frame("lo"), gemini_frame("", "STOP")]])
def test_gemini_may_give_a_reason_before_the_end(gateway, frames):  # noqa: F811
    """Older models give one in each frame, and proxies in those without text."""
    assert completed(gateway, gemini_stream(*frames), service="gemini")[0]["content"] == "Hello"


def test_gemini_stream_that_ends_after_a_text_without_a_reason_is_broken(gateway):  # noqa: F811
    gateway.stub.always(gemini_stream(gemini_frame("", "STOP"), gemini_frame("Hel")))
    assert "ended its answer too early" in ask(gateway, service="gemini").json()["error"]["message"]


# Calls.


def call(arguments, **members):
    return chunk(tool_calls=[{"index": 0, "type": "function", **members, "function": {
        **({"name": "weather"} if "id" in members else {}), "arguments": arguments}}])


@pytest.mark.parametrize("first", ["{}", '{"city":"Paris"}'])
def test_arguments_that_are_sent_twice_count_once(gateway, first):  # noqa: F811
    replies = chunks(call(first, id="a"), call('{"ci'), call('ty":"Paris"}'))
    called, = completed(gateway, replies, tools=TOOLS)[0]["tool_calls"]
    assert called["function"]["arguments"] == '{"city":"Paris"}'
    response = ask(gateway, chunks(call(first, id="a"), call('{"ci'), call('ty":"Paris"}')), tools=TOOLS, stream=True)
    assert streamed_arguments(response) == '{"city":"Paris"}'


def test_call_without_arguments_is_streamed_whole(gateway):  # noqa: F811
    assert streamed_arguments(ask(gateway, chunks(call("{}", id="a")), tools=TOOLS, stream=True)) == "{}"


@pytest.mark.parametrize("stream", [False, True])
def test_arguments_that_are_encoded_twice_are_decoded(gateway, stream):  # noqa: F811
    text = json.dumps('{"city":"Paris"}')
    response = ask(gateway, chunks(call(text[:5], id="a"), call(text[5:])), tools=TOOLS, stream=stream)
    if stream:
        assert streamed_arguments(response) == '{"city":"Paris"}'
    else:
        called, = accepted(response)["choices"][0]["message"]["tool_calls"]
        assert called["function"]["arguments"] == '{"city":"Paris"}'


def test_input_at_the_start_of_an_anthropic_block_is_replaced_by_its_deltas(gateway):  # noqa: F811
    frames = [{"type": "content_block_start", "index": 0,
               "content_block": {"type": "tool_use", "id": "t", "name": "weather", "input": {"city": "Paris"}}},
              {"type": "content_block_delta", "index": 0,
               "delta": {"type": "input_json_delta", "partial_json": '{"city":"Paris"}'}},
              {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}, {"type": "message_stop"}]
    reply = answer("".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in frames))
    called, = completed(gateway, reply, service="anthropic", tools=TOOLS)[0]["tool_calls"]
    assert called["function"]["arguments"] == '{"city":"Paris"}'


# Programs.


def test_limit_of_minus_one_is_none(gateway):  # noqa: F811
    """As in the examples of LM Studio, and in llama.cpp."""
    assert "max_tokens" not in chat(gateway, max_tokens=-1, max_completion_tokens=-1)
    assert chat(gateway, max_tokens=7, max_completion_tokens=-1)["max_tokens"] == 7


def test_name_of_a_system_message_precedes_its_text(gateway):  # noqa: F811
    """SillyTavern sends examples of a conversation in this way."""
    examples = [{"role": "system", "content": "Be kind."}, {"role": "system", "name": "example_user", "content": "Hello"}]
    sent = chat(gateway, messages=[*examples, *ASKED])["messages"]
    assert sent[0] == {"role": "system", "content": "Be kind.\n\nexample_user: Hello"}
