-- What runs changed in files, in order: one row for each change of a path, written before the change is made. `path` and
-- `root`, the run's working directory, are the bytes of the file system. `kind` is `write`, `undo` or `redo`. `before` and
-- `after` are `absent`, `file`, `symlink` or `directory`, with the SHA-256 of the content in hex (null for a directory,
-- and if it was not kept), permission bits and, before the change, times in nanoseconds. `undone_by` is the number of
-- the undo, or of the redo of an undo. `settled` is 0 while an undo or a redo may not have reached the file.
CREATE TABLE file_changes (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  root TEXT NOT NULL,
  path TEXT NOT NULL,
  kind TEXT NOT NULL,
  before_kind TEXT NOT NULL,
  before_hash TEXT,
  before_mode INTEGER NOT NULL,
  before_modified_ns INTEGER NOT NULL,
  before_accessed_ns INTEGER NOT NULL,
  after_kind TEXT NOT NULL,
  after_hash TEXT,
  after_mode INTEGER NOT NULL,
  after_modified_ns INTEGER NOT NULL,
  after_accessed_ns INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  undone_by INTEGER,
  settled INTEGER NOT NULL
) STRICT;

-- Finds the changes of a run, and those of a thread after a turn.
CREATE INDEX file_changes_by_run ON file_changes (run_id, number);
CREATE INDEX file_changes_by_thread ON file_changes (thread_id, created_at);

-- Finds the rows to delete by age.
CREATE INDEX file_changes_by_time ON file_changes (created_at);

-- What a run may have changed without a copy: a path, and why there is none.
CREATE TABLE uncovered_changes (
  run_id TEXT NOT NULL,
  path TEXT NOT NULL,
  reason TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (run_id, path)
) STRICT;

CREATE INDEX uncovered_changes_by_time ON uncovered_changes (created_at);
