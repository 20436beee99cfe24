-- With each piece goes what is known of the answer so far (model, usage, cost, how long it took), as JSON: what a killed
-- run leaves says of itself what every other answer says. That of the last piece counts.
ALTER TABLE run_pieces ADD COLUMN progress TEXT NOT NULL DEFAULT '{}';
