-- The deferred tools that a thread has found, as JSON: a list of names in the order in which they were found. Models are
-- given their definitions in all later runs of the thread.
CREATE TABLE found_tools (
  thread_id TEXT PRIMARY KEY,
  names     TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER found_tools_of_deleted_threads AFTER DELETE ON threads BEGIN
  DELETE FROM found_tools WHERE thread_id = OLD.id;
END;
