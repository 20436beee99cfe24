-- The thread that a program continues when it sends a whole conversation: the hash of what the thread held when its last
-- answer to a program ended. One row per thread; a row of a deleted thread is replaced when its hash comes again.
CREATE TABLE client_threads (
  hash      TEXT PRIMARY KEY,
  thread_id TEXT NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;
