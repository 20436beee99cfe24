"""The system prompt of agents, and the modes they work in.

See docs/contract/agents.md#what-an-agent-is-shown and docs/contract/agents.md#modes.
"""

import datetime
import re

from checks import UNKNOWN_ID, accepted, refused

PLAN_TOOLS = ["Read", "Glob", "Grep", "WebFetch", "WebSearch"]


def make_agent(gateway, name, **definition):
    body = {"type": "agent", "name": name, "description": "d", "definition": definition, "enabled": True}
    return accepted(gateway.http.post("/extensions", json=body), 201)


def prompt_of(gateway, agent, **params):
    return accepted(gateway.http.get(f"/agents/{agent}/prompt", params=params))


def write(gateway, path, content):
    accepted(gateway.http.put(path, json={"content": content}))


def test_modes_are_plan_and_act(gateway):
    plan, act = accepted(gateway.http.get("/modes"))
    assert plan.pop("systemPrompt") and plan.pop("description") and act.pop("description")
    assert plan == {"name": "plan", "label": "Plan", "color": "#f59e0b", "allowedTools": PLAN_TOOLS, "requiresApproval": True}
    assert act == {"name": "act", "label": "Act", "color": "#3b82f6", "systemPrompt": "", "allowedTools": None,
                   "requiresApproval": False}


def test_prompt_lists_its_parts_and_their_tokens(gateway, new_name):
    agent = new_name("agent")
    make_agent(gateway, agent, systemPrompt="You count.", mode="act")
    prompt = prompt_of(gateway, agent)
    assert (prompt["agent"], prompt["mode"]) == (agent, "act")
    assert [part["text"] for part in prompt["sections"] if part["name"] == "system_prompt"] == ["You count."]
    assert prompt["text"] == "\n\n".join(part["text"] for part in prompt["sections"])
    assert all(part["tokens"] > 0 for part in prompt["sections"]) and prompt["tokens"] > 0
    assert str(datetime.datetime.now(datetime.timezone.utc).year) in prompt["text"]
    assert str(gateway.data / "agents" / agent / "workspace") in prompt["text"]


def test_prompt_lists_the_tools_of_a_run(own_talker, new_name):
    gateway = own_talker.gateway
    agent = make_agent(gateway, new_name("agent"), mode="act", tools=["Read", "Grep", "Bash"])
    thread = accepted(gateway.http.post("/threads", json={"agent_id": agent["id"]}), 201)
    for stage, mode in (("apprentice", "act"), ("operator", "act"), ("operator", "plan")):
        accepted(gateway.http.patch(f"/agents/{agent['name']}/stage", json={"stage": stage, "reason": "for a test"}))
        accepted(gateway.http.patch(f"/threads/{thread['id']}", json={"mode": mode}))
        own_talker.says(thread, "hello", answer="hi")
        sent = [tool["function"] for tool in own_talker.stub.requests[-1].json["tools"]]
        prompt = prompt_of(gateway, agent["name"], thread_id=thread["id"])
        assert [(tool["name"], tool["description"], tool["input_schema"]) for tool in prompt["tools"]] == [
            (tool["name"], tool["description"], tool["parameters"]) for tool in sent]
        assert prompt["tool_tokens"] == sum(tool["tokens"] for tool in prompt["tools"]) > 0
        assert prompt["tokens"] > prompt["tool_tokens"]


def test_prompt_mentions_no_withheld_tool(own_gateway):
    gateway = own_gateway
    skill = gateway.data / "skills" / "pdf"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: pdf\ndescription: Fill forms\n---\nDo it.\n")
    everything = prompt_of(gateway, "assistant", mode="act")
    names = {tool["name"] for tool in everything["tools"]}
    assert {"ReadSkill", "SearchTurns", "ListExtensions", "Propose"} <= names and "ReadSkill" in everything["text"]
    accepted(gateway.http.patch("/agents/assistant/stage", json={"stage": "sovereign", "reason": "all tools"}))
    names |= {tool["name"] for tool in prompt_of(gateway, "assistant", mode="act")["tools"]}
    make_agent(gateway, "reader", tools=["Grep"], mode="act")
    for prompt in (prompt_of(gateway, "assistant", mode="plan"), prompt_of(gateway, "reader")):
        withheld = names - {tool["name"] for tool in prompt["tools"]}
        assert withheld and {name for name in withheld if re.search(rf"\b{name}\b", prompt["text"])} == set()
        assert "<name>pdf</name>" in prompt["text"]


def test_prompt_uses_the_threads_mode_or_the_given_one(gateway, new_name):
    agent = new_name("agent")
    made = make_agent(gateway, agent)
    assert prompt_of(gateway, agent)["mode"] == "plan"
    assert "plan mode" in prompt_of(gateway, agent)["text"]
    thread = accepted(gateway.http.post("/threads", json={"agent_id": made["id"]}), 201)
    accepted(gateway.http.patch(f"/threads/{thread['id']}", json={"mode": "act"}))
    assert prompt_of(gateway, agent, thread_id=thread["id"])["mode"] == "act"
    assert prompt_of(gateway, agent, thread_id=thread["id"], mode="plan")["mode"] == "plan"


def test_invalid_prompt_requests_are_refused(gateway):
    refused(gateway.http.get("/agents/nobody/prompt"), 404, "agent not found")
    refused(gateway.http.get("/agents/a..b/prompt"), 400, "invalid agent name")
    refused(gateway.http.get("/agents/assistant/prompt?mode=quick"), 400, "invalid mode: quick")
    refused(gateway.http.get(f"/agents/assistant/prompt?thread_id={UNKNOWN_ID}"), 404, "thread not found")


def test_model_sees_the_current_identity(own_talker):
    gateway = own_talker.gateway
    make_agent(gateway, "scribe", systemPrompt="You write.")
    thread = accepted(gateway.http.post("/threads", json={"agent_id": "scribe"}), 201)
    write(gateway, "/soul", "base soul one")
    write(gateway, "/agents/scribe/soul", "scribe soul one")
    write(gateway, "/user-profile", "profile one")
    own_talker.says(thread, "hello", answer="hi")
    system_prompt = own_talker.system()
    order = [system_prompt.index(part) for part in ("base soul one", "scribe soul one", "profile one", "You write.")]
    assert order == sorted(order)
    assert system_prompt == prompt_of(gateway, "scribe", thread_id=thread["id"])["text"]

    write(gateway, "/soul", "base soul two")
    write(gateway, "/agents/scribe/user-profile", "override two")
    own_talker.says(thread, "hello", answer="hi")
    system_prompt = own_talker.system()
    assert "base soul two" in system_prompt and "base soul one" not in system_prompt
    assert "override two" in system_prompt and "profile one" not in system_prompt


def test_plan_mode_is_explained_until_the_plan_is_approved(own_talker):
    gateway = own_talker.gateway
    thread = accepted(gateway.http.post("/threads", json={}), 201)
    own_talker.says(thread, "hello", answer="a plan")
    assert "You are in plan mode." in own_talker.system()
    accepted(gateway.http.patch(f"/threads/{thread['id']}", json={"mode": "act"}))
    own_talker.says(thread, "go", answer="done")
    assert "You are in plan mode." not in own_talker.system()


def test_soul_of_another_agent_is_not_included(own_talker):
    gateway = own_talker.gateway
    write(gateway, "/agents/other/soul", "a secret of the other")
    thread = accepted(gateway.http.post("/threads", json={}), 201)
    own_talker.says(thread, "hello", answer="hi")
    assert "a secret of the other" not in own_talker.system()


def test_project_instructions_are_included(own_talker):
    gateway = own_talker.gateway
    site = gateway.home / "work" / "site"
    site.mkdir(parents=True)
    (site.parent / "AGENTS.md").write_text("instructions of work")
    project = accepted(gateway.http.post("/projects", json={"name": "site", "path": str(site), "trusted": True}), 201)
    thread = accepted(gateway.http.post("/threads", json={"project_id": project["id"]}), 201)
    own_talker.says(thread, "hello", answer="hi")
    assert "instructions of work" in own_talker.system() and str(site) in own_talker.system()
    assert "not instructions" not in own_talker.system()

    (site / "AGENTS.md").write_text("the site's own words")
    accepted(gateway.http.patch(f"/projects/{project['id']}", json={"trusted": False}))
    own_talker.says(thread, "hello", answer="hi")
    system_prompt = own_talker.system()
    assert "the site's own words" in system_prompt and "not instructions" in system_prompt
    assert "instructions of work" not in system_prompt


def test_project_instructions_may_be_a_symlink_within_the_project(own_talker):
    gateway = own_talker.gateway
    site = gateway.home / "site"
    site.mkdir()
    (site / "OTHER.md").write_text("instructions of another program")
    (site / "key.pem").write_text("a private key")
    (gateway.home / "letter.md").write_text("a letter")
    project = accepted(gateway.http.post("/projects", json={"name": "site", "path": str(site)}), 201)
    thread = accepted(gateway.http.post("/threads", json={"project_id": project["id"]}), 201)
    for target, is_in_prompt in (("OTHER.md", True), ("key.pem", False), ("../letter.md", False)):
        (site / "AGENTS.md").unlink(missing_ok=True)
        (site / "AGENTS.md").symlink_to(target)
        own_talker.says(thread, "hello", answer="hi")
        assert ((site / target).read_text() in own_talker.system()) is is_in_prompt


def test_long_instructions_are_truncated(own_talker):
    gateway = own_talker.gateway
    site = gateway.home / "site"
    site.mkdir()
    (site / "AGENTS.md").write_text("the beginning " + "ö" * 60_000 + " the end")
    project = accepted(gateway.http.post("/projects", json={"name": "site", "path": str(site)}), 201)
    thread = accepted(gateway.http.post("/threads", json={"project_id": project["id"]}), 201)
    own_talker.says(thread, "hello", answer="hi")
    system_prompt = own_talker.system()
    assert "the beginning ö" in system_prompt and "the end" not in system_prompt and "longer than 102400 bytes" in system_prompt
