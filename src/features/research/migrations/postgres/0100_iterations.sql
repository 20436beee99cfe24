-- The tables of this room as they are after 0183: the files next to this folder describe them.
CREATE TABLE iterations (
  id TEXT PRIMARY KEY,
  domain TEXT NOT NULL,
  asset_path TEXT NOT NULL,
  original TEXT,
  mode BIGINT,
  started_at BIGINT NOT NULL,
  thread_id TEXT
);
