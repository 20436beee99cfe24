-- One row for each run from the moment its question is stored. `status` decides who may end it: only the one that
-- changes it from `queued` or `started`, once, may announce the end. After the end, `log` holds the run's events in
-- packed form, for clients that lost their connection; the row is deleted ten minutes later.
CREATE TABLE runs (
  id                TEXT PRIMARY KEY,
  thread_id         TEXT NOT NULL,
  turn_id           TEXT NOT NULL,
  assistant_turn_id TEXT NOT NULL,
  agent_id          TEXT NOT NULL,
  run_order         TEXT NOT NULL,
  status            TEXT NOT NULL,
  created_at        INTEGER NOT NULL,
  ended_at          INTEGER,
  log               TEXT
) STRICT;
-- Finds runs that a killed gateway left active, and those that may be deleted.
CREATE INDEX runs_by_end ON runs (ended_at);

-- The text of an active answer, appended at most once a second, so that a kill loses no more than a second.
CREATE TABLE run_pieces (
  run_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  text   TEXT NOT NULL,
  PRIMARY KEY (run_id, number)
) STRICT, WITHOUT ROWID;
