"""agw cluster status."""

import json
import signal

from test_changes import eventually, new_extension
from test_events import answering


def nodes_of(node):
    return json.loads(shown(node, "--json"))


def shown(node, *options):
    """What the command prints. A busy machine's server may not answer in time."""
    tried = []

    def status():
        tried.append(node.command("cluster", "status", *options))
        return tried[-1].returncode
    eventually(status, 0)
    return tried[-1].stdout


def test_the_nodes_are_listed(nodes, stub):
    a, b = nodes
    with answering(a, stub):
        eventually(lambda: [(node["node"], node["leads"], node["runs"]) for node in nodes_of(b)],
                   [("a", True, 1), ("b", False, 0)])
    first, second = nodes_of(a)
    assert 0 < first["lease_s"] <= 10 and first["address"] == second["address"] == "127.0.0.1"
    assert first["connected_at"] <= second["connected_at"]
    assert shown(b).split()[:8] == ["NODE", "LEASE", "FROM", "SINCE", "RUNS", "VERSION", "BEHIND", "LEADS"]
    ours = a.command("--version").stdout.split()[1]
    eventually(lambda: [(node["version"], node["behind"]) for node in nodes_of(a)], [(ours, 0), (ours, 0)])


def test_an_expired_lease_is_shown_until_the_node_is_taken_over(make_node):
    a = make_node("a").start()
    a.process.send_signal(signal.SIGSTOP)
    try:
        eventually(lambda: [node["lease_s"] < 0 for node in nodes_of(a)], [True])
        assert "expired for" in shown(a)
    finally:
        a.process.send_signal(signal.SIGCONT)


def test_a_node_that_has_not_seen_changes_is_behind(make_node, server, database):
    a = make_node("a").start()
    server.psql(database, "INSERT INTO gateway_owner (id, node, lease_until) VALUES ('x', 'slow', now() + interval '1 hour')")
    new_extension(a, "command", "greet", {"prompt": "Hello"})
    eventually(lambda: [node["behind"] > 0 for node in nodes_of(a)], [False, True])
    [slow] = [node for node in nodes_of(a) if node["node"] == "slow"]
    assert slow["version"] == "" and slow["address"] is None


def test_a_gateway_without_a_name_is_no_node(make_node):
    done = make_node(None).command("cluster", "status")
    assert done.returncode == 1 and "is no node of a cluster" in done.stderr
