"""Imports: an export of ChatGPT with 100,000 turns and 1 GB of text, and a folder of 1,000 extensions."""

import contextlib
import http.client
import json
import os
import random
import subprocess
import threading
import time

from bench.harness import Gateway, Row, agw, folder, milliseconds

CONVERSATIONS, MESSAGES, MESSAGE_BYTES = 1_000, 100, 10_000
EXTENSIONS = 1_000
MEBIBYTE = 1 << 20
SECONDS_BETWEEN_REQUESTS = 0.02


def texts():
    """Endless texts of ten kilobytes, with the word frequencies of a language."""
    numbers = random.Random(1)
    ranks = [min(int(numbers.paretovariate(1)), 50_000) for _ in range(400_000)]
    words = " ".join(f"w{rank}" for rank in ranks)
    while True:
        begin = numbers.randrange(len(words) - MESSAGE_BYTES)
        yield words[begin:begin + MESSAGE_BYTES]


def conversation(number, text):
    mapping = {"root": {"id": "root", "message": None, "parent": None, "children": ["m0"]}}
    for step in range(MESSAGES):
        key = f"m{step}"
        message = {"id": key, "author": {"role": "assistant" if step % 2 else "user"}, "create_time": 1.7e9 + step,
                   "content": {"content_type": "text", "parts": [next(text)]}, "metadata": {}, "recipient": "all"}
        parent = f"m{step - 1}" if step else "root"
        children = [f"m{step + 1}"] if step + 1 < MESSAGES else []
        mapping[key] = {"id": key, "message": message, "parent": parent, "children": children}
    last = mapping[f"m{MESSAGES - 1}"]["message"]["content"]["parts"]
    last[0] = f"needle{number} " + last[0]
    return {"conversation_id": f"c{number}", "title": f"Conversation {number}", "create_time": 1.7e9, "update_time": 1.7e9,
            "mapping": mapping, "current_node": f"m{MESSAGES - 1}"}


def write_export(path):
    text = texts()
    with path.open("w") as file:
        for number in range(CONVERSATIONS):
            file.write("[" if number == 0 else ",\n")
            json.dump(conversation(number, text), file)
        file.write("]")


class Health(threading.Thread):
    """Requests `/health` in a loop, until `p99` is called."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.connection = http.client.HTTPConnection("127.0.0.1", port)
        self.times, self.stopped = [], threading.Event()

    def run(self):
        while not self.stopped.wait(SECONDS_BETWEEN_REQUESTS):
            began = time.perf_counter()
            self.connection.request("GET", "/health")
            self.connection.getresponse().read()
            self.times.append(time.perf_counter() - began)

    def p99(self):
        self.stopped.set()
        self.join()
        return sorted(self.times)[len(self.times) * 99 // 100 - 1]


def run_import(home, source, path):
    """Returns the seconds, the maximum resident size of the importer in bytes, and its result."""
    began = time.monotonic()
    with open(home / "result.json", "w+") as output:
        importer = subprocess.Popen([agw(), "import", source, path, "--json"], stdout=output,
                                    env={"HOME": str(home), "PATH": "/usr/bin:/bin"})
        _, status, used = os.wait4(importer.pid, 0)
        importer.returncode = os.waitstatus_to_exitcode(status)
        if importer.returncode:
            raise SystemExit(f"agw import {source} failed with {importer.returncode}")
        output.seek(0)
        return time.monotonic() - began, used.ru_maxrss * 1024, json.load(output)


def seconds_until_found(gateway):
    """Waits until search finds the last turn of every conversation."""
    began = time.monotonic()
    missing = list(range(CONVERSATIONS))
    while missing:
        path = f"/turns/search?q=needle{missing[-1]}&agent_id=assistant"
        if gateway.request("GET", path):
            missing.pop()
        elif time.monotonic() - began > 300:
            raise SystemExit("search did not find the whole import within five minutes")
        else:
            time.sleep(0.05)
    return time.monotonic() - began


def conversations():
    with folder() as home:
        export = home / "conversations.json"
        write_export(export)
        size = export.stat().st_size
        with Gateway(home) as gateway:
            health = Health(gateway.port)
            health.start()
            seconds, memory, result = run_import(home, "chatgpt", export)
            p99 = health.p99()
            found = seconds_until_found(gateway)
    turns = result["counts"]["turns"]["created"]
    yield Row(f"import of {size / 1e9:.2f} GB, {turns:,} turns", f"{seconds:.1f} s", "-", "-", "< 60 s", seconds < 60)
    yield Row("import: memory of the importer", f"{memory / MEBIBYTE:.0f} MiB", "-", "-", "< 100 MiB", memory < 100 * MEBIBYTE)
    yield Row("import: GET /health during it, p99", milliseconds(p99), "-", "-", "< 5 ms", p99 < 0.005)
    yield Row("import: its end until search finds all of it", f"{found:.1f} s", "-", "-", "< 60 s", found < 60)


def extensions():
    with folder() as home, Gateway(home):
        commands = home / ".claude" / "commands"
        commands.mkdir(parents=True)
        for number in range(EXTENSIONS):
            (commands / f"command-{number}.md").write_text(f"---\ndescription: Number {number}\n---\nDo $ARGUMENTS\n")
        seconds, _, result = run_import(home, "claude-code", home / ".claude")
    count = result["counts"]["commands"]["created"]
    yield Row(f"import of {count:,} extensions", f"{seconds:.1f} s", "-", "-", "< 5 s", seconds < 5)


def imports():
    """1 GB of conversations and 1,000 extensions of other programs, while the gateway serves requests"""
    for rows in conversations, extensions:
        with contextlib.closing(rows()) as measured:
            yield from measured
