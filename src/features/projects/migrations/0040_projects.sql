-- A project is a directory of a person's that agents may work in. Rows are found by `id`; `number` is the order in which
-- they were made. `path` is absolute, in home, and as it was resolved when it was set. `trusted` is the person's word
-- that what the directory says to agents may be believed.
CREATE TABLE projects (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  path TEXT NOT NULL,
  description TEXT,
  trusted INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
