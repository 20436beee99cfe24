-- A signal is something that a person should look at: an anomaly of costs, of a job, of a provider, of the disk, or a
-- report over the API. `number` is the order of arrival. `value` is the measured value, `baseline` the expected one.
-- Signals older than the retention time are deleted.
CREATE TABLE signals (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  severity TEXT NOT NULL CHECK (severity IN ('info', 'warning', 'critical')),
  message TEXT NOT NULL,
  value REAL,
  baseline REAL,
  created_at INTEGER NOT NULL
) STRICT;

-- For deleting old signals.
CREATE INDEX signals_by_time ON signals (created_at);
-- For the latest signal of a kind.
CREATE INDEX signals_by_kind ON signals (kind);
