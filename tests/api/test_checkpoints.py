"""What runs changed in files, and its undo.

See docs/contract/checkpoints.md.
"""

import os

import pytest

from checks import accepted
from tools import calls, new_agent, new_thread, of_kind, run_chat


@pytest.fixture
def project(talker, new_name):
    folder = talker.gateway.home / new_name("undone")
    folder.mkdir(parents=True)
    return accepted(talker.gateway.http.post("/projects", json={"name": folder.name, "path": str(folder)}), 201)


@pytest.fixture
def folder(talker, project):
    return talker.gateway.home / project["name"]


@pytest.fixture
def thread(talker, project, new_name):
    return new_thread(talker.gateway, new_agent(talker.gateway, new_name("writer")), project_id=project["id"])


@pytest.fixture
def use(talker, thread):
    """Has a run make these calls. Returns the run's id."""
    def use(*made, fails=False):
        events = run_chat(talker, thread, calls(*made), "Done.")
        assert all(end["isError"] is fails for end in of_kind(events, "tool-end")), of_kind(events, "tool-end")
        return events[0]["runId"]
    return use


@pytest.fixture
def changes(talker):
    return lambda run: accepted(talker.gateway.http.get(f"/runs/{run}/changes"))


@pytest.fixture
def undo(talker):
    return lambda run, **body: accepted(talker.gateway.http.post(f"/runs/{run}/undo", json=body))


def test_run_shows_what_it_changed_and_takes_it_back(use, changes, undo, folder):
    (folder / "a.txt").write_text("mine\n")
    os.chmod(folder / "a.txt", 0o640)
    os.utime(folder / "a.txt", ns=(5_000_000_007, 6_000_000_009))
    run = use(("Edit", {"path": "a.txt", "old_string": "mine", "new_string": "yours"}),
              ("Write", {"path": "new/b.txt", "content": "new\n"}))
    shown = changes(run)
    assert [(change["path"], change["kind"]) for change in shown["changes"]] == [
        (str(folder / "a.txt"), "changed"), (str(folder / "new"), "created"), (str(folder / "new/b.txt"), "created")]
    assert "-mine\n+yours\n" in shown["changes"][0]["diff"] and "+new\n" in shown["changes"][2]["diff"]
    assert shown["not_covered"] == []
    undone = undo(run)
    assert undone["kept"] == [] and str(folder / "a.txt") in undone["restored"]
    assert (folder / "a.txt").read_text() == "mine\n" and not (folder / "new").exists()
    status = (folder / "a.txt").stat()
    assert status.st_mode & 0o777 == 0o640 and status.st_mtime_ns == 6_000_000_009
    assert all(change["undone"] for change in changes(run)["changes"])


def test_undo_is_a_change_that_can_be_undone(use, undo, folder):
    run = use(("Write", {"path": "a.txt", "content": "new"}))
    assert undo(run)["restored"] == [str(folder / "a.txt")]
    assert not (folder / "a.txt").exists()
    assert undo(run)["restored"] == [str(folder / "a.txt")]
    assert (folder / "a.txt").read_text() == "new"


def test_file_that_was_changed_since_is_kept(use, undo, folder):
    run = use(("Write", {"path": "a.txt", "content": "new"}), ("Write", {"path": "b.txt", "content": "new"}))
    (folder / "a.txt").write_text("mine")
    assert undo(run) == {"restored": [str(folder / "b.txt")],
                         "kept": [{"path": str(folder / "a.txt"), "reason": "changed since"}]}
    assert (folder / "a.txt").read_text() == "mine"
    assert undo(run, force=True)["restored"] == [str(folder / "a.txt")]


def test_undo_of_some_paths(use, undo, folder):
    run = use(("Write", {"path": "a.txt", "content": "new"}), ("Write", {"path": "b.txt", "content": "new"}))
    assert undo(run, paths=["a.txt"])["restored"] == [str(folder / "a.txt")]
    assert undo(run, paths=[str(folder / "b.txt")])["restored"] == [str(folder / "b.txt")]


def test_unknown_run_and_bad_bodies(talker, use):
    http = talker.gateway.http
    assert http.get("/runs/unknown/changes").json() == {"error": "run not found"}
    assert http.post("/runs/unknown/undo").status_code == 404
    run = use(("Write", {"path": "a.txt", "content": "new"}))
    for body in ({"paths": "a.txt"}, {"paths": [1]}, {"force": "yes"}):
        assert http.post(f"/runs/{run}/undo", json=body).status_code == 400, body


def test_run_without_changes_has_none(use, changes, undo):
    run = use(("Glob", {"pattern": "*"}))
    assert changes(run) == {"run_id": run, "changes": [], "not_covered": []}
    assert undo(run) == {"restored": [], "kept": []}


def test_undo_of_an_active_run_is_refused(talker, thread):
    answer = talker.holds("Half of it")
    with talker.gateway.events(thread["id"]) as events:
        turn = accepted(talker.gateway.http.post("/chat", json={"content": "x", "threadId": thread["id"]}), 201)
        assert answer.was_asked()
        run = accepted(talker.gateway.http.get(f"/threads/{thread['id']}"))["active_run"]["runId"]
        refused = talker.gateway.http.post(f"/runs/{run}/undo")
        assert refused.status_code == 409 and refused.json() == {"error": "run is active"}
        answer.release()
        events.run(turn["id"])


def test_store_is_only_for_its_owner_and_agents_cannot_read_it(talker, use, folder):
    (folder / "a.txt").write_text("mine")
    use(("Write", {"path": "a.txt", "content": "new"}))
    store = talker.gateway.data / "checkpoints"
    assert store.stat().st_mode & 0o777 == 0o700
    blob = next(store.iterdir())
    assert blob.stat().st_mode & 0o777 == 0o600
    use(("Read", {"path": str(blob)}), fails=True)
