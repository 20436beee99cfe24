-- Files that an agent sends with its answer: the ids of attachments, separated by blanks. They are collected with the
-- question until it is answered, and then go with messages.
ALTER TABLE channel_inbound ADD COLUMN files TEXT NOT NULL DEFAULT '';
ALTER TABLE channel_outbox ADD COLUMN files TEXT NOT NULL DEFAULT '';
