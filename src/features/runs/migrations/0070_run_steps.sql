-- The tool calls that a run under way has made, a row for each step, written before the first of them begins. A kill in
-- the middle of a tool leaves an answer that says which calls stood where, so that each can be given a result: models'
-- services refuse a conversation that has a call without one.
CREATE TABLE run_steps (
  run_id   TEXT NOT NULL,
  number   INTEGER NOT NULL,
  text_end INTEGER NOT NULL,
  calls    TEXT NOT NULL,
  PRIMARY KEY (run_id, number)
) STRICT, WITHOUT ROWID;
