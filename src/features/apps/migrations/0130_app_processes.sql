-- Development servers that have been started and are not known to have ended. `pid` is the leader of the process
-- group. After a crash, the next start ends what is left of them. The kernel reuses process ids; together with
-- `started` (start time in clock ticks since boot) and `boot` (the kernel's boot id) a process is identified
-- uniquely.
CREATE TABLE app_processes (
  pid INTEGER NOT NULL,
  started INTEGER NOT NULL,
  boot TEXT NOT NULL,
  PRIMARY KEY (pid, started, boot)
) STRICT, WITHOUT ROWID;
