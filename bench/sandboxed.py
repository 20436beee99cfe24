"""File and command tools, compared with the programs that they use."""

import contextlib
import json
import socket
import subprocess

from bench.harness import PROGRAMS, Row, folder, median, milliseconds

LISTED_FILES = 50_000
FILES, FILES_A_FOLDER = 100_000, 100
LINE = "the quick brown fox jumps over the lazy dog and runs away\n"


def measure(tool, project):
    done = subprocess.run([PROGRAMS / "tool_times", tool, project], stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout)


def fill(project):
    """Writes files of about two kilobytes. One in a thousand contains a match."""
    for number in range(FILES):
        path = project / f"{number // FILES_A_FOLDER % 100}/{number // FILES_A_FOLDER}/{number}.txt"
        if number % FILES_A_FOLDER == 0:
            path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(LINE * 40 + (f"match otter{number}\n" if number % 1000 == 0 else ""))


def commands():
    """The overhead of the sandbox per command, and Grep over 100,000 files compared with ripgrep itself"""
    with folder() as home:
        small, large = home / "small", home / "large"
        small.mkdir()
        large.mkdir()
        times = measure("commands", small)
        added = times["tool"] - times["floor"]
        yield Row("sandbox around a command", milliseconds(added), milliseconds(times["floor"]),
                  f"{times['tool'] / times['floor']:.1f}", "< 15 ms", added < 0.015)
        added = times["network"] - times["floor"]
        yield Row("the same with network access", milliseconds(added), milliseconds(times["floor"]),
                  f"{times['network'] / times['floor']:.1f}", "< 12 ms", added < 0.012)
        fill(large)
        times = measure("commands", large)
        yield Row("the same in a project of 100,000 files", milliseconds(times["tool"] - times["floor"]),
                  milliseconds(times["floor"]), f"{times['tool'] / times['floor']:.1f}", "-", None)
        times = measure("grep", large)
        yield Row("Grep over 100,000 files", milliseconds(times["tool"]), milliseconds(times["floor"]),
                  f"{times['tool'] / times['floor']:.2f}", "<= 1.3", times["tool"] <= 1.3 * times["floor"])


# Prints the median time of requests on separate connections.
REQUESTS = """
import sys, time, urllib.request
times = []
for _ in range(400):
    began = time.perf_counter()
    urllib.request.urlopen(sys.argv[1]).read()
    times.append(time.perf_counter() - began)
print("median", sorted(times)[len(times) // 2])
"""
GIBIBYTE = 1 << 30


@contextlib.contextmanager
def upstream():
    """A server that sends the number of bytes in the path. Yields its URL."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    child = subprocess.Popen([PROGRAMS / "app_server"], env={"PORT": str(port)})
    try:
        while True:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port)).close()
                break
        yield f"http://127.0.0.1:{port}"
    finally:
        child.kill()
        child.wait()


def figure(printed, name):
    """Returns the number that follows `name`."""
    return float(printed.split(name)[1].split()[0])


def network():
    """The network proxy of the sandbox: a download of 1 GiB, and the time that it adds to a request"""
    with folder() as home, upstream() as url:
        project = home / "project"
        project.mkdir()
        (project / "requests.py").write_text(REQUESTS)

        def both(command):
            direct = subprocess.run(["/bin/bash", "-c", command], cwd=project, stdout=subprocess.PIPE, check=True, text=True)
            done = subprocess.run([PROGRAMS / "tool_times", "output", project, command], stdout=subprocess.PIPE,
                                  check=True, text=True)
            return done.stdout, direct.stdout

        download = f"curl -sS -o /dev/null -w 'speed %{{speed_download}}\n' {url}/{GIBIBYTE}"
        pairs = [both(download) for _ in range(5)]
        proxied, direct = (median([figure(pair[side], "speed") for pair in pairs]) / 1e6 for side in (0, 1))
        yield Row("proxied download of 1 GiB", f"{proxied:,.0f} MB/s", f"{direct:,.0f} MB/s", f"{proxied / direct:.2f}",
                  ">= 0.6", proxied >= 0.6 * direct)
        proxied, direct = (figure(printed, "median") for printed in both(f"/usr/bin/python3 requests.py {url}/100"))
        added = proxied - direct
        yield Row("proxied request on its own connection, p50", milliseconds(added), milliseconds(direct), "-", "< 1 ms",
                  added < 0.001)


def checkpoint_times(*arguments):
    done = subprocess.run([PROGRAMS / "checkpoint_times", *map(str, arguments)], stdout=subprocess.PIPE, check=True,
                          text=True)
    return json.loads(done.stdout)


def checkpoints():
    """The cost of checkpoints: Write with and without them, and the listings around a command among 50,000 files"""
    with folder() as home:
        for size, name in ((4096, "4 KiB"), (1 << 20, "1 MiB")):
            project = home / f"write-{size}"
            project.mkdir()
            times = checkpoint_times("write", project, size)
            added = times["tool"] - times["floor"]
            is_met = times["tool"] <= 1.1 * times["floor"] if size == 4096 else added < 0.002
            yield Row(f"Write of {name} with its checkpoint, p50", milliseconds(times["tool"]),
                      milliseconds(times["floor"]), f"{times['tool'] / times['floor']:.2f}",
                      "<= 1.1" if size == 4096 else "< 2 ms more", is_met)
        project = home / "listed"
        for number in range(LISTED_FILES):
            path = project / f"{number // FILES_A_FOLDER}/{number}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"file {number}\n")
        times = checkpoint_times("listings", project)
        yield Row("listings of 50,000 files around a command", milliseconds(times["tool"]), milliseconds(times["floor"]),
                  f"{times['tool'] / times['floor']:.2f}", "< 60 ms", times["tool"] < 0.06)
        yield Row("the same for the first command, with copies", milliseconds(times["first"]), "-", "-", "-", None)
