-- Tells all nodes something that is no change of a record, in the order of `changes`. See 0240_cluster.
CREATE FUNCTION tell_nodes(topic TEXT, "key" TEXT) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(7421, hashtext(coalesce(current_schema(), '')));
  INSERT INTO changes (topic, "key") VALUES (tell_nodes.topic, tell_nodes."key");
  PERFORM pg_notify('agw_changes', '');
END $$;
