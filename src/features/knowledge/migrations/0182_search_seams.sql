-- `Python入門` was one word in the index, so neither part of it was found. Such words are now split before they are
-- indexed, and the pages are read again for that: no file has this size.
UPDATE knowledge_pages SET size = -1;
