"""First visits to the pages of two other programs, for comparison. Once installed, they need no network.

npm install --prefix build/peers --allow-scripts=openclaw node@24.21.0 opencode-ai@1.18.33 openclaw@2026.9.6
"""

import contextlib
import os
import signal
import socket
import subprocess
import time
import urllib.request

from bench.harness import ROOT, Row, folder

INSTALLED = ROOT / "build/peers/node_modules/.bin"
#: The arguments of each command, and a text that its page first shows a new user.
PEERS = {
    "opencode": (["serve", "--hostname", "127.0.0.1", "--port"], "Nothing here yet"),
    "openclaw": (["gateway", "--dev", "--allow-unconfigured", "--auth", "none", "--bind", "loopback", "--port"],
                 "Connect a verified AI model"),
}
MAX_START_SECONDS = 120


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_it_responds(url, process):
    deadline = time.monotonic() + MAX_START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError):
            return urllib.request.urlopen(url, timeout=10).close()
        time.sleep(0.2)
    raise SystemExit(f"{process.args[0]} does not respond at {url}")


@contextlib.contextmanager
def served(name):
    """Starts a program with its own home directory. Yields the address of its page."""
    arguments, _ = PEERS[name]
    with folder() as home:
        port = free_port()
        environment = {"HOME": str(home), "PATH": f"{INSTALLED}:{os.environ['PATH']}"}
        process = subprocess.Popen([INSTALLED / name, *arguments, str(port)], cwd=home, env=environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        try:
            wait_until_it_responds(f"http://127.0.0.1:{port}/", process)
            yield f"http://127.0.0.1:{port}/"
        finally:
            # node_modules/.bin may contain a launcher that only starts the program.
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()


def rows(visit):
    """Returns rows of the installed programs. `visit` measures a first visit to an address, until a text is shown."""
    for name, (_, text) in PEERS.items():
        if not (INSTALLED / name).exists():
            yield Row(f"{name}, first view", "not installed", "-", "-", "see bench/peers.py", None)
            continue
        with served(name) as url:
            figures = visit(url, text)
        for measure, value in (("bytes transferred", f"{figures['bytes'] / 1024:.0f} KB"),
                            ("requests", str(figures["requests"])),
                            ("text on screen", f"{figures['shown']:.0f} ms"),
                            ("longest task", f"{figures['longest']:.0f} ms"),
                            ("JS heap", f"{figures['heap'] / 2**20:.1f} MiB")):
            yield Row(f"{name}, first view, {measure}", value, "-", "-", "-", None)
