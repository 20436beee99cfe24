-- With each piece goes how the run's events cut it, and the events of other kinds until then, as RunLog packs them: a
-- client that lost its connection to a gateway that was killed catches up with what was sent. Empty where an earlier
-- version wrote the piece.
ALTER TABLE run_pieces ADD COLUMN events TEXT NOT NULL DEFAULT '';
