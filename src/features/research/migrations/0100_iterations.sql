-- An iteration changes its asset in place to measure it. One row is one active iteration: `original` is the asset
-- before the change, stored first, so that a start after a kill restores it byte for byte; null if it had not been
-- read yet. The row is deleted in the transaction that records the iteration's experiment.
CREATE TABLE iterations (
  id TEXT PRIMARY KEY,
  domain TEXT NOT NULL,
  asset_path TEXT NOT NULL,
  original TEXT,
  mode INTEGER,
  started_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
