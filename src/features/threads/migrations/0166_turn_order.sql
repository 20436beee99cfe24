-- The order of a thread's turns. Turns of many threads come mixed, so an index of turns by their thread has a page to write
-- for each turn, once there are many. Therefore a thread's row, which a new turn changes anyway, keeps the numbers of its
-- newest turns, each behind a comma, and they are entered here many at a time. What is entered is older than what is not.
CREATE TABLE turn_order (
  thread INTEGER NOT NULL,
  turn INTEGER NOT NULL,
  PRIMARY KEY (thread, turn)
) STRICT, WITHOUT ROWID;
INSERT INTO turn_order (thread, turn) SELECT thread, number FROM turns ORDER BY thread, number;
DROP INDEX turns_by_thread;

ALTER TABLE threads ADD COLUMN newest_turns TEXT NOT NULL DEFAULT '';

-- All turns of a thread, in no order. Where the thread was deleted, all were entered.
CREATE VIEW thread_turns (thread, turn) AS
SELECT thread, turn FROM turn_order
UNION ALL
SELECT number, value FROM threads, json_each('[' || substr(newest_turns, 2) || ']');
