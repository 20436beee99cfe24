"""Backups: making, taking apart and putting together again, for tests."""

import io
import json
import subprocess
import tarfile

import pytest

from checks import accepted

HEAD = "agent-gateway-backup.json"


def command(gateway, *arguments, status=0):
    done = gateway.command(*arguments, seconds=120)
    assert done.returncode == status, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stderr


def entries(archive):
    """Returns names and contents of a backup, in order."""
    text = subprocess.run(["zstd", "-dcq", str(archive)], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(text)) as tar:
        return [(member.name, tar.extractfile(member).read() if member.isfile() else None) for member in tar]


def pack(archive, members):
    """Writes an archive of these members: pairs of a name and its content (None: a directory; a number: as many zeros), or
    TarInfo."""
    with subprocess.Popen(["zstd", "-qfo", str(archive)], stdin=subprocess.PIPE) as packer, open("/dev/zero", "rb") as zeros:
        with tarfile.open(fileobj=packer.stdin, mode="w|") as tar:
            for member in members:
                if isinstance(member, tarfile.TarInfo):
                    tar.addfile(member)
                    continue
                name, content = member
                info = tarfile.TarInfo(name)
                if content is None:
                    info.type = tarfile.DIRTYPE
                    tar.addfile(info)
                elif isinstance(content, int):
                    info.size = content
                    tar.addfile(info, zeros)
                else:
                    info.size = len(content)
                    tar.addfile(info, io.BytesIO(content))
    assert packer.returncode == 0
    return archive


def without_digest(members):
    """Removes the digest from the last entry, as in backups of older versions: it would not match changed members."""
    name, content = members[-1]
    end = json.loads(content)
    del end["sha256"]
    return [*members[:-1], (name, json.dumps(end).encode())]


@pytest.fixture
def filled_gateway(own_gateway):
    """A gateway with every kind of data that a backup must contain."""
    thread = accepted(own_gateway.http.post("/threads", json={"title": "kept"}), 201)
    body = {"content": "the ornithopter landed", "role": "user"}
    accepted(own_gateway.http.post(f"/threads/{thread['id']}/turns", json=body), 201)
    agent = {"type": "agent", "name": "helper", "description": "Helps", "definition": {"systemPrompt": "Be kind."}}
    accepted(own_gateway.http.post("/extensions", json=agent), 201)
    accepted(own_gateway.http.put("/agents/helper/soul", json={"content": "I help."}))
    accepted(own_gateway.http.put("/soul", json={"content": "We help."}))
    (own_gateway.data / "skills" / "lift").mkdir(parents=True)
    (own_gateway.data / "skills" / "lift" / "SKILL.md").write_text("Heave.")
    (own_gateway.data / "knowledge" / "raw").mkdir(parents=True, exist_ok=True)
    (own_gateway.data / "knowledge" / "raw" / "note.md").write_text("A note.")
    command(own_gateway, "secret", "list")
    return own_gateway
