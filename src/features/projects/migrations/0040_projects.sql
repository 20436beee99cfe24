-- A project is a directory of a person's that agents may work in. Rows are found by `id`; `number` is the order of
-- creation. `path` is absolute, inside the home directory, and resolved when it was set. `trusted` means that the
-- person trusts the instructions in the directory.
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
