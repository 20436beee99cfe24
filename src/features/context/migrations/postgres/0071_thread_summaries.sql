-- The tables of this room as they are after 0215: the files next to this folder describe them.
CREATE TABLE thread_summaries (
  thread_id TEXT PRIMARY KEY,
  last_turn_id TEXT NOT NULL,
  turns BIGINT NOT NULL,
  text TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

CREATE TABLE found_tools (
  thread_id TEXT PRIMARY KEY,
  names TEXT NOT NULL
);

CREATE FUNCTION forget_context_of_thread() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM thread_summaries WHERE thread_id = OLD.id;
  DELETE FROM found_tools WHERE thread_id = OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER context_of_deleted_threads AFTER DELETE ON threads
FOR EACH ROW EXECUTE FUNCTION forget_context_of_thread();

CREATE FUNCTION forget_summary_of_turn() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM thread_summaries WHERE thread_id = (SELECT id FROM threads WHERE number = OLD.thread) AND NOT EXISTS (
    SELECT 1 FROM turns AS last WHERE last.id = thread_summaries.last_turn_id
    AND (coalesce(last.answers, last.number), last.number) < (coalesce(OLD.answers, OLD.number), OLD.number)
  );
  RETURN NULL;
END $$;
CREATE TRIGGER thread_summaries_of_deleted_turns AFTER DELETE ON turns
FOR EACH ROW EXECUTE FUNCTION forget_summary_of_turn();
