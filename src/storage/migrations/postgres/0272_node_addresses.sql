-- Where each node is reached by the others, as of its latest start; empty if they cannot. `epoch` is the number of that
-- start: see 0251_node_epochs.
CREATE TABLE node_addresses (
  node TEXT PRIMARY KEY,
  address TEXT NOT NULL,
  epoch BIGINT NOT NULL
);
