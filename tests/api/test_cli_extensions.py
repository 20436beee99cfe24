"""agw ext (decisions, 15)."""

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
    """Makes a folder of files; `agent_yaml={...}` becomes agent.yaml."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        name = name.replace("_", ".")
        text = content if isinstance(content, str) else (json if name.endswith("json") else yaml).dumps(content) \
            if name.endswith("json") else yaml.safe_dump(content)
        (folder / name).write_text(text)
    return folder


def editor(gateway, script):
    """An $EDITOR that does this to the file `$1`."""
    path = gateway.home / "an editor"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o700)
    return f"'{path}'"


def test_every_command_needs_a_running_gateway(make_gateway, tmp_path):
    gateway = make_gateway()
    write(tmp_path, agent_yaml=AGENT)
    for arguments in (["list"], ["show", "x"], ["add", str(tmp_path)], ["edit", "x"], ["enable", "x"], ["disable", "x"],
                      ["rm", "x"]):
        assert "agw serve" in run(gateway, *arguments, status=4)


@pytest.mark.parametrize("arguments", [[], ["show"], ["add"], ["edit"], ["enable"], ["disable"], ["rm"],
                                       ["list", "--type", "nonsense"], ["list", "--source", "x"], ["show", "a", "b"]],
                         ids=" ".join)
def test_wrong_usage_is_exit_status_2(gateway, arguments):
    run(gateway, *arguments, status=2)


def test_extensions_are_listed_by_type_state_and_source(gateway, name):
    body = {"type": "theme", "name": name("dusk"), "description": "Evening \x1b[31mred", "definition": {"colors": {}}}
    accepted(gateway.http.post("/extensions", json=body), 201)
    printed = run(gateway, "list")
    assert body["name"] in printed and "assistant" in printed and "disabled" in printed and "\x1b" not in printed
    themes = run(gateway, "list", "--type", "theme", "--disabled", "--source", "user")
    assert body["name"] in themes and "assistant" not in themes
    listed = json.loads(run(gateway, "list", "--type", "theme", "--json"))
    assert {one["type"] for one in listed} == {"theme"} and body["name"] in {one["name"] for one in listed}


def test_what_nests_as_deep_as_can_be_sent_is_listed(own):
    accepted(own.http.post("/extensions", json={"type": "widget", "name": "deep", "description": "", "definition": {
        "x": nested(62)}}), 201)
    assert "deep" in run(own, "list", "--type", "widget")


def test_what_is_shown_can_be_added_again(gateway, name, tmp_path):
    body = {"type": "command", "name": name("shown"), "description": "no", "enabled": True,
            "definition": {"prompt": "Say\n$ARGUMENTS", "kept": {"unknown": "yes"}}}
    made = accepted(gateway.http.post("/extensions", json=body), 201)
    shown = run(gateway, "show", made["name"])
    assert json.loads(run(gateway, "show", made["id"], "--json")) == made
    run(gateway, "rm", made["name"])
    (tmp_path / "copy.yaml").write_text(shown)
    run(gateway, "add", str(tmp_path / "copy.yaml"))
    again = record(gateway, body["name"])
    assert {member: again[member] for member in body} == body


def test_nothing_in_a_record_can_end_a_comment(gateway, name):
    body = {"type": "theme", "name": name("evil"), "description": "\x1b]0;owned\x07\nenabled: true",
            "definition": {"colors": {}}}
    accepted(gateway.http.post("/extensions", json=body), 201)
    shown = run(gateway, "show", body["name"])
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f]", shown) and not re.search("^enabled: true", shown, re.M)


def test_of_an_unknown_one_nothing_is_done(gateway):
    for command in ("show", "edit", "enable", "disable", "rm"):
        assert "extension not found" in run(gateway, command, "nobody-knows-it", status=1)


# add


@pytest.mark.parametrize("form", ["flat.yaml", "flat.json", "body.yaml", "body.json"])
def test_a_file_is_added(gateway, name, tmp_path, form):
    flat = {"type": "command", "name": name("filed"), "description": "Says", "prompt": "Say no"}
    body = {**flat, "definition": {"prompt": flat["prompt"]}}
    del body["prompt"]
    content = flat if form.startswith("flat") else body
    path = tmp_path / form
    path.write_text(json.dumps(content) if form.endswith("json") else yaml.safe_dump(content))
    added = json.loads(run(gateway, "add", str(path), "--json"))
    assert (added["type"], added["definition"]) == ("command", {"prompt": "Say no"})
    assert (added["enabled"], added["source"]) == (False, "user")


def test_it_can_be_enabled_at_once(gateway, name, tmp_path):
    path = tmp_path / "command.yaml"
    path.write_text(yaml.safe_dump({"name": name("quick"), "description": "", "prompt": "x"}))
    assert json.loads(run(gateway, "add", str(path), "--enable", "--json"))["enabled"] is True


def test_a_folder_is_added_with_its_files(gateway, name, tmp_path):
    folder = write(tmp_path / name("porter"), agent_yaml={**AGENT, "name": name("porter"), "enabled": True})
    (folder / "skills" / "lift").mkdir(parents=True)
    (folder / "skills" / "lift" / "SKILL.md").write_text("---\nname: lift\ndescription: Lifts\n---\nHeave.")
    added = json.loads(run(gateway, "add", str(folder), "--json"))
    assert added["enabled"] is True and added["definition"]["systemPrompt"] == "Be kind."
    copied = gateway.data / "agents" / added["name"] / "skills" / "lift" / "SKILL.md"
    assert copied.read_text().endswith("Heave.") and copied.stat().st_mode & 0o077 == 0


def test_a_folder_of_a_job_has_its_prompt_in_a_file(gateway, name, tmp_path):
    folder = write(tmp_path / name("nightly"), job_yaml={"agent_id": "assistant", "description": "By night"},
                   prompt_md="Look around.\n")
    added = json.loads(run(gateway, "add", str(folder), "--json"))
    assert (added["name"], added["definition"]["prompt"]) == (folder.name, "Look around.\n")


def test_the_path_of_an_app_starts_at_its_folder(own):
    folder = write(own.home / "site", app_yaml={"type": "static", "description": "Pages"}, index_html="<p>hello")
    added = json.loads(run(own, "add", str(folder), "--json"))
    assert added["definition"] == {"type": "static", "path": str(folder)}


def test_what_comes_from_the_community_is_inert(gateway, name, tmp_path):
    folder = write(tmp_path / name("stranger"), agent_yaml={
        **AGENT, "name": name("stranger"), "enabled": True, "source": "user"})
    (folder / "soul.md").write_text("I am trustworthy.")
    added = json.loads(run(gateway, "add", str(folder), "--community", "--enable", "--json"))
    assert (added["source"], added["enabled"]) == ("community", False)
    assert (gateway.data / "agents" / added["name"] / "soul.md").exists()


def test_a_symlink_in_a_folder_is_refused_and_leaves_nothing(gateway, name, tmp_path):
    folder = write(tmp_path / "linked", agent_yaml={**AGENT, "name": name("linked")})
    (folder / "key").symlink_to(Path.home() / ".ssh" / "id_rsa")
    assert "symlink" in run(gateway, "add", str(folder), status=1)
    os.remove(folder / "key")
    os.mkfifo(folder / "pipe")
    assert "neither a file nor a folder" in run(gateway, "add", str(folder), status=1)
    assert gateway.http.get(f"/extensions/{name('linked')}").status_code == 404


@pytest.mark.parametrize("text, told", [
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
def test_what_is_wrong_is_told_before_anything_is_sent(gateway, tmp_path, text, told):
    path = tmp_path / "wrong.yaml"
    path.write_text(text)
    problem = run(gateway, "add", str(path), status=1)
    assert told in problem and str(path) in problem


def test_what_is_not_there_or_no_text_is_told(gateway, tmp_path):
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.json").write_text("{")
    for file in ("missing.yaml", "bytes.yaml", "empty", "broken.json"):
        assert file in run(gateway, "add", str(tmp_path / file), status=1)


def test_a_name_that_is_taken_is_told(gateway, tmp_path):
    (tmp_path / "x.yaml").write_text("type: command\nname: help\ndescription: x\nprompt: y")
    assert "extension name already exists" in run(gateway, "add", str(tmp_path / "x.yaml"), status=1)


# enable, disable, rm


def test_enable_disable_and_rm(gateway, name):
    body = {"type": "theme", "name": name("switched"), "description": "", "definition": {"colors": {}}}
    accepted(gateway.http.post("/extensions", json=body), 201)
    run(gateway, "enable", body["name"])
    assert record(gateway, body["name"])["enabled"] is True
    assert json.loads(run(gateway, "disable", body["name"], "--json"))["enabled"] is False
    run(gateway, "rm", body["name"])
    assert gateway.http.get(f"/extensions/{body['name']}").status_code == 404


def test_essential_ones_stay(gateway):
    assert "cannot disable essential extensions" in run(gateway, "disable", "help", status=1)
    assert "cannot delete essential extensions" in run(gateway, "rm", "help", status=1)


# edit


@pytest.fixture
def edited(own):
    body = {"type": "job", "name": "edited", "description": "Before", "enabled": True,
            "trigger_def": {"type": "cron", "expression": "0 9 * * *"},
            "definition": {"agent_id": "assistant", "prompt": "Look.", "kept": "no"}}
    accepted(own.http.post("/extensions", json=body), 201)
    return own


def test_what_the_editor_saves_is_sent(edited):
    before = record(edited, "edited")
    command = editor(edited, 'sed -i s/Before/After/ "$1"')
    run(edited, "edit", "edited", EDITOR=command)
    after = record(edited, "edited")
    assert after == {**before, "description": "After", "updated_at": after["updated_at"]}


def test_visual_is_preferred_to_editor(edited):
    run(edited, "edit", "edited", VISUAL=editor(edited, 'sed -i s/Before/Visual/ "$1"'), EDITOR="false")
    assert record(edited, "edited")["description"] == "Visual"


@pytest.mark.parametrize("script", ["true", ': > "$1"'], ids=["unchanged", "emptied"])
def test_nothing_saved_changes_nothing(edited, script):
    before = record(edited, "edited")
    run(edited, "edit", "edited", EDITOR=editor(edited, script))
    assert record(edited, "edited") == before


def test_a_trigger_that_is_taken_out_is_removed(edited):
    run(edited, "edit", "edited", EDITOR=editor(edited, """sed -i '/^trigger/,/^definition/{/^definition/!d}' "$1" """))
    assert record(edited, "edited")["trigger_def"] is None


@pytest.mark.parametrize("script, told", [
    ('sed -i "s/agent_id: assistant/agent_id: 7/" "$1"', "definition.agent_id must be a string"),
    ('echo "a: [" >> "$1"', "line"),
    ('sed -i "/^definition/,\\$d" "$1"', "definition is required"),
    ("exit 3", "status 3"),
])
def test_what_fails_is_kept_and_can_be_gone_on_with(edited, tmp_path, script, told):
    before = record(edited, "edited")
    folder = tmp_path / "Ann's letters"
    folder.mkdir()
    edited.environment["TMPDIR"] = str(folder)
    why = run(edited, "edit", "edited", EDITOR=editor(edited, script), status=1)
    assert told in why and record(edited, "edited") == before
    told_command = shlex.split(re.search("Go on with: agw ext (.*)", why)[1])
    kept = Path(told_command[-1])
    assert kept.stat().st_mode & 0o777 == 0o600
    good = "description: Mended\ndefinition: {agent_id: assistant, prompt: Look.}\n"
    kept.write_text(good)
    run(edited, *told_command, EDITOR=editor(edited, "true"))
    assert record(edited, "edited")["description"] == "Mended"


def test_what_the_editor_removed_is_not_said_to_be_kept(edited):
    why = run(edited, "edit", "edited", EDITOR=editor(edited, 'rm "$1"'), status=1)
    assert "cannot read" in why and "kept" not in why


def test_a_change_meanwhile_is_not_overwritten(edited):
    script = editor(edited, f"""
sed -i s/Before/After/ "$1"
/usr/bin/python3 - <<'END'
import urllib.request
urllib.request.urlopen(urllib.request.Request("{edited.url}/extensions/edited", b'{{"description": "Elsewhere"}}',
    {{"Authorization": "Bearer {edited.token}"}}, method="PATCH"))
END""")
    assert "changed meanwhile" in run(edited, "edit", "edited", EDITOR=script, status=1)
    assert record(edited, "edited")["description"] == "Elsewhere"


def test_built_ins_are_not_edited(own):
    assert "not editable" in run(own, "edit", "help", EDITOR="true", status=1)
