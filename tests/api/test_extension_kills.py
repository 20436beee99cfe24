"""A kill between a record and its file: the next start mends it (decisions, 3)."""

import sqlite3

import yaml

from checks import accepted


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


def test_a_clean_stop_leaves_nothing_for_the_next_start_to_do_again(own):
    body = {"type": "agent", "name": "writer", "description": "d", "definition": {"systemPrompt": "0"}, "enabled": True}
    accepted(own.http.post("/extensions", json=body), 201)
    assert own.stop() == 0
    with sqlite3.connect(own.data / "gateway.db") as database:
        assert database.execute("SELECT count(*) FROM extension_outbox").fetchone() == (0,)
