-- One row is one call or question that was put to a person. `request` is the whole PermissionRequest as JSON, as it was
-- last; the other columns find it. A row without `decided_at` at the start was left by a killed gateway.
CREATE TABLE permission_requests (
  id         TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL,
  decided_at INTEGER,
  request    TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Finds those that a killed gateway left, and those that are old enough to be forgotten.
CREATE INDEX permission_requests_by_end ON permission_requests (decided_at);

-- What persons have allowed for longer than one call. `thread_id` is null where it holds in all threads of the agent.
CREATE TABLE grants (
  number     INTEGER PRIMARY KEY AUTOINCREMENT,
  id         TEXT NOT NULL UNIQUE,
  agent_id   TEXT NOT NULL,
  thread_id  TEXT,
  tool       TEXT NOT NULL,
  pattern    TEXT NOT NULL,
  scope      TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
