-- The values of each metric, 1,000 per row, in order: `samples` has each as text after a `+` (kept) or a `.` (not
-- kept), and a space. A confidence needs all of them: 100 of these rows are read in a hundredth of the time of
-- 100,000 experiments. A trigger adds to the rows when an experiment is inserted; experiments never change.
CREATE TABLE experiment_samples (
  domain TEXT NOT NULL,
  metric TEXT NOT NULL,
  chunk INTEGER NOT NULL,
  sample_count INTEGER NOT NULL,
  higher_is_better INTEGER NOT NULL,
  samples TEXT NOT NULL,
  PRIMARY KEY (domain, metric, chunk)
) STRICT, WITHOUT ROWID;

INSERT INTO experiment_samples (domain, metric, chunk, sample_count, higher_is_better, samples)
SELECT domain, metric, 0, count(*), min(higher_is_better), group_concat(sample, '')
FROM (
  SELECT domain, metric, higher_is_better, iif(verdict = 'keep', '+', '.') || printf('%!.17g ', value) AS sample
  FROM experiments WHERE metric IS NOT NULL AND value IS NOT NULL ORDER BY number
)
GROUP BY domain, metric;

CREATE TRIGGER experiments_have_samples AFTER INSERT ON experiments
WHEN NEW.metric IS NOT NULL AND NEW.value IS NOT NULL
BEGIN
  INSERT INTO experiment_samples (domain, metric, chunk, sample_count, higher_is_better, samples)
  SELECT NEW.domain, NEW.metric, coalesce(max(chunk) + (sample_count >= 1000), 0), 1, NEW.higher_is_better,
    iif(NEW.verdict = 'keep', '+', '.') || printf('%!.17g ', NEW.value)
  FROM experiment_samples WHERE domain = NEW.domain AND metric = NEW.metric
  ON CONFLICT (domain, metric, chunk) DO UPDATE SET
    sample_count = sample_count + 1, samples = samples || excluded.samples;
END;

-- Finds the last kept experiment of a metric, and counts those after it.
DROP INDEX experiments_by_metric;
CREATE INDEX experiments_by_metric ON experiments (domain, metric, verdict, number);
