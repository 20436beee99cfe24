"""An MCP server over stdio runs at one node. The others offer its tools, and have that node call them.

See docs/run-a-cluster.md#apps-and-mcp-servers.
"""

import itertools
import json
import os
from pathlib import Path

import pytest

from approvals import answer, person
from checks import accepted
from gateway import REPOSITORY
from integrations import new_integration
from talker import Talker
from test_node_apps import placements
from test_changes import eventually
from test_elicitation import SERVER as ASKING_SERVER
from test_events import log_of
from tools import call_tool, calls, new_agent, new_thread

_markers = itertools.count(1)
SERVER = str(REPOSITORY / "tests" / "api" / "stubs" / "mcp_server.py")


def processes(marker):
    """Returns the processes of the server that has the marker among its arguments, without those of the sandbox."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
        except OSError:
            continue
        if marker.encode() in words and words[0] == b"/usr/bin/python3":
            found.append(int(entry.name))
    return found


def add_server(node, marker):
    """Adds the server. The marker is also the name of the file in which it records the messages that it gets."""
    return new_integration(node, "tester", "mcp-stdio", command="/usr/bin/python3", args=[SERVER, "--notes", marker])


def received_methods(nodes, marker):
    """Returns the methods of the messages that the servers got."""
    files = itertools.chain.from_iterable(node.data.rglob(marker) for node in nodes)
    return [json.loads(line).get("method") for file in files for line in file.read_text().splitlines()]


def state(node, name="tester"):
    listed = [each for each in accepted(node.http.get("/integrations")) if each["name"] == name]
    return (listed[0]["status"], len(listed[0]["tools"])) if listed else None


def wait_until_connected(*nodes):
    """Waits until all nodes have the tools."""
    eventually(lambda: {state(node) for node in nodes} == {state(nodes[0])} and state(nodes[0])[0] == "connected", True)


@pytest.fixture
def three(make_neighbour):
    return [make_neighbour(name).start() for name in ("a", "b", "c")]


@pytest.fixture
def marker():
    return f"of-a-cluster-{os.getpid()}-{next(_markers)}"


@pytest.fixture
def talker_at(stub):
    def make(node):
        talker = Talker(node, stub)
        return talker, new_thread(node, accepted(node.http.get("/extensions/tester-user")))
    return make


def call_echo(talker_at, node, text):
    talker, thread = talker_at(node)
    end = call_tool(talker, thread, "tester__echo", {"text": text})
    return end["output"], end["isError"]


def start_server(three, marker):
    """Has one of the nodes run the server, and returns that node, then the others."""
    new_agent(three[0], "tester-user", "trusted")
    add_server(three[0], marker)
    wait_until_connected(*three)
    for node in three:
        eventually(lambda node=node: node.http.get("/extensions/tester-user").status_code, 200)
    [pid] = processes(marker)
    return sorted(three, key=lambda node: not is_descendant(pid, node.process.pid))


def is_descendant(pid, ancestor):
    while pid > 1 and pid != ancestor:
        pid = int((Path("/proc") / str(pid) / "stat").read_text().rsplit(")", 1)[1].split()[1])
    return pid == ancestor


def test_one_process_serves_the_runs_of_all_nodes(three, marker, talker_at, server, database):
    start_server(three, marker)
    names = {json.dumps(accepted(node.http.get("/integrations"))) for node in three}
    assert len(names) == 1 and len(placements(server, database)) == 1
    for number, node in enumerate(three):
        assert call_echo(talker_at, node, f"number {number}") == (f"number {number}", False)
        talker, thread = talker_at(node)
        assert not call_tool(talker, thread, "tester__picture", {})["isError"]
        failed = call_tool(talker, thread, "tester__fail", {"text": "it is broken"})
        assert (failed["output"], failed["isError"]) == ("it is broken", True)
    assert len(processes(marker)) == 1


def test_tests_and_changes_reach_the_node_that_runs_the_server(three, marker, talker_at):
    owner, one, other = start_server(three, marker)
    [before] = processes(marker)
    assert accepted(one.http.post("/integrations/tester/test"))["status"] == "connected"
    eventually(lambda: len(processes(marker)) == 1 and processes(marker) != [before], True)
    talker, thread = talker_at(other)
    call_tool(talker, thread, "tester__grow", {"name": "grown"})
    eventually(lambda: {"grown" in str(accepted(node.http.get("/integrations"))) for node in three}, {True})
    record = accepted(one.http.get("/extensions/tester"))
    accepted(one.http.patch(f"/extensions/{record['id']}", json={"enabled": False}))
    eventually(lambda: [state(node) for node in three], [("disabled", 0)] * 3)
    eventually(lambda: processes(marker), [])
    accepted(other.http.patch(f"/extensions/{record['id']}", json={"enabled": True}))
    wait_until_connected(*three)
    assert len(processes(marker)) == 1


def test_a_stopped_call_is_cancelled_at_the_node_that_runs_the_server(three, marker, talker_at):
    _, one, _ = start_server(three, marker)
    talker, thread = talker_at(one)
    talker.stub.script(calls(("tester__hang", {})), "Done.")
    with one.events(thread["id"]) as events:
        accepted(one.http.post("/chat", json={"content": "Hang.", "threadId": thread["id"]}), 201)
        events.until(lambda event: event["type"] == "tool-start")
        eventually(lambda: "tools/call" in received_methods(three, marker), True)
        accepted(one.http.post("/chat/stop", json={"threadId": thread["id"]}))
        eventually(lambda: "notifications/cancelled" in received_methods(three, marker), True)


def test_a_question_of_a_server_reaches_the_person_at_any_node(three, talker_at):
    new_agent(three[0], "tester-user", "trusted")
    new_integration(three[0], "shop", "mcp-stdio", command="/usr/bin/python3", args=["-c", ASKING_SERVER])
    for node in three:
        eventually(lambda node=node: state(node, "shop"), ("connected", 1))
        eventually(lambda node=node: node.http.get("/extensions/tester-user").status_code, 200)
        talker, thread = talker_at(node)
        with person(talker, thread, calls(("shop__order", {})), "Done.") as user:
            request = user.asked()
            assert request["question"]["question"] == "Which size?"
            accepted(answer(node, request, {"size": "large"}))
            assert json.loads(user.result()["output"]) == {"action": "accept", "content": {"size": "large"}}
        assert json.loads(call_tool(talker, thread, "shop__order", {})["output"]) == {"action": "cancel"}


def test_another_node_starts_the_servers_of_a_killed_one(three, marker, talker_at, server, database):
    owner, one, other = start_server(three, marker)
    owner.kill()
    for node in (one, other):  # Their WebSockets are closed after that.
        eventually(lambda node=node: "clients are told to catch up: the node" in log_of(node), True)
    for node in (one, other):
        eventually(lambda node=node: call_echo(talker_at, node, "found"), ("found", False))
    assert len(processes(marker)) == 1


def test_a_stopping_node_hands_its_servers_over(three, marker, talker_at):
    owner, one, other = start_server(three, marker)
    assert owner.stop() == 0, owner.stderr
    for node in (one, other):
        eventually(lambda node=node: call_echo(talker_at, node, "handed over"), ("handed over", False))
    owner.start()
    eventually(lambda: call_echo(talker_at, owner, "back"), ("back", False))
    assert len(processes(marker)) == 1


def test_without_events_only_the_node_that_runs_a_server_calls_its_tools(make_neighbour, marker, talker_at):
    a, b = (make_neighbour(name, events=None).start() for name in ("a", "b"))
    owner, other = start_server([a, b], marker)
    assert call_echo(talker_at, owner, "here") == ("here", False)
    output, is_error = call_echo(talker_at, other, "there")
    assert is_error and "set cluster.events at all nodes" in output
