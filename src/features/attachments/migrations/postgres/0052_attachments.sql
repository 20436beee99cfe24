-- The tables of this room as they are after 0052: the files next to this folder describe them.
CREATE TABLE attachments (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  mime TEXT NOT NULL,
  size BIGINT NOT NULL,
  created_at BIGINT NOT NULL
);
