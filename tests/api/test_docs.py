"""Runs every command in the user documentation, each page in one shell, and checks its links and lists."""

import re
import shutil
import subprocess

import pytest

from checks import PATIENCE, accepted
from gateway import BINARY, REPOSITORY, Gateway

DOCS = REPOSITORY / "docs"
NOT_FOR_USERS = {"architecture.md", "command-line.md"}
# Their commands refer to proposals and exports that do not exist here; other tests run these commands.
USES_EXAMPLES = {"move-in.md", "review-a-proposal.md"}
METHODS = {"get", "post", "put", "patch", "delete"}
PAGES = sorted(path for path in DOCS.glob("*.md") if path.name not in NOT_FOR_USERS)

# Stubs of programs that the test machine lacks or must not run. That of systemctl starts and stops the gateway.
PROGRAMS = {
    "sudo": 'exec "$@"',
    "apt-get": "true",
    "docker": "true",
    "xdg-open": "true",
    "tailscale": "true",
    "curl": """port=$(agw status --json | sed 's/.*:\\([0-9][0-9]*\\)".*/\\1/')
for word do shift; set -- "$@" "$(printf %s "$word" | sed "s/:7420/:$port/")"; done
exec /usr/bin/curl --silent --fail-with-body "$@" """,
    "systemctl": """case "$*" in
  *" start "*|*"--now"*) nohup agw serve >"$HOME/serving" 2>&1 & until agw status >/dev/null 2>&1; do sleep 0.1; done ;;
  *" stop "*|*disable*) kill $(agw status --json | sed 's/.*"pid":\\([0-9]*\\).*/\\1/')
    until agw status >/dev/null 2>&1; [ $? -eq 4 ]; do sleep 0.1; done ;;
esac""",
}


def blocks(page):
    return [match[1] for match in re.finditer(r"^```sh\n(.*?)^```$", page.read_text(), re.M | re.S)]


SERVE = 'nohup agw serve --port 0 >"$HOME/serving" 2>&1 &\nuntil agw status >/dev/null 2>&1; do sleep 0.1; done'


def in_background(block):
    """Returns the block with `agw serve`, which would not return, started in the background."""
    return re.sub(r"^((?:\w+=\S+ )*)agw serve$", r"\1" + SERVE.replace("\n", r"\n"), block, flags=re.M)


@pytest.fixture
def shell(tmp_path, stub):
    """Returns a function that runs the blocks of a page in one shell, which exits at the first failure. The stubs are
    first in PATH."""
    gateway = Gateway(tmp_path, config="port: 0\n")
    programs = gateway.home / "bin"
    programs.mkdir()
    (programs / "agw").symlink_to(BINARY)
    for name, script in PROGRAMS.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o700)
    gateway.environment["PATH"] = f"{programs}:{gateway.variables()['PATH']}"
    (gateway.home / "build" / "package").mkdir(parents=True)
    (gateway.home / "build" / "package" / "agent-gateway_0_amd64.deb").touch()
    (gateway.home / "script").mkdir()
    (gateway.home / "script" / "package").symlink_to(shutil.which("true"))

    def run(page):
        commands = "\n".join(in_background(block) for block in blocks(page))
        if "nohup agw serve" not in commands:
            commands = f"{SERVE}\n{commands}"
        commands = commands.replace("http://127.0.0.1:11434", stub.base_url)
        script = "set -e\n" + commands.replace("/home/you", str(gateway.home))
        return subprocess.run(["bash", "-x", "-c", script], capture_output=True, text=True, timeout=4 * PATIENCE,
                              cwd=gateway.home, env=gateway.variables())

    yield run
    running = gateway.command("status", "--json")
    if running.returncode == 0:
        subprocess.run([str(programs / "systemctl"), "--user", "stop", "agent-gateway"], env=gateway.variables())


def extensions_in(page):
    """Returns the extension examples of a page: YAML blocks with a type and a name."""
    found = re.findall(r"^```yaml\n(.*?)^```$", page.read_text(), re.M | re.S)
    return [text for text in found if re.search(r"^type: ", text, re.M) and re.search(r"^name: ", text, re.M)]


@pytest.mark.parametrize("page, text", [(page, text) for page in PAGES for text in extensions_in(page)],
                         ids=lambda value: value.stem if hasattr(value, "stem") else "")
def test_extension_examples_can_be_added(own_gateway, page, text):
    (own_gateway.home / "shown.yaml").write_text(text.replace("/home/you", str(own_gateway.home)))
    added = own_gateway.command("ext", "add", str(own_gateway.home / "shown.yaml"))
    assert added.returncode == 0, added.stderr


def test_pages_exist():
    assert {"install.md", "first-chat.md", "connect-a-model.md", "write-an-agent.md", "schedule-a-job.md", "back-up.md",
            "troubleshoot.md"} <= {page.name for page in PAGES}


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page) and page.name not in USES_EXAMPLES],
                         ids=lambda page: page.stem)
def test_commands_of_a_page_work(shell, page):
    done = shell(page)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def without_blocks(page):
    return re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)


def anchors(page):
    """Returns the anchors that GitHub generates for the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", without_blocks(page), re.M)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


PAGES_WITH_LINKS = sorted([*DOCS.rglob("*.md"), *REPOSITORY.glob("*.md")])


@pytest.mark.parametrize("page", PAGES_WITH_LINKS, ids=lambda page: str(page.relative_to(REPOSITORY).with_suffix("")))
def test_links_between_pages_resolve(page):
    prose = re.sub(r"`[^`]*`", "", without_blocks(page))
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)", prose):
        linked = page.parent / target if target else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), f"{target}#{anchor}"


def test_documented_commands_exist():
    listed = subprocess.run([str(BINARY), "--help"], capture_output=True, text=True, check=True).stdout
    known = set(re.findall(r"^  ([a-z]+) ", listed, re.M))
    for page in PAGES:
        for name in re.findall(r"\bagw ([a-z]+)", page.read_text()):
            assert name in known, f"{page.name}: agw {name}"


def rows(page):
    """Returns the first cells of the tables of a page."""
    return re.findall(r"^\| (.+?) \|", (DOCS / page).read_text(), re.M)


def test_http_api_page_lists_every_request(gateway):
    described = accepted(gateway.http.get("/openapi.json"))["paths"]
    declared = {(method.upper(), re.sub(r"\{(\w+)\}", r":\1", path))
                for path, operations in described.items() for method in operations if method in METHODS}
    assert set(re.findall(r"`([A-Z]+) (/\S*)`", "\n".join(rows("http-api.md")))) == declared


def test_http_api_page_lists_every_event(gateway):
    described = accepted(gateway.http.get("/asyncapi.json"))["components"]["messages"]
    kinds = {name.removeprefix("events.") for name in described if name.startswith("events.")}
    events = (DOCS / "http-api.md").read_text().split("## Events")[1]
    assert set(re.findall(r"`([a-z-]+)`", "\n".join(re.findall(r"^\| (`.+?) \|", events, re.M)))) == kinds


def test_contract_lists_every_member_of_an_event(gateway):
    described = accepted(gateway.http.get("/asyncapi.json"))["components"]["messages"]
    page = (DOCS / "contract" / "websocket.md").read_text().split("## Events")[1]
    of_runs = {"type", "threadId", "turnId", "runId", "seq"}
    for kinds, members in re.findall(r"^\| (`[a-z-]+`.*?) \| (.*) \|$", page, re.M):
        for kind in re.findall(r"`([a-z-]+)`", kinds):
            declared = set(described[f"events.{kind}"]["payload"]["properties"]) - of_runs
            assert declared <= set(re.findall(r"`(\w+)(?:: true)?`", members)), kind


RECORDS = {"agents.md": ["Mode", "AgentPrompt"], "apps.md": ["Project", "App", "Signal"],
           "approvals.md": ["Grant"], "chat.md": ["Thread", "Turn"], "checkpoints.md": ["RunChanges"],
           "extensions.md": ["Extension", "IntegrationState"], "jobs.md": ["JobRun", "JobSummary", "Briefing", "Pulse"],
           "models.md": ["ModelInfo", "ModelServicePreset"], "push.md": ["PushSubscription"],
           "proposals.md": ["ProposalEntry", "Proposal", "ProposalDecided", "Experiment"],
           "shared-links.md": ["SharedLink"]}


@pytest.mark.parametrize("page, record", [(page, record) for page, records in RECORDS.items() for record in records])
def test_contract_lists_every_member_of_a_record(gateway, page, record):
    schema = accepted(gateway.http.get("/openapi.json"))["components"]["schemas"][record]
    members = ", ".join(name if name in schema["required"] else f"{name}?" for name in schema["properties"])
    text = re.sub(r"`?\s+`?", " ", (DOCS / "contract" / page).read_text())
    assert f"{{{members}}}" in text


def test_configuration_page_lists_every_key(own_gateway):
    lines = re.findall(r"^#((?:  )*)(\w+):(.*)", (own_gateway.data / "config.yaml").read_text(), re.M)
    keys, sections = set(), []
    for indent, name, value in lines:
        sections[len(indent) // 2:] = [name]
        if value:
            keys.add(".".join(sections))
    assert keys
    listed = set(re.findall(r"`([a-z_.]+)`", "\n".join(rows("configuration.md"))))
    assert listed == keys | {"http_proxy"}  # the only lower-case variable


def test_configuration_page_lists_every_variable(own_gateway):
    page = (DOCS / "configuration.md").read_text()
    for name in re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", (own_gateway.data / "config.yaml").read_text()):
        assert f"`{name}`" in page, name


def test_manual_lists_every_variable_of_the_configuration_page():
    manual = subprocess.run([str(BINARY), "man"], capture_output=True, text=True, check=True).stdout
    keys, variables = (DOCS / "configuration.md").read_text().split("## The environment")
    named = re.findall(r"`(AGENT_GATEWAY_\w+)`", keys)
    named += re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\| (`.+?) \|", variables, re.M)))
    assert len(named) > 20
    assert set(named) <= set(re.findall(r"\w+", manual.split(".SH ENVIRONMENT")[1]))


def test_command_line_page_lists_every_exit_status_of_the_manual():
    manual = subprocess.run([str(BINARY), "man"], capture_output=True, text=True, check=True).stdout
    statuses = re.findall(r"^\.B (\d+)$", manual.split(".SH EXIT STATUS")[1], re.M)
    assert set(statuses) == {row for row in rows("command-line.md") if row.isdigit()}


def test_extensions_page_lists_every_member_of_every_definition(gateway):
    page = (DOCS / "extensions.md").read_text()
    listed = {section.split("\n")[0]: set(re.findall(r"^\| `(\w+)` \|", section, re.M))
              for section in page.split("\n### ")[1:]}
    schemas = accepted(gateway.http.get("/schemas"))
    assert listed == {kind: set(schema["properties"]) for kind, schema in schemas.items()}


def test_agents_page_lists_every_tool(own_gateway):
    change = {"stage": "sovereign", "reason": "to see all tools"}
    accepted(own_gateway.http.patch("/agents/assistant/stage", json=change))
    prompt = accepted(own_gateway.http.get("/agents/assistant/prompt", params={"mode": "act"}))
    tools = {tool["name"] for tool in prompt["tools"] if tool["name"][0].isupper()}
    listed = re.findall(r"`(\w+)`", "\n".join(rows("agents-at-work.md")))
    assert set(listed) == tools


SCRIPTS = set(re.findall(r"^\| `(script/[\w-]+)", (REPOSITORY / "CONTRIBUTING.md").read_text(), re.M))


@pytest.mark.parametrize("script", sorted(SCRIPTS - {"script/server"}))  # it builds, and passes its arguments to agw
def test_scripts_print_their_usage(script, tmp_path):
    done = subprocess.run([str(REPOSITORY / script), "--help"], capture_output=True, text=True, timeout=PATIENCE, cwd=tmp_path)
    assert done.returncode == 0 and done.stderr == ""
    assert script.removeprefix("script/") in done.stdout
