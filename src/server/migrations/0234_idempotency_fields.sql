-- The headers of a stored response that was sent piece by piece, as a JSON array of names and values in turn. Empty for
-- the others, which have none of their own.
ALTER TABLE idempotency_keys ADD COLUMN fields TEXT NOT NULL DEFAULT '';
