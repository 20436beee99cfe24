-- Agents and jobs have a directory each, which follows their record. One row is one pending step on disk for a change
-- of a record. It is written in the transaction of the change and deleted once the step is done and synced. A start
-- that finds rows repeats the steps in this order.
--
-- A `write` sets the files of `directory` to these texts: `config` is agent.yaml or job.yaml; `prompt` is prompt.md
-- (null: no such file) and counts only with `owns_prompt`. `config` is null if a later row of the extension
-- supersedes it; the content ids still distinguish the gateway's own files from edited ones. A `move` moves
-- `directory` to `target`; its inode (0: unknown) distinguishes it from another directory that took its place.
CREATE TABLE extension_outbox (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  extension_id TEXT NOT NULL,
  action TEXT NOT NULL,
  directory TEXT NOT NULL,
  target TEXT,
  inode INTEGER NOT NULL,
  config TEXT,
  prompt TEXT,
  owns_prompt INTEGER NOT NULL,
  config_id TEXT NOT NULL,
  prompt_id TEXT NOT NULL
) STRICT;

-- For the rows that a new step of an extension supersedes.
CREATE INDEX extension_outbox_by_extension ON extension_outbox (extension_id);

-- One row for each directory as the gateway last left it on disk, or accepted it after an edit: the ids of the files'
-- contents (empty: no such file), and stamps (inode, size, times) by which a start detects edits without reading. A
-- row may be older than the outbox; it is never newer than what has been synced to disk.
CREATE TABLE extension_directories (
  extension_id TEXT PRIMARY KEY,
  inode INTEGER NOT NULL,
  config_id TEXT NOT NULL,
  config_stamp TEXT NOT NULL,
  prompt_id TEXT NOT NULL,
  prompt_stamp TEXT NOT NULL
) STRICT, WITHOUT ROWID;
