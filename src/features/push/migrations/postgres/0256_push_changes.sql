-- Nodes hold the subscriptions in memory: see 0240_cluster.
CREATE TRIGGER push_subscriptions_changed AFTER INSERT OR UPDATE OR DELETE ON push_subscriptions
FOR EACH ROW EXECUTE FUNCTION log_change('id');
