-- The boundaries of the run's text events, and the events of other kinds until then, packed by RunLog: a client that
-- lost its connection to a killed gateway catches up on what was sent. Empty if an earlier version wrote the piece.
ALTER TABLE run_pieces ADD COLUMN events TEXT NOT NULL DEFAULT '';
