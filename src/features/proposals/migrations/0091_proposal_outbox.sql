-- A decision on a proposal touches a target, the extensions, the proposal's file and the experiments. One row is one
-- decision under way: it is written before anything is touched, and goes in the transaction that records the experiment.
-- A start that finds rows finishes them, so that a proposal is pending or decided, never half.
--
-- `proposal` is the reference `<agent>/<date>` or `<agent>/<date>/<name>`. `target` stands as the proposal has it, and
-- `content` is what it becomes, an edited text too; both are null for a rejection. `reason` is the experiment's.
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
