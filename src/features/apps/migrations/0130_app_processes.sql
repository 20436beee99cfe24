-- A development server that was started and has not been seen to end: the leader of its process group. After a crash of
-- the gateway the next start ends what is left of it. A number of a process is used again by the kernel; together with
-- `started` (its start in clock ticks since the boot) and `boot` (the kernel's name for that boot) it is unique.
CREATE TABLE app_processes (
  pid INTEGER NOT NULL,
  started INTEGER NOT NULL,
  boot TEXT NOT NULL,
  PRIMARY KEY (pid, started, boot)
) STRICT, WITHOUT ROWID;
