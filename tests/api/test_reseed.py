"""POST /reseed and the start: what people write, edit and drop into place becomes the record (decisions, 3)."""

import os
import shutil

import pytest

from checks import accepted, nested, refused


def reseed(gateway):
    answer = accepted(gateway.http.post("/reseed"))
    assert set(answer) == {"status", "warnings"} and answer["status"] == "reseeded"
    return answer["warnings"]


def restart(gateway):
    gateway.restart()
    return []


@pytest.fixture(params=[reseed, restart], ids=["reseed", "start"])
def resync(request):
    """Both ways in which directories are looked at."""
    return request.param


def find(gateway, name):
    response = gateway.http.get(f"/extensions/{name}")
    return response.json() if response.status_code == 200 else None


def drop(gateway, kind, name, config, **files):
    place = gateway.data / f"{kind}s" / name
    place.mkdir(parents=True, exist_ok=True)
    if config is not None:
        (place / f"{kind}.yaml").write_bytes(config if isinstance(config, bytes) else config.encode())
    for file, text in files.items():
        (place / file.replace("_", ".")).write_text(text)
    return place


def create(gateway, kind="agent", name="mine", **members):
    definition = {"agent_id": "assistant", "prompt": "work"} if kind == "job" else {"systemPrompt": "You help."}
    return accepted(gateway.http.post("/extensions", json={
        "type": kind, "name": name, "description": "d", "definition": definition, **members}), 201)


def files_below(place):
    return {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}


# Written by hand.


def test_a_directory_written_by_hand_becomes_a_user_extension(own, resync):
    drop(own, "agent", "by-hand", "description: Mine\nsystemPrompt: |\n  You help.\ntools: [Read, 'no']\nx: no\n")
    drop(own, "job", "nightly", "agent_id: by-hand\nenabled: true\ntrigger: {type: cron, expression: '0 3 * * *'}\n",
         prompt_md="Do it.\n")
    assert resync(own) == []
    agent, job = find(own, "by-hand"), find(own, "nightly")
    assert (agent["type"], agent["source"], agent["enabled"], agent["description"], agent["essential"]) == (
        "agent", "user", False, "Mine", False)
    assert agent["definition"] == {"systemPrompt": "You help.\n", "tools": ["Read", "no"], "x": "no"}
    assert job["enabled"] is True and job["trigger_def"] == {"type": "cron", "expression": "0 3 * * *"}
    assert job["definition"] == {"agent_id": "by-hand", "prompt": "Do it.\n"}


def test_what_nests_as_deep_as_a_file_may_is_taken_where_a_job_waits_for_it(own):
    create(own, "job", "waits", enabled=True, trigger_def={"type": "event", "event": "extension.created"})
    deepest = nested(63)
    drop(own, "agent", "deep", f"x: {deepest}\n")
    assert reseed(own) == [] and find(own, "deep")["definition"] == {"x": deepest}


def test_what_was_written_by_hand_is_left_as_it_is(own, resync):
    drop(own, "agent", "by-hand", "# mine\nsystemPrompt:   x\n")
    before = files_below(own.data / "agents")
    resync(own)
    resync(own)
    assert files_below(own.data / "agents") == before


def test_a_job_may_have_its_prompt_in_the_yaml(own, resync):
    drop(own, "job", "inline", "agent_id: assistant\nprompt: Work.\n")
    resync(own)
    assert find(own, "inline")["definition"] == {"agent_id": "assistant", "prompt": "Work."}


def test_a_prompt_of_null_is_none_beside_the_file(own, resync):
    drop(own, "job", "filed", "agent_id: assistant\nprompt:\nschedule: '@daily'\n", prompt_md="Work.")
    assert resync(own) == []
    assert find(own, "filed")["definition"] == {"agent_id": "assistant", "prompt": "Work.", "schedule": "@daily"}


def test_a_prompt_file_stays_a_file(own, resync):
    drop(own, "job", "filed", "agent_id: assistant\nprompt_file: prompt.md\n", prompt_md="Work.")
    resync(own)
    assert find(own, "filed")["definition"] == {"agent_id": "assistant", "prompt_file": "prompt.md"}


def test_a_directory_without_its_yaml_or_with_a_bad_name_becomes_none(own, resync):
    before = accepted(own.http.get("/extensions"))
    drop(own, "agent", "souls-only", None, soul_md="kind")
    drop(own, "agent", "wrong-yaml", None, job_yaml="agent_id: assistant\nprompt: x\n")
    for bad in "Capital", "under_score", "a.b", "a--b", "x" * 65, "01890000-0000-7000-8000-000000000000", ".hidden":
        drop(own, "agent", bad, "systemPrompt: x\n")
    (own.data / "agents" / "file").write_text("systemPrompt: x\n")
    resync(own)
    assert accepted(own.http.get("/extensions")) == before


def test_the_name_in_the_file_is_ignored(own):
    drop(own, "agent", "real-name", "name: other\nsystemPrompt: x\n")
    assert reseed(own) == []
    assert find(own, "real-name") and not find(own, "other")


# Edited by hand.


def test_an_edited_file_is_taken(own, resync):
    made = create(own, enabled=True)
    drop(own, "agent", "mine", "description: edited\nmodel: a/b\ntrigger: {type: webhook}\n")
    assert resync(own) == []
    after = find(own, "mine")
    assert (after["id"], after["description"], after["definition"], after["trigger_def"], after["enabled"]) == (
        made["id"], "edited", {"model": "a/b"}, {"type": "webhook"}, True), "an omitted enabled keeps its value"
    assert after["updated_at"] > made["updated_at"] and after["created_at"] == made["created_at"]


def test_an_edit_of_the_same_length_right_behind_the_write_is_taken(own, resync):
    create(own)
    path = own.data / "agents" / "mine" / "agent.yaml"
    path.write_text(path.read_text().replace("You help", "I thwart"))
    resync(own)
    assert find(own, "mine")["definition"] == {"systemPrompt": "I thwart."}


def test_an_edit_behind_a_kill_is_taken(own):
    create(own)
    own.kill()
    drop(own, "agent", "mine", "systemPrompt: edited\n")
    own.start()
    assert find(own, "mine")["definition"] == {"systemPrompt": "edited"}


def test_an_edited_prompt_is_taken(own, resync):
    create(own, "job")
    drop(own, "job", "mine", None, prompt_md="edited")
    assert resync(own) == []
    assert find(own, "mine")["definition"] == {"agent_id": "assistant", "prompt": "edited"}


def test_an_edit_is_taken_once(own):
    create(own)
    drop(own, "agent", "mine", "systemPrompt: edited\n")
    reseed(own)
    first = find(own, "mine")
    reseed(own)
    assert find(own, "mine") == first
    own.restart()
    assert find(own, "mine") == first


def test_nothing_edited_changes_nothing(own, resync):
    for kind, name in ("agent", "a"), ("job", "b"), ("theme", "c"):
        accepted(own.http.post("/extensions", json={"type": kind, "name": name, "description": "", "definition": {
            "agent_id": "assistant", "prompt": "x", "name": "n", "enabled": 5, "trigger": "t", "description": None}}), 201)
    before, files = accepted(own.http.get("/extensions")), files_below(own.data / "agents")
    assert resync(own) == []
    assert accepted(own.http.get("/extensions")) == before and files_below(own.data / "agents") == files


def test_reseed_never_removes_what_the_api_made_and_brings_its_files_back(own, resync):
    create(own, "job")
    place = own.data / "jobs" / "mine"
    for path in place.iterdir():
        path.unlink()
    place.rmdir()
    assert resync(own) == []
    assert find(own, "mine")["definition"] == {"agent_id": "assistant", "prompt": "work"}
    assert (place / "prompt.md").read_text() == "work" and (place / "job.yaml").exists()


@pytest.mark.parametrize("kind, file", [("agent", "agent.yaml"), ("job", "job.yaml"), ("job", "prompt.md")])
def test_a_file_that_is_removed_right_behind_its_making_comes_back(own, resync, kind, file):
    made = create(own, kind, description="made")
    path = own.data / f"{kind}s" / "mine" / file
    text = path.read_text()
    path.unlink()
    own.stop()
    own.start()
    assert path.read_text() == text
    path.unlink()
    assert resync(own) == []
    assert path.read_text() == text and find(own, "mine") == made


def test_a_job_with_a_schedule_keeps_its_prompt_without_the_file(own, resync):
    made = create(own, "job", definition={"agent_id": "assistant", "prompt": "work", "schedule": "0 0 1 1 *"})
    (own.data / "jobs" / "mine" / "prompt.md").unlink()
    assert resync(own) == []
    assert find(own, "mine") == made and (own.data / "jobs" / "mine" / "prompt.md").read_text() == "work"


def test_a_prompt_md_beside_a_prompt_in_the_yaml_is_kept(own, resync):
    place = drop(own, "job", "both", "agent_id: assistant\nprompt: Work.\n", prompt_md="my notes")
    assert resync(own) == resync(own) == []
    assert (place / "prompt.md").read_text() == "my notes"
    accepted(own.http.post("/extensions/both/toggle"))
    assert (place / "prompt.md").read_text() == "Work."
    assert [path.read_text() for path in (own.data / "trash").iterdir()] == ["my notes"]


def test_every_change_is_announced(own):
    create(own)
    drop(own, "agent", "mine", "systemPrompt: edited\n")
    drop(own, "agent", "fresh", "systemPrompt: x\n")
    with own.events() as events:
        reseed(own)
        told = [found for found in events.drain() if found["type"] == "extension-changed"]
    assert {(found["name"], found["action"]) for found in told} == {("mine", "updated"), ("fresh", "created")}
    assert len(told) == 2


# Broken ones.


BROKEN = {
    "tab": "a:\n\t- b\n", "doubled": "a: 1\na: 2\n", "bomb": "a: &a [x, x]\nb: [*a, *a]\n", "brackets": "[" * 20_000,
    "not-utf-8": b"systemPrompt: \xff\xfe\n", "list": "- a\n- b\n", "text": "just text\n", "empty": "",
    "two-documents": "a: 1\n---\nb: 2\n", "tag": "a: !!python/object:os.system x\n", "large": "a: " + "x" * (1 << 20),
    "wrong-type": "systemPrompt: [1]\n", "wrong-trigger": "trigger: {type: cron, expression: nonsense}\n",
    "wrong-enabled": "enabled: perhaps\n", "nul": "description: be\0fore\n", "escape": "description: \33[31mred\n", "deep": "".join(" " * level + "a:\n" for level in range(80)),
}


@pytest.mark.parametrize("why", BROKEN)
def test_a_broken_file_is_named_and_harms_nothing_else(own, why):
    drop(own, "agent", f"broken-{why}", BROKEN[why])
    drop(own, "agent", "sound", "systemPrompt: x\n")
    warnings = reseed(own)
    assert len(warnings) == 1 and f"broken-{why}" in warnings[0], warnings
    assert find(own, "sound") and not find(own, f"broken-{why}")
    own.restart()
    assert find(own, "sound") and not find(own, f"broken-{why}")


@pytest.mark.parametrize("trigger, problem", [
    ("{type: cron}", "trigger.expression"), ("daily", "trigger must be an object")])
def test_a_wrong_trigger_is_told_in_the_words_of_the_file(own, trigger, problem):
    drop(own, "job", "wrong", f"agent_id: assistant\nprompt: x\ntrigger: {trigger}\n")
    warning, = reseed(own)
    assert problem in warning and "trigger_def" not in warning


def test_a_broken_edit_leaves_the_record_as_it_was(own, resync):
    made = create(own)
    drop(own, "agent", "mine", "systemPrompt: [\n")
    warnings = resync(own)
    assert find(own, "mine") == made
    assert resync is restart or "agents/mine/agent.yaml" in warnings[0]
    drop(own, "agent", "mine", "systemPrompt: mended\n")
    resync(own)
    assert find(own, "mine")["definition"] == {"systemPrompt": "mended"}


def test_a_file_in_the_place_of_a_directory_is_told_and_the_record_stays(own, resync):
    made = create(own)
    shutil.rmtree(own.data / "agents" / "mine")
    (own.data / "agents" / "mine").write_text("not a directory")
    warnings = resync(own)
    assert resync is restart or warnings == ["agents/mine: not a directory"]
    assert find(own, "mine") == made
    assert (own.data / "agents" / "mine").read_text() == "not a directory"


def test_a_name_that_another_extension_has_is_told(own):
    drop(own, "agent", "dark", "systemPrompt: x\n")
    warnings = reseed(own)
    assert len(warnings) == 1 and "agents/dark" in warnings[0]
    assert find(own, "dark")["type"] == "theme"


def test_a_built_in_file_can_only_be_switched(own, resync):
    path = own.data / "jobs" / "compile-knowledge" / "job.yaml"
    text = path.read_text()
    assert "enabled: false" in text
    path.write_text(text.replace("enabled: false", "enabled: true"))
    assert resync(own) == []
    assert find(own, "compile-knowledge")["enabled"] is True
    path.write_text(text + "mine: 1\n")
    warnings = resync(own)
    assert "mine" not in find(own, "compile-knowledge")["definition"]
    assert resync is restart or "not editable" in warnings[0]


def test_links_and_loops_lead_nowhere(own, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "agent.yaml").write_text("systemPrompt: outside\n")
    place = own.data / "agents"
    (place / "linked").symlink_to(outside)
    (place / "self").symlink_to("self")
    (place / "proc").symlink_to("/proc/self")
    drop(own, "agent", "file-linked", None)
    (place / "file-linked" / "agent.yaml").symlink_to(outside / "agent.yaml")
    drop(own, "agent", "secret", None)
    (place / "secret" / "agent.yaml").symlink_to(own.data / ".gateway-token")
    drop(own, "agent", "pipe", None)
    os.mkfifo(place / "pipe" / "agent.yaml")
    drop(own, "agent", "folder", None)
    (place / "folder" / "agent.yaml").mkdir()
    reseed(own)
    own.restart()
    for name in "linked", "self", "proc", "file-linked", "secret", "pipe", "folder":
        assert find(own, name) is None


def test_reseed_brings_no_deleted_one_back(own):
    create(own)
    assert own.http.delete("/extensions/mine").status_code == 204
    assert own.http.delete("/extensions/self-reflect").status_code == 204
    reseed(own)
    own.restart()
    assert not find(own, "mine") and not find(own, "self-reflect")


def deleted_in_vain(gateway, kind="agent", **files):
    """Deletes one whose directory, with these files, cannot be moved away. Answers that, and what is in the way: the trash."""
    create(gateway, kind, enabled=True)
    folder, trash = drop(gateway, kind, "mine", None, **files), gateway.data / "trash"
    trash.write_text("in the way")
    assert gateway.http.delete("/extensions/mine").status_code == 204
    return folder, trash


@pytest.mark.parametrize("kind", ["agent", "job"])
def test_a_deleted_one_whose_directory_could_not_be_moved_stays_deleted(own, resync, kind):
    folder, trash = deleted_in_vain(own, kind)
    for _ in range(2):
        resync(own)
        assert not find(own, "mine")
    assert any(f"{kind}s/mine" in warning for warning in reseed(own))
    trash.unlink()
    assert resync(own) == [] and not find(own, "mine")
    assert not folder.exists()
    assert (next(trash.glob("*mine*")) / f"{kind}.yaml").exists()


def test_what_was_moved_to_the_trash_late_and_is_taken_out_again_comes_back(own):
    folder, trash = deleted_in_vain(own)
    trash.unlink()
    assert reseed(own) == []
    next(trash.glob("*mine*")).rename(folder)
    own.restart()
    assert find(own, "mine")["definition"] == {"systemPrompt": "You help."}
    assert (folder / "agent.yaml").exists()


def test_a_deleted_one_that_was_never_written_is_not_written_later(own):
    in_the_way = own.data / "agents" / "mine"
    in_the_way.write_text("in the way")
    create(own)
    assert own.http.delete("/extensions/mine").status_code == 204
    assert reseed(own) == [] and not find(own, "mine") and not in_the_way.exists()


def test_a_renamed_one_whose_directory_could_not_be_moved_stays_deleted(own, resync):
    create(own)
    taken = own.data / "agents" / "moved"
    taken.mkdir()
    (taken / "agent.yaml").mkdir()
    (own.data / "trash").write_text("in the way")
    accepted(own.http.patch("/extensions/mine", json={"name": "moved"}))
    assert own.http.delete("/extensions/moved").status_code == 204
    resync(own)
    assert not find(own, "mine") and not find(own, "moved")
    (own.data / "trash").unlink()
    resync(own)
    assert not find(own, "mine") and not find(own, "moved")
    assert not (own.data / "agents" / "mine").exists() and not taken.exists()


def test_a_new_one_is_not_mistaken_for_the_deleted_one_in_its_place(own, resync):
    folder, trash = deleted_in_vain(own, soul_md="old")
    made = create(own, description="new")
    resync(own)
    assert find(own, "mine") == made
    trash.unlink()
    resync(own)
    assert find(own, "mine") == made and "description: new" in (folder / "agent.yaml").read_text()
    assert not (folder / "soul.md").exists() and (next(trash.glob("*mine*")) / "soul.md").read_text() == "old"


def test_a_new_one_has_the_place_of_a_deleted_one_as_soon_as_that_can_be_moved(own):
    folder, trash = deleted_in_vain(own, soul_md="old")
    trash.unlink()
    made = create(own, description="new")
    assert "description: new" in (folder / "agent.yaml").read_text() and not (folder / "soul.md").exists()
    assert (next(trash.glob("*mine*")) / "soul.md").read_text() == "old"
    own.restart()
    assert find(own, "mine") == made


def test_what_is_taken_out_of_the_trash_comes_back(own):
    create(own)
    assert own.http.delete("/extensions/mine").status_code == 204
    kept = next((own.data / "trash").glob("*mine*"))
    kept.rename(own.data / "agents" / "mine")
    assert reseed(own) == []
    assert find(own, "mine")["definition"] == {"systemPrompt": "You help."}


def test_reseed_needs_a_token(own):
    refused(own.anonymous.post("/reseed"), 401, "unauthorized")
    refused(own.http.get("/reseed"), 405, "method not allowed")
