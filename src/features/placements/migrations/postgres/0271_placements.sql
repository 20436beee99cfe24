-- Which node runs the program of an extension: the server of an app that was started, an MCP server over stdio. Without a
-- node, any may take it. `state` is what the node tells the others about it: JSON.
CREATE TABLE placements (
  extension_id TEXT PRIMARY KEY REFERENCES extensions (id) ON DELETE CASCADE,
  node TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT ''
);
CREATE TRIGGER placements_changed AFTER INSERT OR UPDATE OR DELETE ON placements
FOR EACH ROW EXECUTE FUNCTION log_change('extension_id');
