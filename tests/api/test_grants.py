"""Grants: approvals that also cover later calls.

See docs/contract/approvals.md.
"""

import contextlib
import os
import sqlite3

import pytest

from approvals import call_asked, call_unasked, decide, person
from checks import accepted, refused
from jobs import delete, new_extension
from tools import call_tool, calls, new_agent, new_thread


@pytest.fixture
def thread(thread_of):
    return thread_of()


def test_a_grant_for_the_thread_lasts_until_it_is_archived(talker, thread, thread_of):
    gateway = talker.gateway
    call_asked(talker, thread, "Bash", {"command": "git status --short"}, scope="thread")
    for command in ("git status", "git status -s .", "git  status '--porcelain'"):
        call_unasked(talker, thread, "Bash", {"command": command})
    grants = accepted(gateway.http.get(f"/agents/{thread['agent_id']}/grants"))
    assert [(grant["tool"], grant["pattern"], grant["scope"], grant["thread_id"]) for grant in grants] == [
        ("Bash", "git status *", "thread", thread["id"])]
    other = new_thread(gateway, {"id": thread["agent_id"]})
    assert call_tool(talker, other, "Bash", {"command": "git status"})["isError"], "another thread"
    accepted(gateway.http.patch(f"/threads/{thread['id']}", json={"archived": True}))
    assert accepted(gateway.http.get(f"/agents/{thread['agent_id']}/grants")) == []


def test_a_grant_applies_without_a_connected_client(talker, thread):
    call_asked(talker, thread, "Bash", {"command": "echo hello"}, scope="thread")
    end = call_tool(talker, thread, "Bash", {"command": "echo hello"})
    assert not end["isError"] and "hello" in end["output"]
    assert call_tool(talker, thread, "Bash", {"command": "echo hello there"})["isError"]


def test_a_grant_for_the_agent_lasts_until_it_is_revoked(talker, thread, project):
    gateway = talker.gateway
    path = f"/agents/{thread['agent_id']}/grants"
    call_asked(talker, thread, "Write", {"path": "a.txt", "content": "1"}, scope="agent")
    other = new_thread(gateway, {"id": thread["agent_id"]}, project_id=project["id"])
    assert call_tool(talker, other, "Write", {"path": "sub/b.txt", "content": "2"})["output"].startswith("created")
    assert call_tool(talker, other, "Edit", {"path": "a.txt", "old_string": "1", "new_string": "2"})["output"].startswith(
        "staged"), "another tool"
    grant, = accepted(gateway.http.get(path))
    assert grant["thread_id"] is None and grant["scope"] == "agent"
    assert gateway.http.delete(f"{path}/{grant['id']}").status_code == 204
    refused(gateway.http.delete(f"{path}/{grant['id']}"), 404, "grant not found")
    assert call_tool(talker, other, "Write", {"path": "sub/b.txt", "content": "3"})["output"].startswith("staged")
    refused(gateway.http.get("/agents/nobody-at-all/grants"), 404, "agent not found")


def test_nothing_is_granted_for_an_action_that_was_deleted_meanwhile(talker, new_name):
    """A later action of that name must ask, too."""
    gateway, name = talker.gateway, new_name("publish")
    thread = new_thread(gateway, new_agent(gateway, new_name("publisher"), "operator"))
    definition = {"kind": "http", "method": "POST", "url": "http://127.0.0.1:9"}
    action = new_extension(gateway, "action", name, definition, enabled=True)
    with person(talker, thread, calls((name, {})), "Done.") as user:
        request = user.asked()
        assert request["scopes"] == ["once", "thread", "agent"]
        delete(gateway, action)
        for scope in ("thread", "agent"):
            refused(decide(gateway, request, scope=scope), 400, "decision not possible")
        decided = accepted(decide(gateway, request))
        assert (decided["scopes"], decided["pattern"]) == (["once"], None)
        user.run()
    assert accepted(gateway.http.get(f"/agents/{thread['agent_id']}/grants")) == []


def test_an_action_that_gets_the_name_of_a_renamed_one_is_not_granted(talker, new_name):
    gateway, name = talker.gateway, new_name("publish")
    thread = new_thread(gateway, new_agent(gateway, new_name("publisher"), "operator"))
    definition = {"kind": "http", "method": "POST", "url": "http://127.0.0.1:9"}
    action = new_extension(gateway, "action", name, definition, enabled=True)
    call_asked(talker, thread, name, {}, scope="agent")
    accepted(gateway.http.patch(f"/extensions/{action['id']}", json={"name": new_name("renamed")}))
    new_extension(gateway, "action", name, definition, enabled=True)
    assert accepted(gateway.http.get(f"/agents/{thread['agent_id']}/grants")) == []
    call_asked(talker, thread, name, {})


def test_an_existing_action_that_gets_the_name_of_a_renamed_one_is_not_granted(talker, new_name):
    gateway, name = talker.gateway, new_name("publish")
    thread = new_thread(gateway, new_agent(gateway, new_name("publisher"), "operator"))
    definition = {"kind": "http", "method": "POST", "url": "http://127.0.0.1:9"}
    action = new_extension(gateway, "action", name, definition, enabled=True)
    other = new_extension(gateway, "action", new_name("other"), definition, enabled=True)
    call_asked(talker, thread, name, {}, scope="agent")
    accepted(gateway.http.patch(f"/extensions/{action['id']}", json={"description": "still the same", "name": name}))
    assert len(accepted(gateway.http.get(f"/agents/{thread['agent_id']}/grants"))) == 1
    accepted(gateway.http.patch(f"/extensions/{action['id']}", json={"name": new_name("renamed")}))
    accepted(gateway.http.patch(f"/extensions/{other['id']}", json={"name": name}))
    assert accepted(gateway.http.get(f"/agents/{thread['agent_id']}/grants")) == []
    call_asked(talker, thread, name, {})


def test_a_grant_lasts_when_its_agent_is_renamed(talker, thread, new_name):
    call_asked(talker, thread, "Bash", {"command": "git status"}, scope="agent")
    path = f"/agents/{thread['agent_id']}/grants"
    before = accepted(talker.gateway.http.get(path))
    accepted(talker.gateway.http.patch(f"/extensions/{thread['agent_id']}", json={"name": new_name("renamed")}))
    assert len(before) == 1 and accepted(talker.gateway.http.get(path)) == before


def test_a_grant_whose_end_was_not_stored_ends_at_the_next_start(own_talker):
    """As if the gateway had been killed between the change and the deletion of the grant."""
    gateway = own_talker.gateway
    definition = {"kind": "http", "method": "POST", "url": "http://127.0.0.1:9"}
    agent, doomed = new_agent(gateway, "lasting"), new_agent(gateway, "doomed")
    thread, archived = new_thread(gateway, agent), new_thread(gateway, new_agent(gateway, "learner", "apprentice"))
    kept = new_extension(gateway, "action", "kept", definition, enabled=True)
    gone = new_extension(gateway, "action", "gone", definition, enabled=True)
    for action in (kept, gone):
        call_asked(own_talker, thread, action["name"], {}, scope="agent")
    call_asked(own_talker, archived, "Bash", {"command": "git status"}, scope="thread")
    call_asked(own_talker, new_thread(gateway, doomed), "kept", {}, scope="agent")
    gateway.stop()
    with contextlib.closing(sqlite3.connect(gateway.data / "gateway.db")) as database, database:
        assert database.execute("SELECT count(*) FROM grants").fetchone() == (4,)
        database.execute("DELETE FROM extensions WHERE id IN (?, ?)", (gone["id"], doomed["id"]))
        database.execute("UPDATE threads SET archived = 1 WHERE id = ?", (archived["id"],))
    gateway.start()
    assert [grant["tool"] for grant in accepted(gateway.http.get("/agents/lasting/grants"))] == ["kept"]
    gateway.stop()
    with contextlib.closing(sqlite3.connect(gateway.data / "gateway.db")) as database:
        assert database.execute("SELECT tool, agent_id FROM grants").fetchall() == [("kept", agent["id"])]


def test_grants_survive_a_restart(own_talker):
    gateway = own_talker.gateway
    thread = new_thread(gateway, new_agent(gateway, "learner", "apprentice"))
    call_asked(own_talker, thread, "Bash", {"command": "git status"}, scope="thread")
    call_asked(own_talker, thread, "Remember", {"text": "x"}, scope="agent")
    before = accepted(gateway.http.get("/agents/learner/grants"))
    assert [grant["pattern"] for grant in before] == ["git status *", "Remember"]
    gateway.restart()
    assert accepted(gateway.http.get("/agents/learner/grants")) == before
    assert not call_tool(own_talker, thread, "Remember", {"text": "y"})["isError"]


def test_a_grant_for_git_status_does_not_cover_options_that_run_programs(talker, thread):
    call_asked(talker, thread, "Bash", {"command": "git status"}, scope="thread")
    for command in ("git -c core.pager=./evil status", "git -c core.fsmonitor=./evil status", "git status; ./evil",
                    "git status\n./evil", "git status $(./evil)", "GIT_DIR=x git status", "git status > a.txt",
                    "./git status", "git push", "git status --output=x"):
        end = call_tool(talker, thread, "Bash", {"command": command})
        assert end["isError"] and end["output"].startswith("permission denied:"), command


def test_a_grant_for_npm_run_covers_only_that_script(talker, thread):
    decided, _ = call_asked(talker, thread, "Bash", {"command": "npm run dev"}, scope="thread")
    assert decided["pattern"] == "npm run dev"
    for command in ("npm run deploy", "npm run dev --prefix /x", "npm run"):
        assert call_tool(talker, thread, "Bash", {"command": command})["output"].startswith("permission denied:")


def test_a_grant_for_a_directory_does_not_follow_a_symlink_out_of_it(talker, thread, folder):
    call_asked(talker, thread, "Write", {"path": "a.txt", "content": "1"}, scope="thread")
    elsewhere = talker.gateway.home / (folder.name + "-elsewhere")
    elsewhere.mkdir()
    os.symlink(elsewhere, folder / "way-out")
    end = call_tool(talker, thread, "Write", {"path": "way-out/b.txt", "content": "2"})
    assert end["isError"] and list(elsewhere.iterdir()) == []


def test_a_grant_for_a_directory_covers_only_files_really_inside_it(talker, thread, folder):
    for name in ("docs", "other"):
        (folder / name).mkdir()
    os.symlink("../other", folder / "docs" / "link")
    decided, _ = call_asked(talker, thread, "Write", {"path": "docs/a.txt", "content": "1"}, scope="thread")
    assert decided["pattern"] == f"{folder}/docs/"
    for path in ("docs/link/b.txt", "docs/../b.txt", "docs2/b.txt"):
        end = call_tool(talker, thread, "Write", {"path": path, "content": "2"})
        assert end["output"].startswith("staged as proposal "), path
    assert list((folder / "other").iterdir()) == [] and not (folder / "b.txt").exists()


def test_prompt_gives_the_grant_as_the_reason_for_a_tool(talker, thread):
    call_asked(talker, thread, "Bash", {"command": "git status"}, scope="thread")

    def tool(name, **params):
        prompt = accepted(talker.gateway.http.get(f"/agents/{thread['agent_id']}/prompt", params=params))
        return next((tool for tool in prompt["tools"] if tool["name"] == name), None)

    assert tool("Bash", thread_id=thread["id"])["why"] == "granted: git status *"
    assert tool("Read", thread_id=thread["id"])["why"] is None and tool("Bash") is None
    with talker.gateway.events() as events:
        events.subscribe(thread["id"], approvals=True)
        assert tool("Remember", thread_id=thread["id"])["why"] == "a person is asked"
