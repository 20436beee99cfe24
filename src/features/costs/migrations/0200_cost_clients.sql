-- What programs cost that ask models directly, by what they call themselves.
CREATE TABLE cost_clients (
  day    INTEGER NOT NULL,
  client TEXT NOT NULL,
  usd    REAL NOT NULL,
  PRIMARY KEY (day, client)
) STRICT, WITHOUT ROWID;
