-- An agent's task list in a thread, as JSON: `[{text, status}]`. A thread without a list has no row.
CREATE TABLE thread_tasks (
  thread INTEGER PRIMARY KEY,
  tasks  TEXT NOT NULL
) STRICT;

CREATE TRIGGER thread_tasks_of_deleted_threads AFTER DELETE ON threads BEGIN
  DELETE FROM thread_tasks WHERE thread = OLD.number;
END;
