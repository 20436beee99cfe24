-- The tables of this room as they are after 0091: the files next to this folder describe them.
CREATE TABLE proposal_outbox (
  proposal TEXT PRIMARY KEY,
  status TEXT NOT NULL,
  target TEXT,
  content TEXT,
  reason TEXT,
  title TEXT NOT NULL,
  experiment_id TEXT NOT NULL,
  decided_at BIGINT NOT NULL
);
