"""The table of features in docs/contract/clients.md: an unsupported feature is a 400 that names the parameter."""

import json
import re
from pathlib import Path

import pytest

from checks import accepted
from client_streams import data_of
from stubs.provider import Fault
from test_openai_chat import PIXEL
from tools import new_agent

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/contract/clients.md"
COLUMNS = ["Chat Completions", "Responses", "Messages", "anthropic", "openai, chat", "openai, responses", "ollama", "gemini",
           "agents"]
SERVICES = {"anthropic": {"kind": "anthropic"}, "openai, chat": {"kind": "openai", "api": "chat"},
            "openai, responses": {"kind": "openai", "api": "responses"}, "ollama": {"kind": "ollama"},
            "gemini": {"kind": "gemini"}}
PICTURE = f"data:image/png;base64,{PIXEL}"
SCHEMA = {"type": "object", "properties": {}}
FORM = {"name": "answer", "schema": SCHEMA}
FUNCTION = {"type": "function", "name": "f", "parameters": SCHEMA}
CHAT_TOOL = {"tools": [{"type": "function", "function": {"name": "f", "parameters": SCHEMA}}]}
RESPONSE_TOOL = {"tools": [FUNCTION]}
MESSAGE_TOOL = {"tools": [{"name": "f", "input_schema": SCHEMA}]}
# The members that request a feature, in each protocol that has it, by the feature's name in the first such protocol.
FEATURES = {
    "tool_choice": ({**CHAT_TOOL, "tool_choice": "required"}, {**RESPONSE_TOOL, "tool_choice": "required"},
                    {**MESSAGE_TOOL, "tool_choice": {"type": "any"}}),
    "parallel_tool_calls: false": (
        {**CHAT_TOOL, "parallel_tool_calls": False}, {**RESPONSE_TOOL, "parallel_tool_calls": False},
        {**MESSAGE_TOOL, "tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}),
    "response_format json_object": ({"response_format": {"type": "json_object"}},
                                    {"text": {"format": {"type": "json_object"}}}, None),
    "response_format json_schema": ({"response_format": {"type": "json_schema", "json_schema": FORM}},
                                    {"text": {"format": {"type": "json_schema", **FORM}}},
                                    {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}}),
    "seed": ({"seed": 1}, None, None),
    "stop": ({"stop": ["END"]}, None, {"stop_sequences": ["END"]}),
    "top_k": ({"top_k": 3}, None, {"top_k": 3}),
    "min_p": ({"min_p": 0.1}, None, None),
    "top_a": ({"top_a": 0.1}, None, None),
    "typical_p": ({"typical_p": 0.5}, None, None),
    "repetition_penalty": ({"repetition_penalty": 1.1}, None, None),
    "repeat_penalty": ({"repeat_penalty": 1.1}, None, None),
    "frequency_penalty": ({"frequency_penalty": 1}, {"frequency_penalty": 1}, None),
    "presence_penalty": ({"presence_penalty": 1}, {"presence_penalty": 1}, None),
    "verbosity other than medium": ({"verbosity": "low"}, {"text": {"verbosity": "low"}}, None),
    "tools[].function.strict": (
        {"tools": [{"type": "function", "function": {"name": "f", "parameters": SCHEMA, "strict": True}}]},
        {"tools": [{**FUNCTION, "strict": True}]}, {"tools": [{"name": "f", "input_schema": SCHEMA, "strict": True}]}),
    "messages[].content[].image_url.detail of low": (
        {"messages": [{"role": "user", "content": [
            {"type": "image_url", "image_url": {"url": PICTURE, "detail": "low"}}]}]},
        {"input": [{"role": "user", "content": [
            {"type": "input_image", "image_url": PICTURE, "detail": "low"}]}]}, None),
    "messages[].name of the user, or of several assistants": (
        {"messages": [{"role": "user", "name": "Ada", "content": "Hi"}]}, None, None),
    "service_tier other than auto and default": ({"service_tier": "flex"}, {"service_tier": "priority"}, None),
    "inference_geo other than global": (None, None, {"inference_geo": "us"}),
}
USER = [{"role": "user", "content": "Hi"}]
PATHS = [("/v1/chat/completions", {"messages": USER}), ("/v1/responses", {"input": "Hi"}),
         ("/v1/messages", {"messages": USER, "max_tokens": 9})]


def rows():
    """Yields the cells of each row of the table, without Markdown."""
    lines = DOCUMENT.read_text().splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("| Chat Completions |"))
    for line in lines[head + 2:]:
        if not line.startswith("|"):
            return
        yield dict(zip(COLUMNS, [cell.strip().replace("`", "") for cell in line.strip("|").split("|")], strict=True))


def members_for(row):
    return FEATURES[next(row[protocol] for protocol in COLUMNS[:3] if row[protocol] != "-").split(" that ")[0]]


def test_table_lists_exactly_the_tested_features():
    assert len(list(rows())) == len(FEATURES)
    for row in rows():
        is_absent = [members is None for members in members_for(row)]
        assert [row[protocol] == "-" for protocol in COLUMNS[:3]] == is_absent, row


@pytest.fixture
def gateway(make_gateway, stub):
    def service(settings):
        url = stub.openai_url if settings["kind"] == "openai" else stub.base_url
        return {**settings, "base_url": url, "api_key_env": "KEY", "default_model": "m"}

    names = {re.sub(r"\W+", "-", name): settings for name, settings in SERVICES.items()}
    return make_gateway(config={"models": {"default": "openai-chat/m"},
                                "providers": {name: service(settings) for name, settings in names.items()}},
                        environment={"KEY": "k"}).start()


def test_services_support_the_features_in_the_table(gateway):
    for row in rows():
        asked = members_for(row)
        for service in SERVICES:
            model = re.sub(r"\W+", "-", service) + "/m"
            for (path, body), members, protocol in zip(PATHS, asked, COLUMNS, strict=False):
                if members is None:
                    continue
                response = gateway.http.post(path, json={**body, **members, "model": model})
                what = f"{row} {service} {path}: {response.text}"
                if row[service] == "yes":
                    assert response.status_code == 200, what
                    continue
                name = row[protocol].split(" ")[0].split(":")[0]
                assert response.status_code == 400 and "cannot do this" in response.text, what
                error = response.json()["error"]
                reported = error["message"].split(":")[0] if path == "/v1/messages" else error["param"]
                assert reported == name, what


def test_parameter_that_the_protocol_does_not_have_is_refused(gateway):
    for name, (path, body) in [("seed", PATHS[1]), ("stop", PATHS[1]), ("top_k", PATHS[1]), ("seed", PATHS[2]),
                               ("verbosity", PATHS[2]), ("inference_geo", PATHS[0])]:
        response = gateway.http.post(path, json={**body, "model": "openai-chat/m", name: 1})
        assert response.status_code == 400 and f"{name}: is not known here" in response.json()["error"]["message"], path


def test_agents_support_the_features_in_the_table(gateway):
    """The service of the agent's model supports all features that agents support."""
    for row in rows():
        for (path, body), members in zip(PATHS, members_for(row), strict=True):
            if members is None:
                continue
            response = gateway.http.post(path, json={**body, **members, "model": "assistant"})
            what = f"{row} {path}: {response.text}"
            assert response.status_code == (200 if row["agents"] == "yes" else 400), what
            assert row["agents"] == "yes" or "an agent cannot do this" in response.text, what


def test_feature_that_the_model_of_an_agent_does_not_support_is_refused(gateway):
    new_agent(gateway, "local", model="ollama/m")
    response = gateway.http.post("/v1/chat/completions", json={
        "model": "local", "messages": USER, **CHAT_TOOL, "parallel_tool_calls": False})
    error = response.json()["error"]
    assert response.status_code == 400 and error["param"] == "parallel_tool_calls" and "ollama/m" in error["message"]


def test_name_that_all_answers_share_suits_every_service(gateway, stub):
    """LangChain for JavaScript gives one to every answer."""
    def asked(*names):
        return {"messages": [message for name in names for message in (
            {"role": "assistant", "name": name, "content": "Yes?"}, {"role": "user", "content": "Hi"})]}

    models = [re.sub(r"\W+", "-", service) + "/m" for service in SERVICES] + ["assistant"]
    for model in models:
        accepted(gateway.http.post(PATHS[0][0], json={"model": model, **asked("model", "model")}))
        named = [message.get("name") for message in stub.requests[-1].json.get("messages", [])]
        assert ("model" in named) == (model == "openai-chat/m"), named
        refused = gateway.http.post(PATHS[0][0], json={"model": model, **asked("planner", "critic")})
        assert refused.status_code == (200 if model == "openai-chat/m" else 400), refused.text


def test_pictures_are_not_sent_to_a_model_declared_without_vision(gateway, stub):
    definition = {"kind": "model", "api": "openai-chat", "base_url": stub.openai_url, "models": [
        {"id": "blind", "vision": False}, {"id": "sees", "vision": True}, {"id": "unsaid"}]}
    record = {"type": "integration", "name": "own", "description": "", "enabled": True, "definition": definition}
    accepted(gateway.http.post("/extensions", json=record), 201)
    picture = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    asked = [
        (PATHS[0], {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": PICTURE}}]}]},
         "messages[].content[].image_url"),
        (PATHS[1], {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": PICTURE}]}]},
         "input[].content[].image_url"),
        (PATHS[2], {"messages": [{"role": "user", "content": [{"type": "image", "source": picture}]}]},
         "messages[].content[].source"),
    ]
    for (path, body), members, param in asked:
        refusal = gateway.http.post(path, json={**body, **members, "model": "own/blind"})
        message = refusal.json()["error"]["message"]
        assert refusal.status_code == 400 and message.startswith(f"{param}: own/blind cannot do this"), refusal.text
        accepted(gateway.http.post(path, json={**body, "model": "own/blind"}))
        for model in ("own/sees", "own/unsaid"):
            accepted(gateway.http.post(path, json={**body, **members, "model": model}))


def test_picture_for_an_agent_whose_model_has_no_vision_is_refused(gateway):
    picture = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    asked = [
        (PATHS[0], {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": PICTURE}}]}]},
         "messages[].content[].image_url"),
        (PATHS[1], {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": PICTURE}]}]},
         "input[].content[].image_url"),
        (PATHS[2], {"messages": [{"role": "user", "content": [{"type": "image", "source": picture}]}]},
         "messages[].content[].source"),
    ]
    for (path, body), members, param in asked:
        refusal = gateway.http.post(path, json={**body, **members, "model": "assistant"})
        error = refusal.json()["error"]
        assert refusal.status_code == 400, refusal.text
        assert error["message"].startswith(f"{param}: the agent's model, openai-chat/m, cannot do this"), refusal.text
        assert error.get("param", param) == param


def test_conversation_that_is_too_long_is_named_as_in_the_protocol(gateway, stub):
    stub.always(Fault(400, "prompt is too long", kind="context_length_exceeded"))
    for (path, body), param in zip(PATHS, ("messages", "input", None), strict=True):
        refusal = gateway.http.post(path, json={**body, "model": "openai-chat/m"})
        error = refusal.json()["error"]
        assert refusal.status_code == 400 and "prompt is too long" in error["message"], refusal.text
        assert error.get("param") == param


def test_stream_of_responses_tells_that_a_conversation_is_too_long(gateway, stub):
    """As at OpenAI: Codex shortens it only then."""
    stub.always(Fault(400, "prompt is too long", kind="context_length_exceeded"))
    response = gateway.http.post("/v1/responses", json={"model": "openai-chat/m", "input": "Hi", "stream": True})
    assert response.status_code == 200, response.text
    *_, told, failed, done = data_of(response.text)
    assert done == "[DONE]"
    told, failed = json.loads(told), json.loads(failed)
    assert (told["type"], told["error"]["code"]) == ("error", "context_length_exceeded")
    assert failed["type"] == "response.failed" and failed["response"]["error"]["code"] == "context_length_exceeded"
    response = gateway.http.post("/v1/chat/completions", json={
        "model": "openai-chat/m", "messages": [{"role": "user", "content": "Hi"}], "stream": True})
    assert response.status_code == 400, response.text
