-- Nodes that tell each other their events, and have one of them answer on a thread at a time.

-- What nodes seal their messages with: whoever can read this database is one of them.
CREATE TABLE cluster_secret (secret TEXT NOT NULL);
INSERT INTO cluster_secret (secret)
SELECT replace(CAST(gen_random_uuid() AS TEXT) || CAST(gen_random_uuid() AS TEXT), '-', '');

-- The threads on which a node answers, or will: all their runs are at that node until the last has ended. A row, and not
-- a look at `runs`, as serializable transactions that look at a table fail when others insert there.
CREATE TABLE active_threads (
  thread_id TEXT PRIMARY KEY,
  node TEXT NOT NULL,
  runs BIGINT NOT NULL
);
INSERT INTO active_threads (thread_id, node, runs)
SELECT thread_id, max(node), count(*) FROM runs WHERE ended_at IS NULL AND node <> '' GROUP BY thread_id;

CREATE FUNCTION enter_active_thread() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.node = '' OR NEW.ended_at IS NOT NULL THEN
    RETURN NULL;
  END IF;
  INSERT INTO active_threads AS active (thread_id, node, runs) VALUES (NEW.thread_id, NEW.node, 1)
  ON CONFLICT (thread_id) DO UPDATE SET runs = active.runs + 1 WHERE active.node = NEW.node;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'another node answers on the thread %', NEW.thread_id USING ERRCODE = 'AGW01';
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION leave_active_thread() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.node = '' OR OLD.ended_at IS NOT NULL THEN
    RETURN NULL;
  END IF;
  UPDATE active_threads SET runs = runs - 1 WHERE thread_id = OLD.thread_id AND node = OLD.node;
  DELETE FROM active_threads WHERE thread_id = OLD.thread_id AND runs <= 0;
  RETURN NULL;
END $$;

CREATE TRIGGER runs_begun AFTER INSERT ON runs
FOR EACH ROW EXECUTE FUNCTION enter_active_thread();
CREATE TRIGGER runs_ended AFTER UPDATE OF ended_at ON runs
FOR EACH ROW WHEN (NEW.ended_at IS NOT NULL) EXECUTE FUNCTION leave_active_thread();
CREATE TRIGGER runs_removed AFTER DELETE ON runs
FOR EACH ROW EXECUTE FUNCTION leave_active_thread();
