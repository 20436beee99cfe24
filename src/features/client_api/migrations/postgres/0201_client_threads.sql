-- The tables of this room as they are after 0202: the files next to this folder describe them.
CREATE TABLE client_threads (
  hash TEXT PRIMARY KEY,
  thread_id TEXT NOT NULL UNIQUE
);

CREATE TABLE client_responses (
  id TEXT PRIMARY KEY,
  created_at BIGINT NOT NULL,
  thread_id TEXT NOT NULL,
  body TEXT NOT NULL,
  conversation TEXT NOT NULL
);
CREATE INDEX client_responses_by_age ON client_responses (created_at);
