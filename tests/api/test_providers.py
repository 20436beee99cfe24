"""Model providers: their wire formats, and what goes wrong with them (decisions, 12 and 13).

The stub speaks Anthropic Messages, OpenAI Chat Completions and Responses, and Ollama. The silence time-out of 120 s is
left to the unit tests.
"""

import time

import pytest

from checks import PATIENCE, accepted, at_once
from events import text_of
from gateway import Gateway
from stubs.provider import Fault, ProviderStub, Raw, Reply, down

FORMATS = ["messages", "chat", "responses", "local"]
PATHS = {"messages": "/v1/messages", "chat": "/v1/chat/completions", "responses": "/v1/responses", "local": "/api/chat"}
KEY = "sk-test-0123456789abcdef"
AT_ONCE = {"retry-after": "0"}
CUT_SHORT = {"messages": "max_tokens", "chat": "length", "responses": "max_output_tokens", "local": "length"}
FILTERED = {"messages": "refusal", "chat": "content_filter", "responses": "content_filter"}


def configuration(stub):
    """A provider of each format, all at the stub, named as in FORMATS; and one where nothing listens."""
    key = {"api_key_env": "STUB_KEY"}
    return {"providers": {
        "messages": {"kind": "anthropic", "base_url": stub.base_url, **key},
        "chat": {"kind": "openai", "base_url": stub.openai_url, "api": "chat", **key},
        "responses": {"kind": "openai", "base_url": stub.openai_url, "api": "responses", **key},
        "local": {"kind": "ollama", "base_url": stub.base_url},
        "nowhere": {"kind": "openai", "base_url": "http://127.0.0.1:1/v1"},
        "keyless": {"kind": "anthropic", "api_key_env": "NO_SUCH_KEY"},
    }}


@pytest.fixture(scope="module")
def connected(tmp_path_factory):
    """A gateway with all providers, and the stub behind them."""
    with ProviderStub() as stub:
        directory = tmp_path_factory.mktemp("providers")
        gateway = Gateway(directory, config=configuration(stub), environment={"STUB_KEY": KEY}).start()
        yield gateway, stub
        gateway.close()


@pytest.fixture
def ask(connected):
    """Asks a model one question; answers the run's events, and the stub that was asked."""
    gateway, stub = connected
    stub.reset()

    def ask(model, *replies, content="a question", seconds=PATIENCE, **members):
        stub.script(*replies)
        thread = accepted(gateway.http.post("/threads", json={"title": "told"}), 201)
        with gateway.events(thread["id"]) as events:
            body = {"content": content, "threadId": thread["id"], "model": model, **members}
            turn = accepted(gateway.http.post("/chat", json=body), 201)
            return events.run(turn["id"], seconds)
    return ask


def turn_of(gateway, run):
    """The assistant turn of a run that left one."""
    turns = accepted(gateway.http.get(f"/threads/{run[0]['threadId']}/turns"))
    return next(turn for turn in turns if turn["id"] == run[-1]["assistantTurnId"])


def assert_failed(run, kinds=("error", "finish")):
    assert [event["type"] for event in run][-2:] == list(kinds) and run[-1]["finishReason"] == "error"
    assert [event["type"] for event in run].count("error") == 1
    assert KEY not in str(run)
    return run[-2]["error"]


# The formats.


@pytest.mark.parametrize("name", FORMATS)
def test_an_answer_is_streamed_in_every_format(connected, ask, name):
    gateway, stub = connected
    run = ask(f"{name}/model-1", Reply("Grüße, \U0001f600 and the rest", deltas=7, chunk_bytes=3))
    assert text_of(run) == "Grüße, \U0001f600 and the rest" and run[-1]["finishReason"] == "stop"
    assert run[-1]["model"] == f"{name}/model-1" and turn_of(gateway, run)["content"] == text_of(run)
    assert [request.path for request in stub.requests] == [PATHS[name]]


@pytest.mark.parametrize("name", FORMATS)
def test_a_request_is_as_the_format_wants_it(connected, ask, name):
    _, stub = connected
    ask(f"{name}/model-1", content="What is it?")
    request = stub.requests[0]
    assert request.json["model"] == "model-1" and request.json["stream"] is True and "What is it?" in str(request.json)
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
def test_tokens_are_counted(connected, ask, name):
    gateway, _ = connected
    caching = name != "local"
    usage = {"input": 100, "output": 50, "cache_read": 30 * caching, "cache_write": 20 * caching}
    run = ask(f"{name}/model-1", Reply(usage=usage))
    assert run[-1]["usage"] == {"input_tokens": 100, "output_tokens": 50, "cache_read_tokens": usage["cache_read"],
                                "cache_write_tokens": usage["cache_write"]}
    assert turn_of(gateway, run)["metadata"]["usage"] == run[-1]["usage"] and run[-1]["costUsd"] == 0


def test_a_known_models_tokens_are_priced(connected, ask):
    gateway, _ = connected
    usage = {"input": 1_000_000, "output": 100_000, "cache_read": 0, "cache_write": 0}
    run = ask("messages/claude-sonnet-5-5", Reply(usage=usage))
    assert run[-1]["costUsd"] == pytest.approx(2 + 1)
    assert turn_of(gateway, run)["metadata"]["cost_usd"] == run[-1]["costUsd"]


@pytest.mark.parametrize("name", FORMATS)
def test_reasoning_is_streamed_apart_from_the_text(connected, ask, name):
    gateway, _ = connected
    run = ask(f"{name}/model-1", Reply("The answer", reasoning="Let me think"))
    assert "".join(event["delta"] for event in run if event["type"] == "reasoning-delta") == "Let me think"
    assert turn_of(gateway, run)["content"] == text_of(run) == "The answer"
    assert [event["seq"] for event in run] == list(range(1, len(run) + 1))


@pytest.mark.parametrize("name", FORMATS)
def test_an_answer_that_was_cut_short_ends_with_length(connected, ask, name):
    run = ask(f"{name}/model-1", Reply("Too long", stop=CUT_SHORT[name]))
    assert run[-1]["finishReason"] == "length" and turn_of(connected[0], run)["content"] == "Too long"


@pytest.mark.parametrize("name", FILTERED)
def test_an_answer_that_was_filtered_ends_with_content_filter(ask, name):
    assert ask(f"{name}/model-1", Reply("I", stop=FILTERED[name]))[-1]["finishReason"] == "content-filter"


@pytest.mark.parametrize("name", FORMATS)
def test_a_body_that_stays_open_after_its_end_is_over(ask, name):
    assert ask(f"{name}/model-1", Reply("Done", hold_open=True))[-1]["finishReason"] == "stop"


def test_a_long_answer_arrives_whole(connected, ask):
    text = "".join(f"word{number} " for number in range(50_000))
    run = ask("chat/model-1", Reply(text, deltas=2000))
    assert text_of(run) == text == turn_of(connected[0], run)["content"]


# Choosing a provider.


def test_the_environment_alone_connects_a_model(make_gateway, stub):
    for kind, environment, path in [
        ("anthropic", {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": stub.base_url}, "/v1/messages"),
        ("openai", {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": stub.openai_url}, "/v1/chat/completions"),
    ]:
        gateway = make_gateway(environment=environment).start()
        with gateway.events() as events:
            run = events.run(accepted(gateway.http.post("/chat", json={"content": "a"}), 201)["id"])
        assert run[-1]["model"].startswith(f"{kind}/") and run[-1]["finishReason"] == "stop"
        assert path in [request.path for request in stub.requests]


def test_the_environment_wins_over_the_file(make_gateway, stub):
    config = {"providers": {"openai": {"kind": "openai", "base_url": "http://127.0.0.1:1/v1"}}}
    environment = {"OPENAI_BASE_URL": stub.openai_url, "OPENAI_API_KEY": KEY}
    gateway = make_gateway(config=config, environment=environment).start()
    with gateway.events() as events:
        turn = accepted(gateway.http.post("/chat", json={"content": "a", "model": "openai/m"}), 201)
        assert events.run(turn["id"])[-1]["finishReason"] == "stop"


def test_a_proxy_of_the_environment_is_used(make_gateway, stub):
    config = {"providers": {"far": {"kind": "openai", "base_url": "http://model.example/v1"}}}
    gateway = make_gateway(config=config, environment={"http_proxy": stub.base_url}).start()
    with gateway.events() as events:
        turn = accepted(gateway.http.post("/chat", json={"content": "a", "model": "far/m"}), 201)
        assert events.run(turn["id"])[-1]["finishReason"] == "stop"
    assert stub.requests[0].path == "http://model.example/v1/chat/completions"


def test_a_bare_id_belongs_to_the_default_models_provider(connected, ask):
    run = ask("model-7")
    assert run[-1]["model"] == "messages/model-7"


def test_a_prefix_that_names_no_provider_is_part_of_the_id(connected, ask):
    run = ask("vendor/model-7")
    assert run[-1]["model"] == "messages/vendor/model-7" and connected[1].requests[0].json["model"] == "vendor/model-7"
    run = ask("chat/vendor/model-7")
    assert run[-1]["model"] == "chat/vendor/model-7"


def test_a_configured_default_is_the_default(make_gateway, stub):
    config = configuration(stub) | {"models": {"default": "local/small"}}
    gateway = make_gateway(config=config, environment={"STUB_KEY": KEY}).start()
    with gateway.events() as events:
        run = events.run(accepted(gateway.http.post("/chat", json={"content": "a"}), 201)["id"])
    assert run[-1]["model"] == "local/small"


def test_a_provider_without_its_key_says_what_to_set(connected, ask):
    said = assert_failed(ask("keyless/claude"))
    assert "NO_SUCH_KEY" in said and connected[1].requests == []


# Failures before the first delta.


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_refusal_is_told_and_not_tried_again(connected, ask, name, status):
    run = ask(f"{name}/model-1", Fault(status, f"you may not, and your key {KEY} neither"))
    said = assert_failed(run)
    assert len(run) == 2 and "you may not" in said and name in said
    assert len(connected[1].requests) == 1


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
def test_a_passing_failure_is_tried_again(connected, ask, name, status):
    run = ask(f"{name}/model-1", Fault(status, headers=AT_ONCE), "Here I am")
    assert text_of(run) == "Here I am" and run[-1]["finishReason"] == "stop"
    assert len(connected[1].requests) == 2 and "error" not in [event["type"] for event in run]


def test_retry_after_is_waited_for(connected, ask):
    ask("chat/model-1", Fault(429, headers={"retry-after": "1"}), "Here I am")
    first, second = connected[1].requests
    assert 0.9 <= second.at - first.at < 3


def test_it_is_tried_again_four_times_and_then_told(connected, ask):
    run = ask("chat/model-1", *[Fault(500, "broken for good", headers=AT_ONCE) for _ in range(6)])
    assert "broken for good" in assert_failed(run) and len(connected[1].requests) == 5
    assert len(run) == 2


def test_a_quota_that_is_used_up_is_not_tried_again(connected, ask):
    run = ask("chat/model-1", Fault(429, "no more credit", kind="insufficient_quota", headers=AT_ONCE))
    assert "no more credit" in assert_failed(run) and len(connected[1].requests) == 1


@pytest.mark.parametrize("data",
                         [b"", b"HTTP/1.1 200 OK\r\n", b"garbage\r\n\r\n",
                          b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n{"])
def test_a_connection_that_breaks_before_the_answer_is_tried_again(connected, ask, data):
    run = ask("chat/model-1", Raw(data), "Here I am")
    assert text_of(run) == "Here I am" and len(connected[1].requests) == 2


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("fault", ["cut", "garbage", "end"])
def test_a_stream_that_breaks_before_its_first_delta_is_tried_again(connected, ask, name, fault):
    run = ask(f"{name}/model-1", Reply("never", fault=fault, after=0), "Here I am")
    assert text_of(run) == "Here I am" and run[-1]["finishReason"] == "stop"
    assert len(connected[1].requests) == 2


def test_an_error_that_is_no_json_is_told_as_it_is(ask):
    page = Fault(404, body="<html>Nothing here</html>", headers={"content-type": "text/html"})
    assert "404" in assert_failed(ask("chat/model-1", page))


# Failures after the first delta.


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("fault", ["cut", "garbage", "error", "end"])
def test_what_came_before_a_break_is_kept_as_partial(connected, ask, name, fault):
    gateway, stub = connected
    run = ask(f"{name}/model-1", Reply("One two three four", deltas=4, fault=fault, after=2))
    assert_failed(run)
    assert text_of(run) == "One two th"
    turn = turn_of(gateway, run)
    assert turn["content"] == "One two th" and turn["metadata"]["partial"] is True
    assert turn["metadata"]["finish_reason"] == "error" and len(stub.requests) == 1


# Fallbacks.


@pytest.fixture
def fallback(connected, name):
    """An agent whose model is down, with others to fall back to."""
    body = {"type": "agent", "name": name("robust"), "description": "", "enabled": True, "definition": {
        "model": "chat/first", "fallback_models": ["keyless/second", "responses/third", "local/fourth"]}}
    return accepted(connected[0].http.post("/extensions", json=body), 201)["name"]


def test_after_all_tries_the_fallback_models_are_asked_in_turn(connected, ask, fallback):
    gateway, stub = connected
    run = ask(None, *down(), "Third here", agentId=fallback)
    assert text_of(run) == "Third here" and run[-1]["model"] == "responses/third"
    assert [request.json["model"] for request in stub.requests] == ["first"] * 5 + ["third"]
    assert turn_of(gateway, run)["metadata"]["model"] == "responses/third"


@pytest.mark.parametrize("status", [500, 529])
def test_a_service_that_wants_no_other_try_leaves_the_answer_to_a_fallback(connected, ask, fallback, status):
    run = ask(None, Fault(status, headers={"x-should-retry": "false"}), "Third here", agentId=fallback)
    assert text_of(run) == "Third here" and run[-1]["model"] == "responses/third"
    assert [request.json["model"] for request in connected[1].requests] == ["first", "third"]


def test_a_fallback_is_asked_for_no_more_than_it_can_answer(connected, ask, name):
    gateway, stub = connected
    body = {"type": "agent", "name": name("wordy"), "description": "", "enabled": True, "definition": {
        "model": "messages/claude-sonnet-5-5", "fallback_models": ["messages/unheard-of"], "max_output_tokens": 20_000}}
    agent = accepted(gateway.http.post("/extensions", json=body), 201)["name"]
    run = ask(None, *down(), "Here I am", agentId=agent)
    assert text_of(run) == "Here I am"
    assert [request.json["max_tokens"] for request in stub.requests] == [20_000] * 5 + [8192]


def test_after_the_first_delta_nothing_falls_back(connected, ask, fallback):
    run = ask(None, Reply("One two", deltas=2, fault="cut", after=1), agentId=fallback)
    assert_failed(run)
    assert run[-1]["model"] == "chat/first" and len(connected[1].requests) == 1


# Stopping.


@pytest.mark.parametrize("name", FORMATS)
def test_a_stop_aborts_the_request_upstream(connected, name):
    gateway, stub = connected
    stub.reset()
    held = stub.hold("One")
    thread = accepted(gateway.http.post("/threads", json={"title": "told"}), 201)
    with gateway.events(thread["id"]) as events:
        body = {"content": "a", "threadId": thread["id"], "model": f"{name}/model-1"}
        turn = accepted(gateway.http.post("/chat", json=body), 201)
        events.until(lambda event: event["type"] == "text-delta")
        accepted(gateway.http.post("/chat/stop", json={"threadId": thread["id"]}))
        assert events.run(turn["id"])[-1]["type"] == "stopped"
    assert held.was_aborted()


def test_a_stop_ends_the_wait_for_another_try(connected):
    gateway, stub = connected
    stub.reset()
    stub.script(Fault(429, headers={"retry-after": "30"}))
    thread = accepted(gateway.http.post("/threads", json={"title": "told"}), 201)
    with gateway.events(thread["id"]) as events:
        body = {"content": "a", "threadId": thread["id"], "model": "chat/m"}
        turn = accepted(gateway.http.post("/chat", json=body), 201)
        stub.wait_for_requests(1)
        started = time.monotonic()
        accepted(gateway.http.post("/chat/stop", json={"threadId": thread["id"]}))
        assert [event["type"] for event in events.run(turn["id"])] == ["stopped"] and time.monotonic() - started < 25


# Many at once, and secrets.


def test_many_answers_come_at_once(connected):
    gateway, stub = connected
    stub.reset()
    answers = [stub.hold("slowly ") for _ in range(16)]
    with gateway.events() as events:
        body = {"content": "a", "model": "chat/m"}
        sent = at_once(16, lambda _: accepted(gateway.http.post("/chat", json=body), 201))
        assert all(answer.was_asked() for answer in answers), "none waits for the end of another"
        for answer in answers:
            answer.release("it comes")
        for turn in sent:
            assert text_of(events.run(turn["id"])) == "slowly it comes"


def test_the_key_stands_in_no_log(connected, ask):
    gateway, _ = connected
    assert_failed(ask("messages/m", Fault(401, f"invalid x-api-key {KEY}")))
    logs = "".join(file.read_text() for file in (gateway.data / "logs").iterdir())
    assert KEY not in logs and KEY not in gateway.stderr
