-- A decision on a proposal changes a target, the extensions, the proposal's file and the experiments. One row is one
-- decision in progress: it is written before any change and deleted in the transaction that records the experiment. A
-- start that finds rows finishes them, so that a proposal is either pending or decided.
--
-- `proposal` is the reference `<agent>/<date>` or `<agent>/<date>/<name>`. `target` is as in the proposal, and
-- `content` the new content, possibly edited; both are null for a rejection. `reason` is the experiment's.
CREATE TABLE proposal_outbox (
  proposal TEXT PRIMARY KEY,
  status TEXT NOT NULL,
  target TEXT,
  content TEXT,
  reason TEXT,
  title TEXT NOT NULL,
  experiment_id TEXT NOT NULL,
  decided_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
