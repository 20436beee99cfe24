-- What prompt caches saved of the cost of a day's calls, less what writing to them cost more.
CREATE TABLE cost_savings (
  day INTEGER PRIMARY KEY,
  usd REAL NOT NULL
) STRICT;
