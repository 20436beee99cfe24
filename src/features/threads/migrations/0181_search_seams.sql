-- `Python入門` was one word in the index, so neither part of it was found. Such words are now split before they are
-- indexed (base/text/word_segmentation). If any word has a letter of a script without spaces, all turns are indexed
-- again in the background after the start.
CREATE VIRTUAL TABLE temp.words_before USING fts5vocab(main, turn_words, row);
CREATE TEMP TABLE again AS SELECT 1 FROM words_before WHERE term GLOB '*['
  || char(0x0e00) || '-' || char(0x0eff) || char(0x1000) || '-' || char(0x109f) || char(0x1780) || '-' || char(0x17ff)
  || char(0x2e80) || '-' || char(0x2fdf) || char(0x3041) || '-' || char(0xa4cf) || char(0xac00) || '-' || char(0xfaff)
  || char(0x20000) || '-' || char(0x3ffff) || ']*' LIMIT 1;
DROP TABLE words_before;
INSERT INTO turn_words (turn_words) SELECT 'delete-all' FROM again;
UPDATE search_progress SET indexed = 0 WHERE EXISTS (SELECT 1 FROM again);
DROP TABLE again;
