-- The tables of this room as they are after 0130: the files next to this folder describe them.
CREATE TABLE app_processes (
  pid BIGINT NOT NULL,
  started BIGINT NOT NULL,
  boot TEXT NOT NULL,
  PRIMARY KEY (pid, started, boot)
);
