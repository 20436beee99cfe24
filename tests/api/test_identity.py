"""Souls, user profiles and stages.

See docs/contract/agents.md#souls-and-user-profiles and docs/contract/agents.md#stages.
"""

import concurrent.futures
import os

import pytest

from checks import UNKNOWN_ID, accepted, is_timestamp, refused

LIMIT = 102_400
UNSAFE = ("..", "a..b", "a%2Fb", "%2e%2e", "a%5Cb", ".hidden", "a%0Ab", "a%7F", "a%C2%85", "x" * 129)


@pytest.fixture(params=["/soul", "/agents/scribe/soul", "/user-profile", "/agents/scribe/user-profile"])
def path(request):
    return request.param


@pytest.fixture(params=["soul", "user-profile"])
def file(request):
    return request.param


@pytest.fixture
def agent(gateway, new_name):
    body = {"type": "agent", "name": new_name("agent"), "description": "d", "definition": {}, "enabled": True}
    return accepted(gateway.http.post("/extensions", json=body), 201)


def stage_of(gateway, agent):
    return accepted(gateway.http.get(f"/agents/{agent['name']}/stage"))


def set_stage(gateway, agent, **body):
    return gateway.http.patch(f"/agents/{agent['name']}/stage", json=body)


# Souls and profiles.


def test_missing_file_has_empty_content(own_gateway, path):
    assert accepted(own_gateway.http.get(path)) == {"content": ""}


def test_written_content_is_returned_and_in_the_file(own_gateway, path):
    assert accepted(own_gateway.http.put(path, json={"content": "Be kind. ✓"})) == {"status": "ok"}
    assert accepted(own_gateway.http.get(path)) == {"content": "Be kind. ✓"}
    file = own_gateway.data / f"{path.strip('/')}.md"
    assert file.read_text() == "Be kind. ✓" and file.stat().st_mode & 0o777 == 0o600
    file.write_text("by hand")
    assert accepted(own_gateway.http.get(path)) == {"content": "by hand"}


def test_write_during_a_rename_is_not_lost(own_gateway):
    body = {"type": "agent", "name": "scribe-0", "description": "d", "definition": {}, "enabled": True}
    agent = accepted(own_gateway.http.post("/extensions", json=body), 201)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        for number in range(1, 31):
            renaming = pool.submit(own_gateway.http.patch, f"/extensions/{agent['id']}", json={"name": f"scribe-{number}"})
            for file in ("soul", "user-profile"):
                accepted(own_gateway.http.put(f"/agents/{agent['id']}/{file}", json={"content": f"{file} {number}"}))
                assert accepted(own_gateway.http.get(f"/agents/{agent['id']}/{file}")) == {"content": f"{file} {number}"}
            accepted(renaming.result())
            directory = own_gateway.data / "agents" / f"scribe-{number}"
            assert (directory / "soul.md").read_text() == f"soul {number}"
            assert (directory / "user-profile.md").read_text() == f"user-profile {number}"
    assert [path.name for path in (own_gateway.data / "agents").iterdir() if path.name.startswith("scribe")] == ["scribe-30"]


def test_empty_content_can_be_written(gateway, path):
    assert accepted(gateway.http.put(path, json={"content": ""})) == {"status": "ok"}
    assert accepted(gateway.http.get(path)) == {"content": ""}


def test_content_must_be_a_string(gateway, path):
    for body in ({}, {"content": None}, {"content": 1}, {"content": ["a"]}, {"text": "a"}):
        refused(gateway.http.put(path, json=body), 400, "content must be a string")


def test_bodies_follow_the_general_rules(gateway, path):
    refused(gateway.http.put(path), 400, "Request body required")
    refused(gateway.http.put(path, content="{"), 400, "Invalid JSON")
    refused(gateway.http.put(path, json=["content"]), 400, "Request body must be an object")


def test_content_has_at_most_102400_bytes(gateway, path):
    accepted(gateway.http.put(path, json={"content": "x" * LIMIT}))
    refused(gateway.http.put(path, json={"content": "x" * (LIMIT + 1)}), 413, "soul content too large (max 100KB)")
    refused(gateway.http.put(path, json={"content": "ä" * (LIMIT // 2 + 1)}), 413,
            "soul content too large (max 100KB)")
    assert accepted(gateway.http.get(path)) == {"content": "x" * LIMIT}
    accepted(gateway.http.put(path, json={"content": ""}))


def test_other_methods_are_not_allowed(gateway, path):
    response = gateway.http.post(path, json={})
    refused(response, 405, "method not allowed")
    assert response.headers["allow"] == "GET, HEAD, PUT"


@pytest.mark.parametrize("unsafe", UNSAFE)
def test_invalid_names_are_rejected(gateway, unsafe, file):
    with gateway.connect() as connection:
        for method in ("GET", "PUT"):
            response = connection.request(f"{method} /agents/{unsafe}/{file} HTTP/1.1", "Content-Length: 0").response()
            assert (response.status, response.error) == (400, "invalid agent name"), response


@pytest.mark.parametrize("safe", ["x" * 128, "a.b", "with%20space", "%C3%A4", UNKNOWN_ID])
def test_valid_name_needs_no_agent(gateway, safe, file):
    accepted(gateway.http.put(f"/agents/{safe}/{file}", json={"content": safe}))
    assert accepted(gateway.http.get(f"/agents/{safe}/{file}")) == {"content": safe}


def test_agent_id_can_be_used_instead_of_its_name(gateway, agent, file):
    accepted(gateway.http.put(f"/agents/{agent['id']}/{file}", json={"content": "mine"}))
    assert accepted(gateway.http.get(f"/agents/{agent['name']}/{file}")) == {"content": "mine"}
    assert (gateway.data / "agents" / agent["name"] / f"{file}.md").read_text() == "mine"


def test_symlinked_agent_directory_is_rejected(own_gateway, file, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / f"{file}.md").write_text("secret")
    (own_gateway.data / "agents").mkdir(exist_ok=True)
    os.symlink(elsewhere, own_gateway.data / "agents" / "leading")
    refused(own_gateway.http.get(f"/agents/leading/{file}"), 400, "invalid agent name")
    refused(own_gateway.http.put(f"/agents/leading/{file}", json={"content": "x"}), 400, "invalid agent name")
    assert (elsewhere / f"{file}.md").read_text() == "secret"


def test_symlinked_file_is_not_followed(own_gateway, path):
    file = own_gateway.data / f"{path.strip('/')}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    os.symlink(own_gateway.data / ".gateway-token", file)
    response = own_gateway.http.get(path)
    assert response.status_code in (400, 403) and own_gateway.token not in response.text
    token = own_gateway.token
    accepted(own_gateway.http.put(path, json={"content": "new"}))
    assert own_gateway.token == token and not file.is_symlink() and file.read_text() == "new"


def test_identity_needs_the_token(gateway, path):
    refused(gateway.anonymous.get(path), 401, "unauthorized")
    refused(gateway.anonymous.put(path, json={"content": "x"}), 401, "unauthorized")


# Stages.


def test_agents_start_as_apprentices(gateway, agent):
    assert stage_of(gateway, agent) == {"agent": agent["name"], "stage": "apprentice", "reason": None,
                                        "updated_at": None, "history": []}


def test_stage_is_changed_with_a_reason(gateway, agent):
    changed = accepted(set_stage(gateway, agent, stage="trusted", reason="works well"))
    assert changed.pop("status") == "ok"
    assert changed == stage_of(gateway, agent)
    assert changed["stage"] == "trusted" and changed["reason"] == "works well" and is_timestamp(changed["updated_at"])
    assert changed["history"] == [{"from": "apprentice", "to": "trusted", "reason": "works well",
                                   "at": changed["updated_at"]}]


def test_any_stage_can_follow_any_other(gateway, agent):
    for stage in ("sovereign", "apprentice", "operator", "trusted", "operator"):
        assert accepted(set_stage(gateway, agent, stage=stage, reason="r"))["stage"] == stage
    steps = [(step["from"], step["to"]) for step in stage_of(gateway, agent)["history"]]
    assert steps == [("apprentice", "sovereign"), ("sovereign", "apprentice"), ("apprentice", "operator"),
                     ("operator", "trusted"), ("trusted", "operator")]


def test_stage_survives_a_restart(make_gateway):
    own_gateway = make_gateway().start()
    agent = {"name": "assistant"}
    accepted(set_stage(own_gateway, agent, stage="operator", reason="r"))
    before = stage_of(own_gateway, agent)
    assert stage_of(own_gateway.restart(), agent) == before


def test_invalid_stage_change_is_reported(gateway, agent):
    refused(set_stage(gateway, agent, stage="king", reason="r"), 400, "unknown stage: king")
    refused(set_stage(gateway, agent, stage="Trusted", reason="r"), 400, "unknown stage: Trusted")
    refused(set_stage(gateway, agent, stage="operator-", reason="r"), 400, "unknown stage: operator-")
    refused(set_stage(gateway, agent, reason="r"), 400, "stage is required")
    refused(set_stage(gateway, agent, stage="trusted"), 400, "reason is required")
    refused(set_stage(gateway, agent, stage=1, reason="r"), 400, "stage must be a string")
    refused(set_stage(gateway, agent, stage="trusted", reason=1), 400, "reason must be a string")
    assert stage_of(gateway, agent)["history"] == []


def test_stage_needs_an_agent(gateway):
    for name in ("nobody", UNKNOWN_ID, "light"):
        refused(gateway.http.get(f"/agents/{name}/stage"), 404, "agent not found")
        refused(gateway.http.patch(f"/agents/{name}/stage", json={}), 404, "agent not found")
    refused(gateway.http.get("/agents/a..b/stage"), 400, "invalid agent name")


def test_stage_is_found_by_id(gateway, agent):
    assert accepted(gateway.http.get(f"/agents/{agent['id']}/stage"))["agent"] == agent["name"]
