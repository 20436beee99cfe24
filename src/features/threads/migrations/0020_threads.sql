-- A thread is a conversation with one agent. Rows are found by `id`, which clients know, and joined by `number`,
-- which is short and never reused.
--
-- `updated` is in microseconds and increases with every change, so that threads changed in the same millisecond have
-- an order; clients see it in milliseconds. `titled_by` says whose the title is: nobody's (the first user turn will
-- set it), the gateway's, or a person's, which the gateway does not replace.
CREATE TABLE threads (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  agent_id TEXT NOT NULL,
  project_id TEXT,
  job_id TEXT,
  title TEXT NOT NULL,
  titled_by TEXT NOT NULL CHECK (titled_by IN ('nobody', 'gateway', 'person')),
  archived INTEGER NOT NULL DEFAULT 0,
  mode TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  turn_count INTEGER NOT NULL DEFAULT 0
) STRICT;

-- The list, latest change first: of all threads, of an agent's, and by columns that few threads have. `archived` is
-- included so that archived threads are skipped without reading their rows.
CREATE INDEX threads_by_update ON threads (updated, archived);
CREATE INDEX threads_by_agent ON threads (agent_id, updated, archived);
CREATE INDEX threads_by_project ON threads (project_id, updated, archived) WHERE project_id IS NOT NULL;
CREATE INDEX threads_by_job ON threads (job_id, updated, archived) WHERE job_id IS NOT NULL;

-- A deleted thread whose turns are still being deleted, in batches. Only that process sees it.
CREATE TABLE deleted_threads (
  number INTEGER PRIMARY KEY,
  agent_id TEXT NOT NULL
) STRICT;

-- A turn is one message. `number` is the order of insertion and of every list; numbers are never reused, because a
-- new turn below the search index's mark would not be indexed. `answers` is the number of the user turn that a run's
-- turn answers: runs are queued, so an answer may come after the next question. A superseded turn was replaced by
-- regenerating it: people see it, models do not.
CREATE TABLE turns (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  thread INTEGER NOT NULL,
  role TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  answers INTEGER,
  superseded INTEGER NOT NULL DEFAULT 0,
  content TEXT NOT NULL,
  metadata TEXT
) STRICT;

-- The turns of a thread in order: an index entry ends with the row's number.
CREATE INDEX turns_by_thread ON turns (thread);

-- The full-text index of the turns; their texts are in `turns` alone. `scope` holds one word for the thread and one
-- for the agent, so that a search is narrowed inside the index. The row id is the turn's number, negated: the newest
-- come first. The gateway merges the index itself, a little at a time.
CREATE VIRTUAL TABLE turn_words USING fts5(
  scope, body, content = '', tokenize = 'unicode61 remove_diacritics 2'
);
INSERT INTO turn_words (turn_words, rank) VALUES ('automerge', 0);

-- One row: turns up to this number are in `turn_words`.
CREATE TABLE search_progress (
  indexed INTEGER NOT NULL
) STRICT;
INSERT INTO search_progress (indexed) VALUES (0);
