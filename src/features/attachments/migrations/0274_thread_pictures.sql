-- The pictures that tools returned in a thread: each is an attachment of `size` bytes, which belongs to the thread and
-- to its forks. Ids ascend with time. The turns of the calls name them in their metadata.
CREATE TABLE thread_pictures (
  thread_id     TEXT NOT NULL,
  attachment_id TEXT NOT NULL,
  size          INTEGER NOT NULL,
  PRIMARY KEY (thread_id, attachment_id)
) STRICT, WITHOUT ROWID;

-- To find out whether a picture belongs to another thread.
CREATE INDEX thread_pictures_by_attachment ON thread_pictures (attachment_id);

-- Files in `attachments/` that have to be deleted.
CREATE TABLE unused_attachments (
  id TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

CREATE TRIGGER thread_pictures_of_deleted_threads AFTER DELETE ON threads BEGIN
  DELETE FROM thread_pictures WHERE thread_id = OLD.id;
END;

CREATE TRIGGER attachments_of_deleted_pictures AFTER DELETE ON thread_pictures
WHEN NOT EXISTS (SELECT 1 FROM thread_pictures WHERE attachment_id = OLD.attachment_id) BEGIN
  DELETE FROM attachments WHERE id = OLD.attachment_id;
  INSERT INTO unused_attachments (id) VALUES (OLD.attachment_id) ON CONFLICT DO NOTHING;
END;
