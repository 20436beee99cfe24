-- One row for each file uploaded for a chat. Its content is the file `attachments/<id>` in the data directory, which
-- is written before the row. Turns refer to it in their metadata.
CREATE TABLE attachments (
  id         TEXT PRIMARY KEY,
  name       TEXT NOT NULL,
  mime       TEXT NOT NULL,
  size       INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
