"""Streaming answers, and idle connections."""

import contextlib
import subprocess
import time

from bench.harness import PROGRAMS, EpollFloor, Gateway, Row, Upstream, folder, load_chat, median_and_p99


def measure(model, thread_count, readers):
    """Streams answers of `model` on this many threads at once: figures through the gateway, and directly from the
    upstream."""
    with folder() as home, Upstream() as upstream, Gateway(home, upstream.port) as gateway:
        threads = gateway.new_threads(thread_count)
        # The first call also loads the HTTP client's library, which is not a cost of deltas.
        load_chat([gateway.port, gateway.token, "bench/1x1", 1], gateway.new_threads(1))
        through = load_chat([gateway.port, gateway.token, f"bench/{model}", readers], threads)
        direct = load_chat([upstream.port, "--direct", model, thread_count])
    return through, direct


def deltas():
    """Delay of a delta with 100 threads and 5,000 deltas a second in total; the floor reads the model service directly"""
    through, direct = measure("50x400", 100, 100)
    expected = 100 * 400
    delay, floor = through["delays"], direct["delays"]
    yield Row("delay of a delta at 5,000/s, p50 / p99", median_and_p99(delay), median_and_p99(floor), "-",
              "p99 < 5 ms, aim 1", delay["p99"] < 0.005)
    yield Row("deltas that arrived", f"{delay['count']:,}", f"{floor['count']:,}", "-", f"= {expected:,}",
              delay["count"] == expected)


def runs():
    """32 concurrent answers that take 2.0 s at the model service: the slowest, from the request to the end"""
    through, direct = measure("100x200", 32, 32)
    slowest, floor = through["runs"]["max"], direct["runs"]["max"]
    yield Row("32 runs of 2.0 s at once, the slowest", f"{slowest:.3f} s", f"{floor:.3f} s", f"{slowest / floor:.2f}",
              "< 2.1 s", slowest < 2.1)


def burst():
    """Memory 30 s after 32 concurrent answers"""
    with folder() as home, Upstream() as upstream, Gateway(home, upstream.port) as gateway:
        load_chat([gateway.port, gateway.token, "bench/100x200", 32], gateway.new_threads(32))
        time.sleep(30)
        memory = gateway.memory()["Rss"]
    yield Row("memory 30 s after 32 runs at once", f"{memory / 2**20:.1f} MiB", "-", "-", "< 12 MiB", memory < 12 * 2**20)


def readers():
    """1,000 readers of one stream with 100 deltas a second, for 10 s"""
    through, direct = measure("100x1000", 1, 1000)
    expected = 1000 * 1000
    yield Row("1,000 readers, disconnected", str(through["lost"]), str(direct["lost"]), "-", "0", through["lost"] == 0)
    yield Row("1,000 readers, deltas read", f"{through['delays']['count']:,}", f"{direct['delays']['count']:,}", "-",
              f"= {expected:,}", through["delays"]["count"] == expected)
    yield Row("1,000 readers, delay of a delta, p50 / p99", median_and_p99(through["delays"]),
              median_and_p99(direct["delays"]), "-", "-", None)


@contextlib.contextmanager
def idle_connections(process, arguments, count):
    """The program that holds `count` connections open."""
    with subprocess.Popen([str(part) for part in [PROGRAMS / "load_idle", process.port, count, *arguments]],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as load:
        if not load.stdout.readline().startswith("open"):
            raise SystemExit("the idle connections could not be opened")
        yield load


def memory_per_connection(process, arguments, count):
    before = process.memory()["Rss"]
    with idle_connections(process, arguments, count) as load:
        after = process.memory()["Rss"]
        rest, _ = load.communicate()
    return (after - before) / count, int(rest.split()[1])


def sockets():
    """Memory of each of 10,000 idle WebSockets; the floor is an idle TCP connection to a plain epoll server"""
    count = 10_000
    with folder() as home, Gateway(home) as gateway, EpollFloor(b"-") as floor:
        size, closed = memory_per_connection(gateway, [gateway.token], count)
        floor_size, _ = memory_per_connection(floor, [], count)
    yield Row("10,000 idle WebSockets, each", f"{size / 1024:.2f} KiB", f"{floor_size / 1024:.2f} KiB", "-", "< 6 KiB",
              size < 6 * 1024)
    yield Row("10,000 idle WebSockets, closed by the gateway", str(closed), "0", "-", "0", closed == 0)
