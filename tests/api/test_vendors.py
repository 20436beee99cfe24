"""Peculiarities of vendors, all of which use the formats of tests/api/test_providers.py.

See docs/models.md#what-each-service-can-do-here.
"""

import json
import re
from itertools import count
from urllib.parse import urlsplit

import pytest

from checks import accepted
from events import text_of
from gateway import Gateway
from shared_files import shared_json
from stubs.provider import Fault, ProviderStub, Raw, Reply, ToolCall

CALL = ToolCall("Glob", {"pattern": "*.none"}, id="call_of_another_model")
SIGNATURE = "c2lnbmF0dXJl"  # the one that the stub sends with a call
_names = count(1)


class Chats:
    """A gateway with the services that a test defines, all served by the stub."""

    def __init__(self, gateway, stub):
        self.gateway = gateway
        self.stub = stub

    def connect(self, api="openai-chat", path=None, **members):
        """Connects a service and returns its name. `path` follows the stub's address in its `base_url`."""
        if path is None:
            path = "/v1" if api.startswith("openai") else ""
        definition = {"kind": "model", "api": api, "base_url": self.stub.base_url + path, **members}
        record = {"type": "integration", "name": f"vendor-{next(_names)}", "description": "", "enabled": True,
                  "definition": definition}
        return accepted(self.gateway.http.post("/extensions", json=record), 201)["name"]

    def new_thread(self):
        return accepted(self.gateway.http.post("/threads", json={"title": "a title"}), 201)["id"]

    def ask(self, model, *replies, thread=None):
        """Returns the events of the run."""
        self.stub.script(*replies)
        thread = thread or self.new_thread()
        with self.gateway.events(thread) as events:
            body = {"content": "a question", "threadId": thread, "model": model}
            return events.run(accepted(self.gateway.http.post("/chat", json=body), 201)["id"])

    def succeed(self, model, *replies, thread=None):
        run = self.ask(model, *replies, thread=thread)
        assert run[-1]["finishReason"] == "stop", run
        return run

    def fail(self, model, *replies):
        """Returns the error of the run."""
        run = self.ask(model, *replies)
        assert run[-1]["finishReason"] == "error", run
        return run[-2]["error"]

    def thread_of_another_model(self):
        """Creates a thread in which a model of another service has called a tool."""
        thread = self.new_thread()
        asking = Reply("", reasoning="Hm.", tool_calls=[CALL])
        self.succeed(f"{self.connect()}/m", asking, Reply("Done."), thread=thread)
        self.stub.reset()
        return thread


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    with ProviderStub() as stub:
        gateway = Gateway(tmp_path_factory.mktemp("vendors")).start()
        yield Chats(gateway, stub)
        gateway.close()


@pytest.fixture
def chats(shared):
    shared.stub.reset()
    return shared


def body_of(content, kind):
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n"
    return Raw((head + content).encode())


def streamed(*frames):
    """Returns a response that streams these objects."""
    data = [f"data: {json.dumps(frame)}\n\n" for frame in frames]
    return body_of("".join(data) + "data: [DONE]\n\n", "text/event-stream")


def choice(finish_reason=None, **delta):
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]}


def usage_of(run):
    return {name.removesuffix("_tokens"): number for name, number in run[-1]["usage"].items() if number}


def calls_and_results(request):
    """Returns the ids of the calls in a request, and the ids of the calls that its results belong to."""
    messages = request.json["messages"]
    return ([call["id"] for message in messages for call in message.get("tool_calls", [])],
            [message["tool_call_id"] for message in messages if message["role"] == "tool"])


# Azure OpenAI.

AZURE = "/openai/deployments/{model}?api-version=2024-10-21"


def test_azure_lists_models_in_addition_to_deployments(chats):
    chats.stub.models = ["gpt-4.1"]
    definition = {"kind": "model", "api": "openai-chat", "base_url": chats.stub.base_url + AZURE}
    checked = accepted(chats.gateway.http.post("/model-services/check", json={"definition": definition}))
    assert [model["id"] for model in checked["models"]] == ["gpt-4.1"]
    request, = chats.stub.list_requests
    assert (request.path, request.query) == ("/openai/models", "api-version=2024-10-21")


def test_results_of_the_filters_of_azure_precede_the_answer(chats):
    run = chats.succeed(f"{chats.connect(path=AZURE)}/mine", streamed(
        {"choices": [], "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {}}]},
        choice(role="assistant", content=""), choice(content="Hi"),
        choice("stop", content=""), {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}))
    assert text_of(run) == "Hi" and usage_of(run) == {"input": 3, "output": 2}


def test_prompt_filtered_by_azure_is_not_sent_again(chats):
    body = {"error": {"message": "The response was filtered", "type": None, "param": "prompt", "code": "content_filter",
                      "status": 400, "innererror": {"code": "ResponsibleAIPolicyViolation"}}}
    assert "The response was filtered" in chats.fail(f"{chats.connect(path=AZURE)}/mine", Fault(400, body=body))
    assert len(chats.stub.requests) == 1


def test_unknown_deployment_of_azure_is_reported(chats):
    body = {"error": {"code": "DeploymentNotFound", "message": "The API deployment for this resource does not exist."}}
    assert "does not exist" in chats.fail(f"{chats.connect(path=AZURE)}/wrong", Fault(404, body=body))


def test_cohere_is_asked_again_without_the_options_that_it_refuses(chats):
    service = chats.connect()
    body = {"message": "unknown field: parameter 'stream_options' is not a valid field"}
    chats.succeed(f"{service}/command", Fault(422, body=body), Reply("Hi."))
    first, second = chats.stub.requests
    assert "stream_options" in first.json and "stream_options" not in second.json


def test_limit_has_the_name_that_a_deployment_requires(chats):
    """The name of a deployment does not show which model it has."""
    model = f"{chats.connect(path=AZURE)}/mine"
    body = {"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                      "'max_completion_tokens' instead.", "type": "invalid_request_error", "param": "max_tokens",
                      "code": "unsupported_parameter"}}
    chats.succeed(model, Fault(400, body=body), "Hi")
    chats.succeed(model, "Hi again")
    named = [{"max_tokens", "max_completion_tokens"} & set(request.json) for request in chats.stub.requests]
    assert named == [{"max_tokens"}, {"max_completion_tokens"}, {"max_completion_tokens"}]


# OpenRouter: its status is 200 once it waits for a vendor, so later errors are in the stream.


def router_error(code, message="Provider returned error", **metadata):
    return {"error": {"code": code, "message": message, "metadata": metadata}, **choice("error", content="")}


@pytest.mark.parametrize("code", [429, 502])
def test_error_in_the_stream_of_openrouter_is_retried_before_the_first_delta(chats, code):
    run = chats.succeed(f"{chats.connect(path='/api/v1')}/a/b", streamed(router_error(code)), "Now it works")
    assert text_of(run) == "Now it works" and len(chats.stub.requests) == 2


@pytest.mark.parametrize("code", [402, 403])
def test_permanent_error_in_the_stream_of_openrouter_is_not_retried(chats, code):
    error = chats.fail(f"{chats.connect(path='/api/v1')}/a/b", streamed(router_error(code, "Insufficient credits")))
    assert "Insufficient credits" in error and len(chats.stub.requests) == 1


def test_text_before_an_error_in_the_stream_of_openrouter_is_kept(chats):
    run = chats.ask(f"{chats.connect(path='/api/v1')}/a/b", streamed(choice(content="Half of"), router_error(502)))
    assert text_of(run) == "Half of" and run[-1]["finishReason"] == "error" and len(chats.stub.requests) == 1


def test_error_in_a_complete_response_of_openrouter_is_found(chats):
    answer = {"choices": [{"index": 0, "message": {"role": "assistant", "content": ""}, "finish_reason": "error",
                           "error": {"code": 403, "message": "Flagged by moderation"}}]}
    reply = body_of(json.dumps(answer), "application/json")
    assert "Flagged by moderation" in chats.fail(f"{chats.connect(path='/api/v1')}/a/b", reply)


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "text/event-stream"])
def test_answers_are_read_whatever_the_service_calls_them(chats, kind):
    model = f"{chats.connect()}/m"
    whole = json.dumps({"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}, indent=2)
    for content in [f": a comment\n\ndata: {json.dumps(choice('stop', content='Hi'))}\n\n", whole]:
        assert text_of(chats.succeed(model, body_of("\n\n" + content, kind))) == "Hi"


def test_openrouter_error_includes_that_of_the_vendor(chats):
    body = {"error": {"code": 400, "message": "Provider returned error",
                      "metadata": {"raw": "the seed must be positive", "provider_name": "Vendor"}}}
    assert "the seed must be positive" in chats.fail(f"{chats.connect(path='/api/v1')}/a/b", Fault(400, body=body))


# DeepSeek: its models reason before they call tools, and need these thoughts in later requests.


def deepseek(reply):
    """Responds like DeepSeek: each message of the request that calls tools must have thoughts, even if they are empty."""
    def answer(request):
        calling = [message for message in request.json["messages"] if "tool_calls" in message]
        if any("reasoning_content" not in message for message in calling):
            return Fault(400, "The `reasoning_content` in the thinking mode must be passed back to the API.",
                         "invalid_request_error")
        return reply
    return answer


def thoughts_in(request):
    return [message["reasoning_content"] for message in request.json["messages"] if "reasoning_content" in message]


def test_deepseek_gets_thoughts_back_with_the_call_that_they_led_to(chats):
    model = f"{chats.connect(path='')}/deepseek-flash"
    chats.succeed(model, deepseek(Reply("", reasoning="First, look.", tool_calls=[CALL])),
                  deepseek(Reply("", reasoning="Look again.", tool_calls=[CALL])), deepseek(Reply("Done.")))
    assert [thoughts_in(request) for request in chats.stub.requests] == [
        [], ["First, look."], ["First, look.", "Look again."]]


def test_deepseek_continues_a_conversation_of_another_model(chats):
    thread, model = chats.thread_of_another_model(), f"{chats.connect(path='')}/deepseek-flash"
    chats.succeed(model, *[deepseek(Reply("Hi."))] * 2, thread=thread)
    chats.succeed(model, deepseek(Reply("Hi again.")), thread=thread)
    assert [thoughts_in(request) for request in chats.stub.requests] == [[], [""], [""]], "it is refused once only"


def test_tokens_that_deepseek_read_from_its_cache_are_counted(chats):
    usage = {"prompt_tokens": 100, "prompt_cache_hit_tokens": 90, "completion_tokens": 5}
    run = chats.succeed(f"{chats.connect(path='')}/deepseek-flash",
                        streamed(choice("stop", content="Hi"), {"choices": [], "usage": usage}))
    assert usage_of(run) == {"input": 10, "output": 5, "cache_read": 90}


# Gemini.


def signatures_in(request):
    """The signature of each call in the request; None for one without."""
    return [part.get("thoughtSignature") for content in request.json["contents"] for part in content["parts"]
            if "functionCall" in part]


def test_gemini_gets_signatures_back_with_their_calls(chats):
    second = ToolCall("Glob", {"pattern": "*.two"})
    chats.succeed(f"{chats.connect('gemini')}/gemini-flash-latest", Reply("", tool_calls=[CALL, second]),
                  Reply("", tool_calls=[second]), Reply("Done."))
    # Of parallel calls, only the first has a signature.
    assert [signatures_in(request) for request in chats.stub.requests] == [
        [], [SIGNATURE, None], [SIGNATURE, None, SIGNATURE]]


def limit_of_gemini(quota):
    """Returns what Google answers above a limit. It always says when to try again."""
    details = [{"violations": [{"quotaId": quota}]}, {"retryDelay": "0.25s"}]
    return {"error": {"code": 429, "message": "You exceeded your current quota.", "details": details}}


@pytest.mark.parametrize("api", ["gemini", "openai-chat"])
def test_limit_of_a_minute_is_waited_for_but_not_that_of_a_day(chats, api):
    model = f"{chats.connect(api)}/gemini-flash-latest"
    minute = limit_of_gemini("GenerateContentInputTokensPerModelPerMinute-FreeTier")
    chats.succeed(model, Fault(429, body=[minute]), Fault(429, body=minute), Reply("Hi."))
    assert len(chats.stub.requests) == 3
    day = limit_of_gemini("GenerateRequestsPerDayPerProjectPerModel-FreeTier")
    error = chats.fail(model, Fault(429, body=[day]))
    assert error.endswith("answered 429: You exceeded your current quota.")
    assert len(chats.stub.requests) == 4


def test_gemini_continues_a_conversation_of_another_model(chats):
    chats.succeed(f"{chats.connect('gemini')}/gemini-flash-latest", "Hi.", thread=chats.thread_of_another_model())
    request, = chats.stub.requests
    assert signatures_in(request) == ["skip_thought_signature_validator"]


# Groq.


def test_tokens_that_groq_reports_separately_are_counted(chats):
    run = chats.succeed(f"{chats.connect(path='/openai/v1')}/m", streamed(
        {**choice(role="assistant", content=""), "x_groq": {"id": "req_1"}}, choice(content="Hi"),
        {**choice("stop"), "x_groq": {"id": "req_1", "usage": {"prompt_tokens": 10, "completion_tokens": 5}}}))
    assert text_of(run) == "Hi" and usage_of(run) == {"input": 10, "output": 5}


def test_stream_that_groq_breaks_off_is_retried(chats):
    broken = {**choice(role="assistant", content=""), "x_groq": {"id": "req_1", "error": "over capacity"}}
    assert text_of(chats.succeed(f"{chats.connect(path='/openai/v1')}/m", streamed(broken), "Hi")) == "Hi"


# Mistral.


def mistral(reply):
    """Responds like Mistral, which accepts only ids of nine letters and digits."""
    def answer(request):
        for id in sum(calls_and_results(request), []):
            if not re.fullmatch("[a-zA-Z0-9]{9}", id):
                return Fault(400, f"Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9.",
                             "invalid_request_error")
        return reply
    return answer


def test_mistral_continues_a_conversation_of_another_model(chats):
    thread, model = chats.thread_of_another_model(), f"{chats.connect()}/mistral-large-latest"
    own = ToolCall("Glob", {"pattern": "*.own"}, id="D681PevKs")
    chats.succeed(model, *[mistral(Reply("", tool_calls=[own]))] * 2, mistral(Reply("Done.")), thread=thread)
    chats.succeed(model, mistral(Reply("Bye.")), thread=thread)
    refused, *repeated = chats.stub.requests
    assert calls_and_results(refused)[0] == [CALL.id] and len(repeated) == 3, "it is refused once only"
    calls, results = calls_and_results(repeated[-1])
    assert calls == results and calls[1] == own.id


def test_thoughts_of_mistral_are_separated_from_its_text(chats):
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    run = chats.succeed(f"{chats.connect()}/magistral-medium-latest",
                        streamed(choice(content=[thinking]), choice("stop", content="Hi")))
    assert text_of(run) == "Hi"
    assert [event["delta"] for event in run if event["type"] == "reasoning-delta"] == ["Hm."]


# Ollama: it silently drops the beginning of a conversation that does not fit.


def test_ollama_is_called_with_the_window_that_requests_fit(chats):
    chats.stub.models = ["qwen3", {"name": "big", "model": "big", "context_length": 262144}]
    name = chats.connect("ollama", models=[{"id": "wide", "context_window": 65536}])
    rows = {row["id"]: row for row in accepted(chats.gateway.http.get("/models", params={"refresh": "true"}))}
    for model, window in {"qwen3": 32768, "big": 32768, "wide": 65536}.items():
        assert rows[f"{name}/{model}"]["context_window"] == window
        chats.succeed(f"{name}/{model}", "Hi")
        assert chats.stub.requests[-1].json["options"]["num_ctx"] == window


# llama.cpp.

TIMINGS = {"cache_n": 90, "prompt_n": 10, "prompt_ms": 12.5, "predicted_n": 5, "predicted_ms": 40.0}


@pytest.mark.parametrize("last", [
    {"timings": TIMINGS}, {"timings": TIMINGS, "usage": {"prompt_tokens": 100, "completion_tokens": 5}}])
def test_tokens_are_taken_from_the_timings_of_llama_cpp(chats, last):
    reply = streamed(choice(content="Hi"), choice("stop"), {"choices": [], **last})
    run = chats.succeed(f"{chats.connect()}/m", reply)
    assert usage_of(run) == {"input": 10, "output": 5, "cache_read": 90}


def test_llama_cpp_is_retried_while_it_loads(chats):
    body = {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}
    assert text_of(chats.succeed(f"{chats.connect()}/m", Fault(503, body=body), "Hi")) == "Hi"


def test_context_of_llama_cpp_is_read_from_its_list(chats):
    chats.stub.models = [{"id": "m", "object": "model", "meta": {"n_ctx": 8192, "n_ctx_train": 131072}}]
    name = chats.connect()
    rows = accepted(chats.gateway.http.get("/models", params={"refresh": "true"}))
    assert [row["context_window"] for row in rows if row["provider"] == name] == [8192]


# Other presets: the formats of their lists of models, thoughts and errors.

PRESETS = {preset["name"]: preset for preset in shared_json("model-services.jsonc")}


def path_of(preset):
    return urlsplit(PRESETS[preset]["base_url"]).path


@pytest.mark.parametrize("preset, body, windows", [
    ("xai", {"object": "list", "data": [{"id": "grok-4.3", "created": 1, "object": "model", "owned_by": "xai"}]},
     {"grok-4.3": 1_000_000}),
    ("together", [{"id": "maker/chat", "object": "model", "type": "chat", "context_length": 131072,
                   "pricing": {"hourly": 0, "input": 0.05, "output": 0.2, "base": 0, "finetune": 0}},
                  {"id": "maker/embed", "object": "model", "type": "embedding", "context_length": 512}],
     {"maker/chat": 131072}),
    ("fireworks", {"object": "list", "data": [
        {"id": "accounts/fireworks/models/chat", "object": "model", "owned_by": "fireworks", "kind": "HF_BASE_MODEL",
         "supports_chat": True, "supports_image_input": True, "supports_tools": False, "context_length": 163840}]},
     {"accounts/fireworks/models/chat": 163840}),
    ("cerebras", {"object": "list", "data": [{"id": "gpt-oss-120b", "object": "model", "created": 0,
                                              "owned_by": "Cerebras"}]}, {"gpt-oss-120b": 65536}),
    ("lm-studio", {"object": "list", "data": [{"id": "qwen3-8b", "object": "model", "owned_by": "organization_owner"}]},
     {"qwen3-8b": 32768}),
    ("vllm", {"object": "list", "data": [{"id": "Qwen/Qwen3-8B", "object": "model", "owned_by": "vllm", "parent": None,
                                          "root": "Qwen/Qwen3-8B", "max_model_len": 40960, "permission": []}]},
     {"Qwen/Qwen3-8B": 40960})])
def test_list_of_each_service_is_read(chats, preset, body, windows):
    chats.stub.models = Fault(200, body=body)
    name = chats.connect(path=path_of(preset))
    rows = accepted(chats.gateway.http.get("/models", params={"refresh": "true"}))
    found = {row["id"].split("/", 1)[1]: row for row in rows if row["provider"] == name}
    assert {id: row["context_window"] for id, row in found.items()} == windows
    assert path_of(preset) + "/models" in [request.path for request in chats.stub.list_requests]
    if preset == "fireworks":
        row, = found.values()
        assert row["vision"] is True and row["tools"] is False


@pytest.mark.parametrize("preset, thoughts", [
    ("xai", "reasoning_content"), ("together", "reasoning"), ("fireworks", "reasoning_content"),
    ("cerebras", "reasoning"), ("github-models", None), ("lm-studio", "reasoning_content"), ("vllm", "reasoning")])
def test_tools_thoughts_and_usage_of_each_service_are_read(chats, preset, thoughts):
    """A step with a call and one without, at the preset's own path. Usage is sent only if requested."""
    def answer(request, *frames):
        assert request.json["stream_options"] == {"include_usage": True}
        return streamed(*frames, {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5}})

    def first(request):
        reasoning = [choice(**{thoughts: "Hm."})] if thoughts else []
        call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "Glob", "arguments": '{"pattern": "*"}'}}
        return answer(request, choice(role="assistant", content=""), *reasoning, choice(tool_calls=[call]), choice("tool_calls"))

    run = chats.succeed(f"{chats.connect(path=path_of(preset))}/maker/model", first,
                        lambda request: answer(request, choice(content="Done."), choice("stop")))
    assert text_of(run) == "Done." and usage_of(run) == {"input": 20, "output": 10}
    assert [event["delta"] for event in run if event["type"] == "reasoning-delta"] == (["Hm."] if thoughts else [])
    assert {request.path for request in chats.stub.requests} == {path_of(preset) + "/chat/completions"}
    assert [request.json["model"] for request in chats.stub.requests] == ["maker/model"] * 2
    assert calls_and_results(chats.stub.requests[-1]) == (["c1"], ["c1"])


@pytest.mark.parametrize("preset, status, body, message", [
    ("xai", 400, {"code": "Client specified an invalid argument", "error": "Model not found: grok-0"},
     "Model not found: grok-0"),
    ("together", 400, {"id": "x", "error": {"message": "Input validation error", "type": "invalid_request_error",
                                            "param": None, "code": None}}, "Input validation error"),
    ("fireworks", 404, {"error": {"object": "error", "type": "invalid_request_error", "code": "NOT_FOUND",
                                  "message": "Model not found, inaccessible, and/or not deployed"}}, "Model not found"),
    ("cerebras", 404, {"message": "Model x does not exist or you do not have access to it.", "type": "not_found_error",
                       "param": "model", "code": "model_not_found"}, "Model x does not exist"),
    ("github-models", 400, {"error": {"code": "unknown_model", "message": "Unknown model: x", "details": "x"}},
     "Unknown model: x"),
    ("lm-studio", 404, {"error": "Model not loaded"}, "Model not loaded"),
    ("vllm", 401, {"error": "Unauthorized"}, "Unauthorized"),
    ("vllm", 404, {"error": {"message": "The model `x` does not exist.", "type": "NotFoundError", "param": None,
                             "code": 404}}, "The model `x` does not exist.")])
def test_error_of_each_service_is_reported(chats, preset, status, body, message):
    error = chats.fail(f"{chats.connect(path=path_of(preset))}/x", Fault(status, body=body))
    assert message in error and str(status) in error and len(chats.stub.requests) == 1


def test_lm_studio_may_load_a_model_before_it_responds(chats):
    run = chats.succeed(f"{chats.connect(path=path_of('lm-studio'))}/m", Reply("Loaded.", head_delay=1))
    assert text_of(run) == "Loaded."


# Built-in information about models.


def test_known_model_without_a_price_counts_as_unpriced(chats):
    model = f"{chats.connect()}/openai/gpt-oss-120b"
    chats.succeed(model, "Hi")
    assert model in accepted(chats.gateway.http.get("/costs"))["unpriced"]
