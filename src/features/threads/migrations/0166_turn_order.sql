-- The order of a thread's turns. Turns of many threads are interleaved, so an index of turns by thread would write a
-- page for each turn once there are many. Instead, a thread's row, which a new turn changes anyway, holds the numbers
-- of its newest turns, each after a comma; they are moved to this table in batches. Numbers in this table are older
-- than those in the row.
CREATE TABLE turn_order (
  thread INTEGER NOT NULL,
  turn INTEGER NOT NULL,
  PRIMARY KEY (thread, turn)
) STRICT, WITHOUT ROWID;
INSERT INTO turn_order (thread, turn) SELECT thread, number FROM turns ORDER BY thread, number;
DROP INDEX turns_by_thread;

ALTER TABLE threads ADD COLUMN newest_turns TEXT NOT NULL DEFAULT '';

-- All turns of a thread, unordered. When a thread is deleted, all its turns have been moved.
CREATE VIEW thread_turns (thread, turn) AS
SELECT thread, turn FROM turn_order
UNION ALL
SELECT number, value FROM threads, json_each('[' || substr(newest_turns, 2) || ']');
