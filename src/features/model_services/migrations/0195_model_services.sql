-- What a person has chosen for the whole gateway, such as the default model.
CREATE TABLE chosen_settings (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The names of deleted model services, until there is one of that name again: who still names a model of theirs falls
-- back, instead of asking another service for it.
CREATE TABLE deleted_model_services (
  name TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
