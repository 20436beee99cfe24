-- The job's own thread, for a job without an owner. The thread's row cannot show this: its agent and title may have
-- changed since, and a thread that a run created for the job's owner has the job's id too.
CREATE TABLE job_threads (
  job_id    TEXT PRIMARY KEY,
  thread_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Before this table, a job's own thread was recognized by the title that it was created with.
INSERT INTO job_threads (job_id, thread_id)
  SELECT job_id, id FROM threads AS own WHERE job_id IS NOT NULL AND titled_by = 'person' AND number =
    (SELECT max(number) FROM threads WHERE job_id = own.job_id AND titled_by = 'person');
