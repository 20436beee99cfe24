-- Agents and jobs have a directory each, which follows their record. One row is one step that the disk has to take for
-- a change of a record; it is written in the change's own transaction and goes once the step is done and synced. A
-- start that finds rows takes the steps again, in this order.
--
-- A `write` makes the files of `directory` these texts: `config` is agent.yaml or job.yaml, `prompt` is prompt.md (null:
-- no such file), which counts only with `owns_prompt`. `config` is null where a later row of the extension writes what
-- counts; the ids of what it wrote still tell the gateway's own files from edited ones. A `move` takes `directory`,
-- whose inode (0: unknown) tells it from one that took its place, to `target`.
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

-- For the rows that a new step of an extension makes void.
CREATE INDEX extension_outbox_by_extension ON extension_outbox (extension_id);

-- One row for each directory as the gateway last left it on disk, or took it over from whoever edited it: the ids of the
-- files' contents (empty: no such file), and stamps (inode, size, times) by which a start sees without reading that
-- nothing was edited. A row may be older than the outbox; it is never newer than what a sync has put on disk.
CREATE TABLE extension_directories (
  extension_id TEXT PRIMARY KEY,
  inode INTEGER NOT NULL,
  config_id TEXT NOT NULL,
  config_stamp TEXT NOT NULL,
  prompt_id TEXT NOT NULL,
  prompt_stamp TEXT NOT NULL
) STRICT, WITHOUT ROWID;
