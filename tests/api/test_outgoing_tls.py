"""Connections to other servers need a certificate of the host's authorities, or of those in SSL_CERT_FILE.

See docs/connect-a-model.md.
"""

import json
from pathlib import Path

import pytest

from certificates import make_certificate
from checks import accepted
from stubs.web import WebStub
from test_loop_trace import longest_hold, without_sanitizers

SYSTEM_AUTHORITIES = Path("/etc/ssl/certs/ca-certificates.crt")
ANSWER = [{"choices": [{"index": 0, "delta": {"content": "Hello."}}]},
          {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}]


@pytest.fixture
def certificate(tmp_path):
    return make_certificate(tmp_path)


@pytest.fixture
def service(certificate):
    with WebStub(*certificate) as stub:
        chunks = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in ANSWER)
        stub.answers("/v1/chat/completions", chunks + "data: [DONE]\n\n", content_type="text/event-stream")
        yield stub


@pytest.fixture
def start(make_gateway, service):
    """Starts a gateway whose environment names the file of authorities."""
    def start(file, *arguments):
        provider = {"kind": "openai", "base_url": service.url("/v1", host="localhost")}
        return make_gateway(config={"providers": {"own": provider}},
                            environment={"SSL_CERT_FILE": str(file)}, arguments=arguments).start()
    return start


def ask(gateway):
    body = {"model": "own/talker-1", "messages": [{"role": "user", "content": "Hi"}]}
    return gateway.http.post("/v1/chat/completions", json=body)


def check_answers(gateway):
    assert accepted(ask(gateway))["choices"][0]["message"]["content"] == "Hello."


def test_the_variable_names_the_authorities(start, certificate):
    check_answers(start(certificate[0]))


def test_without_the_authority_the_certificate_is_refused(start, service):
    response = ask(start(SYSTEM_AUTHORITIES))
    assert response.status_code == 502 and "certificate" in response.text
    assert service.requests == []


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/embeddings"])
def test_a_refused_certificate_is_not_tried_again(start, service, path):
    handshakes = []
    service.on_failed_handshake = lambda: handshakes.append(path)
    asked = {"input": "Hi"} if path == "/v1/embeddings" else {"messages": [{"role": "user", "content": "Hi"}]}
    response = start(SYSTEM_AUTHORITIES).http.post(path, json={"model": "own/talker-1", **asked})
    assert response.status_code == 502 and "certificate" in response.text
    assert len(handshakes) <= 1


def test_another_model_answers_if_the_certificate_is_refused(make_gateway, service, stub):
    providers = {"own": {"kind": "openai", "base_url": service.url("/v1", host="localhost"),
                         "fallback_models": ["stub/talker-1"]},
                 "stub": {"kind": "openai", "base_url": stub.openai_url}}
    gateway = make_gateway(config={"providers": providers}, environment={"SSL_CERT_FILE": str(SYSTEM_AUTHORITIES)})
    stub.script("From the other.")
    assert accepted(ask(gateway.start()))["choices"][0]["message"]["content"] == "From the other."


def test_an_authority_that_is_added_is_trusted_at_the_next_request(start, certificate, tmp_path):
    file = tmp_path / "authorities.pem"
    file.write_bytes(SYSTEM_AUTHORITIES.read_bytes())
    gateway = start(file)
    assert ask(gateway).status_code == 502
    with file.open("ab") as more:
        more.write(certificate[0].read_bytes())
    check_answers(gateway)


def test_a_missing_file_is_named(start, certificate, tmp_path):
    file = tmp_path / "missing.pem"
    gateway = start(file)
    response = ask(gateway)
    assert response.status_code == 502 and str(file) in response.text
    file.write_bytes(certificate[0].read_bytes())
    check_answers(gateway)


@without_sanitizers
def test_reading_the_authorities_does_not_hold_the_loop(start, certificate, tmp_path):
    file = tmp_path / "authorities.pem"
    file.write_bytes(SYSTEM_AUTHORITIES.read_bytes() * 3 + certificate[0].read_bytes())
    gateway = start(file, "--trace-loop")
    milliseconds, calls = longest_hold(gateway, lambda: check_answers(gateway))
    assert milliseconds < 10, calls
