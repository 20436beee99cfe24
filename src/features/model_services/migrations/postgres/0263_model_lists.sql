CREATE TABLE model_lists (
  service TEXT PRIMARY KEY,
  place TEXT NOT NULL,
  models TEXT NOT NULL
);
