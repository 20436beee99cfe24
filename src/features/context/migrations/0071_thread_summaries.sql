-- Summaries that models read instead of a thread's older turns when these no longer fit the context window. A summary
-- covers the turns up to and including `last_turn_id`; `turns` is how many there were. If the number differs now, one
-- of them was regenerated, and the summary is made again.
CREATE TABLE thread_summaries (
  thread_id    TEXT PRIMARY KEY,
  last_turn_id TEXT NOT NULL,
  turns        INTEGER NOT NULL,
  text         TEXT NOT NULL,
  created_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- When a person deletes a turn, everything derived from it is deleted too.
CREATE TRIGGER thread_summaries_of_deleted_threads AFTER DELETE ON threads BEGIN
  DELETE FROM thread_summaries WHERE thread_id = OLD.id;
END;
CREATE TRIGGER thread_summaries_of_deleted_turns AFTER DELETE ON turns BEGIN
  DELETE FROM thread_summaries WHERE thread_id = (SELECT id FROM threads WHERE number = OLD.thread);
END;
