-- The models that each service listed last, so that they are known after a restart before it answers. `place`: where it
-- was asked, since a list holds for no other service of that name; `models`: as in a definition, in JSON.
CREATE TABLE model_lists (
  service TEXT PRIMARY KEY,
  place   TEXT NOT NULL,
  models  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
