-- The tables and columns of state.db that say something, schema version 30.
CREATE TABLE schema_version (version INTEGER NOT NULL);
INSERT INTO schema_version VALUES (30);
CREATE TABLE sessions (
  id TEXT PRIMARY KEY, source TEXT NOT NULL, model TEXT, parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL,
  end_reason TEXT, cwd TEXT, title TEXT, last_activity_at REAL, archived INTEGER NOT NULL DEFAULT 0,
  hidden INTEGER NOT NULL DEFAULT 0);
CREATE TABLE messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL,
  content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL, finish_reason TEXT,
  reasoning TEXT, reasoning_content TEXT, _compressed_summary INTEGER NOT NULL DEFAULT 0,
  active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0, display_kind TEXT);

INSERT INTO sessions (id, source, model, started_at, ended_at, end_reason, cwd, title, last_activity_at, archived) VALUES
  ('20260920_090000_a1b2c3', 'cli', 'some/model', 1758464000.25, 1758464100.0, 'user_exit', '/nowhere', 'Weather in Lisbon', 1758464090.5, 0),
  ('20260921_090000_d4e5f6', 'telegram', 'some/model', 1758550400.0, NULL, NULL, NULL, NULL, NULL, 1),
  ('20260922_090000_070809', 'cli', 'some/model', 1758636800.0, NULL, NULL, NULL, 'Nothing said', NULL, 0);

INSERT INTO messages (session_id, role, content, tool_call_id, tool_calls, tool_name, timestamp, finish_reason, reasoning, active, compacted, display_kind) VALUES
  ('20260920_090000_a1b2c3', 'session_meta', '{"tools": []}', NULL, NULL, NULL, 1758464000.5, NULL, NULL, 1, 0, NULL),
  ('20260920_090000_a1b2c3', 'user', 'Is it raining?', NULL, NULL, NULL, 1758464001.0, NULL, NULL, 0, 1, NULL),
  ('20260920_090000_a1b2c3', 'assistant', 'I look.', NULL,
   '[{"id": "call_1", "call_id": "call_1", "type": "function", "function": {"name": "terminal", "arguments": "{\"command\": \"weather lisbon\"}"}}]',
   NULL, 1758464002.0, 'tool_calls', 'The terminal knows.', 0, 1, NULL),
  ('20260920_090000_a1b2c3', 'tool', '{"output": "rain", "exit_code": 0}', 'call_1', NULL, 'terminal', 1758464003.0, NULL, NULL, 0, 1, NULL),
  ('20260920_090000_a1b2c3', 'assistant', 'Yes.', NULL, NULL, NULL, 1758464004.0, 'stop', NULL, 0, 1, NULL),
  ('20260920_090000_a1b2c3', 'user', 'And in Oslo?', NULL, NULL, NULL, 1758464005.0, NULL, NULL, 0, 0, NULL),
  ('20260920_090000_a1b2c3', 'assistant', 'Snow.', NULL, NULL, NULL, 1758464006.0, 'stop', NULL, 0, 0, NULL),
  ('20260920_090000_a1b2c3', 'user', 'Review the conversation above.', NULL, NULL, NULL, 1758464007.0, NULL, NULL, 1, 0, 'hidden'),
  ('20260920_090000_a1b2c3', 'user', 'And in Porto?', NULL, NULL, NULL, 1758464008.0, NULL, NULL, 1, 0, NULL),
  ('20260920_090000_a1b2c3', 'assistant', 'Again.', NULL,
   '[{"id": "call_1", "call_id": "call_1", "type": "function", "function": {"name": "terminal", "arguments": "{\"command\": \"weather porto\"}"}}]',
   NULL, 1758464009.0, 'tool_calls', NULL, 1, 0, NULL),
  ('20260920_090000_a1b2c3', 'tool', 'sun', 'call_1', NULL, 'terminal', 1758464010.0, NULL, NULL, 1, 0, NULL),
  ('20260920_090000_a1b2c3', 'assistant', 'Sun.', NULL, NULL, NULL, 1758464011.0, 'stop', NULL, 1, 0, NULL),
  ('20260921_090000_d4e5f6', 'user',
   char(0) || 'json:[{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}]',
   NULL, NULL, NULL, 1758550401.0, NULL, NULL, 1, 0, NULL),
  ('20260921_090000_d4e5f6', 'assistant', 'A picture.', NULL, NULL, NULL, 1758550402.0, 'stop', NULL, 1, 0, NULL);
