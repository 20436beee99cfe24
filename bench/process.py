"""The process: start time, and cost when idle."""

import time

from bench.harness import EpollFloor, Gateway, Process, Row, folder, load, median, milliseconds

STARTS = 20


def median_start(home):
    seconds = []
    for _ in range(STARTS):
        with Gateway(home) as gateway:
            seconds.append(gateway.seconds_to_ready)
    return median(seconds)


def start():
    """From exec to the ready line, with little data and with 100,000 threads; the floor is a program that only prints
"""
    floor = []
    for _ in range(STARTS):
        with Process(["/bin/echo", "ready"]) as echo:
            floor.append(echo.seconds_to_ready)
    with folder() as home:
        with Gateway(home):
            pass
        empty = median_start(home)
        with Gateway(home) as gateway:
            load(gateway, ['POST /threads {"title":"bench","agent_id":"assistant"}'], gateway.token, count=100_000)
        full = median_start(home)
    for measure, seconds in ("start to ready line", empty), ("start with 100,000 threads", full):
        yield Row(measure, milliseconds(seconds), milliseconds(median(floor)), f"{seconds / median(floor):.1f}",
                  "< 20 ms, aim 10", seconds < 0.020)
    yield Row("start, slowed by 100,000 threads", milliseconds(full - empty), "-", f"{full / empty:.2f}", "<= 1.1",
              full <= 1.1 * empty)


def idle():
    """Memory and CPU of an idle gateway; the floor is a plain epoll server"""
    with folder() as home, Gateway(home) as gateway, EpollFloor(b"-") as floor:
        time.sleep(2)
        before, floor_before = gateway.cpu_seconds(), floor.cpu_seconds()
        time.sleep(30)
        cpu, floor_cpu = gateway.cpu_seconds() - before, floor.cpu_seconds() - floor_before
        memory, floor_memory = gateway.memory(), floor.memory()
    for name, label in ("Rss", "resident"), ("Pss", "proportional"):
        mib, floor_mib = memory[name] / 2**20, floor_memory[name] / 2**20
        yield Row(f"idle memory, {label}", f"{mib:.2f} MiB", f"{floor_mib:.2f} MiB", f"{mib / floor_mib:.1f}",
                  "< 12 MiB", mib < 12)
    yield Row("idle CPU in 30 s", milliseconds(cpu), milliseconds(floor_cpu), "-", "< 5 ms", cpu < 0.005)
