"""Staging of changes: the tool Propose, POST /propose, and a soul that is improved from a conversation.

See docs/contract/proposals.md and docs/contract/agents.md#permissions.
"""

import re

import pytest

from checks import accepted, refused
from proposals import apply, file_of, head_of, listed, reject, show, next_event, write
from tools import run_chat, call_tool, calls, new_agent, new_thread, of_kind

STAGED = re.compile(r"staged as proposal (([a-z0-9-]+)/(\d{4}-\d\d-\d\d)/([a-z0-9-]+))")


@pytest.fixture
def apprentice(talker, new_name):
    return new_agent(talker.gateway, new_name("apprentice"), stage="apprentice")


@pytest.fixture
def thread(talker, apprentice):
    return new_thread(talker.gateway, apprentice)


def propose(talker, thread, **members):
    """Calls Propose and returns its outcome and the path of the proposal, if there is one."""
    arguments = {"type": "file", "title": "Greet by name!", "target": "notes/greeting.md", "content": "Hello\n", **members}
    outcome = call_tool(talker, thread, "Propose", {key: value for key, value in arguments.items() if value is not None})
    staged = STAGED.fullmatch(outcome["output"])
    return outcome, f"/proposals/{staged[1]}" if staged else None


def test_propose_stages_a_proposal(talker, thread, apprentice):
    outcome, path = propose(talker, thread, reason="It is friendlier.")
    assert outcome["isError"] is False and path.startswith(f"/proposals/{apprentice['name']}/")
    shown = show(talker.gateway, path)
    assert (shown["title"], shown["type"], shown["status"], shown["target"]) == (
        "Greet by name!", "file", "pending", "notes/greeting.md")
    assert (shown["content"], shown["reason"], shown["name"]) == ("Hello\n", "It is friendlier.", "greet-by-name")
    assert listed(talker.gateway, path) and not (talker.gateway.data / "notes" / "greeting.md").exists()


def test_staging_is_announced(talker, thread, apprentice):
    with talker.gateway.events() as events:
        _, path = propose(talker, thread)
        assert next_event(events, "proposal-created", apprentice["name"])["proposal"] == show(talker.gateway, path)


def test_handwritten_proposal_is_announced_despite_staging(talker, thread):
    with talker.gateway.events() as events:
        handwritten = write(talker.gateway)
        propose(talker, thread)
        assert next_event(events, "proposal-created", "assistant")["proposal"] == show(talker.gateway, handwritten)


def test_same_title_twice_makes_two_proposals(talker, thread):
    (_, first), (_, second) = propose(talker, thread), propose(talker, thread, content="Hi\n")
    assert second == first + "-2" and show(talker.gateway, first)["content"] == "Hello\n"


@pytest.mark.parametrize("content", ["", "\n", "\n\ntwo empty lines first", "---\nnot: a head\n---\n", "no line feed"])
def test_content_is_kept_byte_for_byte(talker, thread, content):
    _, path = propose(talker, thread, content=content, target=f"notes/bytes-{len(content)}.md")
    assert show(talker.gateway, path)["content"] == content
    accepted(apply(talker.gateway, path))
    assert (talker.gateway.data / show(talker.gateway, path)["target"]).read_text() == content


def test_target_changed_after_the_proposal_is_reported(talker, thread, new_name):
    target = talker.gateway.data / "notes" / f"{new_name('base')}.md"
    target.parent.mkdir(exist_ok=True)
    target.write_text("one")
    _, path = propose(talker, thread, target=f"notes/{target.name}")
    assert show(talker.gateway, path)["target_changed"] is False
    target.write_text("two")
    assert show(talker.gateway, path)["target_changed"] is True
    target.unlink()
    assert show(talker.gateway, path)["target_changed"] is True


@pytest.mark.parametrize("target", ["/etc/passwd", "config.yaml", ".gateway-token", "../x", "autoresearch/proposals/x.md"])
def test_protected_target_is_an_error_result(talker, thread, target):
    outcome, _ = propose(talker, thread, target=target)
    assert outcome["isError"] is True and outcome["output"].startswith("permission denied: only changes of ")


@pytest.mark.parametrize("members", [{"title": "\n\t"}, {"type": "extension"}, {"target": "notes/unmade/"},
                                     {"type": "extension", "target": "extensions/x.yaml", "content": "- list"},
                                     {"type": "soul", "target": "soul.md", "content": "x" * 102_401}])
def test_inapplicable_proposal_is_not_staged(talker, thread, members):
    assert propose(talker, thread, **members)[0]["isError"] is True


@pytest.mark.parametrize("missing", ["type", "title", "target", "content"])
def test_members_except_the_reason_are_required(talker, thread, missing):
    assert propose(talker, thread, **{missing: None})[0]["isError"] is True


def test_hostile_title_becomes_one_harmless_line(talker, thread):
    _, path = propose(talker, thread, title="a\n---\nstatus: applied\x1b[2J " + "x" * 1000)
    shown = show(talker.gateway, path)
    assert shown["status"] == "pending" and "\n" not in shown["title"] and "\x1b" not in shown["title"]
    assert len(shown["title"]) <= 200 and head_of(talker.gateway, path)["status"] == "pending"


def test_agent_may_have_1000_pending_proposals(talker, thread, apprentice):
    for number in range(1000):
        write(talker.gateway, agent=apprentice["name"], date="2026-01-01", name=f"n{number}")
    outcome, _ = propose(talker, thread)
    assert outcome["isError"] is True and outcome["output"].startswith("too many pending proposals")
    for number in range(1000):
        file_of(talker.gateway, f"/proposals/{apprentice['name']}/2026-01-01/n{number}").unlink()


# POST /propose, for programs outside the gateway.


CHANGE = {"agent": "script", "type": "file", "title": "Greet by name!", "target": "notes/greeting.md", "content": "Hi\n"}


def test_program_stages_a_proposal(gateway):
    staged = accepted(gateway.http.post("/propose", json={**CHANGE, "reason": "Politeness"}), 201)
    assert (staged["agent"], staged["status"], staged["reason"]) == ("script", "pending", "Politeness")
    assert show(gateway, f"/proposals/script/{staged['date']}/{staged['name']}") == staged


@pytest.mark.parametrize("agent", ["Ada Lovelace", "../x", "é", "a" * 1000])
def test_any_proposer_gets_a_valid_path_segment(gateway, agent):
    staged = accepted(gateway.http.post("/propose", json={**CHANGE, "agent": agent}), 201)
    assert show(gateway, f"/proposals/{staged['agent']}/{staged['date']}/{staged['name']}") == staged


@pytest.mark.parametrize("target", ["config.yaml", "autoresearch/proposals/x.md", "/etc/hosts", "../x"])
def test_program_cannot_propose_a_protected_target(gateway, target):
    before = accepted(gateway.http.get("/proposals"))
    response = gateway.http.post("/propose", json={**CHANGE, "target": target})
    refused(response, 403, "path outside home directory")
    assert ["a person makes a folder a project" in detail["message"] for detail in response.json()["details"]] == [True]
    assert accepted(gateway.http.get("/proposals")) == before


@pytest.mark.parametrize("member", list(CHANGE))
def test_members_of_a_programs_proposal_must_be_strings(gateway, member):
    refused(gateway.http.post("/propose", json={**CHANGE, member: None}), 400, f"{member} is required")
    refused(gateway.http.post("/propose", json={**CHANGE, member: 5}), 400, f"{member} must be a string")


@pytest.mark.parametrize("member", ["agent", "title", "target"])
@pytest.mark.parametrize("blank", ["", " ", "\t\r\n "])
def test_members_of_a_programs_proposal_must_not_be_blank(gateway, member, blank):
    refused(gateway.http.post("/propose", json={**CHANGE, member: blank}), 400, f"{member} is required")


def test_programs_may_have_1000_pending_proposals_under_any_names(own_gateway):
    for number in range(1000):
        write(own_gateway, agent=f"script{number}", date="2026-01-01")
    refused(own_gateway.http.post("/propose", json=CHANGE), 400,
            "too many pending proposals: a person has to decide on some first")
    accepted(reject(own_gateway, "/proposals/script0/2026-01-01"))
    accepted(own_gateway.http.post("/propose", json=CHANGE), 201)


@pytest.mark.parametrize("member", ["agent", "target", "reason"])
@pytest.mark.parametrize("text", ["x" * 16_385, "\x01" * 5000, "é\n" * 8000, "x" * 2_000_000], ids=range(4))
def test_proposal_with_too_long_members_is_not_staged(gateway, member, text):
    before = accepted(gateway.http.get("/proposals"))
    refused(gateway.http.post("/propose", json={**CHANGE, member: text}), 400, f"{member} is too long")
    assert accepted(gateway.http.get("/proposals")) == before


@pytest.mark.parametrize("text", ["word " * 3000, "\x01" * 2500, "x" + "\n" * 8000, "'\"" * 3000], ids=range(4))
def test_proposal_with_long_members_is_listed_until_decided(gateway, new_name, text):
    change = {**CHANGE, "agent": text, "reason": text, "title": "\u0085" * 200, "target": f"notes/{new_name('long')}.md"}
    staged = accepted(gateway.http.post("/propose", json=change), 201)
    path = f"/proposals/{staged['agent']}/{staged['date']}/{staged['name']}"
    assert staged["reason"] == text and listed(gateway, path)
    accepted(apply(gateway, path))
    assert listed(gateway, path) is None and show(gateway, path)["status"] == "applied"


# Modes.


def test_propose_is_unavailable_in_plan_mode(talker, new_name):
    agent = new_agent(talker.gateway, new_name("planner"), stage="apprentice", mode="plan")
    outcome, _ = propose(talker, new_thread(talker.gateway, agent))
    assert outcome["isError"] is True and outcome["output"].startswith("permission denied:")


@pytest.mark.parametrize("kind, definition", [
    ("theme", {"dark": True}), ("app", {"type": "static", "path": "/nowhere"}),
    ("job", {"agent_id": "assistant", "prompt": "Sum it up\nevery day"}), ("agent", {"systemPrompt": "Be kind."})])
def test_extension_made_by_an_apprentice_is_staged_and_can_be_applied(talker, thread, new_name, kind, definition):
    made = {"type": kind, "name": new_name("made"), "description": "Made by an agent", "definition": definition}
    outcome = call_tool(talker, thread, "CreateExtension", made)
    path = f"/proposals/{STAGED.fullmatch(outcome['output'])[1]}"
    assert talker.gateway.http.get(f"/extensions/{made['name']}").status_code == 404
    accepted(apply(talker.gateway, path))
    record = accepted(talker.gateway.http.get(f"/extensions/{made['name']}"))
    assert (record["type"], record["description"], record["source"], record["enabled"]) == (
        kind, "Made by an agent", "agent", False)
    assert record["definition"] == definition


def test_proposals_of_a_renamed_agent_remain_its_own(talker, thread, apprentice, new_name):
    made = new_name("command")
    _, path = propose(talker, thread, type="extension", title=f"New command {made}", target=f"extensions/{made}.yaml",
                      content="type: command\ndescription: Greets\nprompt: Say hello\n")
    accepted(talker.gateway.http.patch(f"/extensions/{apprentice['id']}", json={"name": new_name("renamed")}))
    accepted(apply(talker.gateway, path))
    record = accepted(talker.gateway.http.get(f"/extensions/{made}"))
    assert (record["source"], record["owner_agent_id"]) == ("agent", apprentice["id"])


# From the request to the next answer.


def test_soul_is_improved_from_a_conversation(own_talker, new_name):
    gateway = own_talker.gateway
    agent = new_agent(gateway, new_name("friend"), stage="apprentice")
    soul = gateway.data / "agents" / agent["name"] / "soul.md"
    thread = new_thread(gateway, agent)
    run_chat(own_talker, thread, "Hello, user.", content="Please call me Ada.")
    run = run_chat(
        own_talker, thread,
        calls(("SearchTurns", {"query": "call me"})),
        calls(("Propose", {"type": "soul", "title": "Call the person Ada", "target": f"agents/{agent['name']}/soul.md",
                           "content": "Call the person Ada.\n", "reason": "They asked for it."})),
        "I have proposed it.", content="improve your soul from our last conversations")
    found, staged = of_kind(run, "tool-end")
    assert "Please call me Ada." in found["output"]
    path = f"/proposals/{STAGED.fullmatch(staged['output'])[1]}"
    run_chat(own_talker, thread, "Yes?", content="And now?")
    assert "Call the person Ada." not in own_talker.system() and not soul.exists()

    accepted(apply(gateway, path, content="Call the person Ada, warmly.\n"))
    run_chat(own_talker, thread, "Hello, Ada.", content="Hello")
    assert "Call the person Ada, warmly." in own_talker.system()
    assert soul.read_text() == "Call the person Ada, warmly.\n"


def test_rejected_soul_changes_nothing(own_talker, new_name):
    gateway = own_talker.gateway
    agent = new_agent(gateway, new_name("friend"), stage="apprentice")
    thread = new_thread(gateway, agent)
    _, path = propose(own_talker, thread, type="soul", target=f"agents/{agent['name']}/soul.md", content="Be rude.\n")
    accepted(reject(gateway, path, reason="No."))
    run_chat(own_talker, thread, "Hello.", content="Hello")
    assert "Be rude." not in own_talker.system()
