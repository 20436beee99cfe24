"""The command line: its speed, the size of the program, and how a backup slows down concurrent writes."""

import shutil
import sqlite3
import subprocess
import time

from bench.harness import Gateway, Row, agw, folder, median, milliseconds

RUNS = 20
MEBIBYTE = 1 << 20


def seconds_of(command, **options):
    began = time.monotonic()
    subprocess.run([str(part) for part in command], check=True, capture_output=True, **options)
    return time.monotonic() - began


def status():
    """`agw status`, from exec to exit; the floor is a program that does nothing"""
    with folder() as home, Gateway(home):
        environment = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
        taken = median([seconds_of([agw(), "status"], env=environment) for _ in range(RUNS)])
    floor = median([seconds_of(["/bin/true"]) for _ in range(RUNS)])
    yield Row("agw status", milliseconds(taken), milliseconds(floor), f"{taken / floor:.1f}", "< 15 ms", taken < 0.015)


def size():
    """The stripped binary"""
    with folder() as home:
        shutil.copy(agw(), home / "agw")
        subprocess.run(["strip", "--strip-unneeded", home / "agw"], check=True)
        mib = (home / "agw").stat().st_size / MEBIBYTE
    yield Row("the binary, stripped", f"{mib:.2f} MiB", "-", "-", "< 15 MB", mib * MEBIBYTE < 15e6)


def write_until(gateway, thread, is_over):
    """Writes turns, one after the other, until `is_over()`. Returns the seconds of each write."""
    times = []
    while not is_over():
        began = time.monotonic()
        gateway.request("POST", f"/threads/{thread}/turns", {"content": "a turn of a few words", "role": "user"})
        times.append(time.monotonic() - began)
    return times


def backup():
    """Consecutive writes during a backup of 1 GiB; the floor is the same without a backup"""
    with folder() as home:
        with Gateway(home):
            pass
        with sqlite3.connect(home / ".agent-gateway" / "gateway.db") as database:
            database.execute("CREATE TABLE bench (filler BLOB)")
            database.executemany("INSERT INTO bench VALUES (randomblob(1048576))", [()] * 1024)
        with Gateway(home) as gateway:
            thread = gateway.new_threads(1)[0]
            end = time.monotonic() + 10
            alone = write_until(gateway, thread, lambda: time.monotonic() > end)
            began = time.monotonic()
            running = subprocess.Popen([agw(), "backup", home / "backup.tar.zst"],
                                       env={"HOME": str(home), "PATH": "/usr/bin:/bin"}, stderr=subprocess.DEVNULL)
            during = write_until(gateway, thread, lambda: running.poll() is not None)
            seconds = time.monotonic() - began
        if running.returncode != 0:
            raise SystemExit("the backup failed")
    yield Row("backup of 1 GiB", f"{seconds:.1f} s", "-", "-", "-", None)
    yield Row("slowest write during the backup", milliseconds(max(during)), milliseconds(max(alone)),
              f"{max(during) / max(alone):.1f}", "< 50 ms", max(during) < 0.050)
