"""POST /reseed and the start load extensions from files that people write or edit.

See docs/contract/extensions.md#files-on-disk.
"""

import os
import shutil

import pytest

from checks import accepted, nested, refused


def reseed(gateway):
    response = accepted(gateway.http.post("/reseed"))
    assert set(response) == {"status", "warnings"} and response["status"] == "reseeded"
    return response["warnings"]


def restart(gateway):
    gateway.restart()
    return []


@pytest.fixture(params=[reseed, restart], ids=["reseed", "start"])
def resync(request):
    """Both ways of scanning the directories."""
    return request.param


def find(gateway, name):
    response = gateway.http.get(f"/extensions/{name}")
    return response.json() if response.status_code == 200 else None


def write_files(gateway, kind, name, config, **files):
    directory = gateway.data / f"{kind}s" / name
    directory.mkdir(parents=True, exist_ok=True)
    if config is not None:
        (directory / f"{kind}.yaml").write_bytes(config if isinstance(config, bytes) else config.encode())
    for file, text in files.items():
        (directory / file.replace("_", ".")).write_text(text)
    return directory


def create(gateway, kind="agent", name="mine", **members):
    definition = {"agent_id": "assistant", "prompt": "work"} if kind == "job" else {"systemPrompt": "You help."}
    return accepted(gateway.http.post("/extensions", json={
        "type": kind, "name": name, "description": "d", "definition": definition, **members}), 201)


def files_below(directory):
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


# Handwritten files.


def test_handwritten_directory_becomes_a_user_extension(own_gateway, resync):
    write_files(own_gateway, "agent", "by-hand", "description: Mine\nsystemPrompt: |\n  You help.\ntools: [Read, 'no']\nx: no\n")
    write_files(own_gateway, "job", "nightly", "agent_id: by-hand\nenabled: true\ntrigger: {type: cron, expression: '0 3 * * *'}\n",
                prompt_md="Do it.\n")
    assert resync(own_gateway) == []
    agent, job = find(own_gateway, "by-hand"), find(own_gateway, "nightly")
    assert (agent["type"], agent["source"], agent["enabled"], agent["description"], agent["essential"]) == (
        "agent", "user", False, "Mine", False)
    assert agent["definition"] == {"systemPrompt": "You help.\n", "tools": ["Read", "no"], "x": "no"}
    assert job["enabled"] is True and job["trigger_def"] == {"type": "cron", "expression": "0 3 * * *"}
    assert job["definition"] == {"agent_id": "by-hand", "prompt": "Do it.\n"}


def test_deepest_allowed_file_is_loaded_with_a_waiting_job(own_gateway):
    create(own_gateway, "job", "waits", enabled=True, trigger_def={"type": "event", "event": "extension.created"})
    deepest = nested(63)
    write_files(own_gateway, "agent", "deep", f"x: {deepest}\n")
    assert reseed(own_gateway) == [] and find(own_gateway, "deep")["definition"] == {"x": deepest}


def test_handwritten_files_are_left_unchanged(own_gateway, resync):
    write_files(own_gateway, "agent", "by-hand", "# mine\nsystemPrompt:   x\n")
    before = files_below(own_gateway.data / "agents")
    resync(own_gateway)
    resync(own_gateway)
    assert files_below(own_gateway.data / "agents") == before


def test_job_prompt_may_be_in_the_yaml(own_gateway, resync):
    write_files(own_gateway, "job", "inline", "agent_id: assistant\nprompt: Work.\n")
    resync(own_gateway)
    assert find(own_gateway, "inline")["definition"] == {"agent_id": "assistant", "prompt": "Work."}


def test_null_prompt_means_the_prompt_file(own_gateway, resync):
    write_files(own_gateway, "job", "filed", "agent_id: assistant\nprompt:\nschedule: '@daily'\n", prompt_md="Work.")
    assert resync(own_gateway) == []
    assert find(own_gateway, "filed")["definition"] == {"agent_id": "assistant", "prompt": "Work.", "schedule": "@daily"}


def test_prompt_file_is_not_inlined(own_gateway, resync):
    write_files(own_gateway, "job", "filed", "agent_id: assistant\nprompt_file: prompt.md\n", prompt_md="Work.")
    resync(own_gateway)
    assert find(own_gateway, "filed")["definition"] == {"agent_id": "assistant", "prompt_file": "prompt.md"}


def test_directory_without_yaml_or_with_an_invalid_name_is_ignored(own_gateway, resync):
    before = accepted(own_gateway.http.get("/extensions"))
    write_files(own_gateway, "agent", "souls-only", None, soul_md="kind")
    write_files(own_gateway, "agent", "wrong-yaml", None, job_yaml="agent_id: assistant\nprompt: x\n")
    for bad in "Capital", "under_score", "a.b", "a--b", "x" * 65, "01890000-0000-7000-8000-000000000000", ".hidden":
        write_files(own_gateway, "agent", bad, "systemPrompt: x\n")
    (own_gateway.data / "agents" / "file").write_text("systemPrompt: x\n")
    resync(own_gateway)
    assert accepted(own_gateway.http.get("/extensions")) == before


def test_name_in_the_file_is_ignored(own_gateway):
    write_files(own_gateway, "agent", "real-name", "name: other\nsystemPrompt: x\n")
    assert reseed(own_gateway) == []
    assert find(own_gateway, "real-name") and not find(own_gateway, "other")


# Edited files.


def test_edited_file_is_loaded(own_gateway, resync):
    made = create(own_gateway, enabled=True)
    write_files(own_gateway, "agent", "mine", "description: edited\nmodel: a/b\ntrigger: {type: webhook}\n")
    assert resync(own_gateway) == []
    after = find(own_gateway, "mine")
    assert (after["id"], after["description"], after["definition"], after["trigger_def"], after["enabled"]) == (
        made["id"], "edited", {"model": "a/b"}, {"type": "webhook"}, True), "an omitted enabled keeps its value"
    assert after["updated_at"] > made["updated_at"] and after["created_at"] == made["created_at"]


def test_edit_of_equal_length_after_the_write_is_loaded(own_gateway, resync):
    create(own_gateway)
    path = own_gateway.data / "agents" / "mine" / "agent.yaml"
    path.write_text(path.read_text().replace("You help", "I thwart"))
    resync(own_gateway)
    assert find(own_gateway, "mine")["definition"] == {"systemPrompt": "I thwart."}


def test_edit_after_a_kill_is_loaded(own_gateway):
    create(own_gateway)
    own_gateway.kill()
    write_files(own_gateway, "agent", "mine", "systemPrompt: edited\n")
    own_gateway.start()
    assert find(own_gateway, "mine")["definition"] == {"systemPrompt": "edited"}


def test_edited_prompt_is_loaded(own_gateway, resync):
    create(own_gateway, "job")
    write_files(own_gateway, "job", "mine", None, prompt_md="edited")
    assert resync(own_gateway) == []
    assert find(own_gateway, "mine")["definition"] == {"agent_id": "assistant", "prompt": "edited"}


def test_edit_is_loaded_once(own_gateway):
    create(own_gateway)
    write_files(own_gateway, "agent", "mine", "systemPrompt: edited\n")
    reseed(own_gateway)
    first = find(own_gateway, "mine")
    reseed(own_gateway)
    assert find(own_gateway, "mine") == first
    own_gateway.restart()
    assert find(own_gateway, "mine") == first


def test_unedited_files_change_nothing(own_gateway, resync):
    for kind, name in ("agent", "a"), ("job", "b"), ("theme", "c"):
        accepted(own_gateway.http.post("/extensions", json={"type": kind, "name": name, "description": "", "definition": {
            "agent_id": "assistant", "prompt": "x", "name": "n", "enabled": 5, "trigger": "t", "description": None}}), 201)
    before, files = accepted(own_gateway.http.get("/extensions")), files_below(own_gateway.data / "agents")
    assert resync(own_gateway) == []
    assert accepted(own_gateway.http.get("/extensions")) == before and files_below(own_gateway.data / "agents") == files


def test_reseed_restores_files_of_records_made_by_the_api(own_gateway, resync):
    create(own_gateway, "job")
    directory = own_gateway.data / "jobs" / "mine"
    for path in directory.iterdir():
        path.unlink()
    directory.rmdir()
    assert resync(own_gateway) == []
    assert find(own_gateway, "mine")["definition"] == {"agent_id": "assistant", "prompt": "work"}
    assert (directory / "prompt.md").read_text() == "work" and (directory / "job.yaml").exists()


@pytest.mark.parametrize("kind, file", [("agent", "agent.yaml"), ("job", "job.yaml"), ("job", "prompt.md")])
def test_file_removed_after_its_creation_is_restored(own_gateway, resync, kind, file):
    made = create(own_gateway, kind, description="made")
    path = own_gateway.data / f"{kind}s" / "mine" / file
    text = path.read_text()
    path.unlink()
    own_gateway.stop()
    own_gateway.start()
    assert path.read_text() == text
    path.unlink()
    assert resync(own_gateway) == []
    assert path.read_text() == text and find(own_gateway, "mine") == made


def test_scheduled_job_keeps_its_prompt_without_the_file(own_gateway, resync):
    made = create(own_gateway, "job", definition={"agent_id": "assistant", "prompt": "work", "schedule": "0 0 1 1 *"})
    (own_gateway.data / "jobs" / "mine" / "prompt.md").unlink()
    assert resync(own_gateway) == []
    assert find(own_gateway, "mine") == made and (own_gateway.data / "jobs" / "mine" / "prompt.md").read_text() == "work"


def test_prompt_md_next_to_a_prompt_in_the_yaml_is_kept(own_gateway, resync):
    directory = write_files(own_gateway, "job", "both", "agent_id: assistant\nprompt: Work.\n", prompt_md="my notes")
    assert resync(own_gateway) == resync(own_gateway) == []
    assert (directory / "prompt.md").read_text() == "my notes"
    accepted(own_gateway.http.post("/extensions/both/toggle"))
    assert (directory / "prompt.md").read_text() == "Work."
    assert [path.read_text() for path in (own_gateway.data / "trash").iterdir()] == ["my notes"]


@pytest.mark.parametrize("kind", ["agent", "job"])
def test_directory_renamed_by_hand_becomes_an_extension_and_the_record_stays(own_gateway, resync, kind):
    made = create(own_gateway, kind)
    directory = own_gateway.data / f"{kind}s"
    (directory / "mine").rename(directory / "moved")
    assert resync(own_gateway) == []
    moved = find(own_gateway, "moved")
    assert (moved["source"], moved["definition"]) == ("user", made["definition"]) and moved["id"] != made["id"]
    assert find(own_gateway, "mine") == made
    assert (directory / "mine" / f"{kind}.yaml").exists()


def test_directory_renamed_by_hand_outlives_its_record(own_gateway):
    create(own_gateway)
    directory = own_gateway.data / "agents"
    (directory / "mine").rename(directory / "moved")
    assert own_gateway.http.delete("/extensions/mine").status_code == 204
    assert reseed(own_gateway) == []
    assert find(own_gateway, "moved")["source"] == "user" and find(own_gateway, "mine") is None


def test_link_to_the_directory_of_a_record_is_no_extension(own_gateway):
    create(own_gateway)
    (own_gateway.data / "agents" / "alias").symlink_to("mine")
    assert reseed(own_gateway) == ["agents/alias: a link to agents/mine"]
    assert find(own_gateway, "alias") is None


def test_changes_are_announced(own_gateway):
    create(own_gateway)
    write_files(own_gateway, "agent", "mine", "systemPrompt: edited\n")
    write_files(own_gateway, "agent", "fresh", "systemPrompt: x\n")
    with own_gateway.events() as events:
        reseed(own_gateway)
        changes = [found for found in events.drain() if found["type"] == "extension-changed"]
    assert {(found["name"], found["action"]) for found in changes} == {("mine", "updated"), ("fresh", "created")}
    assert len(changes) == 2


# Broken files.


BROKEN = {
    "tab": "a:\n\t- b\n", "doubled": "a: 1\na: 2\n", "bomb": "a: &a [x, x]\nb: [*a, *a]\n", "brackets": "[" * 20_000,
    "not-utf-8": b"systemPrompt: \xff\xfe\n", "list": "- a\n- b\n", "text": "just text\n", "empty": "",
    "two-documents": "a: 1\n---\nb: 2\n", "tag": "a: !!python/object:os.system x\n", "large": "a: " + "x" * (1 << 20),
    "wrong-type": "systemPrompt: [1]\n", "wrong-trigger": "trigger: {type: cron, expression: nonsense}\n",
    "wrong-enabled": "enabled: perhaps\n", "nul": "description: be\0fore\n", "escape": "description: \33[31mred\n",
    "deep": "".join(" " * level + "a:\n" for level in range(80)),
}


@pytest.mark.parametrize("why", BROKEN)
def test_broken_file_is_reported_and_harmless(own_gateway, why):
    write_files(own_gateway, "agent", f"broken-{why}", BROKEN[why])
    write_files(own_gateway, "agent", "sound", "systemPrompt: x\n")
    warnings = reseed(own_gateway)
    assert len(warnings) == 1 and f"broken-{why}" in warnings[0], warnings
    assert find(own_gateway, "sound") and not find(own_gateway, f"broken-{why}")
    own_gateway.restart()
    assert find(own_gateway, "sound") and not find(own_gateway, f"broken-{why}")


@pytest.mark.parametrize("trigger, problem", [
    ("{type: cron}", "trigger.expression"), ("daily", "trigger must be an object")])
def test_invalid_trigger_is_reported_in_the_words_of_the_file(own_gateway, trigger, problem):
    write_files(own_gateway, "job", "wrong", f"agent_id: assistant\nprompt: x\ntrigger: {trigger}\n")
    warning, = reseed(own_gateway)
    assert problem in warning and "trigger_def" not in warning


def test_broken_edit_does_not_change_the_record(own_gateway, resync):
    made = create(own_gateway)
    write_files(own_gateway, "agent", "mine", "systemPrompt: [\n")
    warnings = resync(own_gateway)
    assert find(own_gateway, "mine") == made
    assert resync is restart or "agents/mine/agent.yaml" in warnings[0]
    write_files(own_gateway, "agent", "mine", "systemPrompt: mended\n")
    resync(own_gateway)
    assert find(own_gateway, "mine")["definition"] == {"systemPrompt": "mended"}


def test_file_in_place_of_a_directory_is_reported_and_the_record_stays(own_gateway, resync):
    made = create(own_gateway)
    shutil.rmtree(own_gateway.data / "agents" / "mine")
    (own_gateway.data / "agents" / "mine").write_text("not a directory")
    warnings = resync(own_gateway)
    assert resync is restart or warnings == ["agents/mine: not a directory"]
    assert find(own_gateway, "mine") == made
    assert (own_gateway.data / "agents" / "mine").read_text() == "not a directory"


def test_taken_name_is_reported(own_gateway):
    write_files(own_gateway, "agent", "dark", "systemPrompt: x\n")
    warnings = reseed(own_gateway)
    assert len(warnings) == 1 and "agents/dark" in warnings[0]
    assert find(own_gateway, "dark")["type"] == "theme"


def test_built_in_file_can_only_be_toggled(own_gateway, resync):
    path = own_gateway.data / "jobs" / "compile-knowledge" / "job.yaml"
    text = path.read_text()
    assert "enabled: false" in text
    path.write_text(text.replace("enabled: false", "enabled: true"))
    assert resync(own_gateway) == []
    assert find(own_gateway, "compile-knowledge")["enabled"] is True
    path.write_text(text + "mine: 1\n")
    warnings = resync(own_gateway)
    assert "mine" not in find(own_gateway, "compile-knowledge")["definition"]
    assert resync is restart or "not editable" in warnings[0]


def test_symlinks_and_loops_are_not_followed(own_gateway, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "agent.yaml").write_text("systemPrompt: outside\n")
    directory = own_gateway.data / "agents"
    (directory / "linked").symlink_to(outside)
    (directory / "self").symlink_to("self")
    (directory / "proc").symlink_to("/proc/self")
    write_files(own_gateway, "agent", "file-linked", None)
    (directory / "file-linked" / "agent.yaml").symlink_to(outside / "agent.yaml")
    write_files(own_gateway, "agent", "secret", None)
    (directory / "secret" / "agent.yaml").symlink_to(own_gateway.data / ".gateway-token")
    write_files(own_gateway, "agent", "pipe", None)
    os.mkfifo(directory / "pipe" / "agent.yaml")
    write_files(own_gateway, "agent", "folder", None)
    (directory / "folder" / "agent.yaml").mkdir()
    reseed(own_gateway)
    own_gateway.restart()
    for name in "linked", "self", "proc", "file-linked", "secret", "pipe", "folder":
        assert find(own_gateway, name) is None


def test_reseed_does_not_restore_a_deleted_extension(own_gateway):
    create(own_gateway)
    assert own_gateway.http.delete("/extensions/mine").status_code == 204
    assert own_gateway.http.delete("/extensions/self-reflect").status_code == 204
    reseed(own_gateway)
    own_gateway.restart()
    assert not find(own_gateway, "mine") and not find(own_gateway, "self-reflect")


def delete_with_blocked_trash(gateway, kind="agent", **files):
    """Deletes an extension whose directory has these files and cannot be moved to the trash. Returns the directory, and the
    file that blocks the trash."""
    create(gateway, kind, enabled=True)
    folder, trash = write_files(gateway, kind, "mine", None, **files), gateway.data / "trash"
    trash.write_text("in the way")
    assert gateway.http.delete("/extensions/mine").status_code == 204
    return folder, trash


@pytest.mark.parametrize("kind", ["agent", "job"])
def test_deleted_extension_with_an_immovable_directory_stays_deleted(own_gateway, resync, kind):
    folder, trash = delete_with_blocked_trash(own_gateway, kind)
    for _ in range(2):
        resync(own_gateway)
        assert not find(own_gateway, "mine")
    assert any(f"{kind}s/mine" in warning for warning in reseed(own_gateway))
    trash.unlink()
    assert resync(own_gateway) == [] and not find(own_gateway, "mine")
    assert not folder.exists()
    assert (next(trash.glob("*mine*")) / f"{kind}.yaml").exists()


def test_extension_is_restored_from_a_directory_trashed_late(own_gateway):
    folder, trash = delete_with_blocked_trash(own_gateway)
    trash.unlink()
    assert reseed(own_gateway) == []
    next(trash.glob("*mine*")).rename(folder)
    own_gateway.restart()
    assert find(own_gateway, "mine")["definition"] == {"systemPrompt": "You help."}
    assert (folder / "agent.yaml").exists()


def test_deleted_unwritten_extension_is_not_written_later(own_gateway):
    obstacle = own_gateway.data / "agents" / "mine"
    obstacle.write_text("in the way")
    create(own_gateway)
    assert own_gateway.http.delete("/extensions/mine").status_code == 204
    assert reseed(own_gateway) == [] and not find(own_gateway, "mine") and not obstacle.exists()


def test_renamed_extension_with_an_immovable_directory_stays_deleted(own_gateway, resync):
    create(own_gateway)
    taken = own_gateway.data / "agents" / "moved"
    taken.mkdir()
    (taken / "agent.yaml").mkdir()
    (own_gateway.data / "trash").write_text("in the way")
    accepted(own_gateway.http.patch("/extensions/mine", json={"name": "moved"}))
    assert own_gateway.http.delete("/extensions/moved").status_code == 204
    resync(own_gateway)
    assert not find(own_gateway, "mine") and not find(own_gateway, "moved")
    (own_gateway.data / "trash").unlink()
    resync(own_gateway)
    assert not find(own_gateway, "mine") and not find(own_gateway, "moved")
    assert not (own_gateway.data / "agents" / "mine").exists() and not taken.exists()


def test_new_extension_is_not_mistaken_for_its_deleted_namesake(own_gateway, resync):
    folder, trash = delete_with_blocked_trash(own_gateway, soul_md="old")
    made = create(own_gateway, description="new")
    resync(own_gateway)
    assert find(own_gateway, "mine") == made
    trash.unlink()
    resync(own_gateway)
    assert find(own_gateway, "mine") == made and "description: new" in (folder / "agent.yaml").read_text()
    assert not (folder / "soul.md").exists() and (next(trash.glob("*mine*")) / "soul.md").read_text() == "old"


def test_new_extension_gets_the_directory_of_its_deleted_namesake_once_movable(own_gateway):
    folder, trash = delete_with_blocked_trash(own_gateway, soul_md="old")
    trash.unlink()
    made = create(own_gateway, description="new")
    assert "description: new" in (folder / "agent.yaml").read_text() and not (folder / "soul.md").exists()
    assert (next(trash.glob("*mine*")) / "soul.md").read_text() == "old"
    own_gateway.restart()
    assert find(own_gateway, "mine") == made


def test_extension_is_restored_from_the_trash(own_gateway):
    create(own_gateway)
    assert own_gateway.http.delete("/extensions/mine").status_code == 204
    trashed = next((own_gateway.data / "trash").glob("*mine*"))
    trashed.rename(own_gateway.data / "agents" / "mine")
    assert reseed(own_gateway) == []
    assert find(own_gateway, "mine")["definition"] == {"systemPrompt": "You help."}


def test_reseed_needs_a_token(own_gateway):
    refused(own_gateway.anonymous.post("/reseed"), 401, "unauthorized")
    refused(own_gateway.http.get("/reseed"), 405, "method not allowed")
