"""Runs `agw import` and `agw export`, and creates small samples of other programs' files."""

import json
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from pathlib import Path

from checks import accepted
from gateway import BINARY

PROGRAMS = Path(__file__).parent / "programs"


def moved(gateway, *arguments, status=0):
    """Runs the command and returns its result, parsed from JSON, or its standard error if `status` is not 0."""
    done = gateway.command(*arguments, "--json")
    assert done.returncode == status, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return json.loads(done.stdout) if status == 0 else done.stderr


def imported(gateway, what, path, *flags):
    return moved(gateway, "import", what, str(path), *flags)


def memory_of_dry_run(gateway, what, path):
    """Returns the peak memory of an import, in KiB."""
    # The peak memory of a process includes the time before its exec, so a small process starts the import.
    script = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
              "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    done = subprocess.run([sys.executable, "-c", script, str(BINARY), "import", what, str(path), "--dry-run"],
                          env=gateway.variables(), capture_output=True, text=True, check=True)
    return int(done.stdout)


def created(result):
    """Returns the number of created records by kind."""
    return {kind: count["created"] for kind, count in result["counts"].items() if count["created"]}


def reasons(result):
    return {one["what"]: one["why"] for one in result["left_out"]}


def threads(gateway):
    """Returns all threads by title, including archived ones."""
    return {one["title"]: one for one in accepted(gateway.http.get("/threads", params={"archived": "true"}))}


def transcript_of(gateway, thread_id):
    """Returns the turns of a thread, oldest first."""
    return accepted(gateway.http.get(f"/threads/{thread_id}/transcript", params={"limit": 1000}))["turns"]


def turns(gateway, title):
    return transcript_of(gateway, threads(gateway)[title]["id"])


def texts(gateway, title):
    return [(turn["role"], turn["content"]) for turn in turns(gateway, title)]


def program(name, home):
    """Copies the program's sample files (programs/README.md) into `home` and creates its databases from their SQL."""
    shutil.copytree(PROGRAMS / name, home, dirs_exist_ok=True)
    for path in home.rglob("*.sql"):
        file = path.with_suffix("" if Path(path.stem).suffix else ".db")
        with sqlite3.connect(file) as database:
            database.executescript(path.read_text())
        database.close()
        path.unlink()
    return home


def write_lines(path, records):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def write_json(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path


def write_zip(path, **files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in files.items():
            archive.writestr(name.replace("_json", ".json"), value if isinstance(value, str) else json.dumps(value))
    return path


class ChatGPT:
    """Builds a conversation in the format of a ChatGPT export, message by message."""

    def __init__(self, title="Trip", key="c1", archived=False):
        self.conversation = {
            "conversation_id": key, "title": title, "create_time": 1700000000.5, "update_time": 1700000900.0,
            "is_archived": archived, "mapping": {"root": {"id": "root", "message": None, "parent": None, "children": []}},
            "current_node": "root",
        }

    def say(self, role, text, parent=None, **members):
        """Adds a message below `parent` (default: the latest) and returns its id."""
        mapping = self.conversation["mapping"]
        key, parent = f"m{len(mapping)}", parent or self.conversation["current_node"]
        content = members.pop("content", {"content_type": "text", "parts": [text]})
        message = {"id": key, "author": {"role": role, "name": members.pop("name", None)}, "content": content,
                   "create_time": 1700000000 + len(mapping), "metadata": members.pop("metadata", {}),
                   "recipient": "all", **members}
        mapping[key] = {"id": key, "message": message, "parent": parent, "children": []}
        mapping[parent]["children"].append(key)
        self.conversation["current_node"] = key
        return key
