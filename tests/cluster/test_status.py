"""agw cluster status."""

import json
import signal

from test_changes import eventually
from test_events import answering


def nodes_of(node):
    done = node.command("cluster", "status", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_nodes_are_listed(nodes, stub):
    a, b = nodes
    with answering(a, stub):
        eventually(lambda: [(node["node"], node["leads"], node["runs"]) for node in nodes_of(b)],
                   [("a", True, 1), ("b", False, 0)])
    first, second = nodes_of(a)
    assert 0 < first["lease_s"] <= 10 and first["address"] == second["address"] == "127.0.0.1"
    assert first["connected_at"] <= second["connected_at"]
    done = b.command("cluster", "status")
    assert done.stdout.split()[:6] == ["NODE", "LEASE", "FROM", "SINCE", "RUNS", "LEADS"], done.stdout


def test_an_expired_lease_is_shown_until_the_node_is_taken_over(make_node):
    a = make_node("a").start()
    a.process.send_signal(signal.SIGSTOP)
    try:
        eventually(lambda: [node["lease_s"] < 0 for node in nodes_of(a)], [True])
        assert "expired for" in a.command("cluster", "status").stdout
    finally:
        a.process.send_signal(signal.SIGCONT)


def test_a_gateway_without_a_name_is_no_node(make_node):
    done = make_node(None).command("cluster", "status")
    assert done.returncode == 1 and "is no node of a cluster" in done.stderr
