-- One row for each run from the moment its question is stored. `status` is the licence to end it: whoever changes
-- `queued` or `started` to something else, once, may say that it ended. After the end `log` holds its events packed, for
-- clients that lost their connection; the row is forgotten ten minutes later.
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
-- Finds what a killed gateway left behind, and what may be forgotten.
CREATE INDEX runs_by_end ON runs (ended_at);

-- The text of an answer under way, appended at most once a second, so that a kill loses no more than that.
CREATE TABLE run_pieces (
  run_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  text   TEXT NOT NULL,
  PRIMARY KEY (run_id, number)
) STRICT, WITHOUT ROWID;
