-- One row for each file that somebody uploaded for a chat. Its bytes are the file `attachments/<id>` of the data
-- directory, written before the row; turns name it in their metadata.
CREATE TABLE attachments (
  id         TEXT PRIMARY KEY,
  name       TEXT NOT NULL,
  mime       TEXT NOT NULL,
  size       INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
