"""Common parts of all benchmarks: a gateway, the baseline programs, the load generators, the table."""

import atexit
import contextlib
import dataclasses
import http.client
import json
import os
import pathlib
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/release"
PROGRAMS = BUILD / "bench"


@dataclasses.dataclass
class Row:
    """A row of the table: the figure, its floor, the ratio, the requirement, and whether it is met (None without a
    requirement)."""
    measure: str
    value: str
    floor: str
    ratio: str
    target: str
    met: bool | None


WIDTHS = (46, 16, 16, 8, 18)


def print_line(cells):
    print("  ".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS)), cells[-1], flush=True)


def print_head(other="floor", target="target"):
    print_line(["measure", "gateway", other, "ratio", target, "verdict"])


def print_row(row):
    verdict = {True: "met", False: "MISSED", None: "-"}[row.met]
    print_line([row.measure, row.value, row.floor, row.ratio, row.target, verdict])


def milliseconds(seconds):
    return f"{seconds * 1e3:.2f} ms"


def median_and_p99(times):
    return f"{times['p50'] * 1e3:.2f} / {times['p99'] * 1e3:.2f} ms"


def raise_file_limit():
    """Raises the limit of open files for this process and its children: thousands of connections need as many
    descriptors."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def raise_priority():
    """Gives this process and its children priority over the rest of the machine, if the system permits it."""
    group = pathlib.Path("/proc/self/autogroup")
    try:
        os.nice(-10)
        # If the system schedules by session (autogroup), nice only has an effect within a session.
        if group.exists():
            group.write_text("-10")
            atexit.register(group.write_text, "0")
    except PermissionError:
        print("(other load on this machine affects the figures: only root can raise the priority)", file=sys.stderr)


class Process:
    """A child process whose first line of output reports that it is ready. The end of the `with` block ends it."""

    def __init__(self, command, **options):
        self.started = time.monotonic()
        self.child = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, text=True, **options)
        self.first_line = self.child.stdout.readline().strip()
        self.seconds_to_ready = time.monotonic() - self.started
        if not self.first_line:
            raise SystemExit(f"{command[0]} did not start (exit status {self.child.wait()})")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.child.send_signal(signal.SIGTERM)
        self.child.wait(timeout=20)
        self.child.stdout.close()

    def cpu_seconds(self):
        """Returns user and system time of the whole process, from its CPU clock (clock_getcpuclockid(3))."""
        return time.clock_gettime((~self.child.pid << 3) | 2)

    def memory(self):
        """Returns resident (`Rss`) and proportional (`Pss`) memory in bytes."""
        with open(f"/proc/{self.child.pid}/smaps_rollup", encoding="ascii") as lines:
            fields = [line.split() for line in lines][1:]
        return {name.rstrip(":"): int(size) * 1024 for name, size, *_ in fields}


@contextlib.contextmanager
def folder():
    """A home directory on the disk of the checkout, so that syncs have realistic costs."""
    (ROOT / "build").mkdir(exist_ok=True)
    path = tempfile.mkdtemp(prefix="bench-", dir=ROOT / "build")
    try:
        yield pathlib.Path(path)
    finally:
        shutil.rmtree(path)


def agw():
    """The measured program: the one that AGW names, else the release build."""
    return pathlib.Path(os.environ.get("AGW", BUILD / "agw"))


class Gateway(Process):
    """`agw serve` on a free port, with its own home. `cluster` is that section of its configuration."""

    def __init__(self, home, upstream_port=None, cluster=None):
        data = home / ".agent-gateway"
        data.mkdir(mode=0o700, exist_ok=True)
        environment = {"HOME": str(home), "PATH": os.environ["PATH"], "BENCH_KEY": "none"}
        configuration = {"cluster": cluster} if cluster else {}
        if upstream_port:
            configuration["providers"] = {"bench": {
                "kind": "openai", "api": "chat", "base_url": f"http://127.0.0.1:{upstream_port}/v1",
                "api_key_env": "BENCH_KEY", "default_model": "bench"}}
        if configuration:
            (data / "config.yaml").write_text(json.dumps(configuration))  # JSON is also YAML
        super().__init__([agw(), "serve", "--port", "0", "--log-level", "error"], env=environment)
        self.port = int(self.first_line.rsplit(":", 1)[1])
        self.token = (data / ".gateway-token").read_text().strip()
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port)

    def stop(self):
        self.connection.close()
        super().stop()

    def request(self, method, path, body=None):
        """Sends one request on a persistent connection and returns the JSON response."""
        self.connection.request(method, path, body=None if body is None else json.dumps(body),
                                headers={"Authorization": f"Bearer {self.token}"})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise SystemExit(f"{method} {path}: {answer.status} {text.decode()}")
        return json.loads(text) if text else None

    def new_threads(self, count, **members):
        """Creates threads with a title, so that no model is asked for one, and returns their ids."""
        return [self.request("POST", "/threads", {"title": f"bench {number}", "agent_id": "assistant", **members})["id"]
                for number in range(count)]

    def wait_until_quiet(self):
        """Waits until background work such as indexing is done: less than 2 % of a core for a second."""
        for _ in range(300):
            before = self.cpu_seconds()
            time.sleep(1)
            if self.cpu_seconds() - before < 0.02:
                return
        raise SystemExit("the gateway was still busy after five minutes")


class EpollFloor(Process):
    """A plain epoll server that sends the given response to every request."""

    def __init__(self, answer):
        with tempfile.TemporaryFile() as bytes_of_answer:
            bytes_of_answer.write(answer)
            bytes_of_answer.seek(0)
            super().__init__([PROGRAMS / "epoll_floor"], stdin=bytes_of_answer)
        self.port = int(self.first_line)


class Upstream(Process):
    """The model service in bench/upstream.cpp."""

    def __init__(self):
        super().__init__([PROGRAMS / "upstream"])
        self.port = int(self.first_line)


def load(process, lines, token="none", connections=64, seconds=600, count=None, seed=1):
    """Sends `lines` (`<method> <path> [body]`, bench/load_requests.cpp) in turn for this many seconds, or until `count`
    responses. Returns figures with `rate`, requests per second. `seed` is for generated text."""
    command = [PROGRAMS / "load_requests", process.port, token, connections, seconds, seed] + ([count] if count else [])
    figures = run(command, lines)
    figures["rate"] = figures["times"]["count"] / figures["seconds"]
    return figures


def load_chat(arguments, threads=()):
    """Runs bench/load_chat.cpp and returns its figures."""
    return run([PROGRAMS / "load_chat", *arguments], threads)


def run(command, lines):
    """Returns the JSON printed by a load generator that reads `lines` from standard input."""
    ran = subprocess.run([str(part) for part in command], input="\n".join(lines), capture_output=True, text=True,
                         check=False)
    if ran.returncode:
        raise SystemExit(f"{command[0].name} failed: {ran.stderr}")
    return json.loads(ran.stdout)


def median(figures):
    return statistics.median(figures)
