-- One row for each change of an agent's stage; the latest row is in force. Rows are never changed. An agent without a
-- row is an apprentice.
CREATE TABLE agent_stages (
  position   INTEGER PRIMARY KEY AUTOINCREMENT,
  agent_id   TEXT NOT NULL,
  from_stage TEXT NOT NULL,
  to_stage   TEXT NOT NULL,
  reason     TEXT NOT NULL,
  at         INTEGER NOT NULL
) STRICT;
-- An agent's history, in order.
CREATE INDEX agent_stages_by_agent ON agent_stages (agent_id, position);
