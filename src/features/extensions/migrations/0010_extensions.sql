-- One row is one extension, whatever its type. The gateway reads all of them when it starts and serves requests from
-- memory. `position` orders lists by insertion and is never reused. `definition` and `trigger_def` are JSON objects,
-- stored as sent. Extensions with `essential` can be neither disabled nor deleted. Times are milliseconds, UTC.
CREATE TABLE extensions (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL,
  name TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL,
  definition TEXT NOT NULL,
  trigger_def TEXT,
  source TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  owner_agent_id TEXT,
  essential INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

-- One row for each built-in extension that a person deleted: neither a start nor an upgrade restores it.
CREATE TABLE deleted_built_ins (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

-- At most one row: the content id of the built-in extensions that were last written to `extensions`. If it matches at
-- start, no built-in file is read.
CREATE TABLE written_built_ins (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  content_id TEXT NOT NULL
) STRICT;
