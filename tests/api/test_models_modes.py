"""The models and modes available for a chat.

See docs/contract/models.md#providers and docs/contract/agents.md#modes.
"""

from checks import accepted, refused


def models(gateway):
    return accepted(gateway.http.get("/models"))


def test_librarian_is_listed_without_a_provider(gateway):
    assert [model["id"] for model in models(gateway)] == ["offline/librarian"]
    assert set(models(gateway)[0]) == {"id", "provider", "source", "context_window", "max_output_tokens", "vision", "tools",
                                       "price"}
    assert models(gateway)[0]["provider"] == "offline"


def test_configured_provider_is_listed_with_prices(make_gateway):
    gateway = make_gateway(environment={"ANTHROPIC_API_KEY": "key"}).start()
    listed = models(gateway)
    assert listed and all(model["id"].startswith(model["provider"] + "/") for model in listed)
    ours = [model for model in listed if model["provider"] == "anthropic"]
    assert ours and set(ours[0]["price"]) == {"input", "output", "cache_read", "cache_write"}
    assert ours[0]["context_window"] > ours[0]["max_output_tokens"] > 0 and ours[0]["vision"] is True
    assert "key" not in gateway.http.get("/models").text.replace("key\":", "")


def test_model_without_a_price_says_so(make_gateway):
    gateway = make_gateway(config={"providers": {"mine": {
        "kind": "openai", "base_url": "http://127.0.0.1:9/v1", "default_model": "home-made"}}}).start()
    found = next(model for model in models(gateway) if model["id"] == "mine/home-made")
    assert found["price"] is None


def test_modes_are_plan_and_act(gateway):
    plan, act = accepted(gateway.http.get("/modes"))
    members = ["name", "label", "color", "description", "systemPrompt", "allowedTools", "requiresApproval"]
    assert list(plan) == list(act) == members
    assert (plan["name"], plan["label"], plan["color"]) == ("plan", "Plan", "#f59e0b")
    assert plan["allowedTools"] == ["Read", "Glob", "Grep", "WebFetch", "WebSearch"]
    assert plan["requiresApproval"] is True and plan["description"]
    assert (act["name"], act["label"], act["color"]) == ("act", "Act", "#3b82f6")
    assert act["allowedTools"] is None and act["systemPrompt"] == "" and act["requiresApproval"] is False


def test_both_need_the_token(gateway):
    for path in ("/models", "/modes"):
        refused(gateway.anonymous.get(path), 401, "unauthorized")
