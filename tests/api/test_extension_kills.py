"""A kill between changing a record and writing its file: the next start repairs the file.

See docs/contract/extensions.md#files-on-disk.
"""

import sqlite3
import subprocess

import pytest
import yaml

from checks import accepted
from jobs import new_extension


def test_kill_after_the_response_leaves_record_and_file_equal(own_gateway):
    body = {"type": "agent", "name": "writer", "description": "d", "definition": {"systemPrompt": "0"}, "enabled": True}
    agent = accepted(own_gateway.http.post("/extensions", json=body), 201)
    for number in range(1, 13):
        name = f"writer-{number}" if number % 3 == 0 else agent["name"]
        change = {"name": name, "definition": {"systemPrompt": str(number)}}
        agent = accepted(own_gateway.http.patch(f"/extensions/{agent['id']}", json=change))
        own_gateway.kill()
        own_gateway.start()
        assert accepted(own_gateway.http.get(f"/extensions/{agent['id']}")) == agent
        directories = [path.name for path in (own_gateway.data / "agents").iterdir() if path.name.startswith("writer")]
        assert directories == [agent["name"]]
        written = yaml.safe_load((own_gateway.data / "agents" / agent["name"] / "agent.yaml").read_text())
        assert (written["name"], written["systemPrompt"]) == (agent["name"], str(number))
    assert accepted(own_gateway.http.post("/reseed"))["warnings"] == []


@pytest.fixture
def make_unwritable():
    """Makes a directory unwritable, even for root."""
    sealed = []

    def seal(directory):
        if subprocess.run(["chattr", "+i", directory], capture_output=True).returncode:
            pytest.skip("needs root, and a file system with attributes")
        sealed.append(directory)

    def unseal():
        while sealed:
            subprocess.run(["chattr", "-i", sealed.pop()], check=True)

    seal.undo = unseal
    yield seal
    unseal()


def test_own_write_before_a_failed_change_is_not_mistaken_for_an_edit(own_gateway, make_unwritable):
    body = {"type": "agent", "name": "writer", "description": "d", "definition": {"systemPrompt": "0"}}
    agent = accepted(own_gateway.http.post("/extensions", json=body), 201)
    directory = own_gateway.data / "agents" / "writer"
    accepted(own_gateway.http.patch(f"/extensions/{agent['id']}", json={"definition": {"systemPrompt": "1"}}))
    make_unwritable(directory)
    agent = accepted(own_gateway.http.patch(f"/extensions/{agent['id']}", json={"definition": {"systemPrompt": "2"}}))
    own_gateway.kill()
    own_gateway.start()
    assert accepted(own_gateway.http.get(f"/extensions/{agent['id']}")) == agent
    make_unwritable.undo()
    assert accepted(own_gateway.http.post("/reseed"))["warnings"] == []
    assert accepted(own_gateway.http.get(f"/extensions/{agent['id']}")) == agent
    assert yaml.safe_load((directory / "agent.yaml").read_text())["systemPrompt"] == "2"


def new_agent(gateway, name):
    """Creates an agent that differs from others only in its name and soul."""
    agent = new_extension(gateway, "agent", name, {"systemPrompt": "p"}, description="d", enabled=True)
    accepted(gateway.http.put(f"/agents/{name}/soul", json={"content": f"the soul of {agent['id']}"}))
    return agent


def rename(gateway, agent, name):
    accepted(gateway.http.patch(f"/extensions/{agent['id']}", json={"name": name}))


def check_name_and_soul(gateway, agent, name):
    assert accepted(gateway.http.get(f"/extensions/{agent['id']}"))["name"] == name
    assert accepted(gateway.http.get(f"/agents/{name}/soul")) == {"content": f"the soul of {agent['id']}"}
    written = yaml.safe_load((gateway.data / "agents" / name / "agent.yaml").read_text())
    assert written["name"] == name


def test_agents_with_swapped_names_survive_a_kill(own_gateway):
    first, second = new_agent(own_gateway, "u"), new_agent(own_gateway, "v")
    rename(own_gateway, first, "tmp")
    rename(own_gateway, second, "u")
    rename(own_gateway, first, "v")
    own_gateway.kill()
    own_gateway.start()
    check_name_and_soul(own_gateway, first, "v")
    check_name_and_soul(own_gateway, second, "u")
    assert not (own_gateway.data / "agents" / "tmp").exists()
    assert accepted(own_gateway.http.post("/reseed"))["warnings"] == []


def test_renamed_and_deleted_agent_survives_a_kill(own_gateway):
    deleted = new_agent(own_gateway, "a")
    rename(own_gateway, deleted, "c")
    assert own_gateway.http.delete(f"/extensions/{deleted['id']}").status_code == 204
    successor = new_agent(own_gateway, "a")
    own_gateway.kill()
    own_gateway.start()
    check_name_and_soul(own_gateway, successor, "a")
    names = {agent["name"] for agent in accepted(own_gateway.http.get("/extensions", params={"type": "agent"}))}
    assert "a" in names and "c" not in names
    assert not (own_gateway.data / "agents" / "c").exists()


def test_clean_stop_leaves_no_work_for_the_next_start(own_gateway):
    body = {"type": "agent", "name": "writer", "description": "d", "definition": {"systemPrompt": "0"}, "enabled": True}
    accepted(own_gateway.http.post("/extensions", json=body), 201)
    assert own_gateway.stop() == 0
    with sqlite3.connect(own_gateway.data / "gateway.db") as database:
        assert database.execute("SELECT count(*) FROM extension_outbox").fetchone() == (0,)
