-- The thread that the agent works in, once it is made: what it has cost is what the iteration has cost, after a kill too.
ALTER TABLE iterations ADD COLUMN thread_id TEXT;
