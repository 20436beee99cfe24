-- What is known of the answer so far (model, usage, cost, duration), as JSON, stored with each piece, so that a
-- killed run's answer has the same metadata as any other. The last piece counts.
ALTER TABLE run_pieces ADD COLUMN progress TEXT NOT NULL DEFAULT '{}';
