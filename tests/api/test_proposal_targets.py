"""Targets of proposals: files, after symlinks are resolved, and extensions.

See docs/contract/proposals.md#files and docs/contract/proposals.md#endpoints.
"""

import pytest
import yaml

from checks import accepted, at_once, refused
from proposals import apply, experiments_of, head_of, show, target_of, write

OUTSIDE = "path outside home directory"


# Targets.


@pytest.mark.parametrize("target", [
    "/etc/agw-test", "../outside.md", "notes/../../outside.md", "config.yaml", "prices.yaml", "secrets.yaml",
    ".gateway-token", "gateway.db", "gateway.db-wal", "gateway.lock", "autoresearch/proposals/assistant/x.md",
    "autoresearch", "trash/x", "backups/x.db", "attachments/x", "logs/x.log", "./config.yaml",
    "checkpoints/x", "soul.md/x", "agents/assistant/soul.md/x/y", "jobs/mail/job.yaml/x",
    "notes/../config.yaml", ".", "/", "keys/id_rsa"])
def test_protected_target_is_refused(gateway, target):
    path = write(gateway, target=target)
    refused(apply(gateway, path), 403, OUTSIDE)
    assert show(gateway, path)["status"] == "pending" and experiments_of(gateway, path) == []


def test_protected_target_is_not_shown(gateway):
    for target in (".gateway-token", str(gateway.data / ".gateway-token"), "/etc/passwd", "config.yaml"):
        shown = show(gateway, write(gateway, target=target))
        assert shown["current_content"] is None and gateway.token not in str(shown)


def test_target_in_home_outside_projects_is_refused(gateway):
    (gateway.home / "loose").mkdir(exist_ok=True)
    refused(apply(gateway, write(gateway, target=str(gateway.home / "loose" / "x.md"))), 403, OUTSIDE)
    assert not (gateway.home / "loose" / "x.md").exists()


def test_project_file_can_be_changed(gateway, new_name):
    directory = gateway.home / new_name("project")
    directory.mkdir()
    project = accepted(gateway.http.post("/projects", json={"name": "P", "path": str(directory)}), 201)
    path = write(gateway, target=str(directory / "src" / "new.md"))
    accepted(apply(gateway, path))
    assert (directory / "src" / "new.md").read_text() == "new text\n"
    hooks = write(gateway, target=str(directory / ".git" / "hooks" / "pre-commit"))
    refused(apply(gateway, hooks), 403, OUTSIDE)
    gateway.http.delete(f"/projects/{project['id']}")
    refused(apply(gateway, write(gateway, target=str(directory / "late.md"))), 403, OUTSIDE)


def test_symlinks_are_checked_by_their_target(gateway):
    notes = gateway.data / "notes"
    notes.mkdir(exist_ok=True)
    (notes / "out").symlink_to("/etc")
    (notes / "token.md").symlink_to(gateway.data / ".gateway-token")
    (notes / "loop").symlink_to("loop")
    for target in ("notes/out/agw-test", "notes/token.md"):
        path = write(gateway, target=target)
        refused(apply(gateway, path), 403, OUTSIDE)
        assert gateway.token not in str(show(gateway, path))
    assert apply(gateway, write(gateway, target="notes/loop")).status_code in (400, 403)
    (notes / "real.md").write_text("before")
    (notes / "link.md").symlink_to("real.md")
    accepted(apply(gateway, write(gateway, target="notes/link.md")))
    assert (notes / "link.md").is_symlink() and (notes / "real.md").read_text() == "new text\n"


def test_proposal_without_a_target_cannot_be_applied(gateway):
    for path in (write(gateway, target=None), write(gateway, target=""), write(gateway, text="no head at all")):
        body = refused(apply(gateway, path), 400, "validation failed")
        assert body["details"][0]["path"] == "target"


def test_target_that_is_a_directory_cannot_be_applied(gateway):
    (gateway.data / "notes" / "folder").mkdir(parents=True, exist_ok=True)
    path = write(gateway, target="notes/folder")
    refused(apply(gateway, path), 400, "validation failed")
    assert show(gateway, path)["status"] == "pending" and head_of(gateway, path)["status"] == "pending"


@pytest.mark.parametrize("target", ["notes/unmade/", "notes/unmade/.", "agents/assistant/unmade/"])
def test_target_named_like_a_directory_cannot_be_applied(gateway, target):
    path = write(gateway, target=target)
    refused(apply(gateway, path), 400, "validation failed")
    assert show(gateway, path)["status"] == "pending" and not (gateway.data / target).exists()


def test_extension_with_an_unwritable_file_is_unchanged(gateway, new_name):
    extension = new_name("command")
    in_the_way = gateway.data / "extensions" / f"{extension}.yaml"
    in_the_way.mkdir(parents=True)
    path = write(gateway, "type: command\ndescription: hello\nprompt: Say hello.\n", type="extension",
                 target=f"extensions/{extension}.yaml")
    refused(apply(gateway, path), 400, "validation failed")
    assert show(gateway, path)["status"] == "pending"
    assert gateway.http.get(f"/extensions/{extension}").status_code == 404
    in_the_way.rmdir()
    accepted(apply(gateway, path))
    assert accepted(gateway.http.get(f"/extensions/{extension}"))["description"] == "hello"


def test_deleted_target_is_created_again(gateway):
    path = write(gateway)
    target_of(gateway, path).parent.mkdir(exist_ok=True)
    target_of(gateway, path).write_text("before")
    assert show(gateway, path)["current_content"] == "before"
    target_of(gateway, path).unlink()
    assert show(gateway, path)["current_content"] is None
    accepted(apply(gateway, path))
    assert target_of(gateway, path).read_text() == "new text\n"


def test_files_named_like_protected_directories_can_be_changed(gateway):
    for target in ("logs.md", "files-to-read.md", "backups-plan/today.md", "notes/config.yaml", "notes/trash/x"):
        accepted(apply(gateway, write(gateway, target=target)))
        assert (gateway.data / target).read_text() == "new text\n"


# Extensions.


def test_new_extension_is_disabled_and_owned_by_the_agent(gateway, new_name):
    made = new_name("proposed")
    path = write(gateway, "description: Sums up\nprompt: Sum it up\n", type="extension", target=f"jobs/{made}/job.yaml")
    refused(apply(gateway, path), 400, "validation failed")
    good = "# why\ndescription: Sums up\nagent_id: assistant\nprompt: Sum it up\n"
    path = write(gateway, good, type="extension", target=f"jobs/{made}/job.yaml")
    accepted(apply(gateway, path))
    job = accepted(gateway.http.get(f"/extensions/{made}"))
    assistant = accepted(gateway.http.get("/extensions/assistant"))
    assert (job["type"], job["source"], job["enabled"]) == ("job", "agent", False)
    assert job["owner_agent_id"] == assistant["id"] and job["definition"]["prompt"] == "Sum it up"
    assert (gateway.data / "jobs" / made / "job.yaml").read_text() == good


def test_new_extension_is_enabled_if_its_text_enables_it(gateway, new_name):
    made = new_name("command")
    text = "type: command\ndescription: Greets\nenabled: true\nprompt: Say hello to $ARGUMENTS\n"
    accepted(apply(gateway, write(gateway, text, type="extension", target=f"extensions/{made}.yaml")))
    record = accepted(gateway.http.get(f"/extensions/{made}"))
    assert (record["type"], record["enabled"], record["source"]) == ("command", True, "agent")


def test_applied_proposal_changes_the_record(gateway, new_name):
    made = new_name("theme")
    body = {"type": "theme", "name": made, "description": "d", "definition": {"dark": False}, "enabled": True}
    accepted(gateway.http.post("/extensions", json=body), 201)
    path = write(gateway, "type: theme\ndescription: Night\ndark: true\n", type="extension",
                 target=f"extensions/{made}.yaml")
    shown = show(gateway, path)
    assert yaml.safe_load(shown["current_content"])["dark"] is False and "+dark: true" in shown["diff"]
    accepted(apply(gateway, path))
    record = accepted(gateway.http.get(f"/extensions/{made}"))
    assert (record["description"], record["definition"], record["enabled"]) == ("Night", {"dark": True}, True)
    assert record["source"] == "user"


def test_file_of_an_agent_is_changed_with_its_record(gateway, new_name):
    made = new_name("agent")
    body = {"type": "agent", "name": made, "description": "d", "definition": {"systemPrompt": "old"}}
    accepted(gateway.http.post("/extensions", json=body), 201)
    text = "# approved\ndescription: d\nsystemPrompt: new\n"
    accepted(apply(gateway, write(gateway, text, type="extension", target=f"agents/{made}/agent.yaml")))
    assert accepted(gateway.http.get(f"/extensions/{made}"))["definition"] == {"systemPrompt": "new"}
    assert (gateway.data / "agents" / made / "agent.yaml").read_text() == text
    accepted(gateway.http.patch(f"/extensions/{made}", json={"description": "changed later"}))
    assert "changed later" in (gateway.data / "agents" / made / "agent.yaml").read_text()


@pytest.mark.parametrize("text", ["- a list\n", "a: [\n", "", "type: nonsense\n", "type: theme\ndark: maybe\n",
                                  "&a {b: *a}\n"])
def test_invalid_extension_text_leaves_it_pending(gateway, new_name, text):
    path = write(gateway, text, type="extension", target=f"extensions/{new_name('bad')}.yaml")
    refused(apply(gateway, path), 400, "validation failed")
    assert head_of(gateway, path)["status"] == "pending" and experiments_of(gateway, path) == []


def test_extension_target_has_one_of_three_forms(gateway):
    refused(apply(gateway, write(gateway, "type: theme\n", type="extension", target="notes/x.yaml")), 400,
            "validation failed")
    refused(apply(gateway, write(gateway, "type: theme\n", type="extension", target="extensions/Bad_Name.yaml")), 400,
            "name must be kebab-case (a-z, 0-9, hyphens)")


def test_concurrent_renames_and_proposals_duplicate_no_agent(gateway, new_name):
    made = [accepted(gateway.http.post("/extensions", json={
        "type": "agent", "name": new_name("agent"), "description": "d", "definition": {"systemPrompt": "old"}}), 201)
            for _ in range(40)]
    paths = [write(gateway, "description: new\nsystemPrompt: new\n", type="extension",
                   target=f"agents/{agent['name']}/agent.yaml") for agent in made]

    def act(number):
        agent = made[number // 2]
        if number % 2 == 0:
            return apply(gateway, paths[number // 2])
        # Delays some renames until between the change of the record and that of its file.
        for _ in range(number // 2):
            gateway.http.get("/health")
        return gateway.http.patch(f"/extensions/{agent['id']}", json={"name": agent["name"] + "-b"})

    for response in at_once(2 * len(made), act):
        accepted(response)
    for agent in made:
        again = gateway.http.get(f"/extensions/{agent['name']}")
        assert again.status_code == 404 or again.json()["source"] == "agent", again.json()
        accepted(gateway.http.get(f"/extensions/{agent['name']}-b"))


def test_built_in_cannot_be_changed(gateway):
    path = write(gateway, "type: theme\ndark: true\n", type="extension", target="extensions/dark.yaml")
    refused(apply(gateway, path), 403, "built-in extensions are not editable")
    assert show(gateway, path)["status"] == "pending"


def test_target_determines_the_changed_record(gateway, new_name):
    agent = new_name("agent")
    body = {"type": "agent", "name": agent, "description": "d", "definition": {"systemPrompt": "old"}}
    made = accepted(gateway.http.post("/extensions", json=body), 201)
    text = "description: d\ndefinition:\n  systemPrompt: new\n  agent_id: assistant\n  prompt: p\n"
    path = write(gateway, text, type="extension", target=f"jobs/{agent}/job.yaml")
    refused(apply(gateway, path), 409, "extension name already exists")
    path = write(gateway, text, type="extension", target=f"agents/{made['id']}/agent.yaml")
    refused(apply(gateway, path), 400, "name must be kebab-case (a-z, 0-9, hyphens)")
    path = write(gateway, "type: agent\n" + text, type="extension", target=f"extensions/{made['id']}.yaml")
    assert show(gateway, path)["current_content"] is None
    refused(apply(gateway, path), 400, "name must be kebab-case (a-z, 0-9, hyphens)")
    assert accepted(gateway.http.get(f"/extensions/{agent}"))["definition"] == {"systemPrompt": "old"}
    assert not (gateway.data / "jobs" / agent).exists() and not (gateway.data / "agents" / made["id"]).exists()


def test_file_of_a_deleted_extension_is_not_shown(gateway, new_name):
    made = new_name("theme")
    text = "type: theme\ndescription: Night\ndark: true\n"
    accepted(apply(gateway, write(gateway, text, type="extension", target=f"extensions/{made}.yaml")))
    assert gateway.http.delete(f"/extensions/{made}").status_code == 204
    shown = show(gateway, write(gateway, text, type="extension", target=f"extensions/{made}.yaml"))
    assert shown["current_content"] is None and not shown["target_changed"] and "/dev/null" in shown["diff"]
