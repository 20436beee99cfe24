-- An iteration changes its asset in place to measure it. One row is one iteration under way: `original` is the asset as it
-- was, written before anything touches it, so that a start after a kill can put it back byte for byte; null where it had
-- not been read yet. The row goes in the transaction that records the iteration's experiment.
CREATE TABLE iterations (
  id TEXT PRIMARY KEY,
  domain TEXT NOT NULL,
  asset_path TEXT NOT NULL,
  original TEXT,
  mode INTEGER,
  started_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
