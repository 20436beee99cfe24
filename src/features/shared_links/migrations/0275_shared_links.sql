-- A chat that a person shares by a short link, until `expires_at`. `content` is the chat in base64url, encrypted by the
-- person's browser; the key is in the link only, so that nobody can read the chat from this table. `id` is random,
-- `size` the number of encrypted bytes.
CREATE TABLE shared_links (
  id         TEXT PRIMARY KEY,
  thread_id  TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  size       INTEGER NOT NULL,
  content    TEXT NOT NULL
) STRICT;

-- To list and delete the links of a thread.
CREATE INDEX shared_links_by_thread ON shared_links (thread_id);

-- To find those that have expired.
CREATE INDEX shared_links_by_expiry ON shared_links (expires_at);

CREATE TRIGGER shared_links_of_deleted_threads AFTER DELETE ON threads BEGIN
  DELETE FROM shared_links WHERE thread_id = OLD.id;
END;
