-- The hosts that commands of a run reached (`allowed` 1) or were refused (0), with the number of connections.
CREATE TABLE contacted_hosts (
  run_id TEXT NOT NULL,
  host TEXT NOT NULL,
  port INTEGER NOT NULL,
  allowed INTEGER NOT NULL,
  reason TEXT NOT NULL,
  connections INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (run_id, host, port, allowed)
) STRICT, WITHOUT ROWID;

-- Finds the rows to delete by age.
CREATE INDEX contacted_hosts_by_time ON contacted_hosts (created_at);
