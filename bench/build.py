"""The build without caches: from a fresh clone to the running gateway, and after one changed file."""

import os
import signal
import subprocess
import time

from bench.harness import ROOT, Row, folder

SOURCE = "src/features/jobs/service.cpp"
HEADERS = ("src/base/json/json.hpp", "src/base/json.hpp")


class Checkout:
    """A clone of one commit, built without caches for compilations and npm packages."""

    def __init__(self, path, revision):
        self.path = path
        subprocess.run(["git", "clone", "--quiet", "--no-checkout", ROOT, path], check=True)
        subprocess.run(["git", "checkout", "--quiet", "--detach", revision], cwd=path, check=True)
        self.environment = {"HOME": str(path.parent), "PATH": os.environ["PATH"], "CCACHE_DISABLE": "1"}

    def seconds(self, *command):
        began = time.monotonic()
        subprocess.run([str(part) for part in command], cwd=self.path, env=self.environment, check=True,
                       stdout=subprocess.DEVNULL)
        return time.monotonic() - began

    def seconds_to_listening(self):
        began = time.monotonic()
        with subprocess.Popen(["script/server", "--port", "0"], cwd=self.path, env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            if not server.stdout.readline():
                raise SystemExit(f"script/server did not start (exit status {server.wait()})")
            seconds = time.monotonic() - began
            server.send_signal(signal.SIGTERM)
        return seconds

    def seconds_after_change(self, file):
        """Adds a line to `file`, and returns the seconds until the unit tests of its feature have passed."""
        with open(self.path / file, "a", encoding="utf-8") as lines:
            lines.write(f"// {time.time()}\n")
        if "--for" in (self.path / "script/test").read_text():
            return self.seconds("script/test", "--for", "src/features/jobs")
        return self.seconds("script/build", "dev", "unit_tests") + self.seconds(
            "build/dev/unit_tests", "--gtest_brief=1", "--gtest_filter=*Job*:Schedule*:Triggers*")

    def measure(self):
        """Returns the seconds of each row, in order."""
        to_listening = self.seconds_to_listening()
        yield to_listening
        yield to_listening + self.seconds("script/build", "release")
        self.seconds("script/build", "dev", "unit_tests")
        yield self.seconds_after_change(SOURCE)
        yield self.seconds_after_change(next(file for file in HEADERS if (self.path / file).exists()))


def build(baseline=None):
    """Times of the build, and of that of another commit (--baseline): half an hour each, so only on request"""
    rows = (("fresh clone to the listening line", 300), ("the same and the unit tests built", 600),
            ("changed .cpp until its tests have passed", 15), ("changed header of base/ until then", 240))
    columns = []
    for revision in filter(None, ("HEAD", baseline)):
        with folder() as path:
            columns.append(list(Checkout(path / "clone", revision).measure()))
    for index, (measure, target) in enumerate(rows):
        seconds, floor = columns[0][index], columns[1][index] if baseline else None
        yield Row(measure, f"{seconds:.0f} s", f"{floor:.0f} s" if floor else "-",
                  f"{seconds / floor:.2f}" if floor else "-", f"< {target} s", seconds < target)
