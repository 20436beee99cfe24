-- One row for each call or question that waited for a person. `request` is the latest PermissionRequest as JSON; the
-- other columns serve to find it. A row that has no `decided_at` when the gateway starts was left by a killed
-- gateway.
CREATE TABLE permission_requests (
  id         TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL,
  decided_at INTEGER,
  request    TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Finds the requests that a killed gateway left, and those that are old enough to delete.
CREATE INDEX permission_requests_by_end ON permission_requests (decided_at);

-- What people have allowed for longer than one call. `thread_id` is null if the grant holds in all threads of the
-- agent.
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
