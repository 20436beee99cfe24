-- A thread is a conversation of one agent. Rows are found by `id`, which clients know, and joined by `number`, which is
-- short and never used again.
--
-- `updated` is in microseconds, greater with every change, so that threads changed in the same millisecond have an
-- order; what clients see of it are its milliseconds. `titled_by` says whose the title is: nobody's (it awaits the first
-- user turn), the gateway's or a person's, whom the gateway does not overrule.
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

-- The list, newest change first: of all, of an agent, and of what few threads have. `archived` is in them so that
-- archived threads are passed over without reading their rows.
CREATE INDEX threads_by_update ON threads (updated, archived);
CREATE INDEX threads_by_agent ON threads (agent_id, updated, archived);
CREATE INDEX threads_by_project ON threads (project_id, updated, archived) WHERE project_id IS NOT NULL;
CREATE INDEX threads_by_job ON threads (job_id, updated, archived) WHERE job_id IS NOT NULL;

-- A thread that was deleted and whose turns are still being removed, in pieces. Nothing but that removal sees it.
CREATE TABLE deleted_threads (
  number INTEGER PRIMARY KEY,
  agent_id TEXT NOT NULL
) STRICT;

-- A turn is one message. `number` is the order of insertion, which is the order of every list; numbers are never used
-- again, or a new turn could hide behind the mark of the search index. `answers` is the number of the user turn that a
-- run's turn answers: runs wait for each other, so an answer may come after the next question. A superseded turn was
-- regenerated away: people see it, models do not.
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

-- The turns of a thread in their order: an index ends with the row's number.
CREATE INDEX turns_by_thread ON turns (thread);

-- The words of the turns, for search; texts are kept in `turns` alone. `scope` holds one word for the thread and one for
-- the agent, so that a search is narrowed inside the index. A turn's row is its number, negated: the newest come first.
-- The gateway merges the index itself, a little and often.
CREATE VIRTUAL TABLE turn_words USING fts5(
  scope, body, content = '', tokenize = 'unicode61 remove_diacritics 2'
);
INSERT INTO turn_words (turn_words, rank) VALUES ('automerge', 0);

-- One row: turns up to this number are in `turn_words`, later ones are not yet.
CREATE TABLE search_progress (
  indexed INTEGER NOT NULL
) STRICT;
INSERT INTO search_progress (indexed) VALUES (0);
