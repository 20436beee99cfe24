"""Skills: their directories, the agents that see them, and how they are read.

See docs/contract/tools.md#skills.
"""

import os

import pytest

from checks import accepted
from tools import call_tool, new_agent, new_thread


def write_skill(folder, name="pdf", description="Fills forms.", body="# Steps\n\nFirst this.", head="", **files):
    directory = folder / name
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {description}\n{head}---\n{body}\n")
    for path, text in files.items():
        (directory / path).write_text(text)
    return directory


@pytest.fixture
def talker(own_talker):
    return own_talker


@pytest.fixture
def agent(talker):
    return new_agent(talker.gateway, "worker")


def prompt(gateway, agent, **params):
    sections = accepted(gateway.http.get(f"/agents/{agent['name']}/prompt", params=params))["sections"]
    return "".join(section["text"] for section in sections if section["name"] == "skills")


def test_prompt_does_not_mention_missing_skills(talker, agent):
    assert prompt(talker.gateway, agent) == ""


def test_skills_of_every_directory_are_listed_by_name(talker, agent):
    gateway = talker.gateway
    write_skill(gateway.data / "skills", "beta")
    write_skill(gateway.data / "agents" / agent["name"] / "skills", "gamma")
    write_skill(gateway.home / ".agents" / "skills", "alpha", description="Use <this> & that.")
    write_skill(gateway.data / "agents" / "another" / "skills", "delta")
    text = prompt(gateway, agent)
    assert text.index("alpha") < text.index("beta") < text.index("gamma") and "delta" not in text
    assert "Use &lt;this&gt; &amp; that." in text


def test_project_skills_need_a_trusted_project(talker, agent):
    gateway = talker.gateway
    path = gateway.home / "site"
    write_skill(path / ".agents" / "skills", "deploy", description="Ships the site.")
    project = accepted(gateway.http.post("/projects", json={"name": "site", "path": str(path)}), 201)
    thread = new_thread(gateway, agent, project_id=project["id"])
    assert "deploy" not in prompt(gateway, agent, thread_id=thread["id"])
    assert call_tool(talker, thread, "ReadSkill", {"name": "deploy"})["isError"]
    accepted(gateway.http.patch(f"/projects/{project['id']}", json={"trusted": True}))
    assert "deploy" in prompt(gateway, agent, thread_id=thread["id"])
    assert "First this." in call_tool(talker, thread, "ReadSkill", {"name": "deploy"})["output"]
    assert "deploy" not in prompt(gateway, agent), "only with a thread of that project"


def test_most_specific_of_skills_with_one_name_is_used(talker, agent):
    gateway = talker.gateway
    write_skill(gateway.home / ".agents" / "skills", description="of home")
    write_skill(gateway.data / "skills", description="of the data directory")
    assert "of the data directory" in prompt(gateway, agent) and "of home" not in prompt(gateway, agent)
    write_skill(gateway.data / "agents" / agent["name"] / "skills", description="of the agent")
    assert "of the agent" in prompt(gateway, agent)


def test_agent_can_be_limited_to_some_skills(talker):
    gateway = talker.gateway
    for name in ("one", "two"):
        write_skill(gateway.data / "skills", name)
    some, none = new_agent(gateway, "some", skills=["two"]), new_agent(gateway, "none", skills=[])
    assert "two" in prompt(gateway, some) and "one" not in prompt(gateway, some).split("available_skills")[1]
    assert prompt(gateway, none) == ""
    assert call_tool(talker, new_thread(gateway, some), "ReadSkill", {"name": "one"})["isError"]


def test_invalid_skill_is_omitted(talker, agent):
    folder = talker.gateway.data / "skills"
    (folder / "empty").mkdir(parents=True)
    (folder / "headless").mkdir()
    (folder / "headless" / "SKILL.md").write_text("# Nothing above\n")
    (folder / "loose.md").write_text("---\nname: loose\ndescription: x\n---\n")
    write_skill(folder, "undescribed", description="")
    write_skill(folder, "hidden", head="disable-model-invocation: true\n")
    write_skill(folder, "good")
    text = prompt(talker.gateway, agent)
    assert "good" in text and not any(name in text for name in ("headless", "loose", "undescribed", "hidden"))


def test_read_skill_reads_body_and_files(talker, agent):
    directory = write_skill(talker.gateway.data / "skills", **{"REFERENCE.md": "All of it."})
    (directory / "scripts").mkdir()
    (directory / "scripts" / "fill.py").write_text("print(1)")
    thread = new_thread(talker.gateway, agent)
    text = call_tool(talker, thread, "ReadSkill", {"name": "pdf"})["output"]
    assert text.startswith("# Steps\n\nFirst this.") and "description" not in text
    assert "- REFERENCE.md" in text and "- scripts/fill.py" in text and str(directory) in text
    assert call_tool(talker, thread, "ReadSkill", {"name": "pdf", "file": "scripts/fill.py"})["output"] == "print(1)"


def test_edit_applies_at_once(talker, agent):
    write_skill(talker.gateway.data / "skills")
    assert "Fills forms." in prompt(talker.gateway, agent)
    write_skill(talker.gateway.data / "skills", description="Something else.")
    accepted(talker.gateway.http.post("/reseed"))
    assert "Something else." in prompt(talker.gateway, agent)


@pytest.mark.parametrize("file", ["../../.gateway-token", "/etc/passwd", "leak", "key.pem", "nowhere", "", "a\0b",
                                  "folder/token", "scripts"])
def test_only_files_of_the_skill_are_read(talker, agent, file):
    gateway = talker.gateway
    directory = write_skill(gateway.data / "skills", **{"key.pem": "private"})
    (directory / "scripts").mkdir()
    os.symlink(gateway.home / ".ssh", directory / "folder")
    (gateway.home / ".ssh").mkdir()
    (gateway.home / ".ssh" / "token").write_text("private")
    os.symlink("/etc/passwd", directory / "leak")
    end = call_tool(talker, new_thread(gateway, agent), "ReadSkill", {"name": "pdf", "file": file})
    assert end["isError"] and gateway.token not in end["output"] and "private" not in end["output"]
    assert "root:" not in end["output"]


@pytest.mark.parametrize("name", ["../../agents", "/etc", "", "x" * 5000, "a\nb"])
def test_name_is_not_a_path(talker, agent, name):
    end = call_tool(talker, new_thread(talker.gateway, agent), "ReadSkill", {"name": name})
    assert end["isError"] and end["output"].startswith("there is no skill")


def test_available_skills_are_listed_regardless_of_the_definition(talker):
    gateway = talker.gateway
    directory = write_skill(gateway.data / "skills")
    write_skill(gateway.data / "agents" / "chooser" / "skills", name="csv", description="Reads tables.")
    new_agent(gateway, "chooser", skills=["csv"])
    listed = accepted(gateway.http.get("/agents/chooser/skills"))
    assert [(skill["name"], skill["description"]) for skill in listed] == [("csv", "Reads tables."), ("pdf", "Fills forms.")]
    assert listed[1]["directory"] == str(directory)
    assert gateway.http.get("/agents/nobody/skills").status_code == 404
