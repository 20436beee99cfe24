"""A kill between a record and its file: the next start mends it (decisions, 3)."""

import sqlite3
import subprocess

import pytest
import yaml

from checks import accepted
from jobs import new_extension


def test_a_kill_right_behind_the_answer_leaves_no_file_behind_its_record(own):
    body = {"type": "agent", "name": "writer", "description": "d", "definition": {"systemPrompt": "0"}, "enabled": True}
    agent = accepted(own.http.post("/extensions", json=body), 201)
    for number in range(1, 13):
        name = f"writer-{number}" if number % 3 == 0 else agent["name"]
        change = {"name": name, "definition": {"systemPrompt": str(number)}}
        agent = accepted(own.http.patch(f"/extensions/{agent['id']}", json=change))
        own.kill()
        own.start()
        assert accepted(own.http.get(f"/extensions/{agent['id']}")) == agent
        directories = [path.name for path in (own.data / "agents").iterdir() if path.name.startswith("writer")]
        assert directories == [agent["name"]]
        written = yaml.safe_load((own.data / "agents" / agent["name"] / "agent.yaml").read_text())
        assert (written["name"], written["systemPrompt"]) == (agent["name"], str(number))
    assert accepted(own.http.post("/reseed"))["warnings"] == []


@pytest.fixture
def sealed():
    """Makes a directory such that nobody can write there, root neither."""
    places = []

    def seal(place):
        if subprocess.run(["chattr", "+i", place], capture_output=True).returncode:
            pytest.skip("needs root, and a file system with attributes")
        places.append(place)

    def unseal():
        while places:
            subprocess.run(["chattr", "-i", places.pop()], check=True)

    seal.undo = unseal
    yield seal
    unseal()


def test_what_the_gateway_wrote_before_a_change_that_it_could_not_write_is_no_edit_after_a_kill(own, sealed):
    body = {"type": "agent", "name": "writer", "description": "d", "definition": {"systemPrompt": "0"}}
    agent = accepted(own.http.post("/extensions", json=body), 201)
    place = own.data / "agents" / "writer"
    accepted(own.http.patch(f"/extensions/{agent['id']}", json={"definition": {"systemPrompt": "1"}}))
    sealed(place)
    agent = accepted(own.http.patch(f"/extensions/{agent['id']}", json={"definition": {"systemPrompt": "2"}}))
    own.kill()
    own.start()
    assert accepted(own.http.get(f"/extensions/{agent['id']}")) == agent
    sealed.undo()
    assert accepted(own.http.post("/reseed"))["warnings"] == []
    assert accepted(own.http.get(f"/extensions/{agent['id']}")) == agent
    assert yaml.safe_load((place / "agent.yaml").read_text())["systemPrompt"] == "2"


def new_agent(gateway, name):
    """One that differs from others by nothing but its name, and by its soul."""
    agent = new_extension(gateway, "agent", name, {"systemPrompt": "p"}, description="d", enabled=True)
    accepted(gateway.http.put(f"/agents/{name}/soul", json={"content": f"the soul of {agent['id']}"}))
    return agent


def rename(gateway, agent, name):
    accepted(gateway.http.patch(f"/extensions/{agent['id']}", json={"name": name}))


def holds_its_soul(gateway, agent, name):
    assert accepted(gateway.http.get(f"/extensions/{agent['id']}"))["name"] == name
    assert accepted(gateway.http.get(f"/agents/{name}/soul")) == {"content": f"the soul of {agent['id']}"}
    written = yaml.safe_load((gateway.data / "agents" / name / "agent.yaml").read_text())
    assert written["name"] == name


def test_new_agents_that_swapped_their_names_stay_so_after_a_kill(own):
    first, second = new_agent(own, "u"), new_agent(own, "v")
    rename(own, first, "tmp")
    rename(own, second, "u")
    rename(own, first, "v")
    own.kill()
    own.start()
    holds_its_soul(own, first, "v")
    holds_its_soul(own, second, "u")
    assert not (own.data / "agents" / "tmp").exists()
    assert accepted(own.http.post("/reseed"))["warnings"] == []


def test_a_new_agent_that_was_renamed_and_deleted_stays_so_after_a_kill(own):
    deleted = new_agent(own, "a")
    rename(own, deleted, "c")
    assert own.http.delete(f"/extensions/{deleted['id']}").status_code == 204
    successor = new_agent(own, "a")
    own.kill()
    own.start()
    holds_its_soul(own, successor, "a")
    names = {agent["name"] for agent in accepted(own.http.get("/extensions", params={"type": "agent"}))}
    assert "a" in names and "c" not in names
    assert not (own.data / "agents" / "c").exists()


def test_a_clean_stop_leaves_nothing_for_the_next_start_to_do_again(own):
    body = {"type": "agent", "name": "writer", "description": "d", "definition": {"systemPrompt": "0"}, "enabled": True}
    accepted(own.http.post("/extensions", json=body), 201)
    assert own.stop() == 0
    with sqlite3.connect(own.data / "gateway.db") as database:
        assert database.execute("SELECT count(*) FROM extension_outbox").fetchone() == (0,)
