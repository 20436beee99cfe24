"""agw export, and agw import agent-gateway, which reads it.

See docs/contract/transfer.md.
"""

import json
import random
import re
import shutil
import signal
import subprocess
from html.parser import HTMLParser

import pytest
import yaml

from checks import accepted
from extensions import Maker
from gateway import BINARY
from jobs import new_agent, new_job, wait_for
from threads import add_turn, new_thread
from transfer import created, imported, reasons, threads, transcript_of, write_lines

TEXTS = ["plain", "", "two\nlines", "```\nfence\n```", "---\ntitle: no head\n---", "\u202eleft", "emoji 🚀", "<script>x</script>",
         "line\u2028separator", "nul-free \t tab", "ünï", "\\u0000 as text"]


def export(gateway, *arguments):
    done = gateway.command("export", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def upload_random(gateway, rng):
    """Uploads random text or random bytes."""
    content = rng.choice([rng.choice(TEXTS).encode() + b".", rng.randbytes(rng.randrange(1, 5000))])
    name, kind = rng.choice([("a.txt", "text/plain"), ("ünï \u202e.png", "image/png"), ("x" * 200, "application/x-y")])
    return accepted(gateway.http.post("/files", params={"name": name}, headers={"Content-Type": kind}, content=content), 201)


def files(gateway):
    """Returns the content of all attachments by id."""
    folder = gateway.data / "attachments"
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}


def create_random_threads(gateway, seed):
    """Creates random threads of every kind."""
    rng = random.Random(seed)
    project = accepted(gateway.http.post("/projects", json={"name": "My work", "path": str(gateway.home / "work")}), 201)
    new_agent(gateway, "guide", enabled=False)
    job = new_job(gateway, "nightly", agent_id="guide", enabled=False)
    for number in range(12):
        turns = [{"key": f"{number}-{at}", "role": rng.choice(["user", "assistant", "system", "tool"]),
                  "content": rng.choice(TEXTS), "created_at": f"2024-01-{number + 1:02}T00:{at:02}:00.123Z",
                  **({"metadata": {"superseded": rng.random() < 0.5, "run_id": "r", "n": [1, 2.5, None, {"x": "y"}]}}
                     if rng.random() < 0.5 else {}),
                  **({"in_reply_to": f"{number}-0"} if at and rng.random() < 0.5 else {})}
                 for at in range(rng.randrange(25))]
        for turn in turns:
            if rng.random() < 0.2:
                turn["metadata"] = {"attachments": [upload_random(gateway, rng) for _ in range(rng.randrange(1, 3))]}
        for turn in turns:
            if turn.get("metadata", {}).get("superseded") is False:
                del turn["metadata"]["superseded"]
        accepted(gateway.http.post("/import", json={"source": "seed", "threads": [{
            "key": str(number), "title": rng.choice(TEXTS), "archived": rng.random() < 0.5, "turns": turns,
            "mode": rng.choice(["plan", "act"]), "updated_at": f"2024-03-{number + 1:02}T00:00:00.000Z",
            "pinned": rng.random() < 0.5, "agent_id": rng.choice(["assistant", "guide"]),
            **({"tasks": [{"text": rng.choice(TEXTS), "status": rng.choice(["pending", "active", "done"])}
                          for _ in range(rng.randrange(4))]} if rng.random() < 0.5 else {}),
            **({"job_id": job["id"]} if rng.random() < 0.5 else {}),
            **({"project_id": project["id"]} if rng.random() < 0.5 else {})}]}))


def records(gateway):
    """Returns every thread with its turns. Ids of projects, agents and jobs differ between gateways, so projects are
    given by name and path, agents and jobs by name."""
    names = {one["id"]: one["name"] for one in accepted(gateway.http.get("/extensions"))}
    projects = {one["id"]: [one["name"], one["path"]] for one in accepted(gateway.http.get("/projects"))}
    listed = accepted(gateway.http.get("/threads", params={"archived": "true"}))
    return [{**one, "project_id": projects.get(one["project_id"]), "agent_id": names[one["agent_id"]],
             "job_id": names.get(one["job_id"]), "turns": transcript_of(gateway, one["id"]),
             "tasks": accepted(gateway.http.get(f"/threads/{one['id']}")).get("tasks")}
            for one in listed]


@pytest.mark.parametrize("seed", range(7, 12))
def test_an_export_imported_into_another_gateway_gives_the_same_records(own_gateway, make_gateway, seed):
    (own_gateway.home / "work").mkdir()
    create_random_threads(own_gateway, seed)
    before = records(own_gateway)
    export(own_gateway, "out")
    projects = own_gateway.home / "out" / "threads.jsonl"
    other = make_gateway().start()
    (other.home / "work").mkdir()
    # The home directory of the other gateway has another path.
    moved_lines = projects.read_text().replace(str(own_gateway.home), str(other.home))
    shutil.copytree(own_gateway.home / "out", other.home / "in")
    (other.home / "in" / "threads.jsonl").write_text(moved_lines)
    result = imported(other, "agent-gateway", other.home / "in")
    assert result["left_out"] == []
    expected = json.loads(json.dumps(before).replace(str(own_gateway.home), str(other.home)))
    assert records(other) == expected and files(other) == files(own_gateway) != {}


def test_importing_an_export_into_its_own_gateway_creates_nothing(own_gateway):
    (own_gateway.home / "work").mkdir()
    create_random_threads(own_gateway, seed=8)
    before = records(own_gateway)
    export(own_gateway, "out")
    assert created(imported(own_gateway, "agent-gateway", own_gateway.home / "out")) == {}
    assert records(own_gateway) == before


def test_a_thread_is_printed_as_markdown_with_front_matter(gateway):
    thread = new_thread(gateway)
    add_turn(gateway, thread, "What is ```this```?")
    text = export(gateway, "--thread", thread)
    head = yaml.safe_load(text.split("---\n")[1])
    assert head["id"] == thread and head["turn_count"] == 1
    assert "What is ```this```?" in text and "## user" in text


def test_a_tools_fence_is_longer_than_any_fence_in_its_output(gateway):
    thread = new_thread(gateway)
    body = {"role": "tool", "content": "a\n````\n# not a heading\n````", "metadata": {"tool_name": "Read", "input": {}}}
    accepted(gateway.http.post(f"/threads/{thread}/turns", json=body), 201)
    assert "`````\na\n````\n# not a heading\n````\n`````" in export(gateway, "--thread", thread)


def test_markdown_has_the_reasoning_and_links_to_the_files(own_gateway):
    made = upload_random(own_gateway, random.Random(3))
    missing = {"id": "01890000-0000-7000-8000-00000000dead", "name": "gone.txt", "mime": "text/plain", "size": 1}
    turns = [{"key": "q", "role": "user", "content": "See", "metadata": {"attachments": [made, missing]}},
             {"key": "a", "role": "assistant", "content": "Seen.", "metadata": {"reasoning": "It is\nhere."}}]
    accepted(own_gateway.http.post("/import", json={"source": "s", "threads": [{"key": "k", "turns": turns}]}))
    export(own_gateway, "out")
    [file] = (own_gateway.home / "out" / "threads").glob("*.md")
    text = file.read_text()
    [link] = re.findall(r"\(([^)]*/files/[^)]*)\)", text)
    assert (file.parent / link).read_bytes() == (own_gateway.data / "attachments" / made["id"]).read_bytes()
    assert "- Attached: gone.txt (text/plain)\n" in text
    assert "> **Reasoning**\n>\n> It is\n> here.\n\nSeen.\n" in text


def test_an_html_page_has_no_tool_inputs_secrets_or_scripts(own_gateway):
    own_gateway.http.put("/secrets/KEY", json={"value": "s3cr3t-value"})
    thread = new_thread(own_gateway)
    add_turn(own_gateway, thread, "<script>alert(1)</script> s3cr3t-value")
    body = {"role": "tool", "content": "the-output", "metadata": {"tool_name": "Bash", "input": {"command": "the-input"}}}
    accepted(own_gateway.http.post(f"/threads/{thread}/turns", json=body), 201)
    page = export(own_gateway, "--thread", thread, "--html")
    assert "s3cr3t-value" not in page and "the-input" not in page and "the-output" not in page and "Bash" in page
    assert "<script" not in page and "&lt;script&gt;" in page and "default-src 'none'" in page


def test_an_html_page_hides_any_secret_and_stays_well_formed(own_gateway):
    secrets = ["a<b>&\"c'", "body", "style", "abcd", "abcdefgh", "zwei\nZeilen", "ünï\u2028cödé"]
    for number, secret in enumerate(secrets):
        own_gateway.http.put(f"/secrets/KEY_{number}", json={"value": secret}).raise_for_status()
    joined = " | ".join(secrets)
    turns = [{"key": "q", "role": "user", "content": joined,
              "metadata": {"attachments": [{"id": "x", "name": "body", "mime": "text/plain", "size": 1}]}},
             {"key": "t", "role": "tool", "content": joined, "metadata": {"tool_name": "abcdefgh", "input": {"x": "the-input"}}},
             {"key": "a", "role": "assistant", "content": joined, "metadata": {"reasoning": "the-reasoning " + joined}}]
    [made] = accepted(own_gateway.http.post("/import", json={"source": "s", "threads": [
        {"key": "k", "title": f"About {joined}"[:200], "turns": turns}]}))["threads"]
    page = export(own_gateway, "--thread", made["id"], "--html")

    shown = []

    class Reader(HTMLParser):
        def handle_data(self, data):
            if self.lasttag != "style":
                shown.append(data)

    Reader().feed(page)
    text = "".join(shown)
    assert not [secret for secret in secrets if secret in text], text
    assert "efgh" not in text and "the-input" not in text and text.count("[secret]") >= 3 * len(secrets)
    assert page.count("<body>") == page.count("</body>") == page.count("<style>") == 1


def test_json_lines_have_every_member(gateway):
    thread = new_thread(gateway)
    turn = add_turn(gateway, thread, "hi")
    lines = [json.loads(line) for line in export(gateway, "--thread", thread, "--json").splitlines()]
    assert [line.pop("record") for line in lines] == ["thread", "turn"]
    assert lines[1] == {**turn, "in_reply_to": None}


def test_extensions_are_files_that_ext_add_accepts(own_gateway):
    agent = {"type": "agent", "name": "guide", "description": "Guides", "definition": {"systemPrompt": "Be kind."}}
    theme = {"type": "theme", "name": "dusk", "description": "", "definition": {"colors": {"x": "#000"}}}
    made = {one["name"]: accepted(own_gateway.http.post("/extensions", json=one), 201) for one in (agent, theme)}
    own_gateway.http.put("/agents/guide/soul", json={"content": "I am calm."})
    export(own_gateway, "out")
    for name in ("guide", "dusk"):
        assert own_gateway.http.delete(f"/extensions/{made[name]['id']}").status_code == 204
    shutil.rmtree(own_gateway.data / "agents" / "guide", ignore_errors=True)
    for path in ("out/extensions/guide", "out/extensions/dusk.yaml"):
        done = own_gateway.command("ext", "add", path)
        assert done.returncode == 0, done.stderr
    for one in (agent, theme):
        again = accepted(own_gateway.http.get(f"/extensions/{one['name']}"))
        assert {key: again[key] for key in one} == one
    assert accepted(own_gateway.http.get("/agents/guide/soul")) == {"content": "I am calm."}
    assert not (own_gateway.home / "out" / "extensions" / "assistant").exists()


# Definitions of each type. `agent` and `service` are ids of other extensions.
DEFINITIONS = {
    "agent": [lambda made, text: {"systemPrompt": text, "tools": ["Read"], "sandbox": {"memory_mb": 64, "network": False}}],
    "command": [lambda made, text: {"prompt": text, "agent_id": made["agent"], "mode": "plan"}],
    "job": [lambda made, text: {"agent_id": made["agent"], "prompt": text, "schedule": "0 9 1 1 *"},
            lambda made, text: {"agent_id": made["agent"], "prompt_file": "prompts/main.md", "owner_agent_id": made["agent"]}],
    "app": [lambda made, text: {"type": "static", "path": "/srv/pages"},
            lambda made, text: {"type": "command", "path": "/srv/shop", "command": text, "env": {"MODE": text}, "port": 4321}],
    "theme": [lambda made, text: {"colors": {"text": "#000"}, "font": text, "radius": 4}],
    "renderer": [lambda made, text: {"match": {"language": "dot", "pattern": "^graph"}, "html": text}],
    "integration": [
        lambda made, text: {"kind": "mcp-stdio", "command": "server", "args": [text], "env": {"KEY": "${secret:KEY}"}},
        lambda made, text: {"kind": "mcp-http", "url": "https://mcp.example.org", "headers": {"X-Note": "${secret:KEY}"}},
        lambda made, text: {"kind": "model", "api": "openai-chat", "base_url": "https://model.example.org", "api_key": "${secret:KEY}",
                            "models": [{"id": "m-1", "context_window": 1000, "prices": {"input": 0.25, "output": 1}}]},
        lambda made, text: {"kind": "channel", "service": "telegram", "token": "${secret:KEY}", "agent_id": made["agent"],
                            "allow": ["41"], "notify": ["signal"]}],
    "action": [lambda made, text: {"kind": "prompt", "prompt": text, "input_schema": {"type": "object"}},
               lambda made, text: {"kind": "mcp", "integration": made["service"], "tool": "look"}],
    "widget": [lambda made, text: {"placement": "sidebar", "html": text, "height": 1.5}],
    "artifact": [lambda made, text: {"mime": "application/json", "content": [text, None, {"a": [1, -2.5]}]}],
    "capability": [lambda made, text: {"tools": ["Read"], "hosts": ["*.example.org"], "stage": "operator"}],
    "control": [lambda made, text: {"controls": [{"kind": "button", "label": text, "action": "current-time"}]}],
}
FILES = {"soul.md": b"I am calm.", "knowledge/page.md": b"# Soil", "knowledge/raw/a b.txt": "Grüße".encode(),
         "skills/lift/SKILL.md": b"---\nname: lift\ndescription: Lifts\n---\nHeave.", "skills/lift/run.sh": b"#!/bin/sh\n",
         "skills/lift/picture.png": bytes(range(256)), "prompts/main.md": b"Look."}


def create_extensions_of_every_type(gateway, seed):
    """Creates extensions of every type, with random texts, others with random members, and files in their directories.
    Returns the records, and the directories of those that have one."""
    rng = random.Random(seed)
    texts = [*TEXTS[2:], "null", "yes", "1e3", "a: b # c", "- x", "'", '"', " blank ", "%TAG", "\ufeffmark", "trailing\n\n"]
    agent = new_agent(gateway, "z-agent", enabled=False)
    service = DEFINITIONS["integration"][0](None, "x")
    bodies = [{"type": "integration", "name": "z-service", "description": "", "definition": service}]
    for kind, makers in DEFINITIONS.items():
        for number, maker in enumerate(makers):
            body = {"type": kind, "name": f"{kind}-{number}", "description": rng.choice(texts).strip(),
                    "enabled": kind not in ("app", "integration") and rng.random() < 0.5}
            bodies.append((body, maker))
    bodies += [Maker(seed * 1000 + number).record(number) for number in range(12)]
    made = {"agent": agent["id"]}
    records = [agent]
    for body in bodies:
        if isinstance(body, tuple):
            body = {**body[0], "definition": body[1](made, rng.choice(texts))}
        records.append(accepted(gateway.http.post("/extensions", json=body), 201))
        if body["name"] == "z-service":
            made["service"] = records[-1]["id"]
    folders = [f"{one['type']}s/{one['name']}" for one in records if one["type"] in ("agent", "job")]
    for folder in folders:
        for name, content in FILES.items():
            path = gateway.data / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod(0o700 if name.endswith(".sh") else 0o600)
        (gateway.data / folder / "workspace").mkdir()
        (gateway.data / folder / "workspace" / "big.bin").write_bytes(b"x")
    return records, folders


def with_names(gateway, record):
    """Returns the record, with ids of other extensions replaced by their names."""
    names = {one["id"]: one["name"] for one in accepted(gateway.http.get("/extensions"))}
    definition = {member: names.get(value, value) if isinstance(value, str) else value
                  for member, value in record["definition"].items()}
    return {member: record[member] for member in ("type", "name", "description", "enabled", "trigger_def")} | {
        "definition": definition}


def files_in(folder):
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode & 0o777) for path in folder.rglob("*")
            if path.is_file() and path.name not in ("agent.yaml", "job.yaml", "big.bin")}


@pytest.mark.parametrize("seed", range(2))
def test_extensions_of_every_type_and_content_can_be_added_to_another_gateway(own_gateway, make_gateway, seed):
    made, folders = create_extensions_of_every_type(own_gateway, seed)
    export(own_gateway, "out")
    other = make_gateway().start()
    exported = own_gateway.home / "out" / "extensions"
    for path in sorted(exported.iterdir(), key=lambda path: not (path / "agent.yaml").exists()):
        done = other.command("ext", "add", str(path))
        assert done.returncode == 0, (path.name, done.stderr)
    for one in made:
        assert with_names(other, accepted(other.http.get(f"/extensions/{one['name']}"))) == with_names(own_gateway, one)
    for folder in folders:
        assert files_in(other.data / folder) == files_in(own_gateway.data / folder)


@pytest.mark.parametrize("seed", range(2, 4))
def test_extensions_are_imported_disabled_with_their_files(own_gateway, make_gateway, seed):
    made, folders = create_extensions_of_every_type(own_gateway, seed)
    export(own_gateway, "out")
    other = make_gateway().start()
    result = imported(other, "agent-gateway", own_gateway.home / "out")
    assert result["left_out"] == [] and created(result)["jobs"] == sum(one["type"] == "job" for one in made)
    for one in made:
        assert with_names(other, accepted(other.http.get(f"/extensions/{one['name']}"))) == {**with_names(own_gateway, one), "enabled": False}
    for folder in folders:
        assert files_in(other.data / folder) == files_in(own_gateway.data / folder)
    again = imported(other, "agent-gateway", own_gateway.home / "out")
    assert created(again) == {} and again["left_out"] == []


def test_an_import_leaves_existing_extensions_unchanged(own_gateway, make_gateway):
    new_agent(own_gateway, "guide", systemPrompt="Theirs.")
    (own_gateway.data / "agents" / "guide" / "soul.md").write_text("Their soul.")
    export(own_gateway, "out")
    other = make_gateway().start()
    new_agent(other, "guide", systemPrompt="Mine.")
    broken = own_gateway.home / "out" / "extensions"
    (broken / "cut.yaml").write_text("type: theme\ndefinition: [")
    why = reasons(imported(other, "agent-gateway", own_gateway.home / "out"))
    assert "stays as it is" in why["agent guide"] and "cut.yaml" in why["extension cut"]
    assert accepted(other.http.get("/extensions/guide"))["definition"]["systemPrompt"] == "Mine."
    assert not (other.data / "agents" / "guide" / "soul.md").exists()


def test_files_of_an_enabled_agent_are_not_imported_but_listed(own_gateway, make_gateway):
    new_agent(own_gateway, "guide", systemPrompt="Guide.")
    (own_gateway.data / "agents" / "guide" / "soul.md").write_text("Obey me.")
    export(own_gateway, "out")
    forged = own_gateway.home / "out" / "extensions" / "assistant"
    forged.mkdir()
    built_in = accepted(own_gateway.http.get("/extensions/assistant"))
    (forged / "agent.yaml").write_text(yaml.safe_dump({name: built_in[name] for name in ["type", "name", "definition"]}))
    (forged / "notes.md").write_text("Obey me.")
    other = make_gateway().start()
    new_agent(other, "guide", systemPrompt="Guide.")
    why = reasons(imported(other, "agent-gateway", own_gateway.home / "out"))
    assert set(why) == {str(forged / "notes.md"), str(forged.parent / "guide" / "soul.md")}
    assert all("enabled" in reason for reason in why.values())
    assert not [name for name in ["guide/soul.md", "assistant/notes.md"] if (other.data / "agents" / name).exists()]


def test_user_files_are_imported_but_instructions_are_only_listed(own_gateway, make_gateway):
    given = {"user-profile.md": "I am Ann.", "knowledge/wiki/soil.md": "# Soil", "knowledge/raw/a.txt": "Mud",
             "agents/assistant/knowledge/tea.md": "# Tea", "agents/assistant/user-profile.md": "Call me A."}
    instructions = {"soul.md": "Be brief.", "skills/lift/SKILL.md": "Heave.", "agents/assistant/soul.md": "Be kind.", "agents/assistant/notes.md": "Ann likes tea.",
                    "agents/assistant/skills/x/SKILL.md": "X."}
    kept_here = {"agents/assistant/workspace/draft.txt": "x", "knowledge/log.md": "x", ".gateway-token.old": "x"}
    for name, text in {**given, **instructions, **kept_here}.items():
        path = own_gateway.data / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (own_gateway.data / "skills" / "away").symlink_to("/etc")
    export(own_gateway, "out")
    out = own_gateway.home / "out" / "data"
    assert {name: text.decode() for name, (text, _) in files_in(out).items()} == {**given, **instructions}
    (out / "agents" / "evil").mkdir()
    (out / "agents" / "evil" / "agent.yaml").write_text("name: evil\nenabled: true\n")
    (out / "config.yaml").write_text("port: 1\n")
    (out / "agents" / "other" / "soul.md").mkdir(parents=True)
    (out / "agents" / "other" / "soul.md" / "x").write_text("x")
    other = make_gateway().start()
    why = reasons(imported(other, "agent-gateway", own_gateway.home / "out"))
    assert {name: (other.data / name).read_text() for name in given} == given
    assert not [name for name in instructions if (other.data / name).exists()]
    assert not [name for name in ["evil", "other"] if (other.data / "agents" / name).exists()]
    assert "port: 1" not in (other.data / "config.yaml").read_text()
    assert set(why) == {str(out / name) for name in [*instructions, "agents/evil/agent.yaml", "agents/other/soul.md/x", "config.yaml"]}
    assert imported(other, "agent-gateway", own_gateway.home / "out" / "threads.jsonl")["left_out"] == []


def test_export_refuses_a_directory_that_is_not_empty(gateway):
    folder = gateway.home / "mine"
    folder.mkdir()
    (folder / "letter.txt").write_text("x")
    done = gateway.command("export", "mine")
    assert done.returncode == 1 and "is not empty" in done.stderr and [one.name for one in folder.iterdir()] == ["letter.txt"]


def test_an_export_is_readable_by_its_owner_only(own_gateway):
    new_thread(own_gateway)
    export(own_gateway, "out")
    assert (own_gateway.home / "out").stat().st_mode & 0o777 == 0o700
    assert (own_gateway.home / "out" / "threads.jsonl").stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
def test_a_thread_that_changes_during_an_export_is_exported(own_gateway):
    """More threads than a page of the list, whose latest changes come first."""
    lines = [{"record": "export", "format": 1}]
    lines += [{"record": "thread", "id": f"01890000-0000-7000-8000-{number:012}", "title": f"number {number}",
               "created_at": f"2024-01-01T00:{number // 60:02}:{number % 60:02}.000Z",
               "updated_at": f"2024-01-01T00:{number // 60:02}:{number % 60:02}.000Z"} for number in range(1010)]
    imported(own_gateway, "agent-gateway", write_lines(own_gateway.home / "many.jsonl", lines))
    written = own_gateway.home / "out" / "threads"
    exporting = subprocess.Popen([str(BINARY), "export", "out"], env=own_gateway.variables(), cwd=own_gateway.home)
    wait_for(lambda: written.is_dir() and any(written.iterdir()))
    oldest = threads(own_gateway)["number 0"]
    accepted(own_gateway.http.patch(f"/threads/{oldest['id']}", json={"title": "changed"}))
    assert exporting.wait() == 0
    assert len(list(written.glob("*.md"))) == 1010


def test_an_export_states_what_it_wrote(own_gateway):
    add_turn(own_gateway, new_thread(own_gateway), "Hello.")
    done = own_gateway.command("export", "out")
    assert done.stderr.startswith("1 thread with 1 turn, "), done.stderr


def test_a_page_for_others_is_never_replaced_by_json_lines(gateway):
    done = gateway.command("export", "--thread", new_thread(gateway), "--html", "--json")
    assert done.returncode == 2 and done.stdout == "" and "--html and --json exclude each other" in done.stderr


def test_an_unknown_thread_is_reported(gateway):
    done = gateway.command("export", "--thread", "01890000-0000-7000-8000-000000000000")
    assert done.returncode == 1 and "thread not found" in done.stderr


def test_an_export_of_a_newer_version_is_refused(gateway):
    path = write_lines(gateway.home / "newer.jsonl", [{"record": "export", "format": 2}])
    done = gateway.command("import", "agent-gateway", str(path))
    assert done.returncode == 1 and "newer version" in done.stderr


def test_a_file_missing_from_an_export_is_listed(own_gateway):
    made = upload_random(own_gateway, random.Random(1))
    hostile = {"id": "../../../config.yaml", "name": "config"}
    accepted(own_gateway.http.post("/import", json={"source": "s", "threads": [{"key": "k", "turns": [
        {"key": "t", "role": "user", "content": "x", "metadata": {"attachments": [made, hostile, 7]}}]}]}))
    export(own_gateway, "out")
    [file] = (own_gateway.home / "out" / "files").iterdir()
    file.unlink()
    why = reasons(imported(own_gateway, "agent-gateway", own_gateway.home / "out"))
    assert why == {f"file {made['name']}": "the export lacks it", "file config": "the export lacks it"}


def test_invalid_lines_are_skipped_and_the_others_imported(own_gateway):
    (own_gateway.home / "work").mkdir()
    create_random_threads(own_gateway, seed=9)
    export(own_gateway, "out")
    path = own_gateway.home / "out" / "threads.jsonl"
    # splitlines would also split at U+2028.
    lines = path.read_text().removesuffix("\n").split("\n")
    complete = sum('"record":"thread"' in line for line in lines)
    path.write_text("\n".join(["{", *lines, lines[-1][:20], '{"record":"dream"}']))
    result = imported(own_gateway, "agent-gateway", path)
    assert result["counts"]["threads"] == {"created": 0, "kept": complete}
    assert any("2 lines of" in what for what in reasons(result)) and "a record `dream`" in reasons(result)


def test_an_import_killed_and_repeated_duplicates_nothing(own_gateway, make_gateway):
    lines = [{"record": "export", "format": 1}]
    for number in range(300):
        thread = f"01890000-0000-7000-8000-{number:012x}"
        lines.append({"record": "thread", "id": thread, "title": f"T{number}", "created_at": "2024-01-01T00:00:00.000Z"})
        lines += [{"record": "turn", "thread_id": thread, "id": f"01890001-0000-7000-8000-{number * 10 + at:012x}",
                   "role": "user", "content": f"{number}/{at} " + "x" * 500, "created_at": "2024-01-01T00:00:00.000Z"}
                  for at in range(10)]
    path = write_lines(own_gateway.home / "many.jsonl", lines)
    for kill in range(3):
        process = subprocess.Popen([str(BINARY), "import", "agent-gateway", str(path)], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL,
                                   env={**own_gateway.variables(), "AGENT_GATEWAY_DATA_DIR": str(own_gateway.data)})
        while process.poll() is None and len(threads(own_gateway)) <= kill * 80:
            pass
        process.send_signal(signal.SIGKILL)
        process.wait()
        if kill == 1:
            own_gateway.kill()
            own_gateway.start()
    imported(own_gateway, "agent-gateway", path)
    listed = threads(own_gateway)
    assert len(listed) == 300 and {one["turn_count"] for one in listed.values()} == {10}
    assert [turn["content"][:5].split()[0] for turn in transcript_of(own_gateway, listed["T7"]["id"])] == [
        f"7/{at}" for at in range(10)]


def test_shared_transcript_has_no_inputs_results_or_secrets(gateway):
    assert gateway.http.put("/secrets/KEY", json={"value": "hunter2-and-more"}).status_code == 204
    turns = [{"key": "1", "role": "user", "content": "My key is hunter2-and-more."},
             {"key": "2", "role": "tool", "content": "contents", "metadata": {"tool_name": "Read", "input": {"path": "diary"}}},
             {"key": "3", "role": "assistant", "content": r"Noted: hunter2\-and\-more.", "metadata": {"reasoning": "Hm."}}]
    created = accepted(gateway.http.post("/import", json={"source": "t", "threads": [
        {"key": "1", "title": "On hunter2-and-more", "tasks": [{"text": "Look", "status": "done"}], "turns": turns}]}))
    shared = accepted(gateway.http.get(f"/threads/{created['threads'][0]['id']}/transcript", params={"shared": "true"}))
    assert shared["thread"]["title"] == "On [secret]" and "tasks" not in shared["thread"]
    assert [turn["content"] for turn in shared["turns"]] == ["My key is [secret].", "", "Noted: [secret]."]
    assert shared["turns"][1]["metadata"] == {"tool_name": "Read"}
    assert "Hm." not in str(shared)
