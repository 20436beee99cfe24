"""Model providers: their wire formats and failures.

The stub speaks Anthropic Messages, OpenAI Chat Completions and Responses, Ollama and Gemini. The unit tests cover the
120 s silence timeout.

See docs/contract/models.md#providers and docs/contract/models.md#failures.
"""

import time

import pytest

from checks import PATIENCE, accepted, at_once
from events import text_of
from gateway import Gateway
from stubs.provider import Fault, ProviderStub, Raw, Reply, down

FORMATS = ["messages", "chat", "responses", "local", "google"]
PATHS = {"messages": "/v1/messages", "chat": "/v1/chat/completions", "responses": "/v1/responses", "local": "/api/chat",
         "google": "/v1beta/models/model-1:streamGenerateContent"}
KEY = "sk-test-0123456789abcdef"
RETRY_AT_ONCE = {"retry-after": "0"}
TRUNCATED = {"messages": "max_tokens", "chat": "length", "responses": "max_output_tokens", "local": "length",
             "google": "MAX_TOKENS"}
FILTERED = {"messages": "refusal", "chat": "content_filter", "responses": "content_filter", "google": "SAFETY"}


def configuration(stub):
    """A provider of each format, all served by the stub and named as in FORMATS, and one without a server."""
    key = {"api_key_env": "STUB_KEY"}
    return {"providers": {
        "messages": {"kind": "anthropic", "base_url": stub.base_url, **key},
        "chat": {"kind": "openai", "base_url": stub.openai_url, "api": "chat", **key},
        "responses": {"kind": "openai", "base_url": stub.openai_url, "api": "responses", **key},
        "local": {"kind": "ollama", "base_url": stub.base_url},
        "google": {"kind": "gemini", "base_url": stub.base_url, **key},
        "nowhere": {"kind": "openai", "base_url": "http://127.0.0.1:1/v1"},
        "keyless": {"kind": "anthropic", "api_key_env": "NO_SUCH_KEY"},
    }}


@pytest.fixture(scope="module")
def providers(tmp_path_factory):
    """A gateway with all providers, and their stub."""
    with ProviderStub() as stub:
        directory = tmp_path_factory.mktemp("providers")
        gateway = Gateway(directory, config=configuration(stub), environment={"STUB_KEY": KEY}).start()
        yield gateway, stub
        gateway.close()


@pytest.fixture
def ask(providers):
    """Sends a model one question and returns the run's events."""
    gateway, stub = providers
    stub.reset()

    def ask(model, *replies, content="a question", seconds=PATIENCE, **members):
        stub.script(*replies)
        thread = accepted(gateway.http.post("/threads", json={"title": "a title"}), 201)
        with gateway.events(thread["id"]) as events:
            body = {"content": content, "threadId": thread["id"], "model": model, **members}
            turn = accepted(gateway.http.post("/chat", json=body), 201)
            return events.run(turn["id"], seconds)
    return ask


def turn_of(gateway, run):
    """Returns the assistant turn of a run that left one."""
    turns = accepted(gateway.http.get(f"/threads/{run[0]['threadId']}/turns"))
    return next(turn for turn in turns if turn["id"] == run[-1]["assistantTurnId"])


def assert_failed(run, kinds=("error", "finish")):
    assert [event["type"] for event in run][-2:] == list(kinds) and run[-1]["finishReason"] == "error"
    assert [event["type"] for event in run].count("error") == 1
    assert KEY not in str(run)
    return run[-2]["error"]


# The formats.


@pytest.mark.parametrize("name", FORMATS)
def test_answer_is_streamed_in_every_format(providers, ask, name):
    gateway, stub = providers
    run = ask(f"{name}/model-1", Reply("Grüße, \U0001f600 and the rest", deltas=7, chunk_bytes=3))
    assert text_of(run) == "Grüße, \U0001f600 and the rest" and run[-1]["finishReason"] == "stop"
    assert run[-1]["model"] == f"{name}/model-1" and turn_of(gateway, run)["content"] == text_of(run)
    assert [request.path for request in stub.requests] == [PATHS[name]]


@pytest.mark.parametrize("name", FORMATS)
def test_request_matches_the_format(providers, ask, name):
    _, stub = providers
    ask(f"{name}/model-1", content="What is it?")
    request = stub.requests[0]
    assert "What is it?" in str(request.json)
    if name == "google":
        assert request.headers["x-goog-api-key"] == KEY and "authorization" not in request.headers
        assert request.json["contents"][0]["role"] == "user" and "systemInstruction" in request.json
        return
    assert request.json["model"] == "model-1" and request.json["stream"] is True
    assert request.headers["content-type"].startswith("application/json")
    if name == "messages":
        assert request.headers["x-api-key"] == KEY and request.headers["anthropic-version"] == "2023-06-01"
        assert "authorization" not in request.headers and request.json["max_tokens"] > 0
        assert request.json["messages"][0]["role"] == "user" and "system" in request.json
    elif name == "local":
        assert "authorization" not in request.headers
    else:
        assert request.headers["authorization"] == f"Bearer {KEY}"
    if name == "chat":
        assert request.json["stream_options"] == {"include_usage": True}
    if name == "responses":
        assert request.json["store"] is False


@pytest.mark.parametrize("name", FORMATS)
def test_tokens_are_counted(providers, ask, name):
    gateway, _ = providers
    reads, writes = name != "local", name not in ("local", "google")
    usage = {"input": 100, "output": 50, "cache_read": 30 * reads, "cache_write": 20 * writes}
    run = ask(f"{name}/model-1", Reply(usage=usage))
    assert run[-1]["usage"] == {"input_tokens": 100, "output_tokens": 50, "cache_read_tokens": usage["cache_read"],
                                "cache_write_tokens": usage["cache_write"]}
    assert turn_of(gateway, run)["metadata"]["usage"] == run[-1]["usage"] and run[-1]["costUsd"] == 0


def test_tokens_of_a_known_model_are_priced(providers, ask):
    gateway, _ = providers
    usage = {"input": 1_000_000, "output": 100_000, "cache_read": 0, "cache_write": 0}
    run = ask("messages/claude-sonnet-5-5", Reply(usage=usage))
    assert run[-1]["costUsd"] == pytest.approx(2 + 1)
    assert turn_of(gateway, run)["metadata"]["cost_usd"] == run[-1]["costUsd"]


@pytest.mark.parametrize("name", FORMATS)
def test_reasoning_is_streamed_separately(providers, ask, name):
    gateway, _ = providers
    run = ask(f"{name}/model-1", Reply("The answer", reasoning="Let me think"))
    assert "".join(event["delta"] for event in run if event["type"] == "reasoning-delta") == "Let me think"
    assert turn_of(gateway, run)["content"] == text_of(run) == "The answer"
    assert [event["seq"] for event in run] == list(range(1, len(run) + 1))


@pytest.mark.parametrize("name", FORMATS)
def test_truncated_answer_ends_with_length(providers, ask, name):
    run = ask(f"{name}/model-1", Reply("Too long", stop=TRUNCATED[name]))
    assert run[-1]["finishReason"] == "length" and turn_of(providers[0], run)["content"] == "Too long"


@pytest.mark.parametrize("name", FILTERED)
def test_filtered_answer_ends_with_content_filter(ask, name):
    assert ask(f"{name}/model-1", Reply("I", stop=FILTERED[name]))[-1]["finishReason"] == "content-filter"


@pytest.mark.parametrize("name", FORMATS)
def test_answer_ends_even_if_the_body_stays_open(ask, name):
    assert ask(f"{name}/model-1", Reply("Done", hold_open=True))[-1]["finishReason"] == "stop"


def test_long_answer_is_complete(providers, ask):
    text = "".join(f"word{number} " for number in range(50_000))
    run = ask("chat/model-1", Reply(text, deltas=2000))
    assert text_of(run) == text == turn_of(providers[0], run)["content"]


# Choosing a provider.


def test_environment_alone_connects_a_model(make_gateway, stub):
    for kind, environment, path in [
        ("anthropic", {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": stub.base_url}, "/v1/messages"),
        ("openai", {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": stub.openai_url}, "/v1/chat/completions"),
    ]:
        gateway = make_gateway(environment=environment).start()
        with gateway.events() as events:
            run = events.run(accepted(gateway.http.post("/chat", json={"content": "a"}), 201)["id"])
        assert run[-1]["model"].startswith(f"{kind}/") and run[-1]["finishReason"] == "stop"
        assert path in [request.path for request in stub.requests]


def test_environment_overrides_the_file(make_gateway, stub):
    config = {"providers": {"openai": {"kind": "openai", "base_url": "http://127.0.0.1:1/v1"}}}
    environment = {"OPENAI_BASE_URL": stub.openai_url, "OPENAI_API_KEY": KEY}
    gateway = make_gateway(config=config, environment=environment).start()
    with gateway.events() as events:
        turn = accepted(gateway.http.post("/chat", json={"content": "a", "model": "openai/m"}), 201)
        assert events.run(turn["id"])[-1]["finishReason"] == "stop"


def test_proxy_of_the_environment_is_used(make_gateway, stub):
    config = {"providers": {"far": {"kind": "openai", "base_url": "http://model.example/v1"}}}
    gateway = make_gateway(config=config, environment={"http_proxy": stub.base_url}).start()
    with gateway.events() as events:
        turn = accepted(gateway.http.post("/chat", json={"content": "a", "model": "far/m"}), 201)
        assert events.run(turn["id"])[-1]["finishReason"] == "stop"
    assert stub.requests[0].path == "http://model.example/v1/chat/completions"


def test_bare_model_id_uses_the_default_provider(providers, ask):
    run = ask("model-7")
    assert run[-1]["model"] == "messages/model-7"


def test_prefix_without_a_provider_is_part_of_the_id(providers, ask):
    run = ask("vendor/model-7")
    assert run[-1]["model"] == "messages/vendor/model-7" and providers[1].requests[0].json["model"] == "vendor/model-7"
    run = ask("chat/vendor/model-7")
    assert run[-1]["model"] == "chat/vendor/model-7"


def test_configured_default_is_used(make_gateway, stub):
    config = configuration(stub) | {"models": {"default": "local/small"}}
    gateway = make_gateway(config=config, environment={"STUB_KEY": KEY}).start()
    with gateway.events() as events:
        run = events.run(accepted(gateway.http.post("/chat", json={"content": "a"}), 201)["id"])
    assert run[-1]["model"] == "local/small"


def test_missing_key_is_reported_with_its_variable(providers, ask):
    message = assert_failed(ask("keyless/claude"))
    assert "NO_SUCH_KEY" in message and providers[1].requests == []


# Failures before the first delta.


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_rejection_is_reported_and_not_retried(providers, ask, name, status):
    run = ask(f"{name}/model-1", Fault(status, f"you may not, and your key {KEY} neither"))
    message = assert_failed(run)
    assert text_of(run) == "" and "you may not" in message and name in message
    assert len(providers[1].requests) == 1


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
def test_transient_failure_is_retried(providers, ask, name, status):
    run = ask(f"{name}/model-1", Fault(status, headers=RETRY_AT_ONCE), "Here I am")
    assert text_of(run) == "Here I am" and run[-1]["finishReason"] == "stop"
    assert len(providers[1].requests) == 2 and "error" not in [event["type"] for event in run]


def test_retry_after_is_respected(providers, ask):
    ask("chat/model-1", Fault(429, headers={"retry-after": "1"}), "Here I am")
    first, second = providers[1].requests
    assert second.at - first.at >= 0.9


def test_failure_is_reported_after_four_retries(providers, ask):
    run = ask("chat/model-1", *[Fault(500, "broken for good", headers=RETRY_AT_ONCE) for _ in range(6)])
    assert "broken for good" in assert_failed(run) and len(providers[1].requests) == 5
    assert text_of(run) == ""


def test_exhausted_quota_is_not_retried(providers, ask):
    run = ask("chat/model-1", Fault(429, "no more credit", kind="insufficient_quota", headers=RETRY_AT_ONCE))
    assert "no more credit" in assert_failed(run) and len(providers[1].requests) == 1


@pytest.mark.parametrize("data",
                         [b"", b"HTTP/1.1 200 OK\r\n", b"garbage\r\n\r\n",
                          b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n{"])
def test_connection_broken_before_the_answer_is_retried(providers, ask, data):
    run = ask("chat/model-1", Raw(data), "Here I am")
    assert text_of(run) == "Here I am" and len(providers[1].requests) == 2


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("fault", ["cut", "garbage", "end"])
def test_stream_broken_before_its_first_delta_is_retried(providers, ask, name, fault):
    run = ask(f"{name}/model-1", Reply("never", fault=fault, after=0), "Here I am")
    assert text_of(run) == "Here I am" and run[-1]["finishReason"] == "stop"
    assert len(providers[1].requests) == 2


def test_plain_text_error_is_reported(ask):
    page = Fault(404, body="<html>Nothing here</html>", headers={"content-type": "text/html"})
    assert "404" in assert_failed(ask("chat/model-1", page))


# Failures after the first delta.


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("fault", ["cut", "garbage", "error", "end"])
def test_text_before_a_broken_stream_is_kept_as_partial(providers, ask, name, fault):
    gateway, stub = providers
    run = ask(f"{name}/model-1", Reply("One two three four", deltas=4, fault=fault, after=2))
    assert_failed(run)
    assert text_of(run) == "One two th"
    turn = turn_of(gateway, run)
    assert turn["content"] == "One two th" and turn["metadata"]["partial"] is True
    assert turn["metadata"]["finish_reason"] == "error" and len(stub.requests) == 1


# Fallbacks.


@pytest.fixture
def fallback(providers, new_name):
    """An agent whose model is down, with fallback models."""
    body = {"type": "agent", "name": new_name("robust"), "description": "", "enabled": True, "definition": {
        "model": "chat/first", "fallback_models": ["keyless/second", "responses/third", "local/fourth"]}}
    return accepted(providers[0].http.post("/extensions", json=body), 201)["name"]


def test_fallback_models_are_tried_in_order(providers, ask, fallback):
    gateway, stub = providers
    run = ask(None, *down(), "Third here", agentId=fallback)
    assert text_of(run) == "Third here" and run[-1]["model"] == "responses/third"
    assert [request.json["model"] for request in stub.requests] == ["first"] * 5 + ["third"]
    assert turn_of(gateway, run)["metadata"]["model"] == "responses/third"


@pytest.mark.parametrize("status", [500, 529])
def test_fallback_answers_without_retries_if_the_service_wants_none(providers, ask, fallback, status):
    run = ask(None, Fault(status, headers={"x-should-retry": "false"}), "Third here", agentId=fallback)
    assert text_of(run) == "Third here" and run[-1]["model"] == "responses/third"
    assert [request.json["model"] for request in providers[1].requests] == ["first", "third"]


def test_fallback_gets_its_own_max_tokens(providers, ask, new_name):
    gateway, stub = providers
    body = {"type": "agent", "name": new_name("wordy"), "description": "", "enabled": True, "definition": {
        "model": "messages/claude-sonnet-5-5", "fallback_models": ["messages/unheard-of"], "max_output_tokens": 20_000}}
    agent = accepted(gateway.http.post("/extensions", json=body), 201)["name"]
    run = ask(None, *down(), "Here I am", agentId=agent)
    assert text_of(run) == "Here I am"
    assert [request.json["max_tokens"] for request in stub.requests] == [20_000] * 5 + [8192]


def test_no_fallback_is_tried_after_the_first_delta(providers, ask, fallback):
    run = ask(None, Reply("One two", deltas=2, fault="cut", after=1), agentId=fallback)
    assert_failed(run)
    assert run[-1]["model"] == "chat/first" and len(providers[1].requests) == 1


# Stopping.


@pytest.mark.parametrize("name", FORMATS)
def test_stop_aborts_the_upstream_request(providers, name):
    gateway, stub = providers
    stub.reset()
    held = stub.hold("One")
    thread = accepted(gateway.http.post("/threads", json={"title": "a title"}), 201)
    with gateway.events(thread["id"]) as events:
        body = {"content": "a", "threadId": thread["id"], "model": f"{name}/model-1"}
        turn = accepted(gateway.http.post("/chat", json=body), 201)
        events.until(lambda event: event["type"] == "text-delta")
        accepted(gateway.http.post("/chat/stop", json={"threadId": thread["id"]}))
        assert events.run(turn["id"])[-1]["type"] == "stopped"
    assert held.was_aborted()


def test_stop_ends_the_wait_for_a_retry(providers):
    gateway, stub = providers
    stub.reset()
    stub.script(Fault(429, headers={"retry-after": "30"}))
    thread = accepted(gateway.http.post("/threads", json={"title": "a title"}), 201)
    with gateway.events(thread["id"]) as events:
        body = {"content": "a", "threadId": thread["id"], "model": "chat/m"}
        turn = accepted(gateway.http.post("/chat", json=body), 201)
        stub.wait_for_requests(1)
        started = time.monotonic()
        accepted(gateway.http.post("/chat/stop", json={"threadId": thread["id"]}))
        assert [event["type"] for event in events.run(turn["id"])] == ["stopped"]
        assert time.monotonic() - started < 25


# Concurrent answers, and secrets.


def test_many_answers_stream_at_once(providers):
    gateway, stub = providers
    stub.reset()
    answers = [stub.hold("slowly ") for _ in range(16)]
    with gateway.events() as events:
        body = {"content": "a", "model": "chat/m"}
        turns = at_once(16, lambda _: accepted(gateway.http.post("/chat", json=body), 201))
        assert all(answer.was_asked() for answer in answers), "none waits for the end of another"
        for answer in answers:
            answer.release("it comes")
        for turn in turns:
            assert text_of(events.run(turn["id"])) == "slowly it comes"


def test_key_is_never_logged(providers, ask):
    gateway, _ = providers
    assert_failed(ask("messages/m", Fault(401, f"invalid x-api-key {KEY}")))
    logs = "".join(file.read_text() for file in (gateway.data / "logs").iterdir())
    assert KEY not in logs and KEY not in gateway.stderr
