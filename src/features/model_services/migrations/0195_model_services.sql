-- Settings of the whole gateway that a person has chosen, such as the default model.
CREATE TABLE chosen_settings (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The names of deleted model services, until a service has the name again: agents that still refer to one of its
-- models use their fallback, instead of asking another service for it.
CREATE TABLE deleted_model_services (
  name TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
