-- The response to each POST with an Idempotency-Key, so that a client that lost the response can repeat the request
-- without repeating its effect. Kept for 24 hours; the index finds expired rows.
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
