-- One row for each trial: an iteration's change of its asset, or a person's decision on a proposal. Rows are never changed
-- and kept for ever; `number` is their order. `domain` groups what is compared with each other, mostly `agent:<name>`.
-- `value` is what was measured of `metric`, `baseline` what it was before the change; a decision has neither, a crash no
-- value. `proposal` is the reference `<agent>/<date>/<name>` of what was decided on or staged.
CREATE TABLE experiments (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  domain TEXT NOT NULL,
  verdict TEXT NOT NULL,
  metric TEXT,
  value REAL,
  baseline REAL,
  delta REAL,
  unit TEXT,
  higher_is_better INTEGER NOT NULL,
  iteration_id TEXT,
  proposal TEXT,
  reason TEXT,
  notes TEXT,
  duration_ms INTEGER,
  cost_usd REAL,
  created_at INTEGER NOT NULL
) STRICT;

-- All that a confidence is computed from, so that the table itself is not read: a hundred thousand rows in some ten
-- milliseconds.
CREATE INDEX experiments_by_metric ON experiments (domain, metric, number, value, verdict, higher_is_better);

-- For lists of one verdict, and for the crashes, which count for every metric of their domain.
CREATE INDEX experiments_by_verdict ON experiments (verdict, domain, number);
