CREATE TABLE answer_thoughts (
  turn_id TEXT PRIMARY KEY,
  thread_id TEXT NOT NULL,
  model TEXT NOT NULL,
  bytes BIGINT NOT NULL,
  thoughts TEXT NOT NULL
);
CREATE INDEX answer_thoughts_by_thread ON answer_thoughts (thread_id);

CREATE FUNCTION forget_thoughts_of_turn() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM answer_thoughts WHERE turn_id = OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER answer_thoughts_of_deleted_turns AFTER DELETE ON turns
FOR EACH ROW EXECUTE FUNCTION forget_thoughts_of_turn();
