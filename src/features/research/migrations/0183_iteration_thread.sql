-- The thread that the agent works in, once it exists: its cost is the cost of the iteration, even after a kill.
ALTER TABLE iterations ADD COLUMN thread_id TEXT;
