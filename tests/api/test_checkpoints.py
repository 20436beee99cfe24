"""Changes of runs to files, and their undo.

See docs/contract/checkpoints.md.
"""

import concurrent.futures
import contextlib
import hashlib
import json
import os
import shutil
import socket
import subprocess

import pytest

import http_client
from checks import accepted, wait_until
from disks import small_disk
from jobs import wait_for
from story import fault_library
from talker import Talker, configuration
from tools import calls, new_agent, new_thread, of_kind, run_chat, turns_of


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
    """Returns a function that has a run make tool calls and returns the run's id."""
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


def test_changes_of_a_run_are_shown_and_undone(use, changes, undo, folder):
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


def test_file_that_was_changed_later_is_kept(use, undo, folder):
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


def test_unknown_run_and_invalid_bodies_are_refused(talker, use):
    http = talker.gateway.http
    assert http.get("/runs/unknown/changes").json() == {"error": "run not found"}
    assert http.post("/runs/unknown/undo").status_code == 404
    run = use(("Write", {"path": "a.txt", "content": "new"}))
    for body in ({"paths": "a.txt"}, {"paths": [1]}, {"force": "yes"}):
        assert http.post(f"/runs/{run}/undo", json=body).status_code == 400, body


def test_run_without_changes_has_none(use, changes, undo):
    run = use(("Glob", {"pattern": "*"}))
    assert changes(run) == {"run_id": run, "changes": [], "not_covered": [], "hosts": []}
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


def test_store_is_private_and_agents_cannot_read_it(talker, use, folder):
    (folder / "a.txt").write_text("mine")
    use(("Write", {"path": "a.txt", "content": "new"}))
    store = talker.gateway.data / "checkpoints"
    assert store.stat().st_mode & 0o777 == 0o700
    blob = next(store.iterdir())
    assert blob.stat().st_mode & 0o777 == 0o600
    use(("Read", {"path": str(blob)}), fails=True)


# Commands


def test_command_is_undone(use, changes, undo, folder):
    (folder / "a.txt").write_text("mine\n")
    (folder / "gone").mkdir()
    (folder / "gone/b.txt").write_text("also mine\n")
    os.chmod(folder / "gone/b.txt", 0o600)
    os.utime(folder / "gone/b.txt", ns=(5_000_000_007, 6_000_000_009))
    run = use(("Bash", {"command": "echo changed > a.txt; rm -r gone; mkdir new; echo x > new/c.txt"}))
    assert {(change["path"].removeprefix(f"{folder}/"), change["kind"]) for change in changes(run)["changes"]} == {
        ("a.txt", "changed"), ("gone", "deleted"), ("gone/b.txt", "deleted"), ("new", "created"),
        ("new/c.txt", "created")}
    assert "-mine\n+changed\n" in changes(run)["changes"][0]["diff"]
    undone = undo(run)
    assert undone["kept"] == [] and len(undone["restored"]) == 5
    assert (folder / "a.txt").read_text() == "mine\n" and not (folder / "new").exists()
    status = (folder / "gone/b.txt").stat()
    assert status.st_mtime_ns == 6_000_000_009 and status.st_mode & 0o777 == 0o600
    assert len(undo(run)["restored"]) == 5
    assert (folder / "new/c.txt").read_text() == "x\n" and not (folder / "gone").exists()


def test_command_after_a_write_of_the_same_run(use, undo, folder):
    (folder / "a.txt").write_text("mine")
    run = use(("Write", {"path": "a.txt", "content": "one\n"}), ("Bash", {"command": "echo two >> a.txt"}))
    assert (folder / "a.txt").read_text() == "one\ntwo\n"
    assert undo(run)["restored"] == [str(folder / "a.txt")]
    assert (folder / "a.txt").read_text() == "mine"


def test_paths_that_are_not_covered_are_listed(use, changes, folder):
    (folder / ".gitignore").write_text("build/\n")
    (folder / "build").mkdir()
    (folder / "large.bin").write_bytes(b"x" * (10 << 20) + b"x")
    run = use(("Bash", {"command": "echo x > build/out; echo x > large.bin"}))
    assert changes(run) == {"run_id": run, "changes": [], "not_covered": [
        {"path": str(folder / "build"), "reason": "named in .gitignore"},
        {"path": str(folder / "large.bin"), "reason": "larger than 10 MiB"}], "hosts": []}


def test_directory_that_is_too_deep_is_listed_as_such(use, changes, folder):
    (folder / "/".join(["d"] * 201)).mkdir(parents=True)
    run = use(("Bash", {"command": "echo x > new"}))
    assert changes(run)["not_covered"] == [
        {"path": str(folder / "/".join(["d"] * 200)), "reason": "too many directories deep"}]


def test_command_that_changes_nothing_has_no_changes(use, changes, folder):
    (folder / "a.txt").write_text("mine")
    run = use(("Bash", {"command": "cat a.txt; touch a.txt"}))
    assert changes(run)["changes"] == []


def test_names_that_are_not_utf_8_are_shown_and_undone(use, changes, undo, folder):
    path = os.fsencode(folder) + b"/caf\xe9\xff.txt"
    with open(path, "w") as file:
        file.write("mine")
    run = use(("Bash", {"command": "for f in *; do echo changed > \"$f\"; done"}))
    (change,) = changes(run)["changes"]
    assert change["path"].startswith(f"{folder}/caf") and change["kind"] == "changed"
    assert undo(run)["kept"] == []
    with open(path) as file:
        assert file.read() == "mine"


def test_sockets_pipes_and_sparse_files_are_not_covered(use, changes, undo, folder):
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "socket"))
        with open(folder / "sparse.img", "wb") as file:
            file.truncate(1 << 30)
        run = use(("Bash", {"command": "rm pipe socket; echo x >> sparse.img; echo y > a.txt"}))
    shown = changes(run)
    assert [change["path"] for change in shown["changes"]] == [str(folder / "a.txt")]
    assert {(one["path"].removeprefix(f"{folder}/"), one["reason"]) for one in shown["not_covered"]} >= {
        ("pipe", "not a regular file"), ("socket", "not a regular file")}
    assert undo(run) == {"restored": [str(folder / "a.txt")], "kept": []}
    assert os.listdir(folder) == ["sparse.img"]


def test_private_files_are_never_copied(talker, use, folder):
    secret = b"a secret that no checkpoint holds"
    (folder / "server.key").write_bytes(secret)
    use(("Bash", {"command": "true"}))
    store = talker.gateway.data / "checkpoints"
    name = hashlib.sha256(secret).hexdigest()
    assert not (store / name).exists()


# Rewinding a thread


def test_rewind_forks_the_thread_and_undoes_later_runs(talker, use, thread, folder):
    (folder / "a.txt").write_text("mine")
    use(("Write", {"path": "a.txt", "content": "one"}))
    point = turns_of(talker.gateway, thread)[-1]
    use(("Write", {"path": "a.txt", "content": "two"}))
    use(("Write", {"path": "b.txt", "content": "new"}))
    body = {"turn_id": point["id"], "files": True}
    fork = accepted(talker.gateway.http.post(f"/threads/{thread['id']}/rewind", json=body), 201)
    assert fork["id"] != thread["id"] and fork["kept"] == []
    assert sorted(fork["restored"]) == [str(folder / "a.txt"), str(folder / "b.txt")]
    assert (folder / "a.txt").read_text() == "one" and not (folder / "b.txt").exists()
    assert [turn["content"] for turn in turns_of(talker.gateway, fork)] == [
        turn["content"] for turn in turns_of(talker.gateway, thread)[:len(turns_of(talker.gateway, fork))]]
    assert turns_of(talker.gateway, fork)[-1]["content"] == point["content"]


def test_rewind_lists_a_file_once_that_several_runs_changed(talker, use, thread, folder):
    (folder / "a.txt").write_text("mine")
    (folder / "b.txt").write_text("mine")
    use(("Glob", {"pattern": "*"}))
    point = turns_of(talker.gateway, thread)[-1]
    for text in ("one", "two", "three"):
        use(("Write", {"path": "a.txt", "content": text}), ("Write", {"path": "b.txt", "content": text}))
    (folder / "b.txt").write_text("a person's")
    fork = accepted(talker.gateway.http.post(f"/threads/{thread['id']}/rewind", json={"turn_id": point["id"]}), 201)
    assert fork["restored"] == [str(folder / "a.txt")] and (folder / "a.txt").read_text() == "mine"
    assert [one["path"] for one in fork["kept"]] == [str(folder / "b.txt")]
    assert (folder / "b.txt").read_text() == "a person's"


def test_rewind_without_files_does_not_change_them(talker, use, thread, folder):
    use(("Write", {"path": "a.txt", "content": "one"}))
    point = turns_of(talker.gateway, thread)[0]
    body = {"turn_id": point["id"], "files": False}
    fork = accepted(talker.gateway.http.post(f"/threads/{thread['id']}/rewind", json=body), 201)
    assert fork["restored"] == [] and (folder / "a.txt").read_text() == "one"


def test_rewind_to_the_question_undoes_its_answer(talker, use, thread, folder):
    use(("Write", {"path": "a.txt", "content": "one"}))
    question = turns_of(talker.gateway, thread)[0]
    fork = accepted(talker.gateway.http.post(f"/threads/{thread['id']}/rewind", json={"turn_id": question["id"]}), 201)
    assert fork["restored"] == [str(folder / "a.txt")] and not (folder / "a.txt").exists()


def test_invalid_rewinds_are_refused(talker, thread):
    http = talker.gateway.http
    assert http.post(f"/threads/{thread['id']}/rewind", json={}).status_code == 400
    assert http.post(f"/threads/{thread['id']}/rewind", json={"turn_id": "unknown"}).status_code == 404
    assert http.post("/threads/unknown/rewind", json={"turn_id": "unknown"}).status_code == 404


# The command line, backups


def test_command_line_shows_and_undoes(talker, use, folder):
    (folder / "a.txt").write_text("mine\n")
    run = use(("Write", {"path": "a.txt", "content": "new\n"}))
    shown = talker.gateway.command("changes", run)
    assert shown.returncode == 0 and f"changed {folder}/a.txt" in shown.stdout and "-mine\n+new\n" in shown.stdout
    undone = talker.gateway.command("undo", run)
    assert (undone.returncode, undone.stdout) == (0, f"restored {folder}/a.txt\n"), undone.stderr
    (folder / "a.txt").write_text("changed by hand")
    again = talker.gateway.command("undo", run, "a.txt")
    assert again.returncode == 1 and "changed since" in again.stderr


def test_backup_has_checkpoints_only_if_requested(talker, use, folder, tmp_path):
    (folder / "a.txt").write_text("mine")
    use(("Write", {"path": "a.txt", "content": "new"}))
    for name, options, has_them in (("plain", (), False), ("whole", ("--checkpoints",), True)):
        archive = tmp_path / f"{name}.tar.zst"
        done = talker.gateway.command("backup", str(archive), *options)
        assert done.returncode == 0, done.stderr
        listed = subprocess.run(["tar", "-taf", str(archive)], check=True, capture_output=True, text=True).stdout
        assert ("data/checkpoints/" in listed) is has_them


# Kills and full disks


@pytest.fixture
def site(own_talker, new_name):
    """The folder of a project on a gateway of its own, and a function that has a run make tool calls there."""
    return site_of(own_talker, new_name)


def site_of(talker, new_name):
    folder = talker.gateway.home / "site"
    folder.mkdir()
    project = accepted(talker.gateway.http.post("/projects", json={"name": "site", "path": str(folder)}), 201)
    thread = new_thread(talker.gateway, new_agent(talker.gateway, new_name("writer")), project_id=project["id"])

    def use(*made):
        events = run_chat(talker, thread, calls(*made), "Done.")
        return events[0]["runId"], of_kind(events, "tool-end")
    return folder, use


WRITES = (("Write", {"path": "a.bin", "content": "new"}), ("Bash", {"command": "echo new > a.bin"}))


def test_store_that_cannot_be_written_refuses_the_tool(own_talker, site):
    folder, use = site
    (folder / "first.txt").write_text("kept")
    use(("Write", {"path": "first.txt", "content": "new"}))
    (folder / "a.bin").write_text("mine")
    shutil.rmtree(own_talker.gateway.data / "checkpoints")
    for call in WRITES:
        _, (end,) = use(call)
        assert end["isError"] and "could not be kept" in end["output"], end["output"]
    assert (folder / "a.bin").read_text() == "mine"


def test_full_disk_refuses_the_tool_before_it_writes(make_gateway, stub, new_name, tmp_path):
    with small_disk(tmp_path / "small", "size=24m") as small:
        gateway = make_gateway(data=small, config=configuration(stub)).start()
        try:
            folder, use = site_of(Talker(gateway, stub), new_name)
            mine = os.urandom(8 << 20)
            (folder / "a.bin").write_bytes(mine)
            free = os.statvfs(small).f_bavail * os.statvfs(small).f_frsize
            (small / "filling").write_bytes(bytes(free - (4 << 20)))
            for call in WRITES:
                _, (end,) = use(call)
                assert end["isError"] and end["output"].startswith("disk full: "), end["output"]
            assert (folder / "a.bin").read_bytes() == mine
            (small / "filling").unlink()
            assert not use(WRITES[0])[1][0]["isError"]
        finally:
            gateway.close()


def test_undo_on_a_full_disk_changes_nothing_and_works_later(make_gateway, stub, new_name, tmp_path):
    with small_disk(tmp_path / "small", "size=24m") as small:
        gateway = make_gateway(data=small, config=configuration(stub)).start()
        try:
            folder, use = site_of(Talker(gateway, stub), new_name)
            mine, edited = os.urandom(4 << 20), os.urandom(4 << 20)
            (folder / "a.bin").write_bytes(mine)
            run, _ = use(("Bash", {"command": "echo new > a.bin"}))
            (folder / "a.bin").write_bytes(edited)
            free = os.statvfs(small).f_bavail * os.statvfs(small).f_frsize
            (small / "filling").write_bytes(bytes(free - (1 << 20)))
            response = gateway.http.post(f"/runs/{run}/undo", json={"force": True})
            assert response.status_code == 507 or response.json()["kept"][0]["reason"].startswith("disk full"), response.text
            assert (folder / "a.bin").read_bytes() == edited
            (small / "filling").unlink()
            assert accepted(gateway.http.post(f"/runs/{run}/undo", json={"force": True}))["kept"] == []
            assert (folder / "a.bin").read_bytes() == mine
        finally:
            gateway.close()


def test_undo_between_files_and_directories_where_names_cannot_be_exchanged(make_gateway, stub, new_name, tmp_path):
    library = fault_library("network_files", tmp_path) or pytest.skip("the sanitizer must be the first library")
    gateway = make_gateway(config=configuration(stub), environment={"LD_PRELOAD": str(library)}).start()
    folder, use = site_of(Talker(gateway, stub), new_name)
    file, directory = folder / "file", folder / "directory"
    file.write_text("mine")
    directory.mkdir(mode=0o750)
    run, _ = use(("Bash", {"command": "rm file; mkdir file; rmdir directory; echo new > directory"}))

    def undo():
        return accepted(gateway.http.post(f"/runs/{run}/undo"))
    for _ in range(2):
        assert undo()["kept"] == []
        assert file.read_text() == "mine" and directory.stat().st_mode & 0o777 == 0o750
        assert undo()["kept"] == []
        assert directory.read_text() == "new\n" and list(file.iterdir()) == []
    (file / "notes.txt").write_text("a person's")
    assert undo()["kept"] == [{"path": str(file), "reason": "not empty"}]
    assert (file / "notes.txt").read_text() == "a person's" and list(directory.iterdir()) == []
    assert sorted(path.name for path in folder.iterdir()) == ["directory", "file"]


def test_store_stays_within_its_limit(make_gateway, stub, new_name):
    config = {**configuration(stub), "checkpoints": {"total_mib": 2}}
    gateway = make_gateway(config=config).start()
    folder, use = site_of(Talker(gateway, stub), new_name)
    for number in range(5):
        (folder / "a.bin").write_bytes(os.urandom(1 << 20))
        use(("Write", {"path": "a.bin", "content": f"{number}"}))
        kept = sum(file.stat().st_size for file in (gateway.data / "checkpoints").iterdir())
        assert kept <= 2.1 * (1 << 20)


def test_doctor_says_how_large_the_store_is(own_talker, site, new_name):
    folder, use = site
    for name in ("a.bin", "b.bin"):
        (folder / name).write_bytes(os.urandom(1 << 20))
        use(("Write", {"path": name, "content": "new"}))
    store = own_talker.gateway.data / "checkpoints"
    wait_until(lambda: len(list(store.iterdir())) == 3)  # two former contents, and one that both files have now
    done = own_talker.gateway.command("doctor", "--json", seconds=60)
    found = {finding["check"]: finding["what"] for finding in json.loads(done.stdout)}
    assert found["checkpoints"] == "3 files (3 MiB) to undo changes of files"


def test_command_interrupted_by_a_kill_is_listed(own_talker, site, new_name):
    folder, use = site
    gateway = own_talker.gateway
    finished, _ = use(("Bash", {"command": "echo a > first.txt"}))
    assert accepted(gateway.http.get(f"/runs/{finished}/changes"))["not_covered"] == []
    project, = accepted(gateway.http.get("/projects"))
    thread = new_thread(gateway, new_agent(gateway, new_name("writer")), project_id=project["id"])
    own_talker.stub.script(calls(("Bash", {"command": "echo b > second.txt; sleep 60"})))
    with gateway.events(thread["id"]) as events:
        accepted(gateway.http.post("/chat", json={"content": "Do it.", "threadId": thread["id"]}), 201)
        run = events.until(lambda event: event["type"] == "tool-start")[-1]["runId"]
    wait_for(lambda: (folder / "second.txt").exists())
    gateway.kill()
    gateway.start()
    shown = accepted(gateway.http.get(f"/runs/{run}/changes"))
    assert shown["changes"] == []
    reasons = {uncovered["path"]: uncovered["reason"] for uncovered in shown["not_covered"]}
    assert "when the gateway was killed" in reasons[str(folder)]


@pytest.mark.slow
def test_kill_during_an_undo_loses_nothing(own_talker, site):
    folder, use = site
    gateway = own_talker.gateway
    names = [f"f{number}" for number in range(30)]
    for name in names:
        (folder / name).write_text(f"mine {name}")
    run, _ = use(("Bash", {"command": "for f in f*; do echo new > $f; done"}))
    url, headers = gateway.url, gateway.authorization
    for milliseconds in (2, 10, 25, 50):
        with contextlib.suppress(Exception), concurrent.futures.ThreadPoolExecutor() as pool:
            undone = pool.submit(http_client.new_client(base_url=url, headers=headers).post, f"/runs/{run}/undo")
            concurrent.futures.wait([undone], timeout=milliseconds / 1000)
            gateway.kill()
        gateway.start()
        url, headers = gateway.url, gateway.authorization
        assert {(folder / name).read_text() for name in names} <= {f"mine {name}" for name in names} | {"new\n"}
    shown = accepted(gateway.http.get(f"/runs/{run}/changes"))["changes"]
    if not all(change["undone"] for change in shown):
        assert accepted(gateway.http.post(f"/runs/{run}/undo"))["kept"] == []
    states = [(folder / name).read_text() for name in names]
    assert states == [f"mine {name}" for name in names] or set(states) == {"new\n"}
    assert [path.name for path in folder.iterdir() if path.name not in names] == []
