"""Requests to an app, through the gateway and directly."""

import contextlib
import shutil
import time

from bench.harness import PROGRAMS, Gateway, Row, folder, median, milliseconds, run

ROUNDS = 7


@contextlib.contextmanager
def app_on_gateway():
    """A gateway with its app's port."""
    with folder() as home, Gateway(home) as gateway:
        directory = home / "app"
        directory.mkdir()
        shutil.copy(PROGRAMS / "app_server", directory)
        gateway.request("POST", "/extensions", {
            "type": "app", "name": "bench", "description": "", "enabled": True,
            "definition": {"type": "command", "path": str(directory), "command": "exec ./app_server"}})
        gateway.request("POST", "/apps/bench/start")
        while (app := gateway.request("GET", "/apps/bench"))["status"] != "running":
            time.sleep(0.05)
        yield gateway, app["port"]


def measure_both(gateway, port, path, mode, count):
    """Returns figures through the gateway and direct ones, measured in turn under the same conditions."""
    pairs = [(run([PROGRAMS / "load_app", gateway.port, f"/apps/bench/proxy{path}", gateway.token, mode, count], []),
              run([PROGRAMS / "load_app", port, path, "none", mode, count], [])) for _ in range(ROUNDS)]
    return zip(*pairs)


def proxy():
    """Proxied requests to an app; the floor requests the app directly"""
    with app_on_gateway() as (gateway, port):
        rate = lambda figures: median([one["bytes"] / one["seconds"] for one in figures]) / 1e6
        through, direct = map(rate, measure_both(gateway, port, "/64000000", "blob", 20))
        yield Row("proxy, 64 MB answers", f"{through:,.0f} MB/s", f"{direct:,.0f} MB/s", f"{through / direct:.2f}",
                  "ratio > 0.6", through / direct > 0.6)
        small = lambda figures: median([1500 / one["seconds"] for one in figures])
        through, direct = map(small, measure_both(gateway, port, "/1000", "blob", 1500))
        yield Row("proxy, answers of 1 kB, one after the other", f"{through:,.0f}/s", f"{direct:,.0f}/s",
                  f"{through / direct:.2f}", "-", None)
        tail = lambda figures: median([one["times"]["p99"] for one in figures])
        through, direct = map(tail, measure_both(gateway, port, "/echo", "echo", 3000))
        yield Row("proxy, WebSocket echo, p99", milliseconds(through), milliseconds(direct), "-", "added < 1 ms",
                  through - direct < 0.001)
