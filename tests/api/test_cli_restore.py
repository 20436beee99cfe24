"""agw restore: what an archive may contain.

See docs/command-line.md#backup-and-restore.
"""

import io
import json
import os
import sqlite3
import subprocess
import tarfile

import pytest

from backups import HEAD, command, entries, filled_gateway, pack, without_digest  # noqa: F401 (a fixture)
from disks import small_disk


def test_restore_over_a_running_gateway_is_refused(filled_gateway, tmp_path):
    command(filled_gateway, "backup", str(tmp_path / "b"))
    assert "already runs" in command(filled_gateway, "restore", str(tmp_path / "b"), status=3)


def refused(gateway, archive, why):
    before = sorted(path.name for path in gateway.data.iterdir())
    error = command(gateway, "restore", str(archive), status=1)
    assert why in error, error
    assert sorted(path.name for path in gateway.data.iterdir()) == before
    assert not list(gateway.home.glob("*restore*"))


@pytest.fixture
def backed_up(filled_gateway, tmp_path):
    """A stopped gateway, the entries of its backup, and the folder of the backup."""
    command(filled_gateway, "backup", str(tmp_path / "good"))
    assert filled_gateway.stop() == 0
    return filled_gateway, entries(tmp_path / "good"), tmp_path


def test_repacked_archive_is_a_valid_backup(backed_up):
    gateway, members, folder = backed_up
    command(gateway, "restore", str(pack(folder / "again", members)))


def test_backup_without_digest_is_valid(backed_up):
    gateway, members, folder = backed_up
    command(gateway, "restore", str(pack(folder / "older", without_digest(members))))


def test_old_data_is_kept_if_it_cannot_get_its_new_name(backed_up):
    gateway, _, folder = backed_up
    # The name of the unpacked backup is as long as a name can be, that of the old data would be longer.
    data = gateway.data.with_name("d" * 238)
    gateway.data.rename(data)
    before = {path.name: path.stat().st_ino for path in data.iterdir()}
    error = command(gateway, "restore", str(folder / "good"), "--data-dir", str(data), status=1)
    assert f"the old data is in {data}\n" in error, error
    assert {path.name: path.stat().st_ino for path in data.iterdir()} == before
    assert [path.name for path in data.parent.iterdir() if "restore" in path.name] == []


def test_flipped_bit_is_detected(own_gateway, tmp_path):
    noise = os.urandom(400_000)
    (own_gateway.data / "knowledge" / "raw").mkdir(parents=True, exist_ok=True)
    (own_gateway.data / "knowledge" / "raw" / "noise.bin").write_bytes(noise)
    command(own_gateway, "backup", str(tmp_path / "b"))
    assert own_gateway.stop() == 0
    archive = bytearray((tmp_path / "b").read_bytes())
    archive[archive.index(noise[200_000:200_032])] ^= 1
    (tmp_path / "flipped").write_bytes(archive)
    refused(own_gateway, tmp_path / "flipped", "is damaged")


def test_changed_content_or_name_is_detected(backed_up):
    gateway, members, folder = backed_up
    content = [(name, b"We harm." if name == "data/soul.md" else old) for name, old in members]
    refused(gateway, pack(folder / "x", content), "is damaged")
    names = [(name.replace("note.md", "mote.md"), old) for name, old in members]
    refused(gateway, pack(folder / "x", names), "is damaged")


def test_archive_truncated_anywhere_is_refused(backed_up):
    gateway, _, folder = backed_up
    whole = (folder / "good").read_bytes()
    for length in (0, 1, 100, len(whole) // 3, len(whole) // 2, len(whole) - 600, len(whole) - 1):
        (folder / "cut").write_bytes(whole[:length])
        refused(gateway, folder / "cut", "nothing was restored")


def test_incomplete_archive_is_refused(backed_up):
    gateway, members, folder = backed_up
    refused(gateway, pack(folder / "x", members[:-1]), "its end is missing")
    fewer = [member for member in members if "soul" not in member[0]]
    refused(gateway, pack(folder / "x", fewer), "files are missing")


def test_foreign_file_is_refused(backed_up):
    gateway, _, folder = backed_up
    remedy = ": name a file that `agw backup` made"
    for content in (b"", b"not an archive", os.urandom(5000), b"SQLite format 3\0" + bytes(5000)):
        (folder / "x").write_bytes(content)
        refused(gateway, folder / "x", remedy)
    refused(gateway, pack(folder / "x", [("README", b"hello")]), "no backup of Agent Gateway" + remedy)
    refused(gateway, folder, remedy)
    assert "there is no file" in command(gateway, "restore", str(folder / "missing"), status=1)


def link(name, target, kind):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


@pytest.mark.parametrize("member", [
    ("data/../escaped", b"x"), ("data/../../escaped", b"x"), ("../escaped", b"x"), ("/tmp/escaped", b"x"),
    ("data//tmp/escaped", b"x"), ("data/a/../../../escaped", b"x"), ("data/./soul.md", b"x"), ("data/", b"x"),
    ("data/..", None), ("elsewhere", b"x"), ("data/.gateway-token", b"0" * 64), ("data/gateway.lock", b"{}"),
    ("data/gateway.db-wal", b"x"), ("data/logs/gateway.log", b"x"), ("data/soul.md", b"twice"),
    ("data/" + "x" * 300, b"x"),
    link("data/link", "/etc/passwd", tarfile.SYMTYPE), link("data/agents", "/tmp", tarfile.SYMTYPE),
    link("data/hard", "data/soul.md", tarfile.LNKTYPE), link("data/hard", "/etc/passwd", tarfile.LNKTYPE),
    link("data/pipe", "", tarfile.FIFOTYPE), link("data/device", "", tarfile.CHRTYPE),
], ids=lambda member: (member.name if isinstance(member, tarfile.TarInfo) else member[0])[:40])
def test_unexpected_entry_is_refused(backed_up, member):
    gateway, members, folder = backed_up
    refused(gateway, pack(folder / "x", [*members[:-1], member, members[-1]]), "which no backup does")
    assert not (gateway.home / "escaped").exists() and not os.path.exists("/tmp/escaped")


@pytest.fixture
def few_inodes(tmp_path):
    """A file system with space for ten files and directories."""
    with small_disk(tmp_path / "few", "nr_inodes=10") as disk:
        yield disk


def test_disk_out_of_inodes_is_not_reported_as_a_foreign_backup(backed_up, few_inodes):
    gateway, members, folder = backed_up
    deep = ("data/" + "/".join("abcdefghijkl") + "/x", b"x")
    packed = pack(folder / "x", [members[0], deep, members[-1]])
    error = command(gateway, "restore", str(packed), "--data-dir", str(few_inodes / "data"), status=1)
    assert f"cannot make {few_inodes}/data.restore-" in error and "No space left" in error
    assert "which no backup does" not in error


def test_damaged_database_is_refused(backed_up):
    gateway, members, folder = backed_up
    members = without_digest(members)
    broken = [(name, bytes(len(content)) if name == "data/gateway.db" else content) for name, content in members]
    refused(gateway, pack(folder / "x", broken), "nothing was restored")
    holed = dict(members)["data/gateway.db"]
    holed = holed[:8192] + os.urandom(8192) + holed[16384:]
    broken = [(name, holed if name == "data/gateway.db" else content) for name, content in members]
    refused(gateway, pack(folder / "x", broken), "nothing was restored")


def test_database_of_another_program_is_refused(backed_up):
    gateway, members, folder = backed_up
    members = without_digest(members)
    with sqlite3.connect(folder / "other.db") as other:
        other.execute("CREATE TABLE x (y)")
    other.close()
    content = (folder / "other.db").read_bytes()
    changed = [(name, content if name == "data/gateway.db" else old) for name, old in members]
    refused(gateway, pack(folder / "x", changed), "is not a gateway's")


def test_backup_of_a_newer_gateway_is_refused(backed_up):
    gateway, members, folder = backed_up
    members = without_digest(members)
    head = json.loads(members[0][1])
    newer = [(HEAD, json.dumps({**head, "version": 2, "agw_version": "9.9"}).encode()), *members[1:]]
    refused(gateway, pack(folder / "x", newer), "made by a newer agw (9.9)")
    (folder / "newer.db").write_bytes(dict(members)["data/gateway.db"])
    database = sqlite3.connect(folder / "newer.db")
    database.execute("PRAGMA journal_mode = DELETE")
    database.execute("PRAGMA user_version = 99999")
    database.close()
    content = (folder / "newer.db").read_bytes()
    changed = [(name, content if name == "data/gateway.db" else old) for name, old in members]
    archive = pack(folder / "x", changed)
    refused(gateway, archive, f"the database in {archive} was written by a newer agw")
    error = command(gateway, "restore", str(archive), "--data-dir", str(folder / "Ann's data"), status=1)
    assert f"the database in {archive} was written by a newer agw" in error, error


def test_backup_larger_than_the_disk_is_refused_before_writing(backed_up):
    gateway, members, folder = backed_up
    bomb = tarfile.TarInfo("data/bomb")
    bomb.size = 1 << 50
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as tar:
        info = tarfile.TarInfo(HEAD)
        info.size = len(members[0][1])
        tar.addfile(info, io.BytesIO(members[0][1]))
    text = packed.getvalue()[:512 + 512] + bomb.tobuf(tarfile.GNU_FORMAT)
    (folder / "x").write_bytes(subprocess.run(["zstd", "-q"], input=text, check=True, capture_output=True).stdout)
    refused(gateway, folder / "x", "MiB are free, and 100 MiB must remain")
