-- A mail may come in several copies, which have the same id.
CREATE INDEX channel_inbound_by_message ON channel_inbound (integration_id, message);
