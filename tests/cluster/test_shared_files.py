"""Nodes that share one data directory (cluster.files): a local directory replaces the mounted one."""

import json
import shutil

import pytest

from checks import accepted, at_once, refused
from gateway import Gateway
from knowledge import page, search
from story import fault_library
from talker import Talker, configuration
from test_changes import eventually
from test_nodes import fails
from test_take_over import finish_reasons, start_answer
from tools import calls, new_agent, new_thread, of_kind, run_chat


@pytest.fixture
def make_sharing_node(server, database, stub, tmp_path):
    """Creates nodes, not yet started, that share a data directory; they are closed after the test."""
    made = []

    def make(name, data=None):
        cluster = {"database": server.url(database), "files": "shared", "drain_seconds": 0}
        node = Gateway(tmp_path / f"sharing-{len(made)}", data=data or tmp_path / "shared",
                       config=configuration(stub) | {"cluster": cluster},
                       environment={"AGENT_GATEWAY_CLUSTER_NODE": name} if name else {})
        made.append(node)
        return node

    yield make
    for node in made:
        node.close()


@pytest.fixture
def sharing_nodes(make_sharing_node):
    """Two running nodes; the first one leads."""
    a = make_sharing_node("a").start()
    eventually(lambda: "this node is the first one" in log_of(a, "a"), True)
    return a, make_sharing_node("b").start()


def log_of(node, name):
    return (node.data / "nodes" / name / "logs" / "gateway.log").read_text()


def file_of(node, name):
    return node.data / "agents" / name / "agent.yaml"


def value_at(node, record, member):
    found = node.http.get(f"/extensions/{record['id']}")
    return found.json()[member] if found.status_code == 200 else None


def edit(file, description):
    """Edits the file as a person would, without regard to its formatting."""
    lines = [line for line in file.read_text().splitlines() if not line.startswith("description:")]
    file.write_text("\n".join([f"description: {description}", *lines]) + "\n")


def test_directories_follow_changes_at_any_node(sharing_nodes):
    a, b = sharing_nodes
    agent = new_agent(b, "writer")
    eventually(file_of(a, "writer").exists, True)
    eventually(lambda: value_at(a, agent, "name"), "writer")
    accepted(a.http.patch(f"/extensions/{agent['id']}", json={"name": "author"}))
    eventually(lambda: (file_of(a, "author").exists(), file_of(a, "writer").exists()), (True, False))
    eventually(lambda: value_at(b, agent, "name"), "author")
    accepted(b.http.patch(f"/extensions/{agent['id']}", json={"description": "from b"}))
    eventually(lambda: "from b" in file_of(a, "author").read_text(), True)
    assert b.http.delete(f"/extensions/{agent['id']}").status_code == 204
    eventually(file_of(a, "author").exists, False)


def test_changes_at_both_nodes_leave_the_directory_of_the_last_change(sharing_nodes):
    a, b = sharing_nodes
    agent = new_agent(a, "writer")
    eventually(lambda: value_at(b, agent, "name"), "writer")
    for number in range(20):
        accepted(sharing_nodes[number % 2].http.patch(f"/extensions/{agent['id']}", json={"name": f"writer-{number}"}))
    eventually(lambda: sorted(path.name for path in (a.data / "agents").glob("writer*")), ["writer-19"])


def test_an_edit_by_hand_becomes_the_record_at_all_nodes(sharing_nodes):
    a, b = sharing_nodes
    agent = new_agent(b, "writer")
    file = file_of(b, "writer")
    eventually(file.exists, True)
    eventually(lambda: value_at(a, agent, "name"), "writer")
    edit(file, "by hand")
    accepted(b.http.post("/reseed"))
    for node in sharing_nodes:
        eventually(lambda: value_at(node, agent, "description"), "by hand")


def test_another_node_updates_the_directories_after_the_leader_was_killed(sharing_nodes):
    a, b = sharing_nodes
    a.kill()
    agent = new_agent(b, "writer")
    eventually(file_of(b, "writer").exists, True)
    a.start()
    eventually(lambda: value_at(a, agent, "name"), "writer")
    accepted(a.http.patch(f"/extensions/{agent['id']}", json={"name": "author"}))
    eventually(lambda: (file_of(a, "author").exists(), file_of(a, "writer").exists()), (True, False))


def test_souls_knowledge_and_secrets_are_the_same_everywhere(sharing_nodes):
    a, b = sharing_nodes
    agent = new_agent(a, "writer")
    eventually(lambda: value_at(b, agent, "name"), "writer")
    accepted(b.http.put("/agents/writer/soul", json={"content": "Be brief."}))
    assert accepted(a.http.get("/agents/writer/soul"))["content"] == "Be brief."
    accepted(a.http.put("/soul", json={"content": "Be kind."}))
    assert accepted(b.http.get("/soul"))["content"] == "Be kind."
    assert search(b, "heron") == []
    page(a, "birds", "A heron stands still.\n")
    assert search(a, "heron") == search(b, "heron") == ["birds"]
    assert a.command("secret", "set", "NAME", typed="value\n").returncode == 0
    assert "NAME" in b.command("secret", "list").stdout
    assert a.token == b.token


def test_each_node_has_its_own_log_and_lock(sharing_nodes):
    a, b = sharing_nodes
    for name, node in (("a", a), ("b", b)):
        status = node.command("status")
        assert status.returncode == 0 and str(node.process.pid) in status.stdout, status.stdout + status.stderr
        assert (node.data / "nodes" / name / "gateway.lock").exists()
    assert not (a.data / "logs").exists()
    assert not (a.data / "gateway.lock").exists()


def test_the_directory_of_a_node_can_become_the_shared_one(make_node, make_sharing_node, server, database):
    """Files that the node wrote itself are not edits by a person, so they do not replace a newer record."""
    standalone = make_node("a").start()
    unedited, edited = new_agent(standalone, "writer"), new_agent(standalone, "author")
    standalone.stop()
    server.psql(database, f"UPDATE extensions SET description = 'newer' WHERE id = '{unedited['id']}'")
    edit(file_of(standalone, "author"), "by hand")
    a = make_sharing_node("a", data=standalone.data).start()
    eventually(lambda: value_at(a, edited, "description"), "by hand")
    assert value_at(a, unedited, "description") == "newer"


def test_a_directory_that_is_not_shared_is_refused(make_sharing_node, tmp_path):
    a = make_sharing_node("a").start()
    b = make_sharing_node("b", data=tmp_path / "other")
    fails(b, 1, f"the data directory {b.data} is not shared with the node a, which runs", "nodes/a/running",
          "Mount the same file system at both", "--data-dir")
    accepted(a.http.get("/threads"))
    make_sharing_node("b").start()


def test_a_copy_of_the_shared_directory_is_refused(make_sharing_node, tmp_path):
    a = make_sharing_node("a").start()
    a.stop()
    shutil.copytree(a.data, tmp_path / "copy")
    a.start()
    fails(make_sharing_node("b", data=tmp_path / "copy"), 1, "is not shared with the node a")


def test_all_nodes_share_their_files_or_none(make_node, make_sharing_node):
    own = make_node("a").start()
    fails(make_sharing_node("b"), 1, "the node a of the database", "has its own data directory", "cluster.files")
    own.stop()
    make_sharing_node("b").start()
    fails(make_node("c"), 1, "the node b of the database", "shares its data directory")


def test_a_node_that_does_not_share_cannot_use_the_shared_directory(make_sharing_node, make_node):
    a = make_sharing_node("a").start()
    fails(make_node("b", data=a.data), 2, f"the data directory {a.data} is shared by nodes of a cluster",
          "set cluster.files to shared")
    a.stop()


def test_only_nodes_share_a_directory(make_sharing_node):
    fails(make_sharing_node(None), 2, "cluster.files: shared needs cluster.node")


def test_a_network_file_system_is_supported(make_sharing_node, tmp_path):
    """It supports neither locks of directories nor renames with flags. A sanitizer must be loaded first, as the library."""
    library = fault_library("network_files", tmp_path) or pytest.skip("the sanitizer must be the first library")
    a = make_sharing_node("a")
    a.environment["LD_PRELOAD"] = str(library)
    a.start()
    assert a.command("secret", "set", "NAME", typed="value\n").returncode == 0
    assert "NAME" in a.command("secret", "list").stdout
    agent = new_agent(a, "writer")
    eventually(file_of(a, "writer").exists, True)
    (a.data / "agents" / "author").write_text("in the way")
    accepted(a.http.patch(f"/extensions/{agent['id']}", json={"name": "author"}))
    eventually(file_of(a, "author").exists, True)
    trashed = [path.read_text() for path in (a.data / "trash").rglob("*") if path.is_file()]
    assert trashed == ["in the way"]


def test_a_failed_start_ends_the_process(make_sharing_node, stub, server, database):
    a = make_sharing_node("a").start()
    stub.hold("one ", "two")
    thread = start_answer(a)
    a.kill()
    server.psql(database, """
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not now'; END $$;
        CREATE TRIGGER refuse BEFORE INSERT ON turns FOR EACH ROW EXECUTE FUNCTION refuse()""")
    fails(a, 1, "not now")
    server.psql(database, "DROP TRIGGER refuse ON turns")
    a.start()
    assert finish_reasons(a, thread) == ["interrupted"]


def test_a_new_token_is_used_by_all_nodes(sharing_nodes):
    a, b = sharing_nodes
    old, code = b.authorization, accepted(b.http.get("/pair/refresh"))["code"]
    done = a.command("token", "rotate")
    assert done.returncode == 0, done.stderr
    for node in sharing_nodes:
        eventually(lambda: node.anonymous.get("/threads", headers=old).status_code, 401)
    for node in sharing_nodes:
        accepted(node.anonymous.get("/threads", headers=a.authorization))
        refused(node.anonymous.post("/pair", json={"otp": code}), 401, "Invalid or expired code")


def test_a_token_rotated_for_a_stopped_node_is_used_by_all_running_nodes(sharing_nodes, make_sharing_node):
    old = sharing_nodes[0].authorization
    done = make_sharing_node("c").command("token", "rotate")
    assert "Nodes that share this directory take the new one" in done.stdout, done.stderr
    for node in sharing_nodes:
        eventually(lambda: node.anonymous.get("/threads", headers=old).status_code, 401)
        accepted(node.anonymous.get("/threads", headers=node.authorization))


def test_nodes_that_first_start_at_the_same_time_have_one_token(make_sharing_node):
    nodes = [make_sharing_node(name) for name in ("a", "b", "c")]
    at_once(len(nodes), lambda number: nodes[number].start())
    for node in nodes:
        accepted(node.anonymous.get("/threads", headers=nodes[0].authorization))


def test_a_command_needs_the_name_of_its_node(sharing_nodes, make_sharing_node):
    a, _ = sharing_nodes
    token = a.token
    for command in (("status",), ("token", "rotate")):
        done = make_sharing_node(None).command(*command)
        assert done.returncode == 2, done.stderr
        assert f"nodes share the data directory {a.data}: name one with AGENT_GATEWAY_CLUSTER_NODE" in done.stderr
    assert a.token == token


def doctor(node):
    """Returns the exit status and the state of each check."""
    done = node.command("doctor", "--json")
    return done.returncode, {finding["check"]: finding["state"] for finding in json.loads(done.stdout)}


def test_doctor_checks_the_files_of_its_own_node(sharing_nodes, make_sharing_node):
    a, _ = sharing_nodes
    (a.data / "logs").write_text("in the way of nobody")
    assert "logs" not in doctor(a)[1]
    assert doctor(make_sharing_node(None))[1]["gateway"] == "skipped"
    a.configure("port: none")
    status, found = doctor(a)
    assert (status, found["configuration"], found["gateway"]) == (1, "failure", "skipped")


def test_a_backup_is_not_restored_into_a_shared_directory(make_sharing_node, tmp_path):
    a = make_sharing_node("a").start()
    archive = tmp_path / "backup.tar.zst"
    archive.write_bytes(b"")

    def is_refused():
        done = a.command("restore", str(archive))
        assert done.returncode == 1 and f"nodes of a cluster share {a.data}: restore into another" in done.stderr

    is_refused()
    a.stop()
    is_refused()
    a.start()


def test_tools_and_undo_write_on_a_network_file_system(make_sharing_node, stub, tmp_path):
    library = fault_library("network_files", tmp_path) or pytest.skip("the sanitizer must be the first library")
    a = make_sharing_node("a")
    a.environment["LD_PRELOAD"] = str(library)
    a.start()
    folder = a.home / "site"
    folder.mkdir(parents=True)
    (folder / "old.txt").write_text("mine")
    project = accepted(a.http.post("/projects", json={"name": "site", "path": str(folder)}), 201)
    thread = new_thread(a, new_agent(a, "writer"), project_id=project["id"])
    events = run_chat(Talker(a, stub), thread, calls(
        ("Write", {"path": "new.txt", "content": "new"}),
        ("Edit", {"path": "old.txt", "old_string": "mine", "new_string": "yours"})), "Done.")
    assert [end["isError"] for end in of_kind(events, "tool-end")] == [False, False], events
    assert files_in(folder) == {"new.txt": "new", "old.txt": "yours"}
    undone = accepted(a.http.post(f"/runs/{events[0]['runId']}/undo", json={}))
    assert undone["kept"] == [] and files_in(folder) == {"old.txt": "mine"}


def files_in(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}
