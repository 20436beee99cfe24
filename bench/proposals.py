"""Many proposals and experiments."""

import random
import sqlite3
import time

from bench.harness import Gateway, Row, folder, load, milliseconds

PROPOSALS, EXPERIMENTS, QUERIES = 1_000, 100_000, 100


def write_proposals(home, count, status):
    for number in range(count):
        file = home / f".agent-gateway/autoresearch/proposals/agent-{number % 10}/2026-01-02/{status}-{number}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"---\ntitle: Proposal {number}\ntype: file\nagent: agent-{number % 10}\n"
                        f"target: notes/{number}.md\nstatus: {status}\ncreated_at: 2026-01-02T03:04:05.678Z\n"
                        f"reason: For a benchmark.\n---\n\n" + "A line of the new text.\n" * 40)


def fill_experiments(home):
    numbers = random.Random(1)
    with sqlite3.connect(home / ".agent-gateway/gateway.db") as database:
        database.executemany(
            "INSERT INTO experiments (id, domain, verdict, metric, value, higher_is_better, created_at) "
            "VALUES (?, 'agent:assistant', ?, 'quality', ?, 1, 0)",
            ((f"e{number}", "keep" if numbers.random() < 0.1 else "discard", numbers.gauss(0.5, 0.1))
             for number in range(EXPERIMENTS)))
    database.close()


def seconds_of(gateway, path):
    began = time.monotonic()
    gateway.request("GET", path)
    return time.monotonic() - began


def times(gateway, path):
    return load(gateway, [f"GET {path}"] * QUERIES, gateway.token, connections=1, count=QUERIES)["times"]


def row(measure, found, first, limit):
    return Row(measure, milliseconds(found["p50"]), f"{milliseconds(first)} (first)", f"{first / found['p50']:.1f}",
               f"< {limit * 1e3:.0f} ms", found["p50"] < limit)


def proposals():
    """Listing 1,000 proposals, and the confidence over 100,000 experiments; the floor is the first request"""
    with folder() as home:
        with Gateway(home):
            pass
        fill_experiments(home)
        write_proposals(home, PROPOSALS, "pending")
        with Gateway(home) as gateway:
            time.sleep(1)
            first = seconds_of(gateway, "/proposals")
            yield row(f"list {PROPOSALS:,} proposals", times(gateway, "/proposals"), first, 0.020)
            path = "/autoresearch/confidence?domain=agent:assistant"
            first = seconds_of(gateway, path)
            yield row(f"confidence over {EXPERIMENTS:,} experiments", times(gateway, path), first, 0.020)
