#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json/described.hpp"

namespace agw {

/// The scope of the pages that all agents share. An agent's own scope is `agent:<name>`.
inline constexpr std::string_view shared_scope = "shared";

/// A compiled page in a list.
struct KnowledgePage {
  std::string slug;
  std::string title;
  std::string summary;
  std::string category;
  std::string scope;
  std::vector<std::string> tags;
  Timestamp updated_at;
  std::int64_t words = 0;
};
const Description& describe(Tag<KnowledgePage>);

/// An entry in the wiki's index.
struct KnowledgeLine {
  std::string slug;
  std::string title;
  std::string summary;
  Timestamp updated_at;
};
const Description& describe(Tag<KnowledgeLine>);

/// A category of the index with its pages.
struct KnowledgeCategory {
  std::string name;
  std::vector<KnowledgeLine> pages;  ///< sorted by title
};
const Description& describe(Tag<KnowledgeCategory>);

/// The index of the wiki: the response of `GET /knowledge`.
struct KnowledgeOverview {
  std::vector<KnowledgeCategory> categories;  ///< sorted by name
  std::int64_t page_count = 0;
  std::optional<Timestamp> updated_at;  ///< of the most recently changed page
};
const Description& describe(Tag<KnowledgeOverview>);

/// A search result.
struct KnowledgeHit {
  std::string slug;
  std::string title;
  std::string snippet;  ///< the part of the text with most of the terms, on one line
  double score = 0;     ///< higher is better; comparable only within one search
  std::string scope;
};
const Description& describe(Tag<KnowledgeHit>);

/// A complete page. `links` are the existing pages that it links to, `backlinks` the pages that link to it.
struct Article {
  std::string slug;
  std::string title;
  std::string summary;
  std::string content;  ///< Markdown, without the head
  std::string html;     ///< safe to show: no scripts, no raw HTML, only web and mail addresses
  std::vector<std::string> links;
  std::vector<std::string> backlinks;
  std::vector<std::string> sources;  ///< the sources that it was compiled from
  Timestamp updated_at;
};
const Description& describe(Tag<Article>);

/// A link from one page to another.
struct KnowledgeLink {
  std::string scope;
  std::string slug;
  std::string target_scope;
  std::string target;  ///< the slug of the page that it leads to
};
const Description& describe(Tag<KnowledgeLink>);

/// The response of `GET /knowledge/stats`.
struct KnowledgeStats {
  std::int64_t pages = 0;
  std::int64_t sources = 0;  ///< raw files that are or can become pages
  std::int64_t words = 0;
  std::int64_t links = 0;  ///< on all pages, including broken ones
  std::int64_t broken_links = 0;
  std::int64_t orphans = 0;  ///< pages that no other page links to
  std::int64_t log_entries = 0;
};
const Description& describe(Tag<KnowledgeStats>);

/// A link to a missing page.
struct BrokenLink {
  std::string slug;    ///< the page that contains the link
  std::string target;  ///< the missing slug
};
const Description& describe(Tag<BrokenLink>);

/// Problems that a person must solve, in the pages of one scope or in the raw sources. Pages are named by their slugs,
/// raw files by their paths in the knowledge directory.
struct KnowledgeCondition {
  std::int64_t pages = 0;                ///< raw: the files that are or can become pages
  std::vector<std::string> orphans;      ///< pages without links to them; raw: files that cannot become pages
  std::vector<BrokenLink> broken_links;  ///< raw: none
  std::vector<std::string> stale;        ///< pages whose sources changed or are gone; raw: changed files
  std::vector<std::string> uncompiled;   ///< raw files without a page
};
const Description& describe(Tag<KnowledgeCondition>);

/// The response of `GET /knowledge/health`.
struct KnowledgeHealth {
  KnowledgeCondition shared;
  std::map<std::string, KnowledgeCondition> agents;  ///< by name; only agents that have knowledge
  KnowledgeCondition raw;
};
const Description& describe(Tag<KnowledgeHealth>);

/// An event in the history of the knowledge: an entry of `log.md`.
struct KnowledgeEvent {
  Timestamp at;
  std::string op;  ///< `compile`, `ingest`, `summarise`, or any word that a person wrote
  std::string title;
  std::string detail;
};
const Description& describe(Tag<KnowledgeEvent>);

/// A page that names an entity.
struct EntityPage {
  std::string slug;
  std::string title;
  std::string scope;
};
const Description& describe(Tag<EntityPage>);

/// A person, a place or a product named in the heads of pages.
struct Entity {
  std::string id;
  std::string name;
  std::optional<std::string> type;
  std::vector<EntityPage> pages;
};
const Description& describe(Tag<Entity>);

/// The query of lists of pages and links, and of an article.
struct KnowledgeFilter {
  std::optional<std::string> scope;
};
const Description& describe(Tag<KnowledgeFilter>);

/// The query of `GET /knowledge/search`.
struct KnowledgeQuery {
  std::string q;
  Limit limit;
  std::optional<std::string> scope;
};
const Description& describe(Tag<KnowledgeQuery>);

/// The query of `GET /knowledge/log`.
struct KnowledgeLogQuery {
  Limit limit;
};
const Description& describe(Tag<KnowledgeLogQuery>);

/// The query of `GET /entities`.
struct EntityQuery {
  std::optional<std::string> q;  ///< a part of the name
  std::optional<std::string> type;
};
const Description& describe(Tag<EntityQuery>);

}  // namespace agw
