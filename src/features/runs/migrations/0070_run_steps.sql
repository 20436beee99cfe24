-- The tool calls of an active run, a row for each step, written before the first call begins. A killed run's answer
-- can then say how far each call got, and each gets a result: model services reject a conversation that has a call
-- without one.
CREATE TABLE run_steps (
  run_id   TEXT NOT NULL,
  number   INTEGER NOT NULL,
  text_end INTEGER NOT NULL,
  calls    TEXT NOT NULL,
  PRIMARY KEY (run_id, number)
) STRICT, WITHOUT ROWID;
