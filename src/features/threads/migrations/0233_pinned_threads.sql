-- Whether a person keeps the thread at the top of the list of chats.
ALTER TABLE threads ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
