-- What is known of the page files, so that they can be listed and searched without being read. The files are
-- authoritative: a row follows its file, told by the four `*_ns`, `inode`, `size` of the version that was read. `path` is
-- relative to the data directory. `scope` is `shared` or `agent:<name>`; a slug stands for one page in its scope. `tags`
-- and `sources` are JSON arrays of strings.
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

-- What of a page is searched, as plain text: what the full-text index is made from, and what snippets are cut from. Apart
-- from the pages, so that lists do not read it.
CREATE TABLE knowledge_texts (
  number INTEGER PRIMARY KEY,
  title TEXT NOT NULL,
  headings TEXT NOT NULL,
  summary TEXT NOT NULL,
  body TEXT NOT NULL
) STRICT;

-- The words of the pages by their stems. It follows knowledge_texts by the triggers below.
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

-- The links of a page, by the slug that they mean, whether or not such a page is there. Which page that is, is decided
-- when it is asked: the one of the same scope, else the shared one.
CREATE TABLE knowledge_links (
  page INTEGER NOT NULL,
  target TEXT NOT NULL,
  PRIMARY KEY (page, target)
) STRICT, WITHOUT ROWID;

-- For the links that lead to a page.
CREATE INDEX knowledge_links_by_target ON knowledge_links (target);

-- What the heads of pages name. `folded` is the name in lower case, by which the same thing is known again.
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

-- For what a page names.
CREATE INDEX entity_pages_by_page ON entity_pages (page);

-- What was made of each raw source. `path` is relative to the data directory, the version that was read last is told as
-- for pages; `content` names what it said. `page` is the path of the page made from it, `compiled` the content that the
-- page was made from, and `page_content` the page as it was written: a page that says something else now was changed by
-- a person and is left alone. `problem` says why the source cannot become a page.
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
