"""Several gateways on one database, with a PostgreSQL and a NATS server of this run. See docs/scale.md."""

import contextlib
import subprocess
import sys
import time

from bench.harness import (
    PROGRAMS,
    ROOT,
    Gateway,
    Row,
    Upstream,
    folder,
    load,
    load_chat,
    median_and_p99,
    milliseconds,
)
from bench.process import STARTS
from bench.requests import CLIENTS, CONTENT, ROUNDS, SECONDS, compare

CHANGES = 200
RUNS = 5
DELTAS = "50x200"  # for each of these threads
THREADS = 16


class Node(Gateway):
    """A gateway that shares the database. A restarted node keeps its home. All nodes use the first one's token."""

    def __init__(self, name, home, url, events, upstream, token=None):
        data = home / name / ".agent-gateway"
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        if token:
            (data / ".gateway-token").write_text(token)
            (data / ".gateway-token").chmod(0o600)
        cluster = {"database": url, "node": name, "drain_seconds": 0} | ({"events": events} if events else {})
        super().__init__(home / name, upstream.port, cluster)


def servers():
    """Returns the test fixtures that start a PostgreSQL and a NATS server. They need pytest."""
    sys.path[:0] = [str(ROOT / "tests/api"), str(ROOT / "tests/cluster")]
    from nats import nats
    from postgres import postgres
    return postgres, nats


def inserts(server, home, upstream):
    """Measures inserts into a database on a disk, with synchronous commits."""
    server.create("inserts")
    url = server.url("inserts")
    with Node("a", home / "inserts", url, None, upstream) as node:
        lines = [f'POST /threads/{thread}/turns {{"role":"user","content":"{CONTENT}"}}'
                 for thread in node.new_threads(CLIENTS)]
        rounds = []
        for _ in range(ROUNDS):
            rate = load(node, lines, node.token, CLIENTS, SECONDS)["rate"]
            node.wait_until_quiet()
            rounds.append((rate, floor(url)))
            for table in "threads", "turns":
                server.psql("inserts", f"DELETE FROM {table} WHERE id LIKE 'floor-%'")
            node.wait_until_quiet()
    rate, limit, ratio = compare(rounds)
    return Row(f"turns created on PostgreSQL, {CLIENTS} clients", f"{rate:,.0f}/s", f"{limit:,.0f}/s", f"{ratio:.2f}",
               ">= 0.5", ratio >= 0.5)


def floor(url):
    """Returns inserts per second of a plain loop, with as many per commit as there are clients."""
    command = [str(part) for part in (PROGRAMS / "pipeline_floor", url, SECONDS, CLIENTS)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def deltas(a, b):
    """Yields the delays of one node's answers for clients of the same node and of the other one."""
    load_chat([a.port, a.token, "bench/1x1", 1], a.new_threads(1))
    here = load_chat([a.port, a.token, f"bench/{DELTAS}", THREADS], a.new_threads(THREADS))["delays"]
    there = load_chat([a.port, a.token, f"bench/{DELTAS}", THREADS, b.port], a.new_threads(THREADS))["delays"]
    added = there["p99"] - here["p99"]
    yield Row("delay of a delta from another node, p50 / p99", median_and_p99(there), median_and_p99(here),
              f"{there['p99'] / here['p99']:.1f}", "p99 < 3 ms more", added < 0.003)
    yield Row("deltas from another node that arrived", f"{there['count']:,}", f"{here['count']:,}", "-",
              f"= {here['count']:,}", there["count"] == here["count"])


def status_of(node, path):
    node.connection.request("GET", path, headers={"Authorization": f"Bearer {node.token}"})
    answer = node.connection.getresponse()
    answer.read()
    return answer.status


def changes(nodes):
    """Returns the time from the response of the node that stored a record until all nodes return it."""
    times, alone = [], []
    for number in range(CHANGES):
        body = {"type": "agent", "name": f"bench-{number}", "description": "", "enabled": True, "definition": {}}
        began = time.monotonic()
        made = nodes[0].request("POST", "/extensions", body)
        stored = time.monotonic()
        for node in nodes[1:]:
            while status_of(node, f"/extensions/{made['id']}") != 200:
                pass
        times.append(time.monotonic() - stored)
        alone.append(stored - began)
    seen, stored = ({"p50": sorted(each)[CHANGES // 2], "p99": sorted(each)[CHANGES * 99 // 100]}
                    for each in (times, alone))
    return Row("a change seen at three nodes, p50 / p99", median_and_p99(seen), median_and_p99(stored),
               f"{seen['p99'] / stored['p99']:.1f}", "p99 < 100 ms", seen["p99"] < 0.1)


def take_over(a, b):
    """Kills node `a` during answers, and returns the time until node `b` has ended them."""
    threads = a.new_threads(RUNS)
    for thread in threads:
        a.request("POST", "/chat", {"content": "go", "threadId": thread, "model": "bench/1x1000"})
    time.sleep(2)  # so that a part of each answer is stored
    a.child.kill()
    killed = time.monotonic()
    a.child.wait()
    remaining = set(threads)
    while remaining and time.monotonic() < killed + 60:
        for thread in list(remaining):
            turns = b.request("GET", f"/threads/{thread}/turns")
            if any((turn["metadata"] or {}).get("finish_reason") == "interrupted" for turn in turns):
                remaining.remove(thread)
        time.sleep(0.02)
    seconds = time.monotonic() - killed
    return Row(f"{RUNS} answers of a dead node ended at another", f"{seconds:.1f} s", "10 s (lease)",
               f"{seconds / 10:.2f}", "< 12 s", not remaining and seconds < 12)


def idle(node, alone):
    time.sleep(30)
    mib, floor_mib = (each.memory()["Rss"] / 2**20 for each in (node, alone))
    return Row("idle node, resident", f"{mib:.2f} MiB", f"{floor_mib:.2f} MiB", f"{mib / floor_mib:.1f}", "< 15 MiB",
               mib < 15)


def start(home, url, events, upstream):
    """Measures the restart of a node; the floor is a gateway with a database file."""
    times = {"node": [], "alone": []}
    for _ in range(STARTS):
        with Node("c", home, url, events, upstream) as node:
            times["node"].append(node.seconds_to_ready)
        with Gateway(home / "alone") as alone:
            times["alone"].append(alone.seconds_to_ready)
    seconds, limit = (sorted(each)[STARTS // 2] for each in times.values())
    return Row("start of a node to its ready line", milliseconds(seconds), milliseconds(limit),
               f"{seconds / limit:.1f}", "< 100 ms", seconds < 0.1)


def cluster():
    """Gateways on one PostgreSQL database and NATS: inserts, events, changes, take-over, memory, start"""
    postgres, nats = servers()
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(postgres(within="/var/tmp", fsync="on"))
        home, upstream = stack.enter_context(folder()), stack.enter_context(Upstream())
        (home / "alone").mkdir()
        yield inserts(server, home, upstream)
        server.create("nodes")
        url, events = server.url("nodes"), stack.enter_context(nats()).url()
        a = stack.enter_context(Node("a", home, url, events, upstream))
        b, c = (stack.enter_context(Node(name, home, url, events, upstream, a.token)) for name in "bc")
        with Gateway(home / "alone") as alone:
            yield idle(b, alone)
        yield from deltas(a, b)
        yield changes([a, b, c])
        c.stop()
        yield start(home, url, events, upstream)
        yield take_over(a, b)
