-- Each start of a node has a number, higher than all before it: what somebody has recorded of an earlier start and sends
-- again is known by it.
CREATE SEQUENCE node_epochs;
