"""Model services that change or are deleted during runs, send hostile answers, or are used by other extensions.

See docs/contract/models.md#services-that-come-and-go.
"""

from concurrent.futures import ThreadPoolExecutor

import pytest

from checks import accepted, refused
from events import text_of
from jobs import new_extension, new_job
from model_services import KEY, agent, ask, connect, definition, live, resident_bytes, secret  # noqa: F401
from stubs.endless import Endless
from stubs.provider import Fault, ProviderStub, ToolCall


def test_changed_address_applies_from_the_next_answer(live, stub, connect):
    with ProviderStub() as other_stub:
        service = connect(definition(stub))
        held = stub.hold("One ")
        thread = accepted(live.http.post("/threads", json={"title": "a title"}), 201)
        with live.events(thread["id"]) as events:
            turn = accepted(live.http.post("/chat", json={
                "content": "a", "threadId": thread["id"], "model": f"{service['name']}/m"}), 201)
            assert held.was_asked()
            accepted(live.http.patch(f"/extensions/{service['id']}", json={"definition": definition(other_stub)}))
            held.release("two")
            assert text_of(events.run(turn["id"])) == "One two"
        other_stub.script("From there")
        assert text_of(ask(live, f"{service['name']}/m")) == "From there"


def test_changed_key_applies_from_the_next_answer(live, stub, connect):
    secret(live, "TURNING", "first-key-0123456789")
    service = connect(definition(stub, api_key="${secret:TURNING}"))
    ask(live, f"{service['name']}/m")
    secret(live, "TURNING", "second-key-0123456789")
    ask(live, f"{service['name']}/m")
    keys = [request.headers["authorization"] for request in stub.requests]
    assert keys == ["Bearer first-key-0123456789", "Bearer second-key-0123456789"]


@pytest.mark.parametrize("order", ["address first", "key first"])
def test_new_key_is_never_sent_to_the_old_address(live, stub, connect, new_name, order):
    """A run of two steps keeps the service that it began with, both address and key."""
    name = new_name("KEY").replace("-", "_").upper()
    secret(live, name, "old-key-0123456789")
    with ProviderStub() as other_stub:
        service = connect(definition(stub, api_key=f"${{secret:{name}}}"))
        changes = [lambda: accepted(live.http.patch(f"/extensions/{service['id']}", json={
                       "definition": definition(other_stub, api_key=f"${{secret:{name}}}")})),
                   lambda: secret(live, name, "new-key-0123456789")]
        held = stub.hold("Wait.", tool_calls=[ToolCall("ListExtensions", {})])
        stub.script("Done.")
        thread = accepted(live.http.post("/threads", json={"title": "a title"}), 201)
        with live.events(thread["id"]) as events:
            turn = accepted(live.http.post("/chat", json={
                "content": "a", "threadId": thread["id"], "model": f"{service['name']}/m"}), 201)
            assert held.was_asked()
            for change in changes if order == "address first" else reversed(changes):
                change()
            held.release()
            assert text_of(events.run(turn["id"])).endswith("Done.")
        assert [request.headers["authorization"] for request in stub.requests] == ["Bearer old-key-0123456789"] * 2
        assert ask(live, f"{service['name']}/m")[-1]["finishReason"] == "stop"
        assert [request.headers["authorization"] for request in other_stub.requests] == ["Bearer new-key-0123456789"]


def test_run_completes_on_a_service_deleted_during_it(live, stub, connect, new_name):
    name = new_name("KEY").replace("-", "_").upper()
    secret(live, name, "old-key-0123456789")
    service = connect(definition(stub, api_key=f"${{secret:{name}}}"))
    held = stub.hold("Wait.", tool_calls=[ToolCall("ListExtensions", {})])
    stub.script("Done.")
    thread = accepted(live.http.post("/threads", json={"title": "a title"}), 201)
    with live.events(thread["id"]) as events:
        turn = accepted(live.http.post("/chat", json={
            "content": "a", "threadId": thread["id"], "model": f"{service['name']}/m"}), 201)
        assert held.was_asked()
        assert live.http.delete(f"/extensions/{service['id']}", params={"force": "true"}).status_code == 204
        secret(live, name, "new-key-0123456789")
        held.release()
        assert text_of(events.run(turn["id"])).endswith("Done.")
    assert {request.headers["authorization"] for request in stub.requests} == {"Bearer old-key-0123456789"}


# Costs.


PRICED = {"models": [{"id": "m", "prices": {"input": 1000, "output": 2000}}], "default_model": "m"}


def delete(live, stub, service, new_name):
    assert live.http.delete(f"/extensions/{service['id']}").status_code == 204


def disable(live, stub, service, new_name):
    accepted(live.http.patch(f"/extensions/{service['id']}", json={"enabled": False}))


def rename(live, stub, service, new_name):
    accepted(live.http.patch(f"/extensions/{service['id']}", json={"name": new_name("renamed")}))


def take_prices(live, stub, service, new_name):
    accepted(live.http.patch(f"/extensions/{service['id']}", json={"definition": definition(stub)}))


def raise_prices(live, stub, service, new_name):
    models = [{"id": "m", "prices": {"input": 5000, "output": 5000}}]
    accepted(live.http.patch(f"/extensions/{service['id']}", json={"definition": definition(stub, models=models)}))


MEANWHILE = pytest.mark.parametrize("change", [delete, disable, rename, take_prices, raise_prices])
COST = pytest.approx(0.02)  # of an answer with the stub's 10 input and 5 output tokens


def cost_of_model(live, model):
    report = accepted(live.http.get("/costs"))
    assert model not in report["unpriced"]
    return {row["model"]: row["cost"] for row in report["by_model"]}[model]


@MEANWHILE
def test_run_costs_what_the_service_cost_when_it_began(live, stub, connect, new_name, change):
    service = connect(definition(stub, **PRICED))
    model = f"{service['name']}/m"
    held = stub.hold("One ")
    thread = accepted(live.http.post("/threads", json={"title": "a title"}), 201)
    with live.events(thread["id"]) as events:
        turn = accepted(live.http.post("/chat", json={"content": "a", "threadId": thread["id"], "model": model}), 201)
        assert held.was_asked()
        change(live, stub, service, new_name)
        held.release("two")
        assert events.run(turn["id"])[-1]["costUsd"] == COST
    assert cost_of_model(live, model) == COST


@MEANWHILE
def test_answer_to_a_program_costs_what_the_service_cost_when_it_began(live, stub, connect, new_name, change):
    service = connect(definition(stub, **PRICED))
    model = f"{service['name']}/m"
    held = stub.hold("One ")
    with ThreadPoolExecutor() as pool:
        answer = pool.submit(live.http.post, "/v1/chat/completions", json={
            "model": model, "messages": [{"role": "user", "content": "a"}]})
        assert held.was_asked()
        change(live, stub, service, new_name)
        held.release("two")
        accepted(answer.result())
    assert cost_of_model(live, model) == COST


# Hostile answers.


def test_redirect_is_not_followed(live, stub, connect, new_name):
    name = new_name("KEY").replace("-", "_").upper()
    secret(live, name, KEY)
    with ProviderStub() as thief:
        service = connect(definition(stub, api_key=f"${{secret:{name}}}"))
        stub.script(Fault(307, headers={"location": f"{thief.openai_url}/chat/completions"}))
        run = ask(live, f"{service['name']}/m")
        assert run[-1]["finishReason"] == "error" and "it moved to" in run[-2]["error"], run
        assert len(stub.requests) == 1 and thief.requests == [] and KEY not in str(run)


@pytest.mark.parametrize("kind, problem", [("text", "the answer is over 67108864 bytes"), ("frame", "a message without end"), ("error", "400")])
def test_answer_of_ten_gigabytes_is_aborted(live, stub, connect, kind, problem):
    before = resident_bytes(live)
    service = connect(definition(stub))
    stub.always(Endless(kind))
    thread = accepted(live.http.post("/threads", json={"title": "a title"}), 201)
    with live.events() as events:
        events.subscribe(lists=True)  # receives only the end: a reader of 64 MiB that does not keep up is closed
        accepted(live.http.post("/chat", json={
            "content": "a question", "threadId": thread["id"], "model": f"{service['name']}/m"}), 201)
        end = events.until(lambda event: event["type"] == "finish" and event["threadId"] == thread["id"])[-1]
    assert end["finishReason"] == "error"
    error, = accepted(live.http.get(f"/threads/{thread['id']}/events", params={
        "runId": end["runId"], "after": end["seq"] - 2}))[:-1]
    assert problem in error["error"]
    assert resident_bytes(live) - before < 512 * 2**20
    assert live.http.get("/health").status_code == 200


# Deleting.


UNFORCED = {"force": "false"}


def test_service_used_by_agents_is_kept_if_not_forced(live, stub, connect, new_name):
    service = connect(definition(stub))
    named = [agent(live, new_name("first"), model=f"{service['name']}/m"),
             agent(live, new_name("second"), fallback_models=[f"{service['name']}/other"])]
    error = refused(live.http.delete(f"/extensions/{service['id']}", params=UNFORCED), 409, "model service is in use")
    assert sorted(error["named_by"]) == sorted(record["name"] for record in named)
    assert ask(live, agentId=named[0]["id"])[-1]["model"] == f"{service['name']}/m"


def test_extensions_that_name_a_model_keep_its_service(live, stub, connect, new_name):
    service = connect(definition(stub, fallback_models=[]))
    model = f"{service['name']}/m"
    named = [new_job(live, new_name("chore"), model=model),
             new_extension(live, "command", new_name("ask"), {"prompt": "Say it.", "model": model}, enabled=True),
             connect(definition(stub, fallback_models=[model]))]
    connect(definition(stub, fallback_models=[f"{new_name('other')}/m"]))
    for record in named:
        error = refused(live.http.delete(f"/extensions/{service['id']}", params=UNFORCED), 409,
                        "model service is in use")
        assert record["name"] in error["named_by"]
    assert sorted(error["named_by"]) == sorted(record["name"] for record in named)
    for record in named:
        assert live.http.delete(f"/extensions/{record['id']}").status_code == 204
    assert live.http.delete(f"/extensions/{service['id']}", params=UNFORCED).status_code == 204


def test_default_model_of_a_deleted_service_is_replaced(live, stub, connect):
    stub.models = ["m"]
    service = connect(definition(stub))
    chosen = accepted(live.http.patch("/settings", json={"default_model": f"{service['name']}/m"}))
    assert chosen["source"] == "settings"
    assert live.http.delete(f"/extensions/{service['id']}").status_code == 204
    settings = accepted(live.http.get("/settings"))
    assert settings["source"] == "automatic" and settings["default_model"] != f"{service['name']}/m"


def test_agents_of_a_deleted_service_fall_back(own_gateway, stub):
    with ProviderStub() as other:
        for name, provider in (("gone", stub), ("rest", other)):
            body = {"type": "integration", "name": name, "description": "", "enabled": True,
                    "definition": definition(provider, default_model="usual")}
            accepted(own_gateway.http.post("/extensions", json=body), 201)
        careful = agent(own_gateway, "careful", model="gone/m", fallback_models=["rest/spare"])
        plain = agent(own_gateway, "plain", model="gone/m")
        assert own_gateway.http.delete("/extensions/gone").status_code == 204
        for _ in range(2):
            assert ask(own_gateway, agentId=careful["id"])[-1]["model"] == "rest/spare"
            assert ask(own_gateway, agentId=plain["id"])[-1]["model"] == "rest/usual"
            own_gateway.stop()
            own_gateway.start()
        assert stub.requests == []
        signal = next(one for one in accepted(own_gateway.http.get("/signals"))
                      if one["kind"] == "model-service-deleted")
        assert "gone" in signal["message"] and "careful" in signal["message"] and "plain" in signal["message"]
