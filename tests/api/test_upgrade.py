"""Data of an earlier release, and a program that is older than its data.

See docs/back-up.md#upgrade-and-downgrade and docs/contract/process.md#the-database.
"""

import contextlib
import shutil
import sqlite3

import pytest

from checks import accepted
from gateway import REPOSITORY
from releases import FOLDER, unpack

RELEASES = sorted(FOLDER.glob("*.tar.xz"))
NAMES = [release.name.removesuffix(".tar.xz") for release in RELEASES]
MIGRATIONS = sorted((REPOSITORY / "src").glob("**/migrations/*.sql"), key=lambda path: path.name)


def number_of(migration):
    return int(migration.name[:4])


def schema_of(file):
    with contextlib.closing(sqlite3.connect(file)) as database:
        return database.execute("PRAGMA user_version").fetchone()[0]


def set_schema(file, version):
    with contextlib.closing(sqlite3.connect(file)) as database:
        database.execute(f"PRAGMA user_version = {version}")


def require_all(found, expected, path):
    """Asserts that nothing is missing or changed; members may have been added."""
    if isinstance(expected, dict):
        for name, value in expected.items():
            assert name in found, f"{path}: {name} is gone"
            require_all(found[name], value, f"{path}.{name}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), f"{path}: {found}"
        for number, value in enumerate(expected):
            require_all(found[number], value, f"{path}[{number}]")
    else:
        assert found == expected, f"{path}: {found!r} instead of {expected!r}"


def assert_unchanged(gateway, responses):
    for path, expected in responses.items():
        require_all(accepted(gateway.http.get(path)), expected, path)


@pytest.fixture(params=RELEASES, ids=NAMES)
def old_release(make_gateway, request):
    """A gateway with the data of a release, not yet started, and the responses of that release."""
    gateway = make_gateway()
    gateway.data.mkdir(mode=0o700)
    return gateway, unpack(request.param, gateway.data)


def copies(gateway):
    return sorted((gateway.data / "backups").glob("gateway-*.db"))


def write_older_database(file):
    """Writes a database that lacks the last migration."""
    with contextlib.closing(sqlite3.connect(file)) as database:
        for migration in MIGRATIONS[:-1]:
            database.executescript(migration.read_text())
    set_schema(file, number_of(MIGRATIONS[-2]))
    file.chmod(0o600)


def test_data_of_each_release_opens_with_this_program(old_release):
    gateway, responses = old_release
    before = schema_of(gateway.data / "gateway.db")
    gateway.start()
    assert_unchanged(gateway, responses)
    assert [schema_of(copy) for copy in copies(gateway)] == ([] if before == number_of(MIGRATIONS[-1]) else [before])


def test_database_is_copied_before_it_is_migrated(make_gateway):
    gateway = make_gateway()
    gateway.data.mkdir(mode=0o700)
    file, before = gateway.data / "gateway.db", number_of(MIGRATIONS[-2])
    write_older_database(file)
    gateway.start()
    assert gateway.stop() == 0
    assert schema_of(file) == number_of(MIGRATIONS[-1])
    assert [schema_of(copy) for copy in copies(gateway)] == [before]
    assert f"from schema {before} to {number_of(MIGRATIONS[-1])}" in gateway.stderr


def test_copy_made_after_the_clock_was_set_back_is_kept(make_gateway):
    gateway = make_gateway()
    file, before = gateway.data / "gateway.db", number_of(MIGRATIONS[-2])
    (gateway.data / "backups").mkdir(mode=0o700, parents=True)
    gateway.data.chmod(0o700)
    for day in (1, 2, 3):
        (gateway.data / "backups" / f"gateway-2099010{day}T000000.000Z-schema-0001.db").touch()
    write_older_database(file)
    gateway.start()
    assert schema_of(copies(gateway)[0]) == before and len(copies(gateway)) == 4


def test_error_after_a_downgrade_names_the_copy_from_before_the_upgrade(old_release):
    gateway, responses = old_release
    file, latest = gateway.data / "gateway.db", number_of(MIGRATIONS[-1])
    gateway.start()
    assert gateway.stop() == 0
    # Newer than the copy that the start above made, if the release had an older schema.
    copy = gateway.data / "backups" / f"gateway-20990101T000000.000Z-schema-{latest:04}.db"
    copy.parent.mkdir(mode=0o700, exist_ok=True)
    shutil.copy(file, copy)
    set_schema(file, latest + 1)
    failed = gateway.fails()
    assert failed.status == 5 and "Install the newer agw again" in failed.stderr
    assert f"copy {copy} to {file}" in failed.stderr and "gateway.db-wal, gateway.db-shm" in failed.stderr
    shutil.copy(copy, file)
    gateway.start()
    assert_unchanged(gateway, responses)


def test_error_after_a_downgrade_without_a_copy_names_agw_restore(old_release):
    gateway, _ = old_release
    set_schema(gateway.data / "gateway.db", number_of(MIGRATIONS[-1]) + 1)
    shutil.rmtree(gateway.data / "backups", ignore_errors=True)
    assert "agw restore" in gateway.fails().stderr
