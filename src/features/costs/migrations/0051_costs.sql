-- The cost of model calls, summed by day of the host's calendar (days since 1970-01-01) when a run ends, so that a
-- report adds up a few rows and never reads turns. Kept forever.

-- All calls of a day. Days without a cost have no row.
CREATE TABLE cost_days (
  day INTEGER PRIMARY KEY,
  usd REAL NOT NULL
) STRICT;

-- `name` is the agent's name when it last spent something, for reports after the agent is deleted.
CREATE TABLE cost_agents (
  day      INTEGER NOT NULL,
  agent_id TEXT NOT NULL,
  name     TEXT NOT NULL,
  usd      REAL NOT NULL,
  PRIMARY KEY (day, agent_id)
) STRICT, WITHOUT ROWID;

-- `unpriced` counts the calls whose price was unknown; they count as free here.
CREATE TABLE cost_models (
  day      INTEGER NOT NULL,
  model    TEXT NOT NULL,
  usd      REAL NOT NULL,
  unpriced INTEGER NOT NULL,
  PRIMARY KEY (day, model)
) STRICT, WITHOUT ROWID;

-- Threads that have a cost.
CREATE TABLE cost_threads (
  day       INTEGER NOT NULL,
  thread_id TEXT NOT NULL,
  usd       REAL NOT NULL,
  PRIMARY KEY (day, thread_id)
) STRICT, WITHOUT ROWID;
