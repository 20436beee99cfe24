-- The tables of this room as they are after 0234: the files next to this folder describe them.
CREATE TABLE idempotency_keys (
  path TEXT NOT NULL,
  key TEXT NOT NULL,
  body_hash TEXT NOT NULL,
  status BIGINT NOT NULL,
  body TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  fields TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (path, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
