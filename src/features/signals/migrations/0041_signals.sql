-- A signal is something that a person should look at: an anomaly of costs, of a job, of a provider, of the disk, or what
-- somebody reported over the API. `number` is the order in which they came. `value` is what was measured, `baseline` what
-- was to be expected. Signals older than the retention are neither listed nor kept.
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

-- The old ones, to be removed.
CREATE INDEX signals_by_time ON signals (created_at);
-- The latest of a kind.
CREATE INDEX signals_by_kind ON signals (kind);
