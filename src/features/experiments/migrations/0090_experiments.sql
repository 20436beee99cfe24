-- One row for each experiment: an iteration's change of its asset, or a person's decision on a proposal. Rows are
-- never changed and are kept forever; `number` is their order. `domain` groups what is compared, usually
-- `agent:<name>`. `value` is the measured value of `metric`, `baseline` the value before the change; a decision has
-- neither, a crash has no value. `proposal` is the reference `<agent>/<date>/<name>` of the proposal that was decided
-- on or staged.
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

-- A covering index for confidences: 100,000 rows take about 10 ms.
CREATE INDEX experiments_by_metric ON experiments (domain, metric, number, value, verdict, higher_is_better);

-- For lists by verdict, and for crashes, which count for every metric of their domain.
CREATE INDEX experiments_by_verdict ON experiments (verdict, domain, number);
