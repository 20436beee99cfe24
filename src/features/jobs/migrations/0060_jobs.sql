-- One row is one run of a job, or the reason why it did not run. `number` is the order of insertion and of lists.
-- `job_id` is the id of the job's extension, `job` its name at that time. `thread_id` is the thread with the output.
-- `usage` is a JSON object. Times are milliseconds, UTC; a row with `finished_at` is final.
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

-- The runs of a job in order: an index entry ends with the row's number.
CREATE INDEX job_runs_by_job ON job_runs (job_id);

-- Finds runs that a killed gateway left active, and those that are old enough to delete.
CREATE INDEX job_runs_by_end ON job_runs (finished_at);

-- A due time belongs to the first row that has it: whoever cannot insert one does not fire.
CREATE UNIQUE INDEX job_runs_by_due_time ON job_runs (job_id, due_at) WHERE due_at IS NOT NULL;

-- For each job with a schedule: the latest due time that has, or had, a row. Later due times that have passed were
-- missed.
CREATE TABLE job_due_times (
  job_id TEXT PRIMARY KEY,
  latest INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
