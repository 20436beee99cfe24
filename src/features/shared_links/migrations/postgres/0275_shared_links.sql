CREATE TABLE shared_links (
  id TEXT PRIMARY KEY,
  thread_id TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  size BIGINT NOT NULL,
  content TEXT NOT NULL
);
CREATE INDEX shared_links_by_thread ON shared_links (thread_id);
CREATE INDEX shared_links_by_expiry ON shared_links (expires_at);

CREATE FUNCTION forget_links_of_thread() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM shared_links WHERE thread_id = OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER shared_links_of_deleted_threads AFTER DELETE ON threads
FOR EACH ROW EXECUTE FUNCTION forget_links_of_thread();
