-- What each node of a cluster has spent: the others add it to what they count themselves. `payer` is an agent; empty for
-- all programs that ask models directly.
CREATE TABLE cost_nodes (
  day BIGINT NOT NULL,
  node TEXT NOT NULL,
  payer TEXT NOT NULL,
  usd DOUBLE PRECISION NOT NULL,
  PRIMARY KEY (day, node, payer)
);

CREATE FUNCTION count_cost_of_node() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added DOUBLE PRECISION := NEW.usd;
BEGIN
  IF this_node() = '' THEN
    RETURN NULL;
  END IF;
  IF TG_OP = 'UPDATE' THEN
    added := NEW.usd - OLD.usd;
  END IF;
  INSERT INTO cost_nodes AS counted (day, node, payer, usd)
  VALUES (NEW.day, this_node(), coalesce(to_jsonb(NEW) ->> 'agent_id', ''), added)
  ON CONFLICT (day, node, payer) DO UPDATE SET usd = counted.usd + excluded.usd;
  RETURN NULL;
END $$;

CREATE TRIGGER cost_agents_counted AFTER INSERT OR UPDATE ON cost_agents
FOR EACH ROW EXECUTE FUNCTION count_cost_of_node();
CREATE TRIGGER cost_clients_counted AFTER INSERT OR UPDATE ON cost_clients
FOR EACH ROW EXECUTE FUNCTION count_cost_of_node();
