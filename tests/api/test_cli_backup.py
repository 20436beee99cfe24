"""agw backup and agw restore.

See docs/command-line.md#backup-and-restore.
"""

import errno
import io
import json
import os
import signal
import sqlite3
import subprocess
import tarfile
import threading

import pytest

from checks import PATIENCE, accepted
from disks import fill, small_disk
from gateway import BINARY
from story import fault_library

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


def durable_state(gateway):
    return {
        "threads": accepted(gateway.http.get("/threads")),
        "found": [turn["content"] for turn in accepted(gateway.http.get(
            "/turns/search", params={"q": "ornithopter", "agent_id": "assistant"}))],
        "helper": accepted(gateway.http.get("/extensions/helper"))["definition"],
        "souls": [accepted(gateway.http.get(path))["content"] for path in ("/soul", "/agents/helper/soul")],
        "skill": (gateway.data / "skills" / "lift" / "SKILL.md").read_text(),
        "note": (gateway.data / "knowledge" / "raw" / "note.md").read_text(),
    }


def test_running_gateway_is_backed_up_and_restored_elsewhere(filled_gateway, make_gateway, tmp_path):
    kept = durable_state(filled_gateway)
    archive = tmp_path / "backup.tar.zst"
    command(filled_gateway, "backup", str(archive))
    assert archive.stat().st_mode & 0o777 == 0o600 and list(tmp_path.glob("backup.*")) == [archive]
    other = make_gateway()
    output = command(other, "restore", str(archive))
    assert "is restored" in output and "kept" not in output, "there was no data before"
    assert os.listdir(other.home) == [other.data.name]
    assert other.data.stat().st_mode & 0o777 == 0o700
    assert durable_state(other.start()) == kept


def test_restore_keeps_modification_times(filled_gateway, make_gateway, tmp_path):
    page = filled_gateway.data / "knowledge" / "wiki" / "lift.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("Heave.")
    os.utime(page, ns=(0, 1_700_000_000_123_456_789))
    command(filled_gateway, "backup", str(tmp_path / "b"))
    other = make_gateway()
    command(other, "restore", str(tmp_path / "b"))
    pages = accepted(other.start().http.get("/knowledge/pages"))
    assert [page["updated_at"] for page in pages] == ["2023-11-14T22:13:20.123Z"]


def test_restored_files_are_private(filled_gateway, make_gateway, tmp_path):
    command(filled_gateway, "backup", str(tmp_path / "b"))
    other = make_gateway()
    command(other, "restore", str(tmp_path / "b"))
    restored = list(other.data.rglob("*"))
    assert other.data / "agents" / "helper" in restored
    assert [path for path in restored if path.stat().st_mode & 0o077] == []


def test_incompressible_backup_is_complete_and_leaves_no_temporary_file(own_gateway, tmp_path):
    big = own_gateway.data / "knowledge" / "raw" / "noise.bin"
    big.parent.mkdir(parents=True, exist_ok=True)
    big.write_bytes(os.urandom(10 * 1024 * 1024))
    (tmp_path / "made").mkdir()
    command(own_gateway, "backup", tmp_path / "made" / "all.tar.zst")
    assert dict(entries(tmp_path / "made" / "all.tar.zst"))["data/knowledge/raw/noise.bin"] == big.read_bytes()
    assert os.listdir(tmp_path / "made") == ["all.tar.zst"]


def test_file_names_of_any_bytes_are_backed_up_and_restored(own_gateway, make_gateway, tmp_path):
    accepted(own_gateway.http.put("/agents/J%C3%BCrgen/soul", json={"content": "Ich helfe."}))
    folder = os.fsencode(own_gateway.data / "knowledge" / "raw" / "Übung ünï")
    os.makedirs(folder)
    (own_gateway.data / "knowledge" / "raw" / "Übung ünï" / ("n" * 120 + "ß.md")).write_text("long")
    with open(folder + b"/caf\xe9.md", "wb") as latin:
        latin.write(b"latin")
    command(own_gateway, "backup", str(tmp_path / "ünï.tar.zst"))
    other = make_gateway()
    command(other, "restore", str(tmp_path / "ünï.tar.zst"))
    restored = os.fsencode(other.data / "knowledge" / "raw" / "Übung ünï")
    with open(restored + b"/caf\xe9.md", "rb") as latin:
        assert latin.read() == b"latin"
    assert sorted(os.listdir(restored)) == sorted(os.listdir(folder))
    other.start()
    assert accepted(other.http.get("/agents/J%C3%BCrgen/soul"))["content"] == "Ich helfe."


def test_stopped_gateway_is_backed_up(filled_gateway, tmp_path):
    assert filled_gateway.stop() == 0
    command(filled_gateway, "backup", str(tmp_path / "b"))
    assert "data/gateway.db" in dict(entries(tmp_path / "b"))


def test_restore_keeps_the_old_data_and_the_token(filled_gateway, tmp_path):
    command(filled_gateway, "backup", str(tmp_path / "b"))
    token = filled_gateway.token
    accepted(filled_gateway.http.put("/soul", json={"content": "Later."}))
    assert filled_gateway.stop() == 0
    output = command(filled_gateway, "restore", str(tmp_path / "b"))
    aside = next(filled_gateway.home.glob(".agent-gateway.before-restore-*"))
    assert str(aside) in output and (aside / "soul.md").read_text() == "Later."
    filled_gateway.start()
    assert filled_gateway.token == token and accepted(filled_gateway.http.get("/soul"))["content"] == "We help."
    assert not list(filled_gateway.home.glob("*.restore-*"))


def test_restore_works_where_directories_cannot_be_exchanged(filled_gateway, tmp_path):
    preloaded = fault_library("network_files", tmp_path) or pytest.skip("the sanitizer must be the first library")
    kept = durable_state(filled_gateway)
    command(filled_gateway, "backup", str(tmp_path / "b.tar.zst"))
    assert filled_gateway.http.delete("/extensions/helper").status_code == 204
    assert filled_gateway.stop() == 0
    filled_gateway.environment["LD_PRELOAD"] = str(preloaded)
    assert "The old data is kept in" in command(filled_gateway, "restore", str(tmp_path / "b.tar.zst"))
    del filled_gateway.environment["LD_PRELOAD"]
    assert durable_state(filled_gateway.start()) == kept
    [old] = filled_gateway.data.parent.glob(filled_gateway.data.name + ".before-restore-*")
    assert (old / "gateway.db").exists()


def test_backup_omits_token_lock_and_logs(filled_gateway, tmp_path):
    (filled_gateway.data / "link").symlink_to("/etc/passwd")
    command(filled_gateway, "backup", str(tmp_path / "b"))
    found = dict(entries(tmp_path / "b"))
    assert next(iter(found)) == HEAD and filled_gateway.token.encode() not in b"".join(filter(None, found.values()))
    for name in found:
        assert not any(part in name for part in (".gateway-token", "gateway.lock", "-wal", "logs", "link")), name


def test_backup_names_what_it_omits_without_control_characters(filled_gateway, tmp_path):
    (filled_gateway.data / "a\x1b]0;b\x07").symlink_to("/etc/passwd")
    output = command(filled_gateway, "backup", str(tmp_path / "b"))
    assert "a\\x1b]0;b\\x07" in output and "\x1b" not in output


def test_what_cannot_be_read_is_named_and_the_backup_fails(make_gateway):
    gateway = make_gateway(user=65534 if os.geteuid() == 0 else None).start()
    locked, kept = gateway.data / "skills" / "locked", gateway.data / "skills" / "kept.md"
    locked.mkdir(parents=True)
    kept.write_text("Read me.")
    (gateway.data / "secrets.yaml").write_text("KEY: secret\n")
    for entry, mode in ((locked, 0), (gateway.data / "secrets.yaml", 0), (gateway.data / "lost+found", 0)):
        entry.exists() or entry.mkdir()
        if gateway.user:
            os.chown(entry, gateway.user, gateway.user)
        entry.chmod(mode)
    archive = gateway.home / "b.tar.zst"
    output = command(gateway, "backup", str(archive), status=1)
    for name in ("skills/locked", "secrets.yaml"):
        assert f"left out, because it cannot be read: {name}: permission denied" in output, output
    assert "the backup is incomplete" in output and "lost+found" not in output
    assert ("data/skills/kept.md", b"Read me.") in entries(archive)
    locked.chmod(0o700)


@pytest.mark.parametrize("library, environment", [
    ("network_files", {}),
    ("failing_call", {"FAILING_CALL": "link", "FAILING_AT": "1", "FAILING_ERRNO": str(errno.EPERM)}),
])
def test_disks_without_links_or_flags_of_renames_can_hold_backups(filled_gateway, tmp_path, library, environment):
    """USB sticks (FAT) have no links, network disks no flags of renames."""
    preloaded = fault_library(library, tmp_path) or pytest.skip("the sanitizer must be the first library")
    filled_gateway.environment.update({"LD_PRELOAD": str(preloaded), **environment})
    (tmp_path / "stick").mkdir()
    command(filled_gateway, "backup", str(tmp_path / "stick" / "b.tar.zst"))
    assert os.listdir(tmp_path / "stick") == ["b.tar.zst"]
    assert "is there already" in command(filled_gateway, "backup", str(tmp_path / "stick" / "b.tar.zst"), status=1)


def test_existing_file_is_not_overwritten(filled_gateway, tmp_path):
    (tmp_path / "b").write_text("mine")
    assert "is there already" in command(filled_gateway, "backup", str(tmp_path / "b"), status=1)
    (tmp_path / "l").symlink_to(tmp_path / "elsewhere")
    assert "is there already" in command(filled_gateway, "backup", str(tmp_path / "l"), status=1)
    assert (tmp_path / "b").read_text() == "mine" and not (tmp_path / "elsewhere").exists()


def test_backup_into_the_data_directory_is_refused(filled_gateway):
    assert "outside the data directory" in command(filled_gateway, "backup", str(filled_gateway.data / "b"), status=1)
    (filled_gateway.home / "door").symlink_to(filled_gateway.data)
    assert "outside the data directory" in command(filled_gateway, "backup", str(filled_gateway.home / "door" / "b"), status=1)


def test_backup_without_data_is_refused(make_gateway, tmp_path):
    assert "nothing to back up" in command(make_gateway(), "backup", str(tmp_path / "b"), status=1)


def test_failed_write_leaves_no_file(filled_gateway, tmp_path):
    assert "No such file" in command(filled_gateway, "backup", str(tmp_path / "missing" / "b"), status=1)
    assert not (tmp_path / "missing").exists()


def test_what_killed_backups_left_is_removed(filled_gateway, tmp_path):
    left = [tmp_path / f"old.tar.zst.unfinished-0123abcd{ending}" for ending in ("", ".db", ".db-journal")]
    kept = [tmp_path / name for name in ("now.unfinished-0123abcd", "my.unfinished-novel", "x.unfinished-0123abcd.txt")]
    for file in left + kept:
        file.write_text("half")
    for file in left + kept[1:]:
        os.utime(file, (1_000_000_000, 1_000_000_000))
    command(filled_gateway, "backup", str(tmp_path / "b.tar.zst"))
    assert not any(file.exists() for file in left) and all(file.exists() for file in kept)


SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def interrupted(gateway, folder, mark, number, *arguments):
    """Runs the command, signals it as soon as a name in the folder contains the mark, and returns its status."""
    variables = gateway.variables() | {"AGENT_GATEWAY_DATA_DIR": str(gateway.data)}
    process = subprocess.Popen([str(BINARY), *arguments], env=variables, cwd=gateway.home, stderr=subprocess.DEVNULL)
    while not any(mark in name for name in os.listdir(folder)):
        assert process.poll() is None
    process.send_signal(number)
    return process.wait(PATIENCE)


@pytest.mark.parametrize("number", SIGNALS)
def test_interrupted_backup_leaves_no_file(filled_gateway, tmp_path, number):
    with (filled_gateway.data / "large").open("wb") as file:
        file.truncate(4 << 30)
    folder = tmp_path / "backups"
    folder.mkdir()
    assert interrupted(filled_gateway, folder, ".unfinished-", number, "backup", str(folder / "b.tar.zst")) == -number
    assert os.listdir(folder) == []


def add_large_file(archive, size):
    """Adds a file of zeros to a backup. Not by `agw backup`: with its low priority that takes minutes on a busy machine."""
    *members, (trailer, content) = without_digest(entries(archive))
    end = json.loads(content)
    end["files"] += 1
    pack(archive, [*members, ("data/large", size), (trailer, json.dumps(end).encode())])


@pytest.mark.parametrize("number", SIGNALS)
def test_interrupted_restore_changes_nothing(filled_gateway, tmp_path, number):
    command(filled_gateway, "backup", str(tmp_path / "b.tar.zst"))
    add_large_file(tmp_path / "b.tar.zst", 512 << 20)
    filled_gateway.stop()
    before = sorted(os.listdir(filled_gateway.data.parent)), sorted(os.listdir(filled_gateway.data))
    restore = ("restore", str(tmp_path / "b.tar.zst"))
    assert interrupted(filled_gateway, filled_gateway.data.parent, ".restore-", number, *restore) == -number
    assert (sorted(os.listdir(filled_gateway.data.parent)), sorted(os.listdir(filled_gateway.data))) == before


def test_unwritable_destination_is_reported(filled_gateway, tmp_path):
    folder = tmp_path / "nowhere"
    assert f"cannot write into {folder}: No such file" in command(filled_gateway, "backup", str(folder / "b"), status=1)


def test_damaged_database_is_reported(make_gateway, tmp_path):
    gateway = make_gateway()
    gateway.data.mkdir(mode=0o700)
    (gateway.data / "gateway.db").write_text("no database")
    assert f"{gateway.data / 'gateway.db'} cannot be read" in command(gateway, "backup", str(tmp_path / "b"), status=1)


def test_full_disk_is_reported(filled_gateway, tmp_path):
    with small_disk(tmp_path / "small", "size=64k") as folder:
        output = command(filled_gateway, "backup", str(folder / "b.tar.zst"), status=1)
        assert "is full" in output and "SQLite" not in output and os.listdir(folder) == []


def test_full_disk_of_the_data_is_not_taken_for_that_of_the_backup(make_gateway, tmp_path):
    with small_disk(tmp_path / "small", "size=24m") as folder:
        gateway = make_gateway(data=folder).start()
        assert gateway.stop() == 0
        fill(gateway)
        output = command(gateway, "backup", str(tmp_path / "b.tar.zst"), status=1)
        assert f"the disk that holds {folder} is full: make room there" in output and not (tmp_path / "b.tar.zst").exists()
        checks = {check["check"]: check for check in json.loads(gateway.command("doctor", "--json").stdout)}
        assert checks["disk"]["state"] == "failure" and checks["database"]["state"] == "skipped"


def test_error_of_a_disk_that_goes_away_names_the_archive(filled_gateway, tmp_path):
    preloaded = fault_library("failing_call", tmp_path) or pytest.skip("the sanitizer must be the first library")
    filled_gateway.environment.update({"LD_PRELOAD": str(preloaded), "FAILING_CALL": "fsync", "FAILING_AT": "1",
                                       "FAILING_ERRNO": str(errno.EIO)})
    output = command(filled_gateway, "backup", str(tmp_path / "b.tar.zst"), status=1)
    assert f"nothing was backed up to {tmp_path / 'b.tar.zst'}: cannot write the archive: Input/output error" in output


@pytest.mark.parametrize("arguments", [["backup"], ["restore"], ["backup", "a", "b"], ["backup", ""]], ids=" ".join)
def test_exit_status_of_wrong_usage_is_2(gateway, arguments):
    command(gateway, *arguments, status=2)


def test_backup_is_a_snapshot_during_writes(filled_gateway, tmp_path):
    thread = accepted(filled_gateway.http.get("/threads"))[0]
    done = threading.Event()
    written = 0

    def back_up():
        command(filled_gateway, "backup", str(tmp_path / "b"))
        done.set()

    worker = threading.Thread(target=back_up)
    worker.start()
    while not done.is_set():
        accepted(filled_gateway.http.post(f"/threads/{thread['id']}/turns", json={"content": "w" * 1000, "role": "user"}), 201)
        written += 1
    worker.join()
    (tmp_path / "copy.db").write_bytes(dict(entries(tmp_path / "b"))["data/gateway.db"])
    with sqlite3.connect(tmp_path / "copy.db") as copy:
        assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert copy.execute("SELECT count(*) FROM turns").fetchone()[0] <= written + 1
    assert written > 0


# Restore.


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
