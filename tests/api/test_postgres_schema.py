"""The SQLite and PostgreSQL schemas hold the same records: a change to one needs the same change to the other.

They differ in full-text indexes, in row numbers (SQLite assigns rowids itself), and in what only clusters use.
"""

import re
import sqlite3

import pytest

from gateway import REPOSITORY
from postgres import postgres

ONLY_IN_SQLITE = re.compile(r"sqlite_|search_progress$|turn_words|knowledge_words")
ONLY_IN_POSTGRES = {"turn_words", "turns_to_index", "knowledge_words", "changes", "cluster_secret", "active_threads",
                    "idempotency_claims", "cost_nodes", "pairing_codes", "pairing_failures", "placements", "node_addresses"}
TABLES_WITH_NODE = {"runs", "job_runs", "permission_requests", "app_processes", "proposal_outbox", "iterations",
                    "extension_outbox", "extension_directories"}
ONLY_IN_POSTGRES_COLUMNS = {("runs", "number"), *((table, "node") for table in TABLES_WITH_NODE)}
ONLY_IN_POSTGRES_FILES = {"0240_cluster.sql", "0250_cluster_events.sql", "0251_node_epochs.sql",
                          "0252_idempotency_claims.sql", "0253_cost_nodes.sql",
                          "0254_tell_nodes.sql", "0255_pairing.sql", "0256_push_changes.sql",
                          "0267_shared_files.sql", "0271_placements.sql", "0272_node_addresses.sql"}
TYPES = {"INTEGER": "bigint", "REAL": "double precision", "TEXT": "text"}


def migrations(folder):
    return sorted((REPOSITORY / "src").glob(f"**/{folder}/[0-9]*.sql"), key=lambda path: path.name)


@pytest.fixture(scope="module")
def sqlite():
    database = sqlite3.connect(":memory:")
    for path in migrations("migrations"):
        database.executescript(path.read_text())
    return database


@pytest.fixture(scope="module")
def server():
    with postgres() as running:
        running.create("agw")
        for path in migrations("migrations/postgres"):
            running.psql("agw", path.read_text())
        yield running


def sqlite_tables(sqlite):
    names = sqlite.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    return sorted(name for (name,) in names if not ONLY_IN_SQLITE.match(name))


def sqlite_columns(sqlite):
    found = set()
    for table in sqlite_tables(sqlite):
        for _, name, kind, is_required, default, key in sqlite.execute(f"PRAGMA table_info({table})"):
            found.add((table, name, TYPES[kind], bool(is_required or key), default))
    return found


def sqlite_keys(sqlite):
    """Returns each unique set of columns of each table, and whether its index is partial."""
    keys = set()
    for table in sqlite_tables(sqlite):
        columns = sorted((key, name) for _, name, _, _, _, key in sqlite.execute(f"PRAGMA table_info({table})") if key)
        keys.add((table, tuple(name for _, name in columns), False))
        for _, index, is_unique, _, is_partial in sqlite.execute(f"PRAGMA index_list({table})"):
            if is_unique:
                names = tuple(name for _, _, name in sqlite.execute(f"PRAGMA index_info({index})"))
                keys.add((table, names, bool(is_partial)))
    return keys


def test_postgresql_has_the_same_columns(sqlite, server):
    rows = server.psql("agw", """
        SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns
        JOIN information_schema.tables USING (table_schema, table_name)
        WHERE table_schema = 'public' AND table_type = 'BASE TABLE'""")
    columns = {(table, name, kind, is_nullable == "NO", default.removesuffix("::text") or None)
               for table, name, kind, is_nullable, default in rows
               if table not in ONLY_IN_POSTGRES and (table, name) not in ONLY_IN_POSTGRES_COLUMNS}
    assert columns == sqlite_columns(sqlite)


def test_postgresql_has_the_same_unique_keys(sqlite, server):
    rows = server.psql("agw", """
        SELECT owner.relname, array_to_string(array_agg(attname ORDER BY place), ','), indpred IS NOT NULL
        FROM pg_index JOIN pg_class AS owner ON owner.oid = indrelid, unnest(indkey) WITH ORDINALITY AS part (number, place)
        JOIN pg_attribute ON attnum = number
        WHERE attrelid = indrelid AND indisunique AND relnamespace = 'public'::regnamespace
        GROUP BY indexrelid, owner.relname, indpred IS NOT NULL""")
    keys = {(table, tuple(name for name in names.split(",") if name != "node"), is_partial == "t") for table, names, is_partial in rows
            if table not in ONLY_IN_POSTGRES}
    assert keys == sqlite_keys(sqlite)


def test_postgresql_checks_the_same_values(sqlite, server):
    written = "\n".join(path.read_text() for path in migrations("migrations"))
    in_sqlite = sorted(re.findall(r"CHECK \((\w+)", written))
    in_postgres = sorted(column.strip('"') for (column,) in server.psql("agw", """
        SELECT attname FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1]
        WHERE contype = 'c' AND connamespace = 'public'::regnamespace"""))
    assert in_postgres == in_sqlite


def test_postgresql_migrations_are_numbered_like_those_of_sqlite():
    sqlite_folders = {path.name[:4]: path.parent for path in migrations("migrations")}
    for path in migrations("migrations/postgres"):
        if path.name in ONLY_IN_POSTGRES_FILES:
            assert path.name[:4] not in sqlite_folders, path
            continue
        assert sqlite_folders.get(path.name[:4]) == path.parent.parent, path


def test_deleting_a_thread_deletes_the_rows_derived_from_it(server):
    server.psql("agw", """
        INSERT INTO threads (number, id, agent_id, title, titled_by, mode, created_at, updated)
          VALUES (1, 't', 'a', '', 'nobody', 'auto', 0, 0);
        INSERT INTO turns (number, id, thread, role, created_at, content) VALUES (7, 'u', 1, 'user', 0, 'text');
        INSERT INTO turn_order (thread, turn) VALUES (1, 5);
        UPDATE threads SET newest_turns = ',7,9';
        INSERT INTO thread_tasks (thread, tasks) VALUES (1, '[]');
        INSERT INTO thread_summaries (thread_id, last_turn_id, turns, text, created_at) VALUES ('t', 'u', 1, '', 0);
        INSERT INTO found_tools (thread_id, names) VALUES ('t', '[]')""")
    assert server.psql("agw", "SELECT turn FROM thread_turns WHERE thread = 1 ORDER BY turn") == [["5"], ["7"], ["9"]]
    assert server.psql("agw", "SELECT turn FROM turns_to_index") == [["7"]]
    server.psql("agw", "DELETE FROM turns; DELETE FROM threads")
    remaining = server.psql("agw", """
        SELECT (SELECT count(*) FROM thread_tasks) + (SELECT count(*) FROM thread_summaries)
          + (SELECT count(*) FROM found_tools) + (SELECT count(*) FROM turns_to_index)""")
    assert remaining == [["0"]]


def test_samples_of_experiments_are_stored_as_in_sqlite(sqlite, server):
    values = [1.0, 0.1, 1e20, -3.25e-7, 123456789.123, 2 / 3]
    for number, value in enumerate(values):
        row = f"('{number}', 'd', '{'keep' if number % 2 else 'discard'}', 'm', {value!r}, 1, 0)"
        insert = ("INSERT INTO experiments (id, domain, verdict, metric, value, higher_is_better, created_at) "
                  f"VALUES {row}")
        sqlite.execute(insert)
        server.psql("agw", insert)
    query = "SELECT sample_count, higher_is_better, samples FROM experiment_samples"
    [[count, direction, samples]] = server.psql("agw", query)
    in_sqlite = sqlite.execute(query).fetchone()
    assert (int(count), int(direction)) == in_sqlite[:2]
    read = [(sample[0], float(sample[1:])) for sample in samples.split(" ") if sample]
    assert read == [(sample[0], float(sample[1:])) for sample in in_sqlite[2].split(" ") if sample]
    assert [value for _, value in read] == values
