"""Names of agents, tools, models, skills and capabilities in the definitions of extensions.

See docs/contract/extensions.md#records.
"""

import pytest

from checks import accepted
from extensions import get, patch, patch_with_warnings


@pytest.fixture
def create(gateway, new_name):
    """Creates an extension with this definition."""
    def create(kind, definition, **params):
        return gateway.http.post("/extensions", params=params, json={
            "type": kind, "name": new_name(), "description": "for a test", "definition": definition})
    return create


@pytest.fixture
def create_with_warnings(create):
    """Creates an extension and asks for warnings of names in its definition that nothing has."""
    return lambda kind, definition: create(kind, definition, warnings="true")


def test_job_of_an_agent_that_does_not_exist_is_stored_with_a_warning(gateway, create_with_warnings):
    job = {"agent_id": "asistant", "prompt": "work"}
    warning = {"path": "definition.agent_id", "message": "there is no agent asistant"}
    made = accepted(create_with_warnings("job", job), 201)
    assert made["definition"] == job and made["warnings"] == [warning]
    assert "warnings" not in accepted(patch_with_warnings(gateway, made, definition=KNOWN["job"]))
    assert accepted(patch_with_warnings(gateway, made, definition=job))["warnings"] == [warning]
    for other in ({**job, "agent_id": "light"}, job):
        accepted(gateway.http.patch(f"/extensions/{made['id']}/disk-config", json=other))
        assert get(gateway, made)["definition"] == other


def test_job_whose_agent_was_deleted_can_be_edited(gateway, create):
    agent = accepted(create("agent", {}), 201)
    job = accepted(create("job", {"agent_id": agent["id"], "prompt": "work"}), 201)
    assert gateway.http.delete(f"/extensions/{agent['id']}").status_code == 204
    changed = accepted(patch_with_warnings(gateway, job, definition={**job["definition"], "prompt": "rest"}))
    assert changed["definition"]["prompt"] == "rest"
    assert [found["path"] for found in changed["warnings"]] == ["definition.agent_id"]


# Definitions whose names are known.
KNOWN = {"agent": {}, "capability": {"tools": ["Read"]}, "command": {"prompt": "do"},
         "job": {"agent_id": "assistant", "prompt": "work"}}
UNKNOWN_NAMES = [
    ("agent", {"tools": ["Read", "Reed"], "capabilities": ["read-only", "fly"], "skills": ["knitting"],
               "model": "mistrall/large", "fallback_models": ["librarian", "nowhere/x"]},
     ["model", "fallback_models[1]", "tools[1]", "capabilities[1]", "skills[0]"]),
    ("capability", {"tools": ["Reed", "Grep"]}, ["tools[0]"]),
    ("command", {"prompt": "do", "agent_id": "asistant", "model": "x/y"}, ["agent_id", "model"]),
    ("job", {"agent_id": "assistant", "prompt": "do", "owner_agent_id": "asistant"}, ["owner_agent_id"]),
]


@pytest.mark.parametrize("kind, definition, paths", UNKNOWN_NAMES)
def test_names_that_nothing_has_are_warned_about(gateway, create_with_warnings, kind, definition, paths):
    saved = accepted(create_with_warnings(kind, definition), 201)
    warnings = saved.pop("warnings")
    assert [found["path"] for found in warnings] == [f"definition.{path}" for path in paths]
    assert all(set(found) == {"path", "message"} and found["message"] for found in warnings)
    assert get(gateway, saved) == saved and saved["definition"] == definition
    assert accepted(patch_with_warnings(gateway, saved, description="another"))["warnings"] == warnings
    assert "warnings" not in accepted(patch_with_warnings(gateway, saved, definition=KNOWN[kind]))


@pytest.mark.parametrize("kind, definition, paths", UNKNOWN_NAMES)
def test_response_is_the_record_alone_unless_warnings_are_wanted(gateway, create, kind, definition, paths):
    made = accepted(create(kind, definition), 201)
    assert made == get(gateway, made)
    assert accepted(patch(gateway, made, description="another")) == get(gateway, made)


def test_repeated_request_gets_the_same_warnings(gateway, new_name):
    body = {"type": "agent", "name": new_name(), "description": "d", "definition": {"tools": ["Reed"]}}
    first, again = (accepted(gateway.http.post("/extensions?warnings=true", json=body,
                                               headers={"Idempotency-Key": body["name"]}), 201)
                    for _ in range(2))
    assert first == again and first["warnings"][0]["path"] == "definition.tools[0]"
