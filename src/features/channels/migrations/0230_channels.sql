-- How far the messages of a channel have been read, in the words of its service.
CREATE TABLE channel_cursors (
  integration_id TEXT NOT NULL PRIMARY KEY,
  cursor TEXT NOT NULL
) STRICT;

-- The thread that a chat of a messenger, or a topic in it, goes on in. `topic` is empty for a chat without topics.
CREATE TABLE channel_threads (
  integration_id TEXT NOT NULL,
  chat TEXT NOT NULL,
  topic TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  PRIMARY KEY (integration_id, chat, topic)
) STRICT;

-- Each message that was read, written with what it caused: a service may send it again. `turn_id` is the question that
-- it became, null for a command. `is_answered` once what is to be sent for it is in channel_outbox. `shown_as` is the
-- service's id of the message that shows the answer while it is written; '?' while it is not known.
CREATE TABLE channel_inbound (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  integration_id TEXT NOT NULL,
  update_id TEXT NOT NULL,
  chat TEXT NOT NULL,
  topic TEXT NOT NULL,
  is_group INTEGER NOT NULL,
  message TEXT NOT NULL,
  sender TEXT NOT NULL,
  turn_id TEXT,
  thread_id TEXT,
  is_answered INTEGER NOT NULL,
  shown_as TEXT,
  created_at INTEGER NOT NULL,
  UNIQUE (integration_id, update_id)
) STRICT;
CREATE INDEX channel_inbound_open ON channel_inbound (integration_id) WHERE is_answered = 0;

-- Each message that is still to be sent, in order. `is_begun` once it was handed to the service: after a kill it may
-- have arrived. `question` is the inbound message whose answer it begins.
CREATE TABLE channel_outbox (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL,
  integration_id TEXT NOT NULL,
  chat TEXT NOT NULL,
  topic TEXT NOT NULL,
  is_group INTEGER NOT NULL,
  replies_to TEXT NOT NULL,
  text TEXT NOT NULL,
  is_markdown INTEGER NOT NULL,
  question INTEGER,
  is_begun INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX channel_outbox_by_integration ON channel_outbox (integration_id);
