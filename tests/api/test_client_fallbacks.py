"""Fallback models for clients of the compatible APIs. See docs/contract/clients.md#models."""

import pytest

from checks import accepted
from stubs.provider import Fault, ProviderStub, Reply, down
from test_openai_chat import PIXEL, WEATHER

USER = [{"role": "user", "content": "Hi"}]


@pytest.fixture
def spare():
    with ProviderStub() as running:
        yield running


def service(stub, kind="openai", **members):
    url = stub.openai_url if kind == "openai" else stub.base_url
    return {"kind": kind, "base_url": url, "default_model": "m", **members}


@pytest.fixture
def gateway(make_gateway, stub, spare):
    """The service `first` has the fallbacks `gone/m`, `local/m` and `spare/m`; the other services have none."""
    return make_gateway(config={"providers": {
        "first": service(stub, fallback_models=["gone/m", "local/m", "spare/m"]),
        "local": service(spare, "ollama"), "spare": service(spare)}}).start()


def ask(gateway, status=200, path="/v1/chat/completions", **members):
    body = {"model": "first/m", "messages": USER, **members}
    return accepted(gateway.http.post(path, json=body, headers={"User-Agent": "tester/1"}), status)


def paths(stub):
    return [request.path for request in stub.requests]


def test_fallbacks_of_the_service_are_tried_in_order(gateway, stub, spare):
    stub.script(*down())
    spare.script(*down(), Reply("From the spare one."))
    answer = ask(gateway)
    assert answer["choices"][0]["message"]["content"] == "From the spare one." and answer["model"] == "first/m"
    assert paths(spare) == ["/api/chat"] * 5 + ["/v1/chat/completions"]
    models = [entry["model"] for entry in accepted(gateway.http.get("/costs"))["by_model"]]
    assert models == ["spare/m"]


@pytest.mark.parametrize("status, words", [
    (402, "Insufficient Balance"), (403, "your billing quota is used up"),
    (400, "Your credit balance is too low to access the API.")])
def test_fallback_answers_if_the_service_is_not_paid_for(gateway, stub, spare, status, words):
    stub.script(Fault(status, words, kind="billing_error" if status == 403 else "invalid_request_error"))
    spare.script(*down(), Reply("From the spare one."))
    assert ask(gateway)["choices"][0]["message"]["content"] == "From the spare one."
    assert len(stub.requests) == 1


@pytest.mark.parametrize("status", [400, 402])
def test_service_that_is_not_paid_for_is_told_as_an_exhausted_quota(gateway, spare, status):
    words = "Your credit balance is too low to access the API."
    spare.script(Fault(status, words))
    error = ask(gateway, 429, model="spare/m")["error"]
    assert error["code"] == "insufficient_quota" and f"answered {status}: {words}" in error["message"]


def test_fallback_without_a_requested_feature_is_skipped(gateway, stub, spare):
    stub.script(*down())
    ask(gateway, tools=[WEATHER], tool_choice="required")
    assert paths(spare) == ["/v1/chat/completions"]


def test_stream_comes_from_the_fallback(gateway, stub, spare):
    stub.script(*down())
    response = gateway.http.post("/v1/messages", json={"model": "first/m", "messages": USER, "max_tokens": 9,
                                                       "stream": True})
    assert response.text.count("event: message_start") == 1 and response.text.count("event: message_stop") == 1
    assert len(spare.requests) == 1


def test_request_that_the_service_refuses_is_not_sent_to_fallbacks(gateway, stub, spare):
    stub.script(Fault(400, message="no such thing"))
    assert "no such thing" in ask(gateway, 400)["error"]["message"]
    assert spare.requests == []


def test_error_lists_the_failures_of_all_models(gateway, stub, spare):
    stub.script(*down())
    spare.script(*down(), *down())
    message = ask(gateway, 503)["error"]["message"]
    assert all(name in message for name in ("first", "local", "spare"))


def test_service_without_fallbacks_has_none(gateway, stub, spare):
    spare.script(*down())
    ask(gateway, 503, model="spare/m")
    assert stub.requests == []


def test_changed_fallbacks_apply_to_the_next_request(gateway, stub, spare):
    definition = {"kind": "model", "api": "openai-chat", "base_url": stub.openai_url, "default_model": "m"}
    made = accepted(gateway.http.post("/extensions", json={
        "type": "integration", "name": "live", "description": "", "enabled": True, "definition": definition}), 201)
    stub.script(*down(), *down())
    ask(gateway, 503, model="live/m")
    changed = accepted(gateway.http.patch(f"/extensions/{made['id']}", json={
        "definition": {**definition, "fallback_models": ["spare/m", "nowhere/x"]}}))
    assert [found["path"] for found in changed["warnings"]] == ["definition.fallback_models[1]"]
    ask(gateway, model="live/m")
    assert paths(spare) == ["/v1/chat/completions"]


def test_fallbacks_of_the_default_agent_do_not_apply(gateway, stub, spare):
    accepted(gateway.http.post("/extensions", json={
        "type": "agent", "name": "careful", "description": "", "enabled": True,
        "definition": {"model": "spare/m", "fallback_models": ["first/m"]}}), 201)
    spare.script(*down())
    ask(gateway, 503, model="spare/m")
    assert stub.requests == []


def test_fallback_without_vision_is_skipped_for_a_picture(gateway, stub, spare):
    stub.script(*down())
    content = [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}]
    ask(gateway, 503, messages=[{"role": "user", "content": content}])
    assert spare.requests == []
