-- The thread that a job has for itself, where it has no owner. What a thread says itself does not tell: its agent and its
-- title may be another's by now, and a thread that a run made for the job's owner has the job's id as well.
CREATE TABLE job_threads (
  job_id    TEXT PRIMARY KEY,
  thread_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Until now they were told by their titles: a job's own thread was given one when it was made.
INSERT INTO job_threads (job_id, thread_id)
  SELECT job_id, id FROM threads AS own WHERE job_id IS NOT NULL AND titled_by = 'person' AND number =
    (SELECT max(number) FROM threads WHERE job_id = own.job_id AND titled_by = 'person');
