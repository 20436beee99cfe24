-- As what a page names an entity: its type is what pages say now, not what one of them once said.
ALTER TABLE entity_pages ADD COLUMN type TEXT;

-- So that the pages that name any are read again: no file has such a size.
UPDATE knowledge_pages SET size = -1 WHERE number IN (SELECT page FROM entity_pages);
