-- What models read instead of a thread's older turns once these do not fit their window any more: a summary of the turns
-- up to and with `last_turn_id`, of which there were `turns`. Another number means that one of them was answered anew,
-- and the summary is made again.
CREATE TABLE thread_summaries (
  thread_id    TEXT PRIMARY KEY,
  last_turn_id TEXT NOT NULL,
  turns        INTEGER NOT NULL,
  text         TEXT NOT NULL,
  created_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What a person deletes is gone at once, also from what was made of it.
CREATE TRIGGER thread_summaries_of_deleted_threads AFTER DELETE ON threads BEGIN
  DELETE FROM thread_summaries WHERE thread_id = OLD.id;
END;
CREATE TRIGGER thread_summaries_of_deleted_turns AFTER DELETE ON turns BEGIN
  DELETE FROM thread_summaries WHERE thread_id = (SELECT id FROM threads WHERE number = OLD.thread);
END;
