-- The type of each entity on a page. An entity's type follows its current pages.
ALTER TABLE entity_pages ADD COLUMN type TEXT;

-- Makes the gateway read the pages with entities again: no file has this size.
UPDATE knowledge_pages SET size = -1 WHERE number IN (SELECT page FROM entity_pages);
