"""agw ext.

See docs/command-line.md#ext.
"""

import json
import os
import re
import shlex
from pathlib import Path

import pytest
import yaml

from checks import accepted, nested

AGENT = {"name": "helper", "description": "Helps", "systemPrompt": "Be kind.", "tools": ["Read"]}


def run(gateway, *arguments, status=0, **environment):
    gateway.environment.update(environment)
    done = gateway.command("ext", *arguments)
    assert done.returncode == status, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout if status == 0 else done.stderr


def record(gateway, name):
    return accepted(gateway.http.get(f"/extensions/{name}"))


def write(folder, **files):
    """Creates a folder with files; `agent_yaml={...}` is written to agent.yaml."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        name = name.replace("_", ".")
        text = content if isinstance(content, str) else (json if name.endswith("json") else yaml).dumps(content) \
            if name.endswith("json") else yaml.safe_dump(content)
        (folder / name).write_text(text)
    return folder


def editor(gateway, script):
    """Returns a value for $EDITOR that runs this script on the file `$1`."""
    path = gateway.home / "an editor"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o700)
    return f"'{path}'"


def test_every_command_requires_a_running_gateway(make_gateway, tmp_path):
    gateway = make_gateway()
    write(tmp_path, agent_yaml=AGENT)
    for arguments in (["list"], ["show", "x"], ["add", str(tmp_path)], ["edit", "x"], ["enable", "x"], ["disable", "x"],
                      ["rm", "x"]):
        assert "agw serve" in run(gateway, *arguments, status=4)


@pytest.mark.parametrize("arguments", [[], ["show"], ["add"], ["edit"], ["enable"], ["disable"], ["rm"],
                                       ["list", "--type", "nonsense"], ["list", "--source", "x"], ["show", "a", "b"]],
                         ids=" ".join)
def test_exit_status_of_wrong_usage_is_2(gateway, arguments):
    run(gateway, *arguments, status=2)


def test_extensions_are_listed_by_type_state_and_source(gateway, new_name):
    body = {"type": "theme", "name": new_name("dusk"), "description": "Evening \x1b[31mred", "definition": {"colors": {}}}
    accepted(gateway.http.post("/extensions", json=body), 201)
    output = run(gateway, "list")
    assert body["name"] in output and "assistant" in output and "disabled" in output and "\x1b" not in output
    themes = run(gateway, "list", "--type", "theme", "--disabled", "--source", "user")
    assert body["name"] in themes and "assistant" not in themes
    listed = json.loads(run(gateway, "list", "--type", "theme", "--json"))
    assert {one["type"] for one in listed} == {"theme"} and body["name"] in {one["name"] for one in listed}


def test_deeply_nested_definition_is_listed(own_gateway):
    accepted(own_gateway.http.post("/extensions", json={"type": "widget", "name": "deep", "description": "", "definition": {
        "x": nested(62)}}), 201)
    assert "deep" in run(own_gateway, "list", "--type", "widget")


def test_output_of_show_can_be_added_again(gateway, new_name, tmp_path):
    body = {"type": "command", "name": new_name("shown"), "description": "no", "enabled": True,
            "definition": {"prompt": "Say\n$ARGUMENTS", "kept": {"unknown": "yes"}}}
    made = accepted(gateway.http.post("/extensions", json=body), 201)
    shown = run(gateway, "show", made["name"])
    assert json.loads(run(gateway, "show", made["id"], "--json")) == made
    run(gateway, "rm", made["name"])
    (tmp_path / "copy.yaml").write_text(shown)
    run(gateway, "add", str(tmp_path / "copy.yaml"))
    again = record(gateway, body["name"])
    assert {member: again[member] for member in body} == body


@pytest.mark.parametrize("dump", [yaml.safe_dump, json.dumps], ids=["YAML", "JSON"])
def test_extension_is_read_from_stdin(gateway, new_name, dump):
    body = {"type": "command", "name": new_name("piped"), "description": "d", "definition": {"prompt": "Say hello"}}
    done = gateway.command("ext", "add", "-", typed=dump(body))
    assert done.returncode == 0, done.stderr
    made = record(gateway, body["name"])
    assert {member: made[member] for member in body} == body


def test_stdin_is_read_up_to_the_limit_of_a_file(gateway):
    done = gateway.command("ext", "add", "-", typed="a" * (2 << 20))
    assert done.returncode == 1 and "standard input: is larger than 1 MiB" in done.stderr


def test_record_cannot_end_a_comment(gateway, new_name):
    body = {"type": "theme", "name": new_name("evil"), "description": "\x1b]0;owned\x07\nenabled: true",
            "definition": {"colors": {}}}
    accepted(gateway.http.post("/extensions", json=body), 201)
    shown = run(gateway, "show", body["name"])
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f]", shown) and not re.search("^enabled: true", shown, re.M)


def test_unknown_extension_is_not_found(gateway):
    for command in ("show", "edit", "enable", "disable", "rm"):
        assert "extension not found" in run(gateway, command, "nobody-knows-it", status=1)


# add


@pytest.mark.parametrize("form", ["flat.yaml", "flat.json", "body.yaml", "body.json"])
def test_file_is_added(gateway, new_name, tmp_path, form):
    flat = {"type": "command", "name": new_name("filed"), "description": "Says", "prompt": "Say no"}
    body = {**flat, "definition": {"prompt": flat["prompt"]}}
    del body["prompt"]
    content = flat if form.startswith("flat") else body
    path = tmp_path / form
    path.write_text(json.dumps(content) if form.endswith("json") else yaml.safe_dump(content))
    added = json.loads(run(gateway, "add", str(path), "--json"))
    assert (added["type"], added["definition"]) == ("command", {"prompt": "Say no"})
    assert (added["enabled"], added["source"]) == (False, "user")


def test_added_extension_can_be_enabled_at_once(gateway, new_name, tmp_path):
    path = tmp_path / "command.yaml"
    path.write_text(yaml.safe_dump({"name": new_name("quick"), "description": "", "prompt": "x"}))
    assert json.loads(run(gateway, "add", str(path), "--enable", "--json"))["enabled"] is True


def test_folder_is_added_with_its_files(gateway, new_name, tmp_path):
    folder = write(tmp_path / new_name("porter"), agent_yaml={**AGENT, "name": new_name("porter"), "enabled": True})
    (folder / "skills" / "lift").mkdir(parents=True)
    (folder / "skills" / "lift" / "SKILL.md").write_text("---\nname: lift\ndescription: Lifts\n---\nHeave.")
    added = json.loads(run(gateway, "add", str(folder), "--json"))
    assert added["enabled"] is True and added["definition"]["systemPrompt"] == "Be kind."
    copied = gateway.data / "agents" / added["name"] / "skills" / "lift" / "SKILL.md"
    assert copied.read_text().endswith("Heave.") and copied.stat().st_mode & 0o077 == 0


def test_folder_of_a_job_has_its_prompt_in_a_file(gateway, new_name, tmp_path):
    folder = write(tmp_path / new_name("nightly"), job_yaml={"agent_id": "assistant", "description": "By night"},
                   prompt_md="Look around.\n")
    added = json.loads(run(gateway, "add", str(folder), "--json"))
    assert (added["name"], added["definition"]["prompt"]) == (folder.name, "Look around.\n")


def test_app_path_is_relative_to_its_folder(own_gateway):
    folder = write(own_gateway.home / "site", app_yaml={"type": "static", "description": "Pages"}, index_html="<p>hello")
    added = json.loads(run(own_gateway, "add", str(folder), "--json"))
    assert added["definition"] == {"type": "static", "path": str(folder)}


def test_community_extension_is_added_disabled(gateway, new_name, tmp_path):
    folder = write(tmp_path / new_name("stranger"), agent_yaml={
        **AGENT, "name": new_name("stranger"), "enabled": True, "source": "user"})
    (folder / "soul.md").write_text("I am trustworthy.")
    added = json.loads(run(gateway, "add", str(folder), "--community", "--enable", "--json"))
    assert (added["source"], added["enabled"]) == ("community", False)
    assert (gateway.data / "agents" / added["name"] / "soul.md").exists()


def test_symlink_in_a_folder_is_refused_and_nothing_is_added(gateway, new_name, tmp_path):
    folder = write(tmp_path / "linked", agent_yaml={**AGENT, "name": new_name("linked")})
    (folder / "key").symlink_to(Path.home() / ".ssh" / "id_rsa")
    assert "symlink" in run(gateway, "add", str(folder), status=1)
    os.remove(folder / "key")
    os.mkfifo(folder / "pipe")
    assert "neither a file nor a folder" in run(gateway, "add", str(folder), status=1)
    assert gateway.http.get(f"/extensions/{new_name('linked')}").status_code == 404


@pytest.mark.parametrize("text, message", [
    ("type: command\nname: UPPER\ndescription: x\nprompt: y", "kebab-case"),
    ("type: command\nname: no-prompt\ndescription: x", "definition.prompt"),
    ("type: command\nname: bad-type\ndescription: x\nprompt: 7", "definition.prompt must be a string"),
    ("type: nonsense\nname: x\ndescription: x", "type"),
    ("name: [", "line"),
    ("a: &x [1]\nb: *x", "alias"),
    ("- a list", "must be a map"),
    ("", "must be a map"),
    ("\t\tx", "must be a map"),
])
def test_invalid_file_is_reported_before_anything_is_sent(gateway, tmp_path, text, message):
    path = tmp_path / "wrong.yaml"
    path.write_text(text)
    problem = run(gateway, "add", str(path), status=1)
    assert message in problem and str(path) in problem


def test_missing_or_binary_file_is_reported(gateway, tmp_path):
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.json").write_text("{")
    for file in ("missing.yaml", "bytes.yaml", "empty", "broken.json"):
        assert file in run(gateway, "add", str(tmp_path / file), status=1)


def test_taken_name_is_reported(gateway, tmp_path):
    (tmp_path / "x.yaml").write_text("type: command\nname: help\ndescription: x\nprompt: y")
    assert "extension name already exists" in run(gateway, "add", str(tmp_path / "x.yaml"), status=1)


# enable, disable, rm


def test_enable_disable_and_rm(gateway, new_name):
    body = {"type": "theme", "name": new_name("switched"), "description": "", "definition": {"colors": {}}}
    accepted(gateway.http.post("/extensions", json=body), 201)
    run(gateway, "enable", body["name"])
    assert record(gateway, body["name"])["enabled"] is True
    assert json.loads(run(gateway, "disable", body["name"], "--json"))["enabled"] is False
    run(gateway, "rm", body["name"])
    assert gateway.http.get(f"/extensions/{body['name']}").status_code == 404


def test_essential_extension_cannot_be_disabled(gateway):
    assert "cannot disable essential extensions" in run(gateway, "disable", "help", status=1)
    assert "cannot delete essential extensions" in run(gateway, "rm", "help", status=1)


def test_trigger_may_have_the_name_of_the_api(own_gateway):
    job = {"type": "job", "name": "nightly", "agent_id": "assistant", "prompt": "Look.",
           "trigger_def": {"type": "webhook"}}
    (own_gateway.home / "nightly.yaml").write_text(yaml.safe_dump(job))
    run(own_gateway, "add", str(own_gateway.home / "nightly.yaml"))
    added = record(own_gateway, "nightly")
    assert added["trigger_def"]["type"] == "webhook" and "trigger_def" not in added["definition"]


# edit


@pytest.fixture
def gateway_with_job(own_gateway):
    body = {"type": "job", "name": "edited", "description": "Before", "enabled": True,
            "trigger_def": {"type": "cron", "expression": "0 9 * * *"},
            "definition": {"agent_id": "assistant", "prompt": "Look.", "kept": "no"}}
    accepted(own_gateway.http.post("/extensions", json=body), 201)
    return own_gateway


def test_saved_edit_is_sent(gateway_with_job):
    before = record(gateway_with_job, "edited")
    command = editor(gateway_with_job, 'sed -i s/Before/After/ "$1"')
    run(gateway_with_job, "edit", "edited", EDITOR=command)
    after = record(gateway_with_job, "edited")
    assert after == {**before, "description": "After", "updated_at": after["updated_at"]}


def test_visual_takes_precedence_over_editor(gateway_with_job):
    run(gateway_with_job, "edit", "edited", VISUAL=editor(gateway_with_job, 'sed -i s/Before/Visual/ "$1"'), EDITOR="false")
    assert record(gateway_with_job, "edited")["description"] == "Visual"


def test_edit_without_a_terminal_requires_an_editor(gateway_with_job):
    before = record(gateway_with_job, "edited")
    assert "set EDITOR" in run(gateway_with_job, "edit", "edited", EDITOR="", VISUAL="", status=1)
    assert record(gateway_with_job, "edited") == before


@pytest.mark.parametrize("script", ["true", ': > "$1"'], ids=["unchanged", "emptied"])
def test_unsaved_edit_changes_nothing(gateway_with_job, script):
    before = record(gateway_with_job, "edited")
    run(gateway_with_job, "edit", "edited", EDITOR=editor(gateway_with_job, script))
    assert record(gateway_with_job, "edited") == before


def test_removed_trigger_is_deleted(gateway_with_job):
    script = """sed -i '/^trigger/,/^definition/{/^definition/!d}' "$1" """
    run(gateway_with_job, "edit", "edited", EDITOR=editor(gateway_with_job, script))
    assert record(gateway_with_job, "edited")["trigger_def"] is None


@pytest.mark.parametrize("script, message", [
    ('sed -i "s/agent_id: assistant/agent_id: 7/" "$1"', "definition.agent_id must be a string"),
    ('echo "a: [" >> "$1"', "line"),
    ('sed -i "/^definition/,\\$d" "$1"', "definition is required"),
    ("exit 3", "status 3"),
])
def test_failed_edit_is_kept_and_can_be_retried(gateway_with_job, tmp_path, script, message):
    before = record(gateway_with_job, "edited")
    folder = tmp_path / "Ann's letters"
    folder.mkdir()
    gateway_with_job.environment["TMPDIR"] = str(folder)
    error = run(gateway_with_job, "edit", "edited", EDITOR=editor(gateway_with_job, script), status=1)
    assert message in error and record(gateway_with_job, "edited") == before
    command = shlex.split(re.search("Go on with: agw ext (.*)", error)[1])
    kept = Path(command[-1])
    assert kept.stat().st_mode & 0o777 == 0o600
    good = "description: Mended\ndefinition: {agent_id: assistant, prompt: Look.}\n"
    kept.write_text(good)
    run(gateway_with_job, *command, EDITOR=editor(gateway_with_job, "true"))
    assert record(gateway_with_job, "edited")["description"] == "Mended"


def test_removed_file_is_not_reported_as_kept(gateway_with_job):
    error = run(gateway_with_job, "edit", "edited", EDITOR=editor(gateway_with_job, 'rm "$1"'), status=1)
    assert "cannot read" in error and "kept" not in error


def test_concurrent_change_is_not_overwritten(gateway_with_job):
    script = editor(gateway_with_job, f"""
sed -i s/Before/After/ "$1"
/usr/bin/python3 - <<'END'
import urllib.request
urllib.request.urlopen(urllib.request.Request("{gateway_with_job.url}/extensions/edited", b'{{"description": "Elsewhere"}}',
    {{"Authorization": "Bearer {gateway_with_job.token}"}}, method="PATCH"))
END""")
    assert "changed meanwhile" in run(gateway_with_job, "edit", "edited", EDITOR=script, status=1)
    assert record(gateway_with_job, "edited")["description"] == "Elsewhere"


def test_built_ins_cannot_be_edited(own_gateway):
    assert "not editable" in run(own_gateway, "edit", "help", EDITOR="true", status=1)
