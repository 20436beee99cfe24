"""Model services that come and go: extensions of the kind model, their lists of models, checks, and the default model.

See docs/contract/models.md#services-that-come-and-go.
"""

import json
import re
import threading
import time
from urllib.parse import urlsplit

import pytest

import http_client
from checks import PATIENCE, accepted, refused
from events import text_of
from jobs import wait_for
from model_services import (APIS, KEY, KEY_HEADERS, agent, ask, connect, definition, live, logged,  # noqa: F401
                            rows_of, secret)
from stubs.provider import Fault, Flood, ProviderStub, Raw, Reply, Silence

# Services as records.


@pytest.mark.parametrize("api", APIS)
def test_service_answers_as_soon_as_it_is_stored(live, stub, connect, api):
    secret(live, "LIVE_KEY", KEY)
    service = connect(definition(stub, api, api_key="${secret:LIVE_KEY}"))
    stub.script(Reply("Here I am"))
    run = ask(live, f"{service['name']}/m1")
    assert text_of(run) == "Here I am" and run[-1]["model"] == f"{service['name']}/m1"
    assert stub.requests[0].path == APIS[api] and stub.requests[0].headers[KEY_HEADERS[api]].endswith(KEY)


def test_literal_key_is_refused(live, stub, new_name):
    for member in ({"api_key": KEY}, {"api_key": f"Bearer ${{secret:A}} {KEY}"}, {"headers": {"Authorization": KEY}},
                   {"headers": {"api-key": KEY}}, {"base_url": f"https://example.org/v1?key={KEY}"}):
        body = {"type": "integration", "name": new_name("leaky"), "description": "",
                "definition": {**definition(stub), **member}}
        error = refused(live.http.post("/extensions", json=body), 400, "validation failed")
        assert "keep the key as a secret" in error["details"][0]["message"] and KEY not in json.dumps(error)


@pytest.mark.parametrize("address", [
    "example.org/v1", "ftp://example.org", "https://user:word@example.org/v1", "http://169.254.169.254/latest",
    "http://metadata.google.internal/v1", "http://[fd00:ec2::254]/", "http://0xA9FEA9FE/", "https://a.example/v1\nx",
    "https://<resource>.openai.azure.com"])
def test_invalid_address_is_refused(live, new_name, address):
    wanted = {"kind": "model", "api": "openai-chat", "base_url": address}
    body = {"type": "integration", "name": new_name("strange"), "description": "", "definition": wanted}
    error = refused(live.http.post("/extensions", json=body), 400, "validation failed")
    assert error["details"][0]["path"] == "definition.base_url"
    refused(live.http.post("/model-services/check", json={"definition": wanted}), 400, "validation failed")
    assert body["name"] not in live.http.get("/extensions").text


def test_definition_needs_its_api(live, new_name):
    body = {"type": "integration", "name": new_name("vague"), "description": "", "definition": {"kind": "model"}}
    error = refused(live.http.post("/extensions", json=body), 400, "validation failed")
    assert error["details"] == [{"path": "definition.api", "message": "definition.api is required"}]


def test_models_name_the_source_of_their_service(make_gateway, stub):
    gateway = make_gateway(config={"providers": {"mine": {"kind": "openai", "base_url": stub.openai_url}}},
                           environment={"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": stub.base_url}).start()
    body = {"type": "integration", "name": "live", "description": "", "enabled": True,
            "definition": definition(stub, default_model="m")}
    accepted(gateway.http.post("/extensions", json=body), 201)
    sources = {row["provider"]: row["source"] for row in accepted(gateway.http.get("/models"))}
    assert sources == {"mine": "config", "anthropic": "environment", "live": "extension", "offline": "built-in"}


def test_configuration_takes_precedence_over_a_record_of_the_same_name(make_gateway, stub):
    with ProviderStub() as other:
        gateway = make_gateway(config={"providers": {"mine": {"kind": "openai", "base_url": stub.openai_url}}}).start()
        body = {"type": "integration", "name": "mine", "description": "", "enabled": True,
                "definition": definition(other)}
        record = accepted(gateway.http.post("/extensions", json=body), 201)
        assert ask(gateway, "mine/m")[-1]["finishReason"] == "stop"
        assert len(stub.requests) == 1 and other.requests == []
        assert gateway.http.delete(f"/extensions/{record['id']}").status_code == 204
        assert ask(gateway, "mine/m")[-1]["finishReason"] == "stop"


def test_service_cannot_have_the_name_of_the_built_in_one(live, stub, connect, new_name):
    body = {"type": "integration", "name": "offline", "description": "", "enabled": True, "definition": definition(stub)}
    problem = {"path": "name", "message": "offline is the gateway's own model: choose another name"}
    assert refused(live.http.post("/extensions", json=body), 400, "validation failed")["details"] == [problem]
    service = connect(definition(stub))
    renaming = live.http.patch(f"/extensions/{service['id']}", json={"name": "offline"})
    assert refused(renaming, 400, "validation failed")["details"] == [problem]
    other = connect({"kind": "mcp-http", "url": "https://example.org/mcp"}, name="offline", enabled=False)
    changing = live.http.patch(f"/extensions/{other['id']}", json={"definition": definition(stub)})
    assert refused(changing, 400, "validation failed")["details"] == [problem]
    accepted(live.http.patch(f"/extensions/{other['id']}", json={"description": "Of no matter."}))


def test_error_names_the_missing_secret(live, stub, connect):
    service = connect(definition(stub, api_key="${secret:NEVER_SET}"))
    run = ask(live, f"{service['name']}/m")
    assert run[-1]["finishReason"] == "error" and "there is no secret NEVER_SET" in run[-2]["error"]
    assert stub.requests == []


def test_secret_with_a_line_end_is_not_used_as_a_key(live, stub, connect):
    secret(live, "TWO_LINES", f"{KEY}\r\nx-evil: 1")
    service = connect(definition(stub, api_key="${secret:TWO_LINES}"))
    run = ask(live, f"{service['name']}/m")
    assert run[-1]["finishReason"] == "error" and "the secret TWO_LINES holds a line end" in run[-2]["error"]
    assert stub.requests == [] and KEY not in str(run)
    assert KEY not in logged(live)


def test_disabled_service_is_not_called(live, stub, connect):
    service = connect(definition(stub, default_model="m"))
    accepted(live.http.post(f"/extensions/{service['id']}/toggle"))
    assert rows_of(live, service["name"]) == []
    run = ask(live, f"{service['name']}/m")
    assert run[-1]["model"] == "offline/librarian" and stub.requests == []
    accepted(live.http.post(f"/extensions/{service['id']}/toggle"))
    assert ask(live, f"{service['name']}/m")[-1]["model"] == f"{service['name']}/m"


def test_service_survives_a_restart(own_gateway, stub):
    body = {"type": "integration", "name": "stays", "description": "", "enabled": True,
            "definition": definition(stub, default_model="m")}
    accepted(own_gateway.http.post("/extensions", json=body), 201)
    own_gateway.stop()
    own_gateway.start()
    assert ask(own_gateway)[-1]["model"] == "stays/m"


# Lists of models.


def test_list_is_known_after_a_restart_while_the_service_is_silent(own_gateway, stub):
    stub.models = ["m1"]
    body = {"type": "integration", "name": "stays", "description": "", "enabled": True, "definition": definition(stub)}
    accepted(own_gateway.http.post("/extensions", json=body), 201)
    assert [row["id"] for row in rows_of(own_gateway, "stays")] == ["stays/m1"]
    own_gateway.stop()
    stub.models = Silence()
    own_gateway.start()
    assert "stays/m1" in [model["id"] for model in accepted(own_gateway.http.get("/v1/models"))["data"]]
    assert [row["id"] for row in rows_of(own_gateway, "stays")] == ["stays/m1"]
    wait_for(lambda: len(stub.list_requests) == 2)
    assert [row["id"] for row in rows_of(own_gateway, "stays")] == ["stays/m1"], "no request waits for the new list"


def test_list_of_another_address_is_forgotten(own_gateway, stub):
    stub.models = ["m1"]
    body = {"type": "integration", "name": "moves", "description": "", "enabled": True, "definition": definition(stub)}
    service = accepted(own_gateway.http.post("/extensions", json=body), 201)
    assert [row["id"] for row in rows_of(own_gateway, "moves")] == ["moves/m1"]
    stub.models = ["m2"]
    moved = {**definition(stub), "base_url": stub.openai_url + "/elsewhere"}
    accepted(own_gateway.http.patch(f"/extensions/{service['id']}", json={"definition": moved}))
    own_gateway.stop()
    own_gateway.start()
    assert "moves/m1" not in [model["id"] for model in accepted(own_gateway.http.get("/v1/models"))["data"]]


def test_models_are_requested_when_first_needed_and_then_cached(live, stub, connect):
    stub.models = ["m1", "m2"]
    service = connect(definition(stub))
    assert stub.list_requests == []
    assert [row["id"] for row in rows_of(live, service["name"])] == [f"{service['name']}/m1", f"{service['name']}/m2"]
    rows_of(live, service["name"])
    assert len(stub.list_requests) == 1
    stub.models = ["m3"]
    assert [row["id"] for row in rows_of(live, service["name"], refresh="true")] == [f"{service['name']}/m3"]
    assert len(stub.list_requests) == 2


@pytest.mark.parametrize("headers", [{}, {"anthropic-version": "2023-06-01"}])
def test_models_are_also_requested_when_a_program_lists_them(live, stub, connect, headers):
    """A program connected right after the service would otherwise have nothing to choose from."""
    stub.models = ["m1", "m2"]
    name = connect(definition(stub))["name"]
    for _ in range(2):
        rows = accepted(live.http.get("/v1/models", headers=headers))["data"]
        assert [row["id"] for row in rows if row["id"].startswith(name)] == [f"{name}/m1", f"{name}/m2"]
    assert len(stub.list_requests) == 1
    other = connect(definition(stub))["name"]
    shown = http_client.get(f"{live.url}/v1/models/{other}/m2", headers={**live.authorization, **headers})
    assert accepted(shown)["id"] == f"{other}/m2"


@pytest.mark.parametrize("fault", [Fault(500), Raw(b""), Fault(200, body="<html>Maintenance</html>")])
def test_service_that_is_down_keeps_its_list(live, stub, connect, fault):
    stub.models = ["m1"]
    service = connect(definition(stub))
    assert len(rows_of(live, service["name"])) == 1
    stub.models = fault
    assert len(rows_of(live, service["name"], refresh="true")) == 1


def test_definition_adds_and_corrects_models(live, stub, connect):
    stub.models = [{"id": "m1", "context_length": 9000}, "m2"]
    service = connect(definition(stub, models=[
        {"id": "mine", "context_window": 5000, "max_output": 700, "vision": True, "tools": False,
         "prices": {"input": 1, "output": 2}}, {"id": "m2", "context_window": 1234}]))
    rows = {row["id"].partition("/")[2]: row for row in rows_of(live, service["name"])}
    assert list(rows) == ["mine", "m2", "m1"]
    assert rows["m1"]["context_window"] == 9000 and rows["m2"]["context_window"] == 1234
    mine = rows["mine"]
    assert (mine["context_window"], mine["max_output_tokens"], mine["vision"], mine["tools"]) == (5000, 700, True, False)
    assert mine["price"] == {"input": 1, "output": 2, "cache_read": 1, "cache_write": 1}


def test_calls_are_priced_by_the_definition(live, stub, connect):
    service = connect(definition(stub, models=[{"id": "m", "prices": {"input": 3, "output": 5}}]))
    stub.script(Reply(usage={"input": 1_000_000, "output": 1_000_000, "cache_read": 0, "cache_write": 0}))
    assert ask(live, f"{service['name']}/m")[-1]["costUsd"] == pytest.approx(8)
    models = accepted(live.http.get("/costs"))["by_model"]
    assert f"{service['name']}/m" in [row["model"] for row in models]


def test_budget_includes_the_cost_of_a_live_service(live, stub, connect, new_name):
    service = connect(definition(stub, models=[{"id": "m", "prices": {"input": 3, "output": 5}}]))
    thrifty = agent(live, new_name("thrifty"), model=f"{service['name']}/m", budget_usd_per_day=1)
    stub.script(Reply(usage={"input": 1_000_000, "output": 0, "cache_read": 0, "cache_write": 0}))
    assert ask(live, agentId=thrifty["id"])[-1]["costUsd"] == pytest.approx(3)
    assert ask(live, agentId=thrifty["id"])[-1]["finishReason"] == "budget" and len(stub.requests) == 1
    live.http.delete(f"/extensions/{thrifty['id']}")


def test_model_without_tools_is_sent_none(live, stub, connect):
    service = connect(definition(stub, models=[{"id": "plain", "tools": False}]))
    ask(live, f"{service['name']}/plain")
    ask(live, f"{service['name']}/other")
    assert "tools" not in stub.requests[0].json and "tools" in stub.requests[1].json


@pytest.mark.slow
def test_fifty_thousand_models_are_listed(live, stub, connect):
    stub.models = [f"vendor/model-{number}" for number in range(50_010)]
    service = connect(definition(stub))
    rows = rows_of(live, service["name"])
    assert len(rows) == 50_000 and rows[-1]["id"].endswith("/vendor/model-49999")


# Checks.


def check(gateway, definition, **members):
    return accepted(gateway.http.post("/model-services/check", json={"definition": definition, **members}))


@pytest.mark.parametrize("api", APIS)
def test_check_lists_the_models_and_stores_nothing(live, stub, api):
    stub.models = ["m1", "m2"]
    before = live.http.get("/extensions").text
    checked = check(live, definition(stub, api), key=KEY)
    assert checked["ok"] is True and checked["error"] is None
    assert [model["id"] for model in checked["models"]] == ["m1", "m2"]
    assert stub.list_requests[0].headers[KEY_HEADERS[api]].endswith(KEY)
    assert live.http.get("/extensions").text == before and KEY not in live.http.get("/secrets").text


def test_key_of_a_check_replaces_the_secret_in_a_header(live, stub):
    stub.models = ["m1"]
    check(live, definition(stub, headers={"api-key": "${secret:AZURE_KEY}"}), key=KEY)
    assert stub.list_requests[0].headers["api-key"] == KEY
    assert "authorization" not in stub.list_requests[0].headers


@pytest.mark.parametrize("fault, problem", [
    (Fault(401, f"no such key {KEY}"), "refused the key"), (Fault(403), "refused the key"),
    (Fault(400, "API key not valid. Please pass a valid API key."), "refused the key"),
    (Fault(404), "ends with /v1"), (Fault(500), "answered 500"),
    (Fault(200, body="<html>Welcome</html>"), "a web page instead of a list of models"),
    (Fault(200, body={"hello": 1}), "something else instead of a list of models"),
    (Fault(302, headers={"location": "https://elsewhere.example/login"}), "redirects to https://elsewhere.example"),
    (Raw(b""), "cannot be reached"), (Flood(), "more than 32 MiB")])
def test_check_says_what_is_wrong_and_what_to_do(live, stub, fault, problem):
    stub.models = fault
    checked = check(live, definition(stub), key=KEY)
    assert checked["ok"] is False and checked["models"] == [] and problem in checked["error"]
    assert KEY not in checked["error"] and len(stub.list_requests) == 1
    assert KEY not in logged(live)


def test_check_of_a_silent_service_ends_after_ten_seconds(live, stub):
    stub.models = Silence()
    started = time.monotonic()
    checked = check(live, definition(stub), key=KEY)
    assert time.monotonic() - started > 9
    assert checked["ok"] is False and "did not answer within 9.5 s" in checked["error"]
    assert stub.list_requests[0].closed_by_client.wait(PATIENCE)


def test_key_does_not_follow_a_redirect(live, stub):
    with ProviderStub() as thief:
        thief.models = ["m"]
        stub.models = Fault(307, headers={"location": f"{thief.openai_url}/models"})
        checked = check(live, definition(stub), key=KEY)
        assert checked["ok"] is False and thief.list_requests == []


def test_check_of_an_unreachable_service_fails(live):
    checked = check(live, {"kind": "model", "api": "openai-chat", "base_url": "http://127.0.0.1:1/v1"})
    assert checked["ok"] is False and "cannot be reached" in checked["error"]


@pytest.mark.parametrize("key", [f"{KEY}\n", f"{KEY}\r\nx-evil: 1", "", "two words"])
def test_key_that_cannot_be_sent_is_refused(live, stub, key):
    response = live.http.post("/model-services/check", json={"definition": definition(stub), "key": key})
    assert response.status_code == 400 and response.json()["error"].startswith("key ")
    assert KEY not in response.text and stub.list_requests == []
    assert KEY not in logged(live)


def test_check_takes_only_definitions_of_model_services(live):
    body = {"definition": {"kind": "http", "url": "https://example.org"}}
    error = refused(live.http.post("/model-services/check", json=body), 400, "validation failed")
    assert error["details"][0]["path"] == "definition.kind"


def test_presets_are_listed(live):
    presets = {preset["name"]: preset for preset in accepted(live.http.get("/model-services"))}
    assert {"anthropic", "openai", "gemini", "openrouter", "mistral", "deepseek", "groq", "xai", "together",
            "fireworks", "cerebras", "azure-openai", "github-models", "ollama", "lm-studio", "vllm",
            "llama-cpp"} <= set(presets)
    assert presets["azure-openai"]["key_header"] == "api-key" and "api-version=" in presets["azure-openai"]["base_url"]
    for preset in presets.values():
        assert preset["needs_key"] is (preset["key_url"] is not None) is not preset["local"]


def test_presets_are_well_formed(live):
    presets = accepted(live.http.get("/model-services"))
    for member in ("name", "label"):
        values = [preset[member] for preset in presets]
        assert sorted(set(values)) == sorted(values), f"{member} is not unique"
    for preset in presets:
        name, address = preset["name"], preset["base_url"]
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) and preset["label"].strip() == preset["label"] != "", name
        assert preset["api"] in APIS, name
        filled = re.sub(r"<[a-z]+>", "example", address)
        if preset["local"]:
            assert urlsplit(address).hostname == "127.0.0.1", name
        else:
            assert filled != address or urlsplit(address).scheme == "https", name
            assert urlsplit(preset["key_url"]).scheme == "https", name
        assert urlsplit(filled).hostname and not filled.endswith("/"), name
        made = accepted(live.http.post("/extensions", json={
            "type": "integration", "name": f"preset-{name}", "description": "d", "enabled": False,
            "definition": {"kind": "model", "api": preset["api"], "base_url": filled}}), 201)
        assert live.http.delete(f"/extensions/{made['id']}").status_code == 204


def test_detection_returns_a_list(live):
    assert isinstance(accepted(live.http.post("/model-services/detect")), list)


def test_deployment_of_azure_is_called_by_its_name(live, stub, connect):
    secret(live, "AZURE_KEY", KEY)
    service = connect({"kind": "model", "api": "openai-chat", "headers": {"api-key": "${secret:AZURE_KEY}"},
                       "base_url": f"{stub.base_url}/openai/deployments/{{model}}?api-version=2024-10-21"})
    assert ask(live, f"{service['name']}/my-deployment")[-1]["finishReason"] == "stop"
    request = stub.requests[0]
    assert request.path == "/openai/deployments/my-deployment/chat/completions"
    assert request.query == "api-version=2024-10-21" and request.headers["api-key"] == KEY


# The default model.


def test_default_model_is_chosen_and_kept(own_gateway, stub):
    assert accepted(own_gateway.http.get("/settings")) == {"default_model": "offline/librarian", "source": "automatic"}
    stub.models = ["m1", "m2"]
    body = {"type": "integration", "name": "live", "description": "", "enabled": True, "definition": definition(stub)}
    accepted(own_gateway.http.post("/extensions", json=body), 201)
    chosen = accepted(own_gateway.http.patch("/settings", json={"default_model": "live/m2"}))
    assert chosen == {"default_model": "live/m2", "source": "settings"}
    own_gateway.stop()
    own_gateway.start()
    assert ask(own_gateway)[-1]["model"] == "live/m2"
    assert accepted(own_gateway.http.patch("/settings", json={"default_model": None}))["source"] == "automatic"


@pytest.mark.parametrize("model", ["live/nothing", "nowhere/m", "m1", "live/", "", "offline/nobody"])
def test_default_model_must_exist(live, stub, connect, model):
    stub.models = ["m1"]
    service = connect(definition(stub))
    wanted = model.replace("live/", f"{service['name']}/")
    refused(live.http.patch("/settings", json={"default_model": wanted}), 400, f"model not found: {wanted}")


def test_default_model_of_the_configuration_is_not_changed(make_gateway, stub):
    config = {"providers": {"mine": {"kind": "openai", "base_url": stub.openai_url}}, "models": {"default": "mine/m"}}
    gateway = make_gateway(config=config).start()
    assert accepted(gateway.http.get("/settings")) == {"default_model": "mine/m", "source": "config"}
    refused(gateway.http.patch("/settings", json={"default_model": "mine/other"}), 409, "set in config.yaml")


# Secrets.


def test_secrets_are_stored_and_listed_by_name_only(own_gateway):
    assert accepted(own_gateway.http.get("/secrets")) == []
    secret(own_gateway, "B_KEY", KEY)
    secret(own_gateway, "A_KEY", "x")
    response = own_gateway.http.get("/secrets")
    assert response.json() == [{"name": "A_KEY"}, {"name": "B_KEY"}] and KEY not in response.text
    assert own_gateway.command("secret", "list").stdout == "A_KEY\nB_KEY\n"
    assert own_gateway.http.delete("/secrets/A_KEY").status_code == 204
    refused(own_gateway.http.delete("/secrets/A_KEY"), 404, "secret not found")
    assert (own_gateway.data / "secrets.yaml").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name, value", [("1A", "x"), ("A-B", "x"), ("GOOD", ""), ("GOOD", "a\x00b")])
def test_secret_that_cannot_be_stored_is_refused(own_gateway, name, value):
    assert own_gateway.http.put(f"/secrets/{name}", json={"value": value}).status_code == 400
    assert not (own_gateway.data / "secrets.yaml").exists()


def test_concurrent_secrets_are_all_stored(own_gateway):
    threads = [threading.Thread(target=secret, args=(own_gateway, f"KEY_{number}", "x")) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(accepted(own_gateway.http.get("/secrets"))) == 8
