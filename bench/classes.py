"""Single classes, without sockets or disk: Google Benchmark, in the files src/**/*_benchmark.cpp."""

import json
import subprocess

from bench.harness import PROGRAMS, Row

FLOOR = "/floor"


def nanoseconds(value):
    return f"{value / 1e3:.2f} µs" if value >= 1e3 else f"{value:.0f} ns"


def classes():
    """Single classes, the median of five runs; the floor is the least that any code for it would do"""
    ran = subprocess.run([PROGRAMS / "class_benchmarks", "--benchmark_format=json", "--benchmark_min_time=0.1",
                          "--benchmark_repetitions=5", "--benchmark_report_aggregates_only=true"],
                         capture_output=True, text=True, check=True)
    times = {run["run_name"]: run["cpu_time"] for run in json.loads(ran.stdout)["benchmarks"]
             if run["aggregate_name"] == "median"}
    for name, time in times.items():
        if name.endswith(FLOOR):
            continue
        floor = times.get(name.partition("/")[0] + FLOOR)
        yield Row(name, nanoseconds(time), nanoseconds(floor) if floor else "-",
                  f"{time / floor:.1f}" if floor else "-", "-", None)
