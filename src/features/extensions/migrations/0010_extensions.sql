-- One row is one extension, whatever its type. The gateway reads all of them when it starts and answers from memory;
-- this table is their journal. `position` orders lists by insertion and is never reused. `definition` and `trigger_def`
-- are JSON objects, kept as they were sent. `essential` ones can be neither disabled nor deleted. Times are
-- milliseconds of UTC.
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

-- One row for each built-in extension that somebody deleted: no start and no upgrade brings it back.
CREATE TABLE deleted_built_ins (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

-- At most one row: which content of the shipped extensions was written to `extensions` last. A start that finds the
-- same one reads none of the shipped files.
CREATE TABLE written_built_ins (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  content_id TEXT NOT NULL
) STRICT;
