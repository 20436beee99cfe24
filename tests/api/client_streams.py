"""Parses the streams of the OpenAI and Anthropic APIs and checks their invariants: order of events, indexes, ids, and
exactly one end."""

import json
from dataclasses import dataclass, field

# The member with the text of a delta, by its type in Anthropic's API.
DELTAS = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


@dataclass
class Answer:
    text: str = ""
    reasoning: str = ""
    calls: list = field(default_factory=list)  # (id, name, JSON of the arguments)
    stop: str = None  # stop reason as named by the protocol; None if the answer failed
    usage: dict = None


def read_chat_completion(body):
    *data, last = data_of(body)
    assert last == "[DONE]" and "[DONE]" not in data
    chunks = [json.loads(text) for text in data]
    failed = set(chunks[-1]) == {"error"}
    answer = Answer()
    if failed:
        chunks.pop()
    elif chunks[-1]["choices"] == []:
        answer.usage = chunks.pop()["usage"]
    for number, chunk in enumerate(chunks):
        assert chunk["object"] == "chat.completion.chunk" and answer.stop is None
        assert all(chunk[name] == chunks[0][name] for name in ("id", "created", "model"))
        choice, = chunk["choices"]
        assert choice["index"] == 0 and ("role" in choice["delta"]) == (number == 0)
        _add_chat_delta(answer, choice["delta"])
        answer.stop = choice["finish_reason"]
    assert (answer.stop is None) == failed
    return answer


def _add_chat_delta(answer, delta):
    answer.text += delta.get("content") or ""
    answer.reasoning += delta.get("reasoning_content") or ""
    for call in delta.get("tool_calls", []):
        arguments = call["function"].get("arguments", "")
        if "id" in call:
            assert call["index"] == len(answer.calls) and call["type"] == "function"
            answer.calls.append((call["id"], call["function"]["name"], arguments))
        else:
            id, name, before = answer.calls[call["index"]]
            answer.calls[call["index"]] = (id, name, before + arguments)


def read_response(body):
    *data, last = data_of(body)
    assert last == "[DONE]" and "[DONE]" not in data
    events = [json.loads(text) for text in data]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    kinds = [event["type"].removeprefix("response.") for event in events]
    assert kinds[:2] == ["created", "in_progress"]
    assert [kind for kind in kinds if kind in ("completed", "incomplete", "failed")] == kinds[-1:]
    response = events[-1]["response"]
    assert response["id"] == events[0]["response"]["id"] and response["status"] == kinds[-1]
    items = _items(zip(kinds[2:-1], events[2:-1]))
    answer = Answer(stop=None if kinds[-1] == "failed" else kinds[-1], usage=response["usage"])
    if answer.stop:
        assert [item["id"] for item in response["output"]] == [item["id"] for item in items]
        assert response["output"] == [item["done"] for item in items]
    for item in items:
        if item["type"] == "function_call":
            answer.calls.append((item["call_id"], item["name"], item["text"]))
        elif item["type"] == "reasoning":
            answer.reasoning += item["text"]
        else:
            answer.text += item["text"]
    return answer


def _items(events):
    """Returns the output items that the events build, each with its streamed `text` and its final state in `done`."""
    items = []
    for kind, event in events:
        if kind == "output_item.added":
            assert event["output_index"] == len(items) and event["item"]["status"] == "in_progress"
            items.append({**event["item"], "text": "", "done": None})
            continue
        item = items[event["output_index"]]
        assert event.get("item_id", item["id"]) == item["id"] and item["done"] is None
        assert event.get("content_index", 0) == event.get("summary_index", 0) == 0
        if kind.endswith(".delta"):
            item["text"] += event["delta"]
        elif kind in ("output_text.done", "reasoning_summary_text.done"):
            assert event["text"] == item["text"]
        elif kind == "function_call_arguments.done":
            assert event["arguments"] == item["text"]
        elif kind == "output_item.done":
            assert event["item"]["id"] == item["id"]
            item["done"] = event["item"]
        else:
            assert kind in ("content_part.added", "content_part.done", "reasoning_summary_part.added",
                            "reasoning_summary_part.done")
    return items


def read_message(body):
    events = [json.loads(text) for text in data_of(body)]
    names = [line.removeprefix("event: ") for line in body.split("\n") if line.startswith("event: ")]
    assert names == [event["type"] for event in events] and names[0] == "message_start"
    assert [name for name in names if name in ("message_stop", "error")] == names[-1:]
    answer, blocks, is_open = Answer(), [], False
    for event in (event for event in events[1:-1] if event["type"] != "ping"):
        if event["type"] == "content_block_start":
            assert not is_open and event["index"] == len(blocks) and answer.stop is None
            blocks.append({**event["content_block"], "streamed": ""})
            is_open = True
        elif event["type"] == "content_block_delta":
            assert is_open and event["index"] == len(blocks) - 1
            delta = event["delta"]
            blocks[-1]["streamed"] += "" if delta["type"] == "signature_delta" else delta[DELTAS[delta["type"]]]
        elif event["type"] == "content_block_stop":
            assert is_open and event["index"] == len(blocks) - 1
            is_open = False
        else:
            assert event["type"] == "message_delta" and not is_open and answer.stop is None
            answer.stop, answer.usage = event["delta"]["stop_reason"], event["usage"]
    assert (answer.stop is None) == (names[-1] == "error")
    for block in blocks:
        if block["type"] == "tool_use":
            answer.calls.append((block["id"], block["name"], block["streamed"] or "{}"))
        elif block["type"] == "thinking":
            answer.reasoning += block["streamed"]
        else:
            answer.text += block["streamed"]
    return answer


def data_of(body):
    """Returns the data of each server-sent event."""
    assert body.endswith("\n\n")
    return [line.removeprefix("data: ") for line in body.split("\n") if line.startswith("data: ")]
