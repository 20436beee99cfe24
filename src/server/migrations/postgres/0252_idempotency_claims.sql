-- The keys of requests that a node is answering: the same request at another node waits for its response.
CREATE TABLE idempotency_claims (
  path TEXT NOT NULL,
  key TEXT NOT NULL,
  node TEXT NOT NULL DEFAULT this_node(),
  created_at BIGINT NOT NULL,
  PRIMARY KEY (path, key)
);
