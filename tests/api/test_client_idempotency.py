"""Idempotency-Key below /v1: responses are repeated. See docs/contract/requests.md#idempotency-key."""

import json
import threading
import uuid

import pytest

from checks import accepted, at_once
from stubs.provider import Fault, Reply
from talker import MODEL

USER = [{"role": "user", "content": "Hi"}]
CHAT = "/v1/chat/completions"
BODIES = {CHAT: {"messages": USER}, "/v1/responses": {"input": "Hi"}, "/v1/embeddings": {"input": "Hi"},
          "/v1/messages": {"messages": USER, "max_tokens": 9}, "/v1/responses/compact": {"input": "Hi"}}


@pytest.fixture
def ask(talker):
    """Returns a function that sends requests with the same key."""
    headers = {"Idempotency-Key": str(uuid.uuid4())}

    def send(path=CHAT, **members):
        return talker.gateway.http.post(path, json={"model": MODEL, **BODIES[path], **members}, headers=headers)

    return send


@pytest.mark.parametrize("path", BODIES)
def test_response_is_repeated(talker, ask, path):
    first = accepted(ask(path))
    assert accepted(ask(path)) == first
    assert len(talker.stub.requests) + len(talker.stub.summary_requests) == 1


@pytest.mark.parametrize("path", [CHAT, "/v1/responses", "/v1/messages"])
@pytest.mark.parametrize("model", [MODEL, "assistant"])
def test_stream_is_repeated(talker, ask, path, model):
    talker.stub.script(Reply("one two", deltas=2))
    first, again = ask(path, stream=True, model=model), ask(path, stream=True, model=model)
    assert first.status_code == 200 and again.text == first.text and "two" in again.text
    for name in ("content-type", "x-thread-id"):
        assert again.headers.get(name) == first.headers.get(name)
    assert len(talker.stub.requests) == 1


def test_another_body_is_a_conflict_in_the_protocols_format(talker, ask):
    accepted(ask())
    error = ask(temperature=1)
    assert error.status_code == 409 and error.json()["error"]["message"] == "idempotency key reused"
    error = ask("/v1/messages")
    assert error.status_code == 200, "the key belongs to the path"


def test_failure_is_not_kept(talker, ask):
    talker.stub.script(Fault(400, message="no"))
    assert ask().status_code == 400
    accepted(ask())


def test_failure_in_mid_stream_is_not_kept(talker, ask):
    talker.stub.script(Reply("one two three", deltas=3, after=2, fault="error"))
    assert "error" in ask(stream=True).text
    assert "error" not in ask(stream=True).text and len(talker.stub.requests) == 2


def test_concurrent_duplicates_call_the_model_once(talker, ask):
    answers = at_once(8, lambda _: accepted(ask()))
    assert len({answer["id"] for answer in answers}) == 1 and len(talker.stub.requests) == 1


def test_response_is_repeated_after_a_restart(own_talker):
    headers = {"Idempotency-Key": "k"}
    body = {"model": MODEL, "messages": USER}
    first = accepted(own_talker.gateway.http.post(CHAT, json=body, headers=headers))
    own_talker.gateway.kill()
    own_talker.gateway.start()
    assert accepted(own_talker.gateway.http.post(CHAT, json=body, headers=headers)) == first


@pytest.mark.parametrize("stream", [False, True])
def test_answer_of_an_agent_is_kept_after_the_client_disconnected(talker, stream):
    """A client that has lost its connection repeats the request, and the agent runs once."""
    held, key = talker.stub.hold("one "), str(uuid.uuid4())
    body = json.dumps({"model": "assistant", "messages": USER, "stream": stream}).encode()
    with talker.gateway.connect() as connection:
        connection.request(f"POST {CHAT} HTTP/1.1", f"Idempotency-Key: {key}", f"Content-Length: {len(body)}", body=body)
        assert held.was_asked()
    again = threading.Thread(target=lambda: answers.append(talker.gateway.http.post(
        CHAT, content=body, headers={"Idempotency-Key": key})))
    answers = []
    again.start()
    held.release("two")
    again.join()
    assert "two" in answers[0].text and len(talker.stub.requests) == 1


def test_model_is_stopped_when_the_client_disconnects_and_called_again(talker):
    held = talker.stub.hold("one ")
    body = json.dumps({"model": MODEL, "messages": USER}).encode()
    with talker.gateway.connect() as connection:
        connection.request(f"POST {CHAT} HTTP/1.1", "Idempotency-Key: gone", f"Content-Length: {len(body)}", body=body)
        assert held.was_asked()
    assert held.was_aborted()
    accepted(talker.gateway.http.post(CHAT, content=body, headers={"Idempotency-Key": "gone"}))
    assert len(talker.stub.requests) == 2


def test_body_over_the_limit_is_refused_with_a_key(talker, ask):
    error = talker.gateway.http.post(CHAT, content=iter([b"x" * 1024 * 1024] * 11),
                                     headers={"Idempotency-Key": "large"})
    assert error.status_code == 413


def test_long_key_is_refused(talker):
    error = talker.gateway.http.post(CHAT, json={"model": MODEL, "messages": USER},
                                     headers={"Idempotency-Key": "k" * 256})
    assert error.status_code == 400 and "255" in error.json()["error"]["message"]
