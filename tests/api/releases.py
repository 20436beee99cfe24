"""Data directories as releases left them (tests/api/releases), each with what its gateway answered. `0.1.0-pre` is of a commit
before the first release.

`AGW=build/release/agw tests/api/releases.py <version>` makes one, with that program, when a release is tagged.
"""

import io
import json
import sys
import tarfile
import tempfile
from pathlib import Path

from checks import accepted
from gateway import Gateway
from story import Story
from stubs.provider import ProviderStub
from talker import configuration

FOLDER = Path(__file__).parent / "releases"
ANSWERS = "answers.json"
LEFT_OUT = {"logs", "gateway.lock"}
# What is in a list must be there; what later releases add to it need not be in the list.
LISTS = ("/projects", "/secrets", "/jobs/work/runs", "/extensions/writer", "/extensions/second", "/extensions/work",
         "/agents/writer/soul")


def answers_of(gateway):
    """What was stored, by the path that returns it."""
    threads = [thread["id"] for thread in accepted(gateway.http.get("/threads", params={"archived": True}))]
    paths = [*LISTS, *(f"/threads/{thread}/turns" for thread in threads)]
    return {path: accepted(gateway.http.get(path)) for path in paths}


def unpack(release, folder):
    """Unpacks a data directory into `folder`, and returns what its gateway answered."""
    with tarfile.open(release) as archive:
        answers = json.load(archive.extractfile(ANSWERS))
        archive.extractall(folder, [member for member in archive if member.name != ANSWERS])
    return answers


def pack(gateway, answers, release):
    content = json.dumps(answers).encode()
    entry = tarfile.TarInfo(ANSWERS)
    entry.size = len(content)
    with tarfile.open(release, "w:xz") as archive:
        archive.addfile(entry, io.BytesIO(content))
        for path in sorted(gateway.data.iterdir()):
            if path.name not in LEFT_OUT:
                archive.add(path, path.name)


def main():
    stub = ProviderStub().start()
    with tempfile.TemporaryDirectory() as root:
        gateway = Gateway(root, config=configuration(stub)).start()
        Story(gateway, stub).tell()
        answers = answers_of(gateway)
        gateway.close()
        pack(gateway, answers, FOLDER / f"{sys.argv[1]}.tar.xz")
    stub.stop()


if __name__ == "__main__":
    main()
