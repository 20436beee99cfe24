-- What a person has trusted in a project: the files that agents follow, as JSON `{"<path>": {"digest": …, "text": …}}`,
-- and the digest of all of them. `text` is left out where it is large or no text.
CREATE TABLE project_trust (
  project_id TEXT PRIMARY KEY,
  digest     TEXT NOT NULL,
  files      TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER project_trust_of_deleted_projects AFTER DELETE ON projects BEGIN
  DELETE FROM project_trust WHERE project_id = OLD.id;
END;
