"""File and command tools, against the programs they use."""

import json
import subprocess

from bench.harness import PROGRAMS, Row, folder, milliseconds

FILES, FILES_A_FOLDER = 100_000, 100
LINE = "the quick brown fox jumps over the lazy dog and runs away\n"


def measure(tool, project):
    done = subprocess.run([PROGRAMS / "tool_times", tool, project], stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout)


def fill(project):
    """Writes files of a few kilobytes, one in a thousand with a match."""
    for number in range(FILES):
        path = project / f"{number // FILES_A_FOLDER % 100}/{number // FILES_A_FOLDER}/{number}.txt"
        if number % FILES_A_FOLDER == 0:
            path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(LINE * 40 + (f"here lives otter{number}\n" if number % 1000 == 0 else ""))


def commands():
    """The overhead of the sandbox per command, and Grep over 100,000 files against ripgrep itself"""
    with folder() as home:
        small, large = home / "small", home / "large"
        small.mkdir()
        large.mkdir()
        times = measure("commands", small)
        added = times["tool"] - times["floor"]
        yield Row("sandbox around a command", milliseconds(added), milliseconds(times["floor"]),
                  f"{times['tool'] / times['floor']:.1f}", "< 15 ms", added < 0.015)
        fill(large)
        times = measure("commands", large)
        yield Row("the same in a project of 100,000 files", milliseconds(times["tool"] - times["floor"]),
                  milliseconds(times["floor"]), f"{times['tool'] / times['floor']:.1f}", "-", None)
        times = measure("grep", large)
        yield Row("Grep over 100,000 files", milliseconds(times["tool"]), milliseconds(times["floor"]),
                  f"{times['tool'] / times['floor']:.2f}", "<= 1.3", times["tool"] <= 1.3 * times["floor"])
