"""A large database: 1,000,000 turns in 1,000 threads, with the word frequencies of a language."""

import random

from bench.harness import Gateway, Row, folder, load, median_and_p99

TURNS, BATCHES, THREADS, QUERIES = 1_000_000, 10, 1_000, 300

# Ranks of the words in searches: the n-th word is n times less frequent than the first.
WORDS = {"common": (1, 50), "less common": (100, 1_000), "rare": (10_000, 49_999)}


def fill(gateway, threads):
    """Returns turns per second in the first and in the last batch."""
    lines = [f'POST /threads/{thread}/turns {{"role":"user","content":"%40z"}}' for thread in threads]
    rates = [load(gateway, lines, gateway.token, count=TURNS // BATCHES, seed=batch)["rate"] for batch in range(BATCHES)]
    return rates[0], rates[-1]


def one_at_a_time(gateway, lines):
    return load(gateway, lines, gateway.token, connections=1, count=len(lines))["times"]


def searches(numbers, ranks, threads=None):
    lines = [f"GET /turns/search?agent_id=assistant&q=w{numbers.randint(*ranks)}" for _ in range(QUERIES)]
    return [f"{line}&thread_id={numbers.choice(threads)}" for line in lines] if threads else lines


def compare(measure, times, floor, limit):
    return Row(f"{measure}, p50 / p99", median_and_p99(times), median_and_p99(floor), f"{times['p99'] / floor['p99']:.1f}",
               f"p99 < {limit * 1e3:.0f} ms", times["p99"] < limit)


def search():
    """Search and pages of turns among 1,000,000 turns, and whether inserts slow down with its size"""
    numbers = random.Random(1)
    with folder() as home, Gateway(home) as gateway:
        threads = gateway.new_threads(THREADS)
        first, last = fill(gateway, threads)
        waiting = {kind: one_at_a_time(gateway, searches(numbers, ranks)) for kind, ranks in WORDS.items()}
        gateway.wait_until_quiet()
        yield Row("inserts, the last 100,000 of 1,000,000", f"{last:,.0f}/s", f"{first:,.0f}/s (first)",
                  f"{last / first:.2f}", ">= 0.9", last >= 0.9 * first)

        floor = one_at_a_time(gateway, ["GET /health"] * QUERIES)
        pages = [f"GET /threads/{thread}/turns?limit=50" for thread in threads]
        yield compare("page of 50 turns", one_at_a_time(gateway, pages), floor, 0.002)

        for kind, ranks in WORDS.items():
            yield compare(f"search, {kind} words, while turns wait to be indexed", waiting[kind], floor, 0.050)
            for scope, within in ("agent", None), ("thread", threads):
                times = one_at_a_time(gateway, searches(numbers, ranks, within))
                yield compare(f"search, {kind} words, by {scope}", times, floor, 0.010)
