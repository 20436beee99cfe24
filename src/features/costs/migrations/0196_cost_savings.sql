-- How much prompt caches saved on a day's calls, minus the extra cost of writing to them.
CREATE TABLE cost_savings (
  day INTEGER PRIMARY KEY,
  usd REAL NOT NULL
) STRICT;
