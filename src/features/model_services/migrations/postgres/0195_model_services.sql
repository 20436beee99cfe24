-- The tables of this room as they are after 0195: the files next to this folder describe them.
CREATE TABLE chosen_settings (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
);

CREATE TABLE deleted_model_services (
  name TEXT PRIMARY KEY
);
