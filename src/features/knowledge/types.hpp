#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json/described.hpp"

namespace agw {

/// The scope of the pages that all agents share. An agent's own is `agent:<name>`.
inline constexpr std::string_view shared_scope = "shared";

/// A compiled page, as lists show it.
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

/// A page's line in the index of the wiki.
struct KnowledgeLine {
  std::string slug;
  std::string title;
  std::string summary;
  Timestamp updated_at;
};
const Description& describe(Tag<KnowledgeLine>);

/// A heading of the index with the pages below it.
struct KnowledgeCategory {
  std::string name;
  std::vector<KnowledgeLine> pages;  ///< by title
};
const Description& describe(Tag<KnowledgeCategory>);

/// The index of the wiki: the answer of `GET /knowledge`.
struct KnowledgeOverview {
  std::vector<KnowledgeCategory> categories;  ///< by name
  std::int64_t page_count = 0;
  std::optional<Timestamp> updated_at;  ///< of the page that changed last
};
const Description& describe(Tag<KnowledgeOverview>);

/// A page that a search found.
struct KnowledgeHit {
  std::string slug;
  std::string title;
  std::string snippet;  ///< the part of its text that shows most of what was sought, on one line
  double score = 0;     ///< more is better; comes to something only beside the others of the same search
  std::string scope;
};
const Description& describe(Tag<KnowledgeHit>);

/// A whole page. `links` are those of its links that lead to a page, `backlinks` the pages that link to it.
struct Article {
  std::string slug;
  std::string title;
  std::string summary;
  std::string content;  ///< Markdown, without the head
  std::string html;     ///< safe to show: no script, no markup of the page's own, no address but of the web and mail
  std::vector<std::string> links;
  std::vector<std::string> backlinks;
  std::vector<std::string> sources;  ///< what it was made from
  Timestamp updated_at;
};
const Description& describe(Tag<Article>);

/// The answer of `GET /knowledge/stats`.
struct KnowledgeStats {
  std::int64_t pages = 0;
  std::int64_t sources = 0;  ///< raw files that are or can become pages
  std::int64_t words = 0;
  std::int64_t links = 0;  ///< each page's links, broken ones too
  std::int64_t broken_links = 0;
  std::int64_t orphans = 0;  ///< pages that no other page links to
  std::int64_t log_entries = 0;
};
const Description& describe(Tag<KnowledgeStats>);

/// A link to a page that is not there.
struct BrokenLink {
  std::string slug;    ///< of the page that it stands on
  std::string target;  ///< the slug that it means
};
const Description& describe(Tag<BrokenLink>);

/// What needs a person in the pages of one scope, or in the raw sources. Pages are named by their slugs, raw files by
/// their paths in the knowledge directory.
struct KnowledgeCondition {
  std::int64_t pages = 0;                ///< raw: the files that are or can become pages
  std::vector<std::string> orphans;      ///< nothing links to them; raw: files that cannot become a page
  std::vector<BrokenLink> broken_links;  ///< raw: none
  std::vector<std::string> stale;        ///< changed or gone since their page was made, as pages; raw: as files
  std::vector<std::string> uncompiled;   ///< raw files without a page
};
const Description& describe(Tag<KnowledgeCondition>);

/// The answer of `GET /knowledge/health`.
struct KnowledgeHealth {
  KnowledgeCondition shared;
  std::map<std::string, KnowledgeCondition> agents;  ///< by name; those that have knowledge of their own
  KnowledgeCondition raw;
};
const Description& describe(Tag<KnowledgeHealth>);

/// Something that happened to the knowledge: an entry of `log.md`.
struct KnowledgeEvent {
  Timestamp at;
  std::string op;  ///< `compile`, `ingest`, `summarise`, or what a person wrote
  std::string title;
  std::string detail;
};
const Description& describe(Tag<KnowledgeEvent>);

/// Where an entity is named.
struct EntityPage {
  std::string slug;
  std::string title;
  std::string scope;
};
const Description& describe(Tag<EntityPage>);

/// A person, a place, a product: what the heads of pages name.
struct Entity {
  std::string id;
  std::string name;
  std::optional<std::string> type;
  std::vector<EntityPage> pages;
};
const Description& describe(Tag<Entity>);

/// The query of what lists pages, and of an article.
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
