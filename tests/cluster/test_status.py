"""agw cluster status."""

import json
import signal

from test_changes import eventually, new_extension
from test_events import answering


def nodes_of(node):
    return json.loads(cluster_status(node, "--json"))


def cluster_status(node, *options):
    """Returns the output of the command. Repeats it, because the server of a busy machine may not answer in time."""
    results = []

    def status():
        results.append(node.command("cluster", "status", *options))
        return results[-1].returncode
    eventually(status, 0)
    return results[-1].stdout


def test_nodes_are_listed(nodes, stub):
    a, b = nodes
    with answering(a, stub):
        eventually(lambda: [(node["node"], node["leads"], node["runs"]) for node in nodes_of(b)],
                   [("a", True, 1), ("b", False, 0)])
    first, second = nodes_of(a)
    assert 0 < first["lease_s"] <= 10 and first["address"] == second["address"] == "127.0.0.1"
    assert first["connected_at"] <= second["connected_at"]
    assert cluster_status(b).split()[:9] == [
        "NODE", "LEASE", "FROM", "SINCE", "RUNS", "VERSION", "BEHIND", "LEADS", "PROGRAMS"]
    version = a.command("--version").stdout.split()[1]
    eventually(lambda: [(node["version"], node["behind"]) for node in nodes_of(a)], [(version, 0), (version, 0)])


def test_an_expired_lease_is_shown_until_the_node_is_taken_over(make_node):
    a = make_node("a").start()
    a.process.send_signal(signal.SIGSTOP)
    try:
        eventually(lambda: [node["lease_s"] < 0 for node in nodes_of(a)], [True])
        assert "expired for" in cluster_status(a)
    finally:
        a.process.send_signal(signal.SIGCONT)


def test_a_node_that_has_not_seen_changes_is_behind(make_node, server, database):
    a = make_node("a").start()
    server.psql(database, "INSERT INTO gateway_owner (id, node, lease_until) VALUES ('x', 'slow', now() + interval '1 hour')")
    new_extension(a, "command", "greet", {"prompt": "Hello"})
    eventually(lambda: [node["behind"] > 0 for node in nodes_of(a)], [False, True])
    [slow] = [node for node in nodes_of(a) if node["node"] == "slow"]
    assert slow["version"] == "" and slow["address"] is None


def test_a_gateway_without_a_name_is_not_a_node(make_node):
    done = make_node(None).command("cluster", "status")
    assert done.returncode == 1 and "is no node of a cluster" in done.stderr


def doctor(node):
    """Returns the findings by check."""
    done = node.command("doctor", "--json")
    found = {}
    for finding in json.loads(done.stdout):
        found.setdefault(finding["check"], []).append(finding)
    return found


def test_doctor_reports_the_servers_and_the_other_nodes(linked_nodes):
    eventually(lambda: [finding["what"] for finding in doctor(linked_nodes[0])["nodes"]], ["all is well with a, b"])
    found = doctor(linked_nodes[0])
    assert found["database"][0]["state"] != "failure" and "PostgreSQL 1" in found["database"][0]["what"]
    assert " ms" in found["events"][0]["what"] and found["events"][0]["state"] == "ok"
    assert found["database clock"][0]["state"] == "ok"


def test_doctor_reports_problems_of_other_nodes(make_node, server, database):
    a = make_node("a").start()
    server.psql(database, """INSERT INTO gateway_owner (id, node, lease_until, version, ahead) VALUES
        ('x', 'early', now() + interval '1 hour', '9.9.9', 300), ('y', 'late', now() + interval '1 hour', '', -90)""")
    found = {finding["what"]: finding for finding in doctor(a)["nodes"]}
    assert {finding["state"] for finding in found.values()} == {"warning"}
    for what, remedy in (("the node early has a clock that is 300.0 s ahead of that of the database's server", "set-ntp"),
                         ("the node late has a clock that is 90.0 s behind that of the database's server", "set-ntp"),
                         ("the node early runs agw 9.9.9, and this is", "upgrade one node after the other")):
        [finding] = [finding for text, finding in found.items() if text.startswith(what)]
        assert remedy in finding["remedy"]


def test_the_default_isolation_of_the_database_does_not_matter(make_node, server, database):
    server.psql("postgres", f"ALTER DATABASE {database} SET default_transaction_isolation = 'read uncommitted'")
    a, b = make_node("a").start(), make_node("b").start()
    record = new_extension(a, "command", "greet", {"prompt": "Hello"})
    eventually(lambda: b.http.get(f"/extensions/{record['id']}").status_code, 200)
