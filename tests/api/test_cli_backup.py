"""agw backup and agw restore.

See docs/command-line.md#backup-and-restore.
"""

import errno
import json
import os
import signal
import sqlite3
import subprocess
import threading

import pytest

from backups import HEAD, command, entries, filled_gateway, pack, without_digest  # noqa: F401 (a fixture)
from checks import PATIENCE, accepted
from disks import fill, small_disk
from gateway import BINARY
from story import fault_library


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


def test_standard_output_is_refused(filled_gateway):
    assert "name a file" in command(filled_gateway, "backup", "-", status=1)
    assert "-" not in os.listdir(filled_gateway.home)


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
