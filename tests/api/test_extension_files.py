"""Directories of agents, jobs and apps: created, renamed, moved to the trash, and read by the API.

See docs/contract/extensions.md#files-on-disk and docs/contract/extensions.md#looking-into-the-directory.
"""

import base64
import os

import pytest
import yaml

from checks import UNKNOWN_ID, accepted, at_once, invalid, is_timestamp, refused
from extensions import create_extension

TRAVERSAL = "path traversal not allowed"


def folder(gateway, extension):
    return gateway.data / f"{extension['type']}s" / extension["name"]


def config(gateway, extension):
    return yaml.safe_load((folder(gateway, extension) / f"{extension['type']}.yaml").read_text())


def disk_config(gateway, extension):
    return accepted(gateway.http.get(f"/extensions/{extension['id']}/disk-config"))


def patch(gateway, extension, **members):
    return accepted(gateway.http.patch(f"/extensions/{extension['id']}", json=members))


def read(gateway, extension, path, **parameters):
    return gateway.http.get(f"/extensions/{extension['id']}/file", params={"path": path, **parameters})


def files(gateway, extension):
    return gateway.http.get(f"/extensions/{extension['id']}/files")


# The directory follows the record.


@pytest.mark.parametrize("kind", ["agent", "job"])
def test_new_agent_or_job_gets_its_directory(gateway, create_extension, kind):
    made = create_extension(kind, enabled=True, trigger_def={"type": "cron", "expression": "0 9 * * *"})
    found = config(gateway, made)
    assert found.pop("name") == made["name"] and found.pop("description") == "d" and found.pop("enabled") is True
    assert found.pop("trigger") == {"type": "cron", "expression": "0 9 * * *"}
    assert found == ({"systemPrompt": "You help."} if kind == "agent" else {"agent_id": "assistant"})


@pytest.mark.parametrize("too_long", [{"description": "x" * (2 << 20)}, {"definition": {"systemPrompt": "x" * (2 << 20)}}])
def test_member_too_long_for_the_file_is_named(gateway, new_name, too_long):
    body = {"type": "agent", "name": new_name("long"), "description": "d", "definition": {}, **too_long}
    details = refused(gateway.http.post("/extensions", json=body), 400, "validation failed")["details"]
    assert [entry["path"] for entry in details] == list(too_long)
    assert details[0]["message"].startswith(f"{list(too_long)[0]} is too long")


def test_prompt_of_a_job_is_in_prompt_md(gateway, create_extension):
    made = create_extension("job", definition={"agent_id": "assistant", "prompt": "Do this.\n\nThen that."})
    assert (folder(gateway, made) / "prompt.md").read_text() == "Do this.\n\nThen that."
    patch(gateway, made, definition={"agent_id": "assistant", "schedule": "@daily"})
    assert not (folder(gateway, made) / "prompt.md").exists()


def test_prompt_is_written_despite_a_prompt_file(gateway, create_extension):
    made = create_extension("job", definition={"agent_id": "assistant", "prompt_file": "prompt.md", "prompt": "both"})
    assert (folder(gateway, made) / "prompt.md").read_text() == "both" and "prompt" not in config(gateway, made)
    assert disk_config(gateway, made)["prompt"] == "both"
    patch(gateway, made, definition={"agent_id": "assistant", "prompt_file": "prompt.md", "prompt": "new"})
    assert (folder(gateway, made) / "prompt.md").read_text() == "new"
    accepted(gateway.http.post("/reseed"))
    assert disk_config(gateway, made)["prompt"] == "new"


def test_users_prompt_file_is_kept_if_the_record_has_no_prompt(gateway, create_extension):
    made = create_extension("job", definition={"agent_id": "assistant", "schedule": "@yearly"})
    (folder(gateway, made) / "prompt.md").write_text("mine")
    accepted(gateway.http.post(f"/extensions/{made['id']}/toggle"))
    patch(gateway, made, description="new")
    assert (folder(gateway, made) / "prompt.md").read_text() == "mine"
    accepted(gateway.http.post("/reseed"))
    assert accepted(gateway.http.get(f"/extensions/{made['id']}"))["definition"]["prompt"] == "mine"


def test_unreferenced_prompt_file_is_kept(gateway, create_extension, new_name):
    directory = gateway.data / "jobs" / new_name("job")
    directory.mkdir(parents=True)
    (directory / "prompt.md").write_text("mine")
    made = create_extension("job", name=directory.name, definition={"agent_id": "assistant", "prompt_file": "prompt.md"})
    patch(gateway, made, definition={"agent_id": "assistant", "schedule": "@daily"})
    assert (directory / "prompt.md").read_text() == "mine"


def test_definition_too_long_for_a_file_is_refused(gateway, create_extension):
    body = {"type": "agent", "name": "over-long", "description": "", "definition": {"systemPrompt": "x" * (1 << 20)}}
    invalid(gateway.http.post("/extensions", json=body), "definition")
    made = create_extension()
    invalid(gateway.http.patch(f"/extensions/{made['id']}/disk-config", json={"systemPrompt": "x" * (1 << 20)}))
    assert disk_config(gateway, made)["name"] == made["name"]


def test_users_prompt_file_is_left_alone(gateway, create_extension):
    made = create_extension("job", definition={"agent_id": "assistant", "prompt_file": "prompt.md"})
    (folder(gateway, made) / "prompt.md").write_text("mine")
    patch(gateway, made, description="new")
    assert (folder(gateway, made) / "prompt.md").read_text() == "mine"


def test_types_of_yaml_are_kept(gateway, create_extension):
    definition = {"systemPrompt": "no", "a": "yes", "b": "1", "c": 1, "d": 1.5, "e": None, "f": True, "g": "true",
                  "h": "2026-01-02", "i": ["on", "~", ""], "j": {"k": "0x1f", "no": 1e30}, "l": "a: b # c\n\n d\n"}
    made = create_extension(definition=definition)
    found = config(gateway, made)
    assert {member: found[member] for member in definition} == definition
    assert {member: type(found[member]) for member in definition} == {m: type(v) for m, v in definition.items()}


def test_changed_record_changes_its_file(gateway, create_extension):
    made = create_extension()
    patch(gateway, made, description="new", definition={"model": "a/b"}, trigger={"type": "webhook"}, enabled=True)
    assert config(gateway, made) == {"name": made["name"], "description": "new", "enabled": True,
                                     "trigger": {"type": "webhook"}, "model": "a/b"}
    accepted(gateway.http.post(f"/extensions/{made['id']}/toggle"))
    patch(gateway, made, trigger=None)
    assert config(gateway, made) == {"name": made["name"], "description": "new", "enabled": False, "model": "a/b"}


def test_renaming_moves_the_directory(gateway, create_extension, new_name):
    made = create_extension()
    (folder(gateway, made) / "soul.md").write_text("kind")
    wanted = new_name("renamed")
    changed = patch(gateway, made, name=wanted)
    assert not folder(gateway, made).exists()
    assert (folder(gateway, changed) / "soul.md").read_text() == "kind"
    assert config(gateway, changed)["name"] == wanted


def test_renaming_onto_an_existing_directory_loses_nothing(gateway, create_extension, new_name):
    made, wanted = create_extension(), new_name("taken")
    (folder(gateway, made) / "soul.md").write_text("mine")
    theirs = gateway.data / "agents" / wanted
    theirs.mkdir()
    (theirs / "soul.md").write_text("theirs")
    changed = patch(gateway, made, name=wanted)
    assert (folder(gateway, changed) / "soul.md").read_text() == "mine"
    kept = list((gateway.data / "trash").glob(f"*{wanted}*/soul.md"))
    assert [path.read_text() for path in kept] == ["theirs"]


def test_deleting_moves_the_directory_to_the_trash(gateway, create_extension):
    made = create_extension()
    (folder(gateway, made) / "notes.md").write_text("kept")
    assert gateway.http.delete(f"/extensions/{made['id']}").status_code == 204
    assert not folder(gateway, made).exists()
    kept = list((gateway.data / "trash").glob(f"*{made['name']}*"))
    assert len(kept) == 1 and (kept[0] / "notes.md").read_text() == "kept" and (kept[0] / "agent.yaml").exists()


def test_new_extension_takes_over_an_existing_directory(gateway, create_extension, new_name):
    wanted = new_name("there")
    directory = gateway.data / "agents" / wanted
    directory.mkdir()
    (directory / "soul.md").write_text("soul")
    (directory / "agent.yaml").write_text("systemPrompt: by hand\n")
    made = create_extension(name=wanted)
    assert config(gateway, made)["systemPrompt"] == "You help." and (directory / "soul.md").read_text() == "soul"
    kept = list((gateway.data / "trash").glob(f"*{wanted}-agent.yaml*"))
    assert [path.read_text() for path in kept] == ["systemPrompt: by hand\n"], "the file written by hand is kept"


def kept_in_trash(gateway, made):
    return [path.read_text() for path in (gateway.data / "trash").glob(f"*{made['name']}-agent.yaml*")]


@pytest.mark.parametrize("change", ["description", "enabled", "toggle"])
def test_a_manual_edit_is_read_before_the_next_change(gateway, create_extension, change):
    made = create_extension()
    (folder(gateway, made) / "agent.yaml").write_text("systemPrompt: edited\ndescription: d\n")
    if change == "toggle":
        accepted(gateway.http.post(f"/extensions/{made['id']}/toggle"))
    else:
        patch(gateway, made, **{change: "new" if change == "description" else True})
    record = accepted(gateway.http.get(f"/extensions/{made['id']}"))
    assert record["definition"] == {"systemPrompt": "edited"}
    assert (record["description"], record["enabled"]) == (("new", False) if change == "description" else ("d", True))
    found = config(gateway, made)
    assert (found["systemPrompt"], found["description"]) == ("edited", record["description"])
    assert kept_in_trash(gateway, made) == []


def test_a_manual_edit_is_a_separate_version(gateway, create_extension):
    made = create_extension()
    (folder(gateway, made) / "agent.yaml").write_text("systemPrompt: edited\n")
    body = {"definition": {"systemPrompt": "mine"}, "if_updated_at": made["updated_at"]}
    refused(gateway.http.patch(f"/extensions/{made['id']}", json=body), 409, "changed meanwhile")
    record = accepted(gateway.http.get(f"/extensions/{made['id']}"))
    assert record["definition"] == {"systemPrompt": "edited"}
    body["if_updated_at"] = record["updated_at"]
    assert accepted(gateway.http.patch(f"/extensions/{made['id']}", json=body))["definition"] == body["definition"]


@pytest.mark.parametrize("edit, change", [
    ("systemPrompt: edited\n", {"definition": {"systemPrompt": "mine"}}), ("{not: [yaml\n", {"description": "new"}),
])
def test_an_edit_that_a_change_replaces_is_kept(gateway, create_extension, edit, change):
    made = create_extension()
    (folder(gateway, made) / "agent.yaml").write_text(edit)
    patch(gateway, made, **change)
    found = config(gateway, made)
    assert found["systemPrompt"] == change.get("definition", made["definition"])["systemPrompt"]
    assert found["description"] == change.get("description", made["description"])
    assert kept_in_trash(gateway, made) == [edit]


def test_concurrent_writes_leave_one_complete_file(gateway, create_extension):
    made = create_extension()
    at_once(8, lambda n: gateway.http.patch(f"/extensions/{made['id']}", json={
        "description": str(n), "definition": {"systemPrompt": f"prompt {n}", "n": n}}))
    record = accepted(gateway.http.get(f"/extensions/{made['id']}"))
    found = config(gateway, made)
    assert record["definition"] == {"systemPrompt": f"prompt {record['description']}", "n": int(record["description"])}
    assert found["description"] == record["description"] and found["n"] == record["definition"]["n"]


def test_swapped_names_swap_directories(gateway, create_extension, new_name):
    one, two, spare = create_extension(), create_extension(), new_name("spare")
    (folder(gateway, one) / "soul.md").write_text("one")
    (folder(gateway, two) / "soul.md").write_text("two")
    patch(gateway, one, name=spare)
    patch(gateway, two, name=one["name"])
    patch(gateway, one, name=two["name"])
    assert (folder(gateway, one) / "soul.md").read_text() == "two"
    assert (folder(gateway, two) / "soul.md").read_text() == "one"
    assert not (gateway.data / "agents" / spare).exists()


def test_file_is_as_private_as_the_data_directory(gateway, create_extension):
    made = create_extension()
    assert (folder(gateway, made) / "agent.yaml").stat().st_mode & 0o777 == 0o600
    assert folder(gateway, made).stat().st_mode & 0o777 == 0o700


# Files.


def test_files_are_listed_recursively_without_following_symlinks(gateway, create_extension):
    made = create_extension()
    directory = folder(gateway, made)
    (directory / "b" / "c").mkdir(parents=True)
    (directory / "b" / "c" / "d.md").write_text("d")
    (directory / "a.md").write_text("a")
    (directory / "loop").symlink_to(directory)
    assert accepted(files(gateway, made)) == {"root": str(directory), "files": [
        {"name": "a.md", "isDirectory": False}, {"name": "agent.yaml", "isDirectory": False},
        {"name": "b", "isDirectory": True}, {"name": "b/c", "isDirectory": True},
        {"name": "b/c/d.md", "isDirectory": False}, {"name": "loop", "isDirectory": False}]}


def test_at_most_10000_files_are_listed(gateway, create_extension):
    made = create_extension()
    directory = folder(gateway, made) / "many"
    directory.mkdir()
    for number in range(10_050):
        (directory / f"{number:05}").touch()
    assert len(accepted(files(gateway, made))["files"]) == 10_000


def test_extension_can_be_named_instead_of_its_id(gateway):
    found = accepted(gateway.http.get("/extensions/assistant/files"))
    assert found["root"] == str(gateway.data / "agents" / "assistant")
    assert {"name": "agent.yaml", "isDirectory": False} in found["files"]


@pytest.mark.parametrize("path", ["files", "file", "file?path=a", "file?raw=maybe"])
def test_types_without_a_directory_have_no_files(gateway, path):
    refused(gateway.http.get(f"/extensions/dark/{path}"), 400, "extension has no disk path")
    refused(gateway.http.get(f"/extensions/{UNKNOWN_ID}/{path}"), 404, "extension not found")


def test_file_is_returned_as_json(gateway, create_extension):
    made = create_extension()
    (folder(gateway, made) / "note.md").write_bytes("h\u00e9llo\n".encode())
    found = accepted(read(gateway, made, "note.md"))
    assert is_timestamp(found.pop("modified_at"))
    assert found == {"path": "note.md", "content": "h\u00e9llo\n", "encoding": "utf-8", "size": 7}


def test_binary_file_is_returned_in_base64(gateway, create_extension):
    made = create_extension()
    content = bytes(range(256)) * 3 + b"\xff"
    (folder(gateway, made) / "data").write_bytes(content)
    found = accepted(read(gateway, made, "data"))
    assert found["encoding"] == "base64" and base64.b64decode(found["content"], validate=True) == content
    assert found["size"] == len(content)


@pytest.mark.parametrize("content", [b"", b"<script>alert(1)</script>", bytes(range(256))])
def test_raw_returns_the_bytes_with_a_sandbox(gateway, create_extension, content):
    made = create_extension()
    (folder(gateway, made) / "page.html").write_bytes(content)
    response = read(gateway, made, "page.html", raw="true")
    assert response.status_code == 200 and response.content == content
    assert response.headers["content-security-policy"] == "sandbox"
    assert not response.headers["content-type"].startswith("text/html")


def test_path_is_required(gateway, create_extension):
    made = create_extension()
    for query in "", "?path=", "?raw=true":
        refused(gateway.http.get(f"/extensions/{made['id']}/file{query}"), 400, "path query param required")


def test_raw_must_be_a_boolean(gateway, create_extension):
    refused(read(gateway, create_extension(), "agent.yaml", raw="maybe"), 400, "raw must be true or false")


@pytest.mark.parametrize("path", ["..", "../", "../../config.yaml", "/etc/passwd", "a/../../../config.yaml", "./../x",
                                  "//etc/passwd", "/proc/self/environ", "../../../../../../etc/passwd"])
def test_path_outside_is_refused(gateway, create_extension, path):
    refused(read(gateway, create_extension(), path), 400, TRAVERSAL)


@pytest.mark.parametrize("query", ["%2e%2e%2fconfig.yaml", "..%2f..%2f.gateway-token", "%2fetc%2fpasswd"])
def test_encoded_path_outside_is_refused(gateway, create_extension, query):
    refused(gateway.http.get(f"/extensions/{create_extension()['id']}/file?path={query}"), 400, TRAVERSAL)


def test_symlinks_leading_outside_are_refused(gateway, create_extension, tmp_path):
    made = create_extension()
    directory = folder(gateway, made)
    (tmp_path / "secret").write_text("secret")
    (directory / "out").symlink_to(tmp_path / "secret")
    (directory / "up").symlink_to("../..")
    (directory / "proc").symlink_to("/proc/self")
    (directory / "in").symlink_to("agent.yaml")
    (directory / "loop").symlink_to("loop")
    for path in "out", "up/config.yaml", "up/.gateway-token", "proc/environ", "proc/cwd":
        refused(read(gateway, made, path), 400, TRAVERSAL)
    assert accepted(read(gateway, made, "in"))["content"].startswith("name:")
    refused(read(gateway, made, "loop"), 404, "file not found")


@pytest.mark.parametrize("path", ["missing", "missing/agent.yaml", "agent.yaml/x", "sub", "sub/", ".", "fifo",
                                  "x" * 300, "%2e%2e%2fx", "..\\x"])
def test_missing_file_is_not_found(gateway, create_extension, path):
    made = create_extension()
    (folder(gateway, made) / "sub").mkdir()
    os.mkfifo(folder(gateway, made) / "fifo")
    refused(read(gateway, made, path), 404, "file not found")


def test_zero_byte_in_a_path_is_refused(gateway, create_extension):
    assert gateway.http.get(f"/extensions/{create_extension()['id']}/file?path=agent.yaml%00.png").status_code == 400


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run the gateway as another user")
def test_unreadable_file_is_denied(make_gateway):
    gateway = make_gateway(user=65534).start()
    body = {"type": "agent", "name": "closed", "description": "d", "definition": {}}
    agent = accepted(gateway.http.post("/extensions", json=body), 201)
    for closed in (folder(gateway, agent) / "agent.yaml", folder(gateway, agent)):
        closed.chmod(0)
        refused(read(gateway, agent, "agent.yaml"), 403, "permission denied")
        refused(gateway.http.get(f"/extensions/{agent['id']}/disk-config"), 403, "permission denied")


def test_file_over_5_mib_is_too_large(gateway, create_extension):
    made = create_extension()
    (folder(gateway, made) / "big").write_bytes(b"x" * (5 * 2**20))
    assert accepted(read(gateway, made, "big"))["size"] == 5 * 2**20
    (folder(gateway, made) / "big").write_bytes(b"x" * (5 * 2**20 + 1))
    refused(read(gateway, made, "big"), 413, "file too large")
    refused(read(gateway, made, "big", raw="true"), 413, "file too large")


def test_vanished_directory_is_reported_and_restored(gateway, create_extension):
    made = create_extension()
    for path in folder(gateway, made).iterdir():
        path.unlink()
    folder(gateway, made).rmdir()
    refused(files(gateway, made), 500, "could not read directory")
    assert f"agents/{made['name']}: not found" in gateway.stderr, "the log says why"
    refused(read(gateway, made, "agent.yaml"), 404, "file not found")
    patch(gateway, made, description="back")
    assert config(gateway, made)["description"] == "back"


# Apps.


def make_app(gateway, new_name, path):
    return accepted(gateway.http.post("/extensions", json={
        "type": "app", "name": new_name("app"), "description": "d", "definition": {"type": "static", "path": str(path)}}),
        201)


def test_app_lists_files_of_its_directory(gateway, new_name):
    directory = gateway.home / new_name("site")
    directory.mkdir()
    (directory / "index.html").write_text("<p>")
    app = make_app(gateway, new_name, directory)
    assert accepted(files(gateway, app)) == {"root": str(directory), "files": [{"name": "index.html",
                                                                           "isDirectory": False}]}
    assert accepted(read(gateway, app, "index.html"))["content"] == "<p>"
    refused(read(gateway, app, "../.agent-gateway/.gateway-token"), 400, TRAVERSAL)
    refused(gateway.http.get(f"/extensions/{app['id']}/disk-config"), 400, "disk-config not supported for type 'app'")


def test_app_lists_no_private_directory(gateway, new_name, tmp_path):
    (gateway.home / ".ssh").mkdir(exist_ok=True)
    link = gateway.home / new_name("link")
    link.symlink_to(gateway.data)
    for path in (gateway.data, gateway.home, gateway.data / "logs", gateway.home / ".ssh", tmp_path, "/", "/proc/self",
                 "relative", "", link, gateway.home / "missing", f"{gateway.home}/x/../.agent-gateway"):
        refused(files(gateway, make_app(gateway, new_name, path)), 400, "extension has no disk path")
