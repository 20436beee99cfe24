-- The summary that a model wrote for the page of a source, kept so that each content is summarized once: a page
-- compiled again from the same content reuses it. `summary_of` is the content id for which a summary was requested;
-- `summary` is null if none was needed (the source has its own, or is hardly longer than a summary).
ALTER TABLE knowledge_sources ADD COLUMN summary TEXT;
ALTER TABLE knowledge_sources ADD COLUMN summary_of TEXT;
