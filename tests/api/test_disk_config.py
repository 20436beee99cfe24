"""GET and PATCH /extensions/:id/disk-config: the file of an agent or a job as an object.

See docs/contract/extensions.md#disk-config.
"""

import json
import shutil

import pytest
import yaml

from checks import UNKNOWN_ID, accepted, invalid, refused
from disks import small_disk
from extensions import create_extension


def get(gateway, extension):
    return gateway.http.get(f"/extensions/{extension['id']}/disk-config")


def patch(gateway, extension, body):
    return gateway.http.patch(f"/extensions/{extension['id']}/disk-config", json=body)


def record(gateway, extension):
    return accepted(gateway.http.get(f"/extensions/{extension['id']}"))


def config_file(gateway, extension):
    return gateway.data / f"{extension['type']}s" / extension["name"] / f"{extension['type']}.yaml"


def on_disk(gateway, extension):
    return yaml.safe_load(config_file(gateway, extension).read_text())


def test_file_is_returned_as_an_object(gateway, create_extension):
    made = create_extension(definition={"systemPrompt": "no", "tools": ["Read"], "mine": {"a": [1, "1", None]}})
    expected = {"name": made["name"], "description": "d", "enabled": False, "systemPrompt": "no", "tools": ["Read"],
                "mine": {"a": [1, "1", None]}}
    assert accepted(get(gateway, made)) == expected == on_disk(gateway, made)


def test_prompt_of_a_job_is_included(gateway, create_extension):
    made = create_extension("job", definition={"agent_id": "assistant", "prompt": "Do\nthis"})
    assert accepted(get(gateway, made)) == {"name": made["name"], "description": "d", "enabled": False,
                                            "agent_id": "assistant", "prompt": "Do\nthis"}


def test_file_is_returned_rather_than_the_record(gateway, create_extension):
    made = create_extension()
    config_file(gateway, made).write_text("systemPrompt: edited # by hand\n")
    assert accepted(get(gateway, made)) == {"systemPrompt": "edited"}
    assert record(gateway, made)["definition"] == {"systemPrompt": "You help."}


def test_overwriting_replaces_file_and_definition(gateway, create_extension):
    made = create_extension(definition={"systemPrompt": "old", "model": "a/b"})
    response = accepted(patch(gateway, made, {"systemPrompt": "new", "mine": "no"}))
    config = {"name": made["name"], "description": "d", "enabled": False, "systemPrompt": "new", "mine": "no"}
    assert response == {"status": "ok", "config": config}
    assert on_disk(gateway, made) == config == accepted(get(gateway, made))
    after = record(gateway, made)
    assert after["definition"] == {"systemPrompt": "new", "mine": "no"} and after["updated_at"] > made["updated_at"]


def test_overwriting_keeps_the_name(gateway, create_extension):
    made = create_extension()
    trigger = {"type": "cron", "expression": "*/5 * * * *"}
    accepted(patch(gateway, made, {"name": "other", "description": "new", "enabled": True, "trigger": trigger}))
    after = record(gateway, made)
    assert (after["name"], after["description"], after["enabled"], after["trigger_def"], after["definition"]) == (
        made["name"], "new", True, trigger, {})
    accepted(patch(gateway, made, {"systemPrompt": "x"}))
    assert record(gateway, made)["enabled"] is True and record(gateway, made)["trigger_def"] == trigger
    accepted(patch(gateway, made, {"trigger": None}))
    assert record(gateway, made)["trigger_def"] is None and "trigger" not in on_disk(gateway, made)


def test_overwriting_a_job_writes_its_prompt_file(gateway, create_extension):
    made = create_extension("job")
    accepted(patch(gateway, made, {"agent_id": "assistant", "prompt": "Work harder."}))
    assert (config_file(gateway, made).parent / "prompt.md").read_text() == "Work harder."
    assert record(gateway, made)["definition"] == {"agent_id": "assistant", "prompt": "Work harder."}
    accepted(patch(gateway, made, {"agent_id": "assistant", "schedule": "@daily"}))
    assert record(gateway, made)["definition"] == {"agent_id": "assistant", "schedule": "@daily"}


def test_response_can_be_sent_back(gateway, create_extension):
    made = create_extension("job", definition={"agent_id": "assistant", "prompt": "a\n b\n", "mine": ["no", 0.1]}, enabled=True)
    config = accepted(get(gateway, made))
    assert accepted(patch(gateway, made, config))["config"] == config
    assert record(gateway, made)["definition"] == made["definition"]


def test_overwriting_restores_a_broken_or_missing_file(gateway, create_extension):
    made = create_extension()
    config_file(gateway, made).write_text("a: [")
    invalid(get(gateway, made), "agent.yaml")
    accepted(patch(gateway, made, {"systemPrompt": "x"}))
    assert on_disk(gateway, made)["systemPrompt"] == "x"
    config_file(gateway, made).unlink()
    refused(get(gateway, made), 404, "file not found")
    accepted(patch(gateway, made, {"systemPrompt": "x"}))
    assert on_disk(gateway, made)["systemPrompt"] == "x"


def plain_file(folder, _):
    folder.write_text("in the way")


def link_out(folder, gateway):
    folder.symlink_to(gateway.home)


def link_to_another(folder, gateway):
    folder.symlink_to(gateway.data / "agents" / "assistant")


@pytest.mark.parametrize("obstacle", [plain_file, link_out, link_to_another])
def test_failed_write_changes_nothing(gateway, create_extension, obstacle):
    made = create_extension()
    folder = config_file(gateway, made).parent
    shutil.rmtree(folder)
    obstacle(folder, gateway)
    other_file = (gateway.data / "agents" / "assistant" / "agent.yaml").read_text()
    invalid(patch(gateway, made, {"systemPrompt": 1}), "systemPrompt")
    body = refused(patch(gateway, made, {"systemPrompt": "new"}), 500, "update failed")
    assert set(body) == {"error"} and record(gateway, made) == made
    assert (gateway.data / "agents" / "assistant" / "agent.yaml").read_text() == other_file
    folder.unlink()
    accepted(patch(gateway, made, {"systemPrompt": "new"}))
    assert on_disk(gateway, made)["systemPrompt"] == "new"


def test_full_disk_changes_nothing(make_gateway):
    gateway = make_gateway()
    gateway.data.mkdir(mode=0o700)
    with small_disk(gateway.data / "agents", "size=64k") as agents:
        gateway.start()
        body = {"type": "agent", "name": "mine", "description": "d", "definition": {"systemPrompt": "You help."}}
        made = accepted(gateway.http.post("/extensions", json=body), 201)
        (agents / "filling").write_bytes(bytes(32 * 1024))
        too_much = {"systemPrompt": "word " * 8000}
        refused(patch(gateway, made, too_much), 507, "disk full")
        assert record(gateway, made) == made and on_disk(gateway, made)["systemPrompt"] == "You help."
        (agents / "filling").unlink()
        assert accepted(patch(gateway, made, too_much))["config"]["systemPrompt"] == too_much["systemPrompt"]
        assert gateway.stop() == 0


def test_only_changed_files_need_disk_space(make_gateway):
    gateway = make_gateway()
    gateway.data.mkdir(mode=0o700)
    with small_disk(gateway.data / "jobs", "size=256k") as jobs:
        gateway.start()
        definition = {"agent_id": "assistant", "prompt": "word " * 12_000}
        body = {"type": "job", "name": "mine", "description": "d", "definition": definition}
        made = accepted(gateway.http.post("/extensions", json=body), 201)
        (jobs / "filling").write_bytes(bytes(shutil.disk_usage(jobs).free - 32 * 1024))
        accepted(patch(gateway, made, {**definition, "timeout_s": 60}))
        assert on_disk(gateway, made)["timeout_s"] == 60
        refused(patch(gateway, made, {**definition, "prompt": "other " * 10_000}), 507, "disk full")
        assert gateway.stop() == 0


def test_edit_that_cannot_be_moved_to_the_trash_is_not_overwritten(own_gateway):
    body = {"type": "agent", "name": "mine", "description": "d", "definition": {"systemPrompt": "You help."}}
    made = accepted(own_gateway.http.post("/extensions", json=body), 201)
    config_file(own_gateway, made).write_text("systemPrompt: edited")
    (own_gateway.data / "trash").write_text("in the way")
    refused(patch(own_gateway, made, {"systemPrompt": "new"}), 500, "update failed")
    assert record(own_gateway, made) == made and config_file(own_gateway, made).read_text() == "systemPrompt: edited"


@pytest.mark.parametrize("body, path", [
    ({"systemPrompt": 1}, "systemPrompt"), ({"tools": "Read"}, "tools"), ({"sandbox": {"memory_mb": "x"}}, "memory_mb"),
    ({"description": 5}, "description"), ({"enabled": "no"}, "enabled"), ({"trigger": "daily"}, "trigger"),
    ({"trigger": {"type": "cron", "expression": "61 * * * *"}}, "trigger.expression"),
])
def test_invalid_definition_is_refused_and_changes_nothing(gateway, create_extension, body, path):
    made = create_extension()
    before = config_file(gateway, made).read_bytes()
    details = invalid(patch(gateway, made, body), path)
    assert not any("definition" in entry["path"] or "definition." in entry["message"] for entry in details), details
    assert config_file(gateway, made).read_bytes() == before and record(gateway, made) == made


def test_job_requires_its_members(gateway, create_extension):
    made = create_extension("job")
    invalid(patch(gateway, made, {"prompt": "x"}), "agent_id")
    refused(patch(gateway, made, {"agent_id": "assistant", "prompt_file": "../../x"}), 400,
            "path traversal not allowed")


@pytest.mark.parametrize("content, error", [
    ("", "Request body required"), ("{", "Invalid JSON"), ("[]", "Request body must be an object"),
    ('"x"', "Request body must be an object"), ("null", "Request body must be an object")])
def test_body_must_be_an_object(gateway, create_extension, content, error):
    refused(gateway.http.patch(f"/extensions/{create_extension()['id']}/disk-config", content=content), 400, error)


@pytest.mark.parametrize("kind, extension", [("theme", "dark"), ("command", "help"), ("capability", "network"),
                                             ("action", "calculate"), ("renderer", "code"), ("control", "mode-switch")])
def test_other_types_have_no_disk_config(gateway, kind, extension):
    error = f"disk-config not supported for type '{kind}'"
    refused(gateway.http.get(f"/extensions/{extension}/disk-config"), 400, error)
    refused(gateway.http.patch(f"/extensions/{extension}/disk-config", json={}), 400, error)
    refused(gateway.http.patch(f"/extensions/{extension}/disk-config", content="{"), 400, error)


def test_unknown_extension_is_not_found(gateway):
    refused(gateway.http.get(f"/extensions/{UNKNOWN_ID}/disk-config"), 404, "extension not found")
    refused(gateway.http.patch(f"/extensions/{UNKNOWN_ID}/disk-config", content="{"), 404, "extension not found")


def test_built_in_can_be_read_but_not_overwritten(gateway):
    assert "systemPrompt" in accepted(gateway.http.get("/extensions/assistant/disk-config"))
    refused(gateway.http.patch("/extensions/assistant/disk-config", json={"systemPrompt": "mine"}), 403,
            "built-in extensions are not editable")


def test_overwriting_publishes_an_event(gateway, create_extension):
    made = create_extension()
    with gateway.events() as events:
        accepted(patch(gateway, made, {"systemPrompt": "x"}))
        changes = [found for found in events.drain() if found["type"] == "extension-changed" and found["id"] == made["id"]]
    assert [found["action"] for found in changes] == ["updated"]


def test_definition_must_be_readable_from_its_file(gateway, create_extension):
    made = create_extension()
    accepted_content, too_large = (json.dumps({"systemPrompt": "x" * size}) for size in ((1 << 20) - 500, 1 << 20))
    assert gateway.http.patch(f"/extensions/{made['id']}/disk-config", content=accepted_content).status_code == 200
    invalid(gateway.http.patch(f"/extensions/{made['id']}/disk-config", content=too_large))
    accepted(gateway.http.post("/reseed"))
    assert len(record(gateway, made)["definition"]["systemPrompt"]) == (1 << 20) - 500
