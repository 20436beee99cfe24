"""A person saves a file at the moment at which the gateway replaces it: nothing of either is lost.

tests/faults/saved_meanwhile.cpp saves the files.
"""

import pytest
import yaml

import proposals
from checks import accepted, refused
from jobs import new_job
from knowledge import article, compile_sources, raw
from story import fault_library
from talker import Talker, configuration
from tools import call_tool, new_agent, new_thread


@pytest.fixture(scope="session")
def saved_meanwhile(tmp_path_factory):
    library = fault_library("saved_meanwhile", tmp_path_factory.mktemp("faults"))
    return library or pytest.skip("AddressSanitizer must be the first library that is loaded")


@pytest.fixture
def edited(make_gateway, saved_meanwhile, stub):
    """A gateway, and a function: the next time that it writes a file with this name, a person has just saved this."""
    gateway = make_gateway(config=configuration(stub))
    editor = gateway.home / "editor"
    editor.mkdir()
    gateway.environment = {"LD_PRELOAD": str(saved_meanwhile), "SAVED_MEANWHILE": str(editor)}

    def save(name, text):
        (editor / name).write_text(text)
        (editor / name).chmod(0o600)
        return lambda: not (editor / name).exists()

    return gateway.start(), save


def contents(directory):
    return [path.read_text() for path in directory.rglob("*") if path.is_file()]


@pytest.mark.parametrize("there", [False, True], ids=["new", "there"])
def test_log_of_knowledge(edited, there):
    gateway, save = edited
    raw(gateway, "one.md", "# One\n")
    if there:
        compile_sources(gateway)
        raw(gateway, "two.md", "# Two\n")
    before = (gateway.data / "knowledge" / "log.md").read_text() if there else ""
    is_saved = save("log.md", before + "What a person wrote.\n")
    compile_sources(gateway)
    text = (gateway.data / "knowledge" / "log.md").read_text()
    assert is_saved() and text.startswith(before + "What a person wrote.\n## [") and "compile" in text


def test_page_of_knowledge(edited):
    gateway, save = edited
    raw(gateway, "plan.md", "# Plan\n\nFirst.\n")
    compile_sources(gateway)
    raw(gateway, "plan.md", "# Plan\n\nSecond.\n")
    is_saved = save("plan.md", "# Plan\n\nA person's.\n")
    report = compile_sources(gateway)
    assert is_saved() and "A person's." in article(gateway, "plan")["content"], report


@pytest.mark.parametrize("there", [False, True], ids=["new", "there"])
def test_notes_of_an_agent(edited, stub, there):
    gateway, save = edited
    agent = new_agent(gateway, "helper")
    talker, thread = Talker(gateway, stub), new_thread(gateway, agent)
    if there:
        call_tool(talker, thread, "Remember", {"text": "First."})
    is_saved = save("notes.md", "- A person's.\n")
    end = call_tool(talker, thread, "Remember", {"text": "Last."})
    assert is_saved() and not end["isError"], end
    assert (gateway.data / "agents" / "helper" / "notes.md").read_text() == "- A person's.\n- Last.\n"


def test_secrets(edited):
    gateway, save = edited
    assert gateway.command("secret", "set", "ONE", typed="1").returncode == 0
    is_saved = save("secrets.yaml", "ONE: '1'\nOF_A_PERSON: '2'\n")
    assert gateway.command("secret", "set", "LAST", typed="3").returncode == 0
    assert is_saved()
    assert yaml.safe_load((gateway.data / "secrets.yaml").read_text()) == {"ONE": "1", "OF_A_PERSON": "2", "LAST": "3"}


def test_settings(edited):
    gateway, save = edited
    text = (gateway.data / "config.yaml").read_text()
    is_saved = save("config.yaml", text + "\n# A person's.\nbudget_usd_per_day: 2\n")
    accepted(gateway.http.patch("/configuration", json={"retention.days": 30}))
    after = (gateway.data / "config.yaml").read_text()
    assert is_saved() and "# A person's." in after
    document = yaml.safe_load(after)
    assert (document["budget_usd_per_day"], document["retention"]["days"]) == (2, 30)


def test_files_of_an_extension(edited):
    gateway, save = edited
    agent = new_agent(gateway, "helper", systemPrompt="First.")
    is_saved = save("agent.yaml", "systemPrompt: A person's.\n")
    accepted(gateway.http.patch(f"/extensions/{agent['id']}", json={"definition": {"systemPrompt": "Last."}}))
    assert is_saved() and "systemPrompt: A person's.\n" in contents(gateway.data / "trash")
    assert "Last." in (gateway.data / "agents" / "helper" / "agent.yaml").read_text()


def test_prompt_that_a_job_no_longer_has(edited):
    gateway, save = edited
    job = new_job(gateway, "report", prompt="First.")
    is_saved = save("prompt.md", "A person's.\n")
    accepted(gateway.http.patch(f"/extensions/{job['id']}", json={
        "definition": {"agent_id": "assistant", "schedule": "0 0 1 1 *"}}))
    assert is_saved() and (gateway.data / "jobs" / "report" / "prompt.md").read_text() == "A person's.\n"


def test_source_of_knowledge(edited, stub):
    gateway, save = edited
    (gateway.home / "plan.txt").write_text("The agent's plan.\n")
    thread = new_thread(gateway, new_agent(gateway, "helper"))
    is_saved = save("plan.md", "# A person's plan\n")
    end = call_tool(Talker(gateway, stub), thread, "Ingest", {"path": "~/plan.txt"})
    assert is_saved() and not end["isError"], end
    sources = contents(gateway.data / "agents" / "helper" / "knowledge" / "raw")
    assert "# A person's plan\n" in sources and any("The agent's plan." in text for text in sources)


@pytest.mark.parametrize("decide", ["apply", "reject"])
def test_proposal_that_is_decided(edited, decide):
    gateway, save = edited
    path = proposals.write(gateway, "Decided.\n")
    file = proposals.file_of(gateway, path)
    is_saved = save(file.name, file.read_text().replace("Decided.", "A person's."))
    accepted(gateway.http.post(f"{path}/{decide}"))
    assert is_saved() and "A person's." in file.read_text()
    assert proposals.head_of(gateway, path)["status"] == {"apply": "applied", "reject": "rejected"}[decide]


@pytest.mark.parametrize("there", [False, True], ids=["new", "there"])
def test_target_of_a_proposal(edited, there):
    gateway, save = edited
    path = proposals.write(gateway, "Proposed.\n", target="notes/plan.md")
    target = gateway.data / "notes" / "plan.md"
    target.parent.mkdir()
    if there:
        target.write_text("First.\n")
    is_saved = save("plan.md", "A person's.\n")
    refused(proposals.apply(gateway, path), 409, "changed meanwhile")
    assert is_saved() and target.read_text() == "A person's.\n"
    assert proposals.show(gateway, path)["status"] == "pending"
    accepted(proposals.apply(gateway, path))
    assert target.read_text() == "Proposed.\n"
