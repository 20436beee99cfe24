-- The tables of this room as they are after 0216: the files next to this folder describe them.
CREATE TABLE cost_days (
  day BIGINT PRIMARY KEY,
  usd DOUBLE PRECISION NOT NULL
);

CREATE TABLE cost_agents (
  day BIGINT NOT NULL,
  agent_id TEXT NOT NULL,
  name TEXT NOT NULL,
  usd DOUBLE PRECISION NOT NULL,
  PRIMARY KEY (day, agent_id)
);

CREATE TABLE cost_models (
  day BIGINT NOT NULL,
  model TEXT NOT NULL,
  usd DOUBLE PRECISION NOT NULL,
  unpriced BIGINT NOT NULL,
  PRIMARY KEY (day, model)
);

CREATE TABLE cost_threads (
  day BIGINT NOT NULL,
  thread_id TEXT NOT NULL,
  usd DOUBLE PRECISION NOT NULL,
  PRIMARY KEY (day, thread_id)
);

CREATE TABLE cost_savings (
  day BIGINT PRIMARY KEY,
  usd DOUBLE PRECISION NOT NULL
);

CREATE TABLE cost_clients (
  day BIGINT NOT NULL,
  client TEXT NOT NULL,
  usd DOUBLE PRECISION NOT NULL,
  PRIMARY KEY (day, client)
);

CREATE TABLE cost_tokens (
  day BIGINT PRIMARY KEY,
  input BIGINT NOT NULL,
  cached BIGINT NOT NULL
);
