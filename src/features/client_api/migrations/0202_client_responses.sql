-- Answers of `POST /v1/responses`, which later requests refer to. `conversation` is the input of a model with all before
-- it, and the output; empty for agents, whose conversation is the thread.
CREATE TABLE client_responses (
  id           TEXT PRIMARY KEY,
  created_at   INTEGER NOT NULL,
  thread_id    TEXT NOT NULL,
  body         TEXT NOT NULL,
  conversation TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The oldest are deleted as new ones come.
CREATE INDEX client_responses_by_age ON client_responses (created_at);
