-- Input tokens of each day, and how many of them services read from their prompt caches.
CREATE TABLE cost_tokens (
  day    INTEGER PRIMARY KEY,
  input  INTEGER NOT NULL,
  cached INTEGER NOT NULL
) STRICT;
