"""Runs a gateway under load of all kinds, and compares its use of resources at the end with that early on."""

import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "api")]

from checks import accepted  # noqa: E402
from load import Load  # noqa: E402
from plot import svg  # noqa: E402

SAMPLES_PER_MINUTE = 30
TOLERANCE = 1.05
# Additional tolerance, for example for a socket that is being opened, or a page of memory.
SLACK = {"memory, MiB": 1, "descriptors": 6, "threads": 2, "children": 3, "files": 6}


def children(pid):
    tasks = pathlib.Path(f"/proc/{pid}/task").glob("*/children")
    return sum(len(task.read_text().split()) for task in tasks)


def sample(gateway):
    process = pathlib.Path(f"/proc/{gateway.process.pid}")
    status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
    excluded = ("checkpoints", "logs", "backups", "attachments")  # they grow with the load, within limits of their own
    files = 0
    for _, folders, names in os.walk(gateway.data):  # unlike rglob, it tolerates folders that disappear
        files += len(names)
        folders[:] = [name for name in folders if name not in excluded]
    return {
        "memory, MiB": int(status["VmRSS"].split()[0]) / 1024,
        "descriptors": len(list((process / "fd").iterdir())),
        "threads": int(status["Threads"]),
        "children": children(gateway.process.pid),
        "files": files,
    }


def collect(load, minutes):
    """Samples the gateway for this many minutes."""
    samples, began = [], time.monotonic()
    while time.monotonic() < began + minutes * 60:
        due = began + (len(samples) + 1) * 60 / SAMPLES_PER_MINUTE
        time.sleep(max(0, due - time.monotonic()))
        latencies, load.latencies = load.latencies, []
        found = sample(load.gateway)
        found["GET /health, slowest, ms"] = max(latencies, default=0) * 1000
        found["runs ended"] = len(load.runs)
        samples.append(found)
        if len(samples) % SAMPLES_PER_MINUTE == 0:
            print(f"{len(samples) // SAMPLES_PER_MINUTE:3} min  " +
                  "  ".join(f"{name} {value:,.1f}" for name, value in found.items()), flush=True)
    return samples


def growth(samples, minutes):
    """Returns which resources have grown since early on: since minute five of an hour, or earlier in a shorter run."""
    early_at = min(5, max(1, minutes // 3)) * SAMPLES_PER_MINUTE
    window = SAMPLES_PER_MINUTE
    problems = []
    for name, slack in SLACK.items():
        early = statistics.median(each[name] for each in samples[early_at - window:early_at])
        late = statistics.median(each[name] for each in samples[-window:])
        is_within = late <= early * TOLERANCE or late <= early + slack
        print(f"{name:14} early {early:10,.1f}   at the end {late:10,.1f}   {'ok' if is_within else 'GREW'}")
        if not is_within:
            problems.append(f"{name} grew from {early:,.1f} to {late:,.1f}")
    return problems


def lost_turns(load):
    """Returns the acknowledged messages that are missing."""
    stored = {}
    lost = []
    for thread, turn in load.turns:
        if thread not in stored:
            turns = accepted(load.gateway.http.get(f"/threads/{thread}/turns", params={"limit": 1000}))
            stored[thread] = {found["id"] for found in turns}
        if turn not in stored[thread]:
            lost.append(f"turn {turn} of thread {thread} was acknowledged and is not there")
    return lost


def error_lines(gateway):
    for file in sorted((gateway.data / "logs").iterdir()):
        for text in file.read_text(errors="replace").splitlines():
            record = json.loads(text)
            if record["level"] == "error":
                yield text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("minutes", nargs="?", type=int, default=60)
    parser.add_argument("--plot", type=pathlib.Path, help="where to draw it (SVG)")
    options = parser.parse_args()
    problems = []
    with tempfile.TemporaryDirectory() as root:
        load = Load(root, options.minutes, problems.append)
        load.prepare()
        load.start()
        samples = collect(load, options.minutes)
        load.stop()
        problems += growth(samples, options.minutes)
        problems += [f"run {run} ended {len(ends)} times" for run, ends in load.runs.items() if len(ends) != 1]
        problems += lost_turns(load)
        problems += [f"error in the log: {line}" for line in error_lines(load.gateway)]
        counts = f"{len(load.runs):,} runs, {len(load.turns):,} messages of {options.minutes} minutes"
        load.close()
    if options.plot:
        names = samples[0]
        series = {name: [each[name] for each in samples] for name in names}
        options.plot.write_text(svg("Soak: " + counts, options.minutes, series))
    print(f"\n{counts}")
    for problem in problems[:40]:
        print("FAILED:", problem[:600])
    print(f"{1 if not problems else 0} passed, {len(problems)} failed")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
