-- The pairing of devices at any node of a cluster. Times are those of the server, in milliseconds.

-- The code that is valid: none or one.
CREATE TABLE pairing_codes (
  code TEXT NOT NULL,
  expires_at BIGINT NOT NULL
);

-- Wrong codes that still count, at all nodes.
CREATE TABLE pairing_failures (at BIGINT NOT NULL);
