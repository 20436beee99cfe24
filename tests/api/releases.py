"""Data directories of earlier releases (tests/api/releases), each with the responses of the gateway that wrote it.
`0.1.0-pre` is of a commit before the first release.

When a release is tagged, `AGW=build/release/agw tests/api/releases.py <version>` creates its archive.
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
NOT_ARCHIVED = {"logs", "gateway.lock"}
# Later releases must return at least these records; they may add others.
LISTS = ("/projects", "/secrets", "/jobs/work/runs", "/extensions/writer", "/extensions/second", "/extensions/work",
         "/agents/writer/soul")


def answers_of(gateway):
    """Returns the stored records, by the path of the request."""
    threads = [thread["id"] for thread in accepted(gateway.http.get("/threads", params={"archived": True}))]
    paths = [*LISTS, *(f"/threads/{thread}/turns" for thread in threads)]
    return {path: accepted(gateway.http.get(path)) for path in paths}


def unpack(release, folder):
    """Unpacks a data directory into `folder` and returns the responses of the gateway that wrote it."""
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
            if path.name not in NOT_ARCHIVED:
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
