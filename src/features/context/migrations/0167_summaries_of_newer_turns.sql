-- A summary does not cover the turns after those it was made from: it stays when one of those is deleted.
DROP TRIGGER thread_summaries_of_deleted_turns;
CREATE TRIGGER thread_summaries_of_deleted_turns AFTER DELETE ON turns BEGIN
  DELETE FROM thread_summaries WHERE thread_id = (SELECT id FROM threads WHERE number = OLD.thread) AND NOT EXISTS (
    SELECT 1 FROM turns AS last WHERE last.id = thread_summaries.last_turn_id
    AND (coalesce(last.answers, last.number), last.number) < (coalesce(OLD.answers, OLD.number), OLD.number)
  );
END;
