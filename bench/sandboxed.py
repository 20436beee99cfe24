"""File and command tools, against the programs they use."""

import json
import subprocess

from bench.harness import PROGRAMS, Row, folder, milliseconds

LISTED_FILES = 50_000
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


def checkpoint_times(*arguments):
    done = subprocess.run([PROGRAMS / "checkpoint_times", *map(str, arguments)], stdout=subprocess.PIPE, check=True,
                          text=True)
    return json.loads(done.stdout)


def checkpoints():
    """What checkpoints add: Write with and without, and the listings around a command in a project of 50,000 files"""
    with folder() as home:
        for size, name in ((4096, "4 KiB"), (1 << 20, "1 MiB")):
            project = home / f"write-{size}"
            project.mkdir()
            times = checkpoint_times("write", project, size)
            added = times["tool"] - times["floor"]
            good = times["tool"] <= 1.1 * times["floor"] if size == 4096 else added < 0.002
            yield Row(f"Write of {name} with its checkpoint, p50", milliseconds(times["tool"]),
                      milliseconds(times["floor"]), f"{times['tool'] / times['floor']:.2f}",
                      "<= 1.1" if size == 4096 else "< 2 ms more", good)
        project = home / "listed"
        for number in range(LISTED_FILES):
            path = project / f"{number // FILES_A_FOLDER}/{number}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"file {number}\n")
        times = checkpoint_times("listings", project)
        yield Row("listings of 50,000 files around a command", milliseconds(times["tool"]), "-", "-", "< 60 ms",
                  times["tool"] < 0.06)
        yield Row("the same for the first command, with copies", milliseconds(times["first"]), "-", "-", "-", None)
