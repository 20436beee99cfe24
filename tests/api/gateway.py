"""A gateway process for tests, with its directories and clients."""

import os
import select
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import httpx
import yaml

import contract
import databases
import http_client
from checks import PATIENCE, seconds_of
from connection import Connection, FrameConnection
from events import Events

REPOSITORY = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("AGW", REPOSITORY / "build" / "debug" / "agw")).resolve()
HAS_ADDRESS_SANITIZER = b"__asan_init" in BINARY.read_bytes()  # it retains freed memory: memory use is meaningless
INHERITED_VARIABLES = ("PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "LLVM_PROFILE_FILE")
SANITIZER_REPORTS = ("ERROR: AddressSanitizer", "ERROR: LeakSanitizer", "WARNING: ThreadSanitizer", "runtime error:")


class StartFailed(Exception):
    """The gateway ended before its ready line."""

    def __init__(self, status, stdout, stderr):
        super().__init__(f"exit status {status}\nstdout: {stdout}\nstderr: {stderr}")
        self.status, self.stdout, self.stderr = status, stdout, stderr


class Gateway:
    """A data directory and its `agw serve` process, which can be stopped, killed and restarted."""

    def __init__(self, root, *, arguments=(), config=None, environment=None, data=None, user=None, first=None):
        """`config`: text of config.yaml, or an object to write as YAML. `user`: numeric id of the process's user.
        `first`: shell commands to run before the gateway, in the same process."""
        self.root = Path(root)
        self.home = self.root / "home"
        self.data = Path(data) if data else self.home / ".agent-gateway"
        self.arguments = list(arguments)
        self.environment = dict(environment or {})
        self.user = user
        self.first = first
        self.process = None
        self.url = None
        self._printed = b""
        self._clients = {}
        self._sockets = []
        self.home.mkdir(parents=True, exist_ok=True)
        if user is not None:
            self._change_owner()
        if config is not None:
            self.configure(config)
        names_database = isinstance(config, dict) and "cluster" in config
        if "AGW_TEST_POSTGRES" in os.environ and not names_database:
            self.environment.setdefault("AGENT_GATEWAY_CLUSTER_DATABASE", databases.address_for(self.data))

    def configure(self, config):
        self.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        # An infinite width keeps each value on one line.
        dumped = yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=float("inf"))
        (self.data / "config.yaml").write_text(config if isinstance(config, str) else dumped)

    def _change_owner(self):
        """Makes the user the owner of the directories, and their parents below the temporary directory accessible."""
        for directory in (self.root, self.home):
            os.chown(directory, self.user, self.user)
        for parent in self.root.parents:
            if parent == Path(tempfile.gettempdir()):
                break
            parent.chmod(parent.stat().st_mode | 0o011)

    # The process.

    def launch(self):
        """Starts the process without waiting."""
        port = [] if "--port" in self.arguments else ["--port", "0"]
        command = [str(BINARY), "serve", *port, "--data-dir", str(self.data), *self.arguments]
        if self.first:
            command = ["sh", "-c", self.first + '; exec "$@"', "sh", *command]
        self._printed = b""
        self.stderr_file = self.root / f"stderr-{time.monotonic_ns()}.txt"
        with self.stderr_file.open("wb") as errors:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, env=self.variables(),
                cwd=self.home, user=self.user, group=self.user, extra_groups=None if self.user is None else [],
            )
        return self

    def start(self):
        """Starts the process and waits for its ready line. Raises StartFailed if it ends instead."""
        self.launch()
        deadline = time.monotonic() + PATIENCE
        while b"\n" not in self._printed:
            if not select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))[0]:
                self.kill()
                raise TimeoutError(f"no ready line after {PATIENCE} s; stderr:\n{self.stderr}")
            piece = os.read(self.process.stdout.fileno(), 4096)
            if not piece:
                raise StartFailed(self.wait(), self._printed.decode(), self.stderr)
            self._printed += piece
        self.url = self._printed.split(b"\n")[0].decode().removeprefix("listening on ")
        return self

    def fails(self):
        """Starts the process, expects it to fail, and returns the failure."""
        try:
            self.start()
        except StartFailed as failed:
            assert failed.stdout == "", "nothing but the ready line is printed"
            return failed
        raise AssertionError("it started")

    def stop(self, by=signal.SIGTERM):
        """Sends the signal to the process and returns its exit status."""
        self._leave()
        self.process.send_signal(by)
        return self.wait()

    def seconds_to_stop(self):
        """Returns how long the process takes to end, and restarts it."""
        seconds = seconds_of(self.stop)
        assert self.process.returncode == 0, self.stderr
        self.start()
        return seconds

    def kill(self):
        self._leave()
        self.process.kill()
        return self.wait()

    def restart(self):
        """Stops the process if it runs, and starts it on the same data directory, on another port."""
        if self.running:
            assert self.stop() == 0, self.stderr
        return self.start()

    def wait(self, seconds=PATIENCE):
        return self.process.wait(seconds)

    @property
    def running(self):
        return self.process is not None and self.process.poll() is None

    def cpu_of(self, name):
        """Returns the CPU time in nanoseconds of its threads with this name; the event loop's thread is `agw`."""
        threads = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((thread / "schedstat").read_text().split()[0])
                   for thread in threads if (thread / "comm").read_text().strip() == name)

    def has_printed(self):
        return bool(select.select([self.process.stdout], [], [], 0)[0])

    @property
    def stdout(self):
        """Returns all output, after the process has ended."""
        self._printed += self.process.stdout.read()
        return self._printed.decode()

    @property
    def stderr(self):
        return self.stderr_file.read_text(errors="replace")

    def variables(self):
        """The environment of the process and of commands: only the required variables of the test process."""
        inherited = {name: os.environ[name] for name in INHERITED_VARIABLES if name in os.environ}
        return {**inherited, "HOME": str(self.home), "LANG": "C.UTF-8", "TZ": "UTC", **self.environment}

    def command(self, *arguments, typed="", seconds=PATIENCE):
        """Runs `agw` with the arguments and returns the completed process. `typed`: its standard input."""
        return subprocess.run(
            [str(BINARY), *arguments], input=typed, capture_output=True, text=True, timeout=seconds,
            env={**self.variables(), "AGENT_GATEWAY_DATA_DIR": str(self.data)}, cwd=self.home, user=self.user,
            group=self.user, extra_groups=None if self.user is None else [],
        )

    def close(self):
        """Stops the process and checks that it exited cleanly and without sanitizer reports. For fixtures."""
        clean = not self.running or self.stop() == 0
        for report in self.root.glob("stderr-*.txt"):
            text = report.read_text(errors="replace")
            assert not any(found in text for found in SANITIZER_REPORTS), text
        assert clean, f"exit status {self.process.returncode} at the end\n{self.stderr}"

    # Clients.

    @property
    def port(self):
        return int(self.url.rsplit(":", 1)[1])

    @property
    def token(self):
        return (self.data / ".gateway-token").read_text().strip()

    @property
    def authorization(self):
        return {"Authorization": f"Bearer {self.token}"}

    @property
    def http(self):
        """An HTTP client with the token. It checks every response against the general rules and the declared shape."""
        return self._client("http")

    @property
    def anonymous(self):
        return self._client("anonymous")

    def connect(self, **options):
        """A raw TCP connection, for requests that no HTTP client would send."""
        return Connection(self, **options)

    def frames(self, **options):
        """A WebSocket whose frames are built by hand."""
        return FrameConnection(self, **options)

    def events(self, *threads, **options):
        """A WebSocket client subscribed to the given threads; without any, it receives everything."""
        events = Events(self, **options)
        self._sockets.append(events)
        if threads:
            events.subscribe(*threads)
        return events

    def _client(self, kind):
        key = (kind, self.url)
        if key not in self._clients:
            self._clients[key] = http_client.new_client(
                base_url=self.url, headers=self.authorization if kind == "http" else {},
                limits=httpx.Limits(max_connections=None), event_hooks={"response": [self._check]},
            )
        return self._clients[key]

    def _check(self, response):
        response.read()
        contract.check(self, response)

    def _leave(self):
        for client in self._clients.values():
            client.close()
        self._clients.clear()
