-- Nodes that share their data directory have one set of directories of agents and jobs: one of them, whichever is first,
-- takes the steps of all. Their sessions have the setting agw.files, and the name of no node is in brackets.

-- Whose the directories are that this session's node writes.
CREATE FUNCTION files_node() RETURNS TEXT LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN current_setting('agw.files', true) = 'shared' THEN '(shared)' ELSE this_node() END
$$;

-- Whether they are those that `node` stands for. A gateway that has the database for itself finishes everything.
CREATE FUNCTION has_files_of(node TEXT) RETURNS BOOLEAN LANGUAGE sql STABLE AS $$
  SELECT this_node() = '' OR files_node() = node
$$;

ALTER TABLE extension_outbox ALTER COLUMN node SET DEFAULT files_node();
ALTER TABLE extension_directories ALTER COLUMN node SET DEFAULT files_node();

-- Tells the node that takes the steps.
CREATE TRIGGER shared_steps_recorded AFTER INSERT ON extension_outbox
FOR EACH ROW WHEN (NEW.node = '(shared)') EXECUTE FUNCTION log_change('sequence');
