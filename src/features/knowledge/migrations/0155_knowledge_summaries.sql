-- The summary that a model found for the page of a source, kept so that each content is summed up once: a page that is
-- made again from the same content takes it from here. `summary_of` is the content for which one was sought, `summary`
-- is null where none was wanted (the source has its own, or is hardly longer than a summary).
ALTER TABLE knowledge_sources ADD COLUMN summary TEXT;
ALTER TABLE knowledge_sources ADD COLUMN summary_of TEXT;
