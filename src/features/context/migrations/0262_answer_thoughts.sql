-- What a model thought in an answer, as its service takes it back: a list of `{step, model, blocks}` in JSON, of `bytes`
-- bytes. Later turns of the thread send it again, so that what the service has cached of the conversation stays.
CREATE TABLE answer_thoughts (
  turn_id   TEXT PRIMARY KEY,
  thread_id TEXT NOT NULL,
  model     TEXT NOT NULL,
  bytes     INTEGER NOT NULL,
  thoughts  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- A thread's are read with each of its runs.
CREATE INDEX answer_thoughts_by_thread ON answer_thoughts (thread_id);

CREATE TRIGGER answer_thoughts_of_deleted_turns AFTER DELETE ON turns BEGIN
  DELETE FROM answer_thoughts WHERE turn_id = OLD.id;
END;
