-- One row is one run of a job, or the reason why there was none. `number` is the order of insertion, which is the order
-- of lists. `job_id` is the job extension's, `job` its name as it was. `thread_id` is where the output is. `usage` is a
-- JSON object. Times are milliseconds of UTC; `finished_at` is there as soon as nothing more will come.
CREATE TABLE job_runs (
  number      INTEGER PRIMARY KEY AUTOINCREMENT,
  id          TEXT NOT NULL UNIQUE,
  job_id      TEXT NOT NULL,
  job         TEXT NOT NULL,
  thread_id   TEXT,
  "trigger"   TEXT NOT NULL,
  dry         INTEGER NOT NULL,
  status      TEXT NOT NULL,
  due_at      INTEGER,
  started_at  INTEGER,
  finished_at INTEGER,
  error       TEXT,
  usage       TEXT,
  cost_usd    REAL
) STRICT;

-- The runs of a job in their order: an index ends with the row's number.
CREATE INDEX job_runs_by_job ON job_runs (job_id);

-- Finds what a killed gateway left behind, and what is old enough to be removed.
CREATE INDEX job_runs_by_end ON job_runs (finished_at);

-- A due time belongs to the first row that names it: whoever cannot insert one does not fire.
CREATE UNIQUE INDEX job_runs_by_due_time ON job_runs (job_id, due_at) WHERE due_at IS NOT NULL;

-- For each job with a schedule, the latest due time that has a row, or had one before it grew old: what came after it
-- was missed.
CREATE TABLE job_due_times (
  job_id TEXT PRIMARY KEY,
  latest INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
