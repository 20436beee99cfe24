"""A conversation with thoughts and calls goes on in each protocol at each service. The stub refuses what these refuse."""

import json

import pytest

from checks import accepted
from client_streams import data_of
from stubs.provider import Reply, ToolCall
from test_client_members import SCHEMA, SERVICES, gateway  # noqa: F401 (a fixture)

REPLIES = [Reply("Let me look.", reasoning="Hm.", tool_calls=[ToolCall("weather", {"city": "Rome"}, id="c1"),
                                                              ToolCall("weather", {"city": "Oslo"}, id="c2")]),
           Reply("", reasoning="Hm?", tool_calls=[ToolCall("weather", {"city": "Bern"}, id="c3")]),
           Reply("Sunny.", reasoning="Ah."), Reply("You are welcome.")]


class Chat:
    read = staticmethod(accepted)
    path = "/v1/chat/completions"
    members = {"reasoning_effort": "high", "tools": [
        {"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}]}

    def __init__(self):
        self.messages = []

    def body(self):
        return {"messages": self.messages}

    def say(self, text):
        self.messages.append({"role": "user", "content": text})

    def take(self, response):
        message = response["choices"][0]["message"]
        self.messages.append(message)
        for call in message.get("tool_calls") or []:
            self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": "sunny"})


class Messages(Chat):
    path = "/v1/messages"
    members = {"max_tokens": 9000, "thinking": {"type": "enabled", "budget_tokens": 2000},
               "tools": [{"name": "weather", "input_schema": SCHEMA}]}

    def take(self, response):
        self.messages.append({"role": "assistant", "content": response["content"]})
        results = [{"type": "tool_result", "tool_use_id": block["id"], "content": "sunny"}
                   for block in response["content"] if block["type"] == "tool_use"]
        if results:
            self.messages.append({"role": "user", "content": results})


class Responses:
    read = staticmethod(accepted)
    path = "/v1/responses"
    members = {"store": False, "include": ["reasoning.encrypted_content"], "reasoning": {"effort": "high"},
               "tools": [{"type": "function", "name": "weather", "parameters": SCHEMA}]}

    def __init__(self):
        self.input = []

    def body(self):
        return {"input": self.input}

    def say(self, text):
        self.input.append({"role": "user", "content": text})

    def take(self, response):
        self.input += response["output"]
        self.input += self.results_of(response)

    @staticmethod
    def results_of(response):
        return [{"type": "function_call_output", "call_id": item["call_id"], "output": "sunny"}
                for item in response["output"] if item["type"] == "function_call"]


class StreamedResponses(Responses):
    members = {**Responses.members, "stream": True}

    @staticmethod
    def read(response):
        assert response.status_code == 200, response.text
        return json.loads(data_of(response.text)[-2])["response"]


class StoredResponses(Responses):
    members = {**Responses.members, "store": True}

    def __init__(self):
        super().__init__()
        self.previous = {}

    def body(self):
        return {"input": self.input, **self.previous}

    def take(self, response):
        self.previous = {"previous_response_id": response["id"]}
        self.input = self.results_of(response)


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("protocol", [Chat, Messages, Responses, StreamedResponses, StoredResponses])
@pytest.mark.parametrize("model", ["gpt-5", "claude-haiku-4-5"])
def test_conversation_goes_on_at_each_service(gateway, protocol, service, model):  # noqa: F811 (a fixture)
    gateway.stub.script(*REPLIES)
    conversation = protocol()
    conversation.say("What is the weather?")
    for reply in REPLIES:
        body = {"model": f"{service}/{model}", **protocol.members, **conversation.body()}
        conversation.take(protocol.read(gateway.http.post(protocol.path, json=body)))
        if reply.text == "Sunny.":
            conversation.say("Thank you.")
    assert len(gateway.stub.requests) == len(REPLIES)
