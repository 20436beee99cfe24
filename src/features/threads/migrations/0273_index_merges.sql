-- The gateway merges the index before a level has 16 segments, where SQLite would merge all of them within an insertion,
-- however large they are. This is for what inserts or removes very many turns in one transaction.
INSERT INTO turn_words (turn_words, rank) VALUES ('crisismerge', 256);
