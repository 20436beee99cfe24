"""Searching for names in a large home directory."""

import os
import subprocess
import time

from bench.harness import Gateway, Row, folder, median, milliseconds

# 40 directories with 70 in each, and 70 in each of those: all levels that a search reads, about 200,000 in total.
WIDTHS = (40, 70, 70)
RUNS = 20


def make_directories(home):
    for first in range(WIDTHS[0]):
        for second in range(WIDTHS[1]):
            os.makedirs(home / f"part-{first}" / f"section-{second}")
            for third in range(WIDTHS[2]):
                os.mkdir(home / f"part-{first}" / f"section-{second}" / f"leaf-{third}")


def seconds_of(action):
    began = time.monotonic()
    action()
    return time.monotonic() - began


def directories():
    """`GET /filesystem/search` in a home of 200,000 directories; the floor is `find` to the same depth"""
    with folder() as home, Gateway(home) as gateway:
        make_directories(home)
        find = ["find", home, "-maxdepth", "3", "-not", "-path", "*/.*", "-iname", "*nowhere*"]
        floor = median([seconds_of(lambda: subprocess.run(find, check=True, capture_output=True)) for _ in range(3)])
        for what, query in ("found nowhere", "nowhere"), ("found at the end", "leaf-69"):
            taken = median([seconds_of(lambda: gateway.request("GET", f"/filesystem/search?q={query}")) for _ in range(RUNS)])
            yield Row(f"a name among 200,000 directories, {what}", milliseconds(taken), milliseconds(floor),
                      f"{taken / floor:.2f}", "< 100 ms", taken < 0.1)
