-- An index of the page files, so that they can be listed and searched without being read. The files are
-- authoritative: a row follows its file, and is up to date if the four columns `*_ns`, `inode` and `size` match it.
-- `path` is relative to the data directory. `scope` is `shared` or `agent:<name>`; a slug is unique in its scope.
-- `tags` and `sources` are JSON arrays of strings.
CREATE TABLE knowledge_pages (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  path TEXT NOT NULL UNIQUE,
  inode INTEGER NOT NULL,
  size INTEGER NOT NULL,
  modified_ns INTEGER NOT NULL,
  changed_ns INTEGER NOT NULL,
  scope TEXT NOT NULL,
  slug TEXT NOT NULL,
  title TEXT NOT NULL,
  summary TEXT NOT NULL,
  category TEXT NOT NULL,
  tags TEXT NOT NULL,
  sources TEXT NOT NULL,
  words INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (slug, scope)
) STRICT;

-- The searchable text of a page, from which the full-text index and snippets are made. A table of its own, so that
-- lists do not read it.
CREATE TABLE knowledge_texts (
  number INTEGER PRIMARY KEY,
  title TEXT NOT NULL,
  headings TEXT NOT NULL,
  summary TEXT NOT NULL,
  body TEXT NOT NULL
) STRICT;

-- The stemmed words of the pages. Triggers below keep it in step with knowledge_texts.
CREATE VIRTUAL TABLE knowledge_words USING fts5(
  title, headings, summary, body,
  content='knowledge_texts', content_rowid='number', tokenize="porter unicode61 remove_diacritics 2"
);

CREATE TRIGGER knowledge_texts_added AFTER INSERT ON knowledge_texts BEGIN
  INSERT INTO knowledge_words (rowid, title, headings, summary, body)
  VALUES (new.number, new.title, new.headings, new.summary, new.body);
END;

CREATE TRIGGER knowledge_texts_removed AFTER DELETE ON knowledge_texts BEGIN
  INSERT INTO knowledge_words (knowledge_words, rowid, title, headings, summary, body)
  VALUES ('delete', old.number, old.title, old.headings, old.summary, old.body);
END;

-- The links of a page, by target slug, whether or not that page exists. Which page it is, is decided at query time:
-- the one in the same scope, else the shared one.
CREATE TABLE knowledge_links (
  page INTEGER NOT NULL,
  target TEXT NOT NULL,
  PRIMARY KEY (page, target)
) STRICT, WITHOUT ROWID;

-- For the links to a page.
CREATE INDEX knowledge_links_by_target ON knowledge_links (target);

-- The entities in the front matter of pages. `folded` is the name in lower case, by which equal names are found.
CREATE TABLE entities (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  folded TEXT NOT NULL,
  name TEXT NOT NULL,
  type TEXT
) STRICT;

CREATE INDEX entities_by_name ON entities (folded);

CREATE TABLE entity_pages (
  entity INTEGER NOT NULL,
  page INTEGER NOT NULL,
  PRIMARY KEY (entity, page)
) STRICT, WITHOUT ROWID;

-- For the entities of a page.
CREATE INDEX entity_pages_by_page ON entity_pages (page);

-- What was compiled from each raw source. `path` is relative to the data directory; the version last read is recorded
-- as for pages; `content` is its content id. `page` is the path of the compiled page, `compiled` the content id of
-- the source it was compiled from, and `page_content` that of the page as written: a page with other content was
-- edited by a person and is left alone. `problem` says why the source cannot become a page.
CREATE TABLE knowledge_sources (
  path TEXT NOT NULL PRIMARY KEY,
  inode INTEGER NOT NULL,
  size INTEGER NOT NULL,
  modified_ns INTEGER NOT NULL,
  changed_ns INTEGER NOT NULL,
  content TEXT NOT NULL,
  problem TEXT,
  page TEXT,
  compiled TEXT,
  page_content TEXT
) STRICT, WITHOUT ROWID;
