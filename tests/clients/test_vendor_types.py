"""The TypeScript compiler checks responses of the gateway against the types of vendors' libraries."""

import json

import pytest

from checks import accepted
from conftest import MODULES
from stubs.provider import Reply, ToolCall
from talker import MODEL

# Wire is a type without the members that the libraries add to what they receive, and without the citations that Anthropic
# leaves out of texts that cite nothing. Optional members may be null, which
# OpenAI's services and Open Responses send. Further members are allowed.
PRELUDE = """
import type { ChatCompletion, ChatCompletionChunk } from "openai/resources/chat/completions";
import type { Response, ResponseStreamEvent } from "openai/resources/responses/responses";
import type { CreateEmbeddingResponse } from "openai/resources/embeddings";
import type { Model } from "openai/resources/models";
import type { Message, MessageTokensCount, RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages";
import type { ModelInfo } from "@anthropic-ai/sdk/resources/models";
type Wire<T> = T extends string | number | boolean | null | undefined ? T : T extends (infer E)[] ? Wire<E>[]
  : T extends object ? { [K in keyof T as K extends "output_text" | "citations" ? never : K]:
    Wire<T[K]> | Absent<T, K> } & { [more: string]: unknown } : T;
type Absent<T, K extends keyof T> = {} extends Pick<T, K> ? null : never;
const fits = <T>() => <V extends Wire<T>>(value: V) => value;
"""
USER = [{"role": "user", "content": "Weather in Rome?"}]
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}}
FUNCTION = {"name": "weather", "description": "d", "parameters": PARAMETERS}
TOOLS = {"chat/completions": [{"type": "function", "function": FUNCTION}],
         "responses": [{"type": "function", **FUNCTION}],
         "messages": [{"name": "weather", "input_schema": PARAMETERS}]}
MODELS = pytest.mark.parametrize("model", [MODEL, "assistant"])
REPLY = {"text": "It is", "reasoning": "Hm.", "tool_calls": [ToolCall("weather", {"city": "Rome"}, id="call_1")]}


class Types:
    """Collects values with the types that they must have, and has the compiler check them."""

    def __init__(self, programs):
        self.programs = programs
        self.http = programs.talker.gateway.http
        self.lines = [PRELUDE]

    def fits(self, kind, value):
        self.lines.append(f"fits<{kind}>()({json.dumps(value)});")

    def post(self, path, **members):
        return accepted(self.http.post(f"/v1/{path}", json=members))

    def events(self, path, **members):
        self.programs.stub.script(Reply(**REPLY))
        response = self.http.post(f"/v1/{path}", json={"stream": True, "tools": TOOLS[path], **members})
        data = [line.removeprefix("data: ") for line in response.text.splitlines() if line.startswith("data: ")]
        return [json.loads(text) for text in data if text != "[DONE]"]

    def answer(self, path, **members):
        self.programs.stub.script(Reply(**REPLY))
        return self.post(path, tools=TOOLS[path], **members)

    def check(self):
        home = self.programs.home
        (home / "node_modules").symlink_to(MODULES)
        (home / "types.ts").write_text("\n".join(self.lines))
        self.programs.run("tsc", "--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "nodenext",
                          str(home / "types.ts"))


@pytest.fixture
def types(programs):
    return Types(programs)


@MODELS
def test_chat_completions_have_the_types_of_openai(types, model):
    types.fits("ChatCompletion", types.answer("chat/completions", model=model, messages=USER))
    for chunk in types.events("chat/completions", model=model, messages=USER, stream_options={"include_usage": True}):
        types.fits("ChatCompletionChunk", chunk)
    types.check()


@MODELS
def test_responses_have_the_types_of_openai(types, model):
    types.fits("Response", types.answer("responses", model=model, input="Weather in Rome?"))
    for event in types.events("responses", model=model, input="Weather in Rome?"):
        types.fits("ResponseStreamEvent", event)
    types.check()


@MODELS
def test_messages_have_the_types_of_anthropic(types, model):
    members = {"model": model, "messages": USER, "max_tokens": 2048,
               "thinking": {"type": "enabled", "budget_tokens": 1024}}
    types.fits("Message", types.answer("messages", **members))
    for event in types.events("messages", **members):
        if event["type"] != "ping":
            types.fits("RawMessageStreamEvent", event)
    types.check()


def test_embeddings_token_counts_and_models_have_the_types_of_vendors(types):
    types.fits("CreateEmbeddingResponse", types.post("embeddings", model=MODEL, input=["a"]))
    types.fits("MessageTokensCount", types.post("messages/count_tokens", model=MODEL, messages=USER))
    for model in accepted(types.http.get("/v1/models"))["data"]:
        types.fits("Model", model)
    listed = accepted(types.http.get("/v1/models", headers={"anthropic-version": "2023-06-01"}))
    for model in listed["data"]:
        types.fits("ModelInfo", model)
    types.check()
