-- The answer to each POST that came with an Idempotency-Key, so that a client which lost the answer can ask again
-- without doing the thing twice. Kept for 24 hours; the index finds what may be forgotten.
CREATE TABLE idempotency_keys (
  path       TEXT NOT NULL,
  key        TEXT NOT NULL,
  body_hash  TEXT NOT NULL,
  status     INTEGER NOT NULL,
  body       TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (path, key)
) STRICT;
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
