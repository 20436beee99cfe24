"""The compliance cases of Open Responses, checked against its schemas (tests/api/schemas/open-responses.json).

The suite itself (bin/compliance-test.ts of openresponses.org) is in no package registry. These are its seven cases.
"""

import json
from pathlib import Path

import jsonschema
import pytest

from checks import accepted
from stubs.provider import Reply, ToolCall
from talker import MODEL
from test_openai_chat import PIXEL
from test_openai_responses import WEATHER, stream, text_of

SCHEMAS = json.loads((Path(__file__).parent / "schemas/open-responses.json").read_text())
CALL = Reply("", tool_calls=[ToolCall("weather", {"city": "Rome"}, id="call_1")])
MODELS = pytest.mark.parametrize("model", [MODEL, "assistant"])


def schema(definition):
    return jsonschema.Draft202012Validator({"$defs": SCHEMAS["$defs"], **definition})


RESPONSE = schema({"$ref": "#/$defs/Response"})
EVENTS = {name: schema(definition) for name, definition in SCHEMAS["events"].items()}


def turn(role, content):
    return {"type": "message", "role": role, "content": content}


def checked(talker, **members):
    """Returns a whole response, which matches the schema."""
    response = accepted(talker.gateway.http.post("/v1/responses", json=members))
    RESPONSE.validate(response)
    return response


def checked_stream(talker, **members):
    """Returns the events of a response, each of which matches its schema."""
    events = stream(talker, **members)
    for event in events:
        EVENTS[event["type"]].validate(event)
    return events


@MODELS
def test_basic_response(talker, model):
    talker.stub.script(Reply("Hello there, friend.", reasoning="Three words."))
    response = checked(talker, model=model, input=[turn("user", "Say hello in exactly 3 words.")])
    assert response["status"] == "completed" and text_of(response) == "Hello there, friend."


@MODELS
def test_streaming_response(talker, model):
    talker.stub.script(Reply("1 2 3 4 5", deltas=5, reasoning="Count."))
    events = checked_stream(talker, model=model, input=[turn("user", "Count from 1 to 5.")])
    final = events[-1]["response"]
    assert final["status"] == "completed" and text_of(final) == "1 2 3 4 5"
    parts = [event for event in events if event["type"].split(".")[1] not in ("created", "in_progress", "completed")]
    ids = {item["id"] for item in final["output"]}
    assert all((event.get("item_id") or event["item"]["id"]) in ids for event in parts)


@MODELS
def test_system_prompt(talker, model):
    response = checked(talker, model=model, input=[turn("system", "You are a pirate."), turn("user", "Say hello.")])
    assert response["status"] == "completed" and response["output"]
    assert talker.system().endswith("You are a pirate.")


@MODELS
def test_tool_calling(talker, model):
    talker.stub.script(CALL)
    response = checked(talker, model=model, input=[turn("user", "Weather in Rome?")], tools=[WEATHER])
    call, = response["output"]
    assert call["type"] == "function_call" and json.loads(call["arguments"]) == {"city": "Rome"}


@MODELS
def test_streamed_tool_calling(talker, model):
    talker.stub.script(CALL)
    events = checked_stream(talker, model=model, input=[turn("user", "Weather in Rome?")], tools=[WEATHER])
    kinds = [event["type"] for event in events]
    for kind in ("response.function_call_arguments.delta", "response.function_call_arguments.done"):
        assert kind in kinds
    for kind in ("response.output_item.added", "response.output_item.done"):
        assert events[kinds.index(kind)]["item"]["type"] == "function_call"


def test_picture(talker):
    content = [{"type": "input_text", "text": "What do you see?"},
               {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"}]
    response = checked(talker, model=MODEL, input=[turn("user", content)])
    assert response["status"] == "completed" and response["output"]


@MODELS
def test_several_turns(talker, model):
    response = checked(talker, model=model, input=[
        turn("user", "My name is Sam."), turn("assistant", "Hello Sam!"), turn("user", "What is my name?")])
    assert response["status"] == "completed" and response["output"]
    assert [role for role, _ in talker.conversation()] == ["user", "assistant", "user"]


def test_settings_are_returned_as_the_schema_requires(talker):
    form = {"type": "json_schema", "name": "answer", "schema": {"type": "object"}}
    response = checked(talker, model=MODEL, input="Hi", text={"format": form}, reasoning={"effort": "low"})
    assert response["text"]["format"] == {**form, "description": None, "strict": False}
    assert response["reasoning"] == {"effort": "low", "summary": None}
    assert checked(talker, model=MODEL, input="Hi", text={}, tools=None)["text"] == {"format": {"type": "text"}}


def test_truncated_answer_has_an_incomplete_item(talker):
    talker.stub.script(Reply("one two", deltas=2, stop="length"))
    final = checked_stream(talker, model=MODEL)[-1]
    assert final["type"] == "response.incomplete" and final["response"]["output"][-1]["status"] == "incomplete"


def test_failure_in_mid_stream_matches_the_schema(talker):
    talker.stub.script(Reply("one two three", deltas=3, after=2, fault="error"))
    assert checked_stream(talker, model=MODEL)[-1]["type"] == "response.failed"


def test_compaction_matches_the_schema(talker):
    compacted = accepted(talker.gateway.http.post("/v1/responses/compact", json={
        "model": MODEL, "input": [turn("user", "Cats!"), turn("assistant", "Cats?")]}))
    schema({"$ref": "#/$defs/CompactedResponse"}).validate(compacted)
