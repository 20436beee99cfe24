CREATE TABLE thread_pictures (
  thread_id TEXT NOT NULL,
  attachment_id TEXT NOT NULL,
  size BIGINT NOT NULL,
  PRIMARY KEY (thread_id, attachment_id)
);
CREATE INDEX thread_pictures_by_attachment ON thread_pictures (attachment_id);

CREATE TABLE unused_attachments (
  id TEXT PRIMARY KEY
);

CREATE FUNCTION forget_pictures_of_thread() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM thread_pictures WHERE thread_id = OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER thread_pictures_of_deleted_threads AFTER DELETE ON threads
FOR EACH ROW EXECUTE FUNCTION forget_pictures_of_thread();

CREATE FUNCTION forget_attachment_of_picture() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM thread_pictures WHERE attachment_id = OLD.attachment_id) THEN
    DELETE FROM attachments WHERE id = OLD.attachment_id;
    INSERT INTO unused_attachments (id) VALUES (OLD.attachment_id) ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER attachments_of_deleted_pictures AFTER DELETE ON thread_pictures
FOR EACH ROW EXECUTE FUNCTION forget_attachment_of_picture();
