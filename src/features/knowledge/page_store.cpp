// A page has four parts: its row, its text with the words of the index, its links, and its entities. `put` and `remove`
// change all of them together; the other functions are queries. Links are stored by slug, so links to a missing page
// work once it is created.

#include "features/knowledge/page_store.hpp"

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/json/json.hpp"
#include "base/json/json_values.hpp"
#include "base/text/word_segmentation.hpp"
#include "features/knowledge/entity_store.hpp"
#include "features/knowledge/word_search_store.hpp"
#include "storage/full_text_api.hpp"

namespace agw::page_store {

namespace {

/// The number of pages of the database file that one merge step writes.
constexpr int pages_per_merge = 64;

/// Whether the page `seen` is the target of a link from page `source` to `target`.
#define LEADS_TO                                                                                                 \
  "(seen.slug = knowledge_links.target AND (seen.scope = source.scope OR (seen.scope = 'shared' AND NOT EXISTS " \
  "(SELECT 1 FROM knowledge_pages AS own WHERE own.slug = knowledge_links.target AND own.scope = source.scope))))"
#define LINKS_WITH_SOURCE "knowledge_links JOIN knowledge_pages AS source ON source.number = knowledge_links.page "

std::string text_of_list(const std::vector<std::string>& list) {
  return to_json(json::array(list.begin(), list.end()));
}

std::vector<std::string> list_of_text(std::string_view text) {
  const auto list = parse_json(text);
  return list && list->is_array() ? strings_of(list->get_array()) : std::vector<std::string>();
}

FileStamp read_stamp(const Statement& row, int column) {
  return {.inode = static_cast<std::uint64_t>(row.integer(column)),
          .size = static_cast<std::uint64_t>(row.integer(column + 1)),
          .modified_ns = row.integer(column + 2),
          .changed_ns = row.integer(column + 3)};
}

std::optional<std::int64_t> number_of(Connection& connection, const std::string& path) {
  auto row = connection.prepare("SELECT number FROM knowledge_pages WHERE path = :path");
  row.bind(":path", path);
  if (!row.step()) return std::nullopt;
  return row.integer(0);
}

bool is_taken(Connection& connection, const std::string& slug, const IndexedPage& page) {
  auto row =
      connection.prepare("SELECT 1 FROM knowledge_pages WHERE slug = :slug AND scope = :scope AND path <> :path");
  row.bind(":slug", slug).bind(":scope", page.scope).bind(":path", page.path);
  return row.step();
}

std::string free_slug(Connection& connection, const IndexedPage& page) {
  auto slug = page.slug;
  for (int number = 2; is_taken(connection, slug, page); ++number) slug = fmt::format("{}-{}", page.slug, number);
  return slug;
}

std::int64_t put_row(Connection& connection, const IndexedPage& page) {
  auto row = connection.prepare(
      "INSERT INTO knowledge_pages (path, inode, size, modified_ns, changed_ns, scope, slug, title, summary, category, "
      "tags, sources, words, updated_at) VALUES (:path, :inode, :size, :modified_ns, :changed_ns, :scope, :slug, "
      ":title, :summary, :category, :tags, :sources, :words, :updated_at) "
      "ON CONFLICT (path) DO UPDATE SET inode = :inode, size = :size, modified_ns = :modified_ns, changed_ns = "
      ":changed_ns, scope = :scope, slug = :slug, title = :title, summary = :summary, category = :category, tags = "
      ":tags, sources = :sources, words = :words, updated_at = :updated_at RETURNING number");
  row.bind(":path", page.path)
      .bind(":inode", page.stamp.inode)
      .bind(":size", page.stamp.size)
      .bind(":modified_ns", page.stamp.modified_ns)
      .bind(":changed_ns", page.stamp.changed_ns)
      .bind(":scope", page.scope)
      .bind(":slug", free_slug(connection, page))
      .bind(":title", page.title)
      .bind(":summary", page.summary)
      .bind(":category", page.category)
      .bind(":tags", text_of_list(page.tags))
      .bind(":sources", text_of_list(page.sources))
      .bind(":words", page.words)
      .bind(":updated_at", page.updated_at);
  const bool has_number = row.step();
  AGW_ASSERT(has_number);
  const auto number = row.integer(0);
  const bool has_more = row.step();
  AGW_ASSERT(!has_more);
  return number;
}

void put_text(Connection& connection, std::int64_t number, const IndexedPage& page) {
  connection
      .prepare(
          "INSERT INTO knowledge_texts (number, title, headings, summary, body) VALUES (:number, :title, "
          ":headings, :summary, :body)")
      .bind(":number", number)
      .bind(":title", with_word_breaks(page.title))
      .bind(":headings", with_word_breaks(page.headings))
      .bind(":summary", with_word_breaks(page.summary))
      .bind(":body", with_word_breaks(page.body))
      .run();
  if (connection.is_postgres()) page_word_store::put(connection, number, page);
}

void put_links(Connection& connection, std::int64_t number, const std::vector<std::string>& links) {
  auto row =
      connection.prepare("INSERT INTO knowledge_links (page, target) VALUES (:page, :target) ON CONFLICT DO NOTHING");
  for (const auto& target : links) row.bind(":page", number).bind(":target", target).run();
}

/// Removes text, links and entities. Returns the entities that the page named.
std::vector<std::int64_t> remove_details(Connection& connection, std::int64_t number) {
  connection.prepare("DELETE FROM knowledge_texts WHERE number = :number").bind(":number", number).run();
  connection.prepare("DELETE FROM knowledge_links WHERE page = :number").bind(":number", number).run();
  return entity_store::forget_page(connection, number);
}

}  // namespace

std::map<std::string, FileStamp> stamps(Connection& connection) {
  std::map<std::string, FileStamp> stamps;
  auto row = connection.prepare("SELECT path, inode, size, modified_ns, changed_ns FROM knowledge_pages ORDER BY path");
  while (row.step()) stamps.emplace_hint(stamps.end(), row.string(0), read_stamp(row, 1));
  return stamps;
}

void put(Connection& connection, const IndexedPage& page) {
  AGW_ASSERT(connection.in_transaction());
  AGW_ASSERT(!page.path.empty());
  AGW_ASSERT(!page.slug.empty());
  const auto known = number_of(connection, page.path);
  const auto named = known ? remove_details(connection, *known) : std::vector<std::int64_t>();
  const auto number = put_row(connection, page);
  AGW_DEBUG_ASSERT(!known || *known == number);
  put_text(connection, number, page);
  put_links(connection, number, page.links);
  entity_store::name_on_page(connection, number, page.entities, page.entity_ids);
  entity_store::forget_unnamed(connection, named);
}

void remove(Connection& connection, const std::string& path) {
  AGW_ASSERT(connection.in_transaction());
  const auto number = number_of(connection, path);
  if (!number) return;
  const auto named = remove_details(connection, *number);
  connection.prepare("DELETE FROM knowledge_pages WHERE number = :number").bind(":number", *number).run();
  entity_store::forget_unnamed(connection, named);
}

std::vector<KnowledgePage> list(Connection& connection, const std::optional<std::string>& scope) {
  std::vector<KnowledgePage> pages;
  auto row = connection.prepare(
      "SELECT slug, title, summary, category, scope, tags, updated_at, words FROM knowledge_pages "
      "WHERE :scope IS NULL OR scope = :scope ORDER BY slug, scope = 'shared' DESC, scope");
  row.bind(":scope", scope);
  while (row.step()) {
    pages.push_back({.slug = row.string(0),
                     .title = row.string(1),
                     .summary = row.string(2),
                     .category = row.string(3),
                     .scope = row.string(4),
                     .tags = list_of_text(row.text(5)),
                     .updated_at = row.time(6),
                     .words = row.integer(7)});
  }
  return pages;
}

std::optional<StoredPage> find(Connection& connection, const std::string& slug,
                               const std::optional<std::string>& scope) {
  auto row = connection.prepare(
      "SELECT number, path, scope, slug, title, summary, sources, updated_at FROM knowledge_pages "
      "WHERE slug = :slug AND (:scope IS NULL OR scope = :scope) ORDER BY scope = 'shared' DESC, scope LIMIT 1");
  row.bind(":slug", slug).bind(":scope", scope);
  if (!row.step()) return std::nullopt;
  return StoredPage{.number = row.integer(0),
                    .path = row.string(1),
                    .scope = row.string(2),
                    .slug = row.string(3),
                    .title = row.string(4),
                    .summary = row.string(5),
                    .sources = list_of_text(row.text(6)),
                    .updated_at = row.time(7)};
}

std::vector<LinkedPage> links_of(Connection& connection, const StoredPage& page) {
  std::vector<LinkedPage> pages;
  auto row = connection.prepare("SELECT seen.slug, seen.title FROM " LINKS_WITH_SOURCE
                                "JOIN knowledge_pages AS seen ON " LEADS_TO " WHERE page = :page ORDER BY seen.slug");
  row.bind(":page", page.number);
  while (row.step()) pages.push_back({row.string(0), row.string(1)});
  return pages;
}

std::vector<std::string> backlinks_of(Connection& connection, const StoredPage& page) {
  std::vector<std::string> slugs;
  auto row = connection.prepare("SELECT DISTINCT source.slug FROM " LINKS_WITH_SOURCE
                                "JOIN knowledge_pages AS seen ON " LEADS_TO
                                " WHERE target = :slug AND seen.number = :page ORDER BY source.slug");
  row.bind(":slug", page.slug).bind(":page", page.number);
  while (row.step()) slugs.push_back(row.string(0));
  return slugs;
}

Extent extent(Connection& connection) {
  auto row = connection.prepare("SELECT count(*), coalesce(max(number), 0) FROM knowledge_pages");
  const bool has_row = row.step();
  AGW_ASSERT(has_row);
  return {row.integer(0), row.integer(1)};
}

Totals totals(Connection& connection) {
  auto row = connection.prepare(
      "SELECT count(*), coalesce(sum(words), 0), (SELECT count(*) FROM knowledge_links) FROM knowledge_pages");
  const bool has_row = row.step();
  AGW_ASSERT(has_row);
  return {row.integer(0), row.integer(1), row.integer(2)};
}

std::vector<KnowledgeLink> links(Connection& connection, const std::optional<std::string>& scope) {
  std::vector<KnowledgeLink> links;
  auto row = connection.prepare("SELECT source.scope, source.slug, seen.scope, seen.slug FROM " LINKS_WITH_SOURCE
                                "JOIN knowledge_pages AS seen ON " LEADS_TO
                                " WHERE seen.number != source.number AND (:scope IS NULL OR source.scope = :scope) "
                                "ORDER BY source.slug, source.scope, seen.slug");
  row.bind(":scope", scope);
  while (row.step()) links.push_back({row.string(0), row.string(1), row.string(2), row.string(3)});
  return links;
}

std::vector<PlacedLink> broken_links(Connection& connection) {
  std::vector<PlacedLink> links;
  auto row = connection.prepare("SELECT source.scope, source.slug, target FROM " LINKS_WITH_SOURCE
                                "WHERE NOT EXISTS (SELECT 1 FROM knowledge_pages AS seen WHERE seen.slug = target AND "
                                "seen.scope IN (source.scope, 'shared')) ORDER BY source.slug, target");
  while (row.step()) links.push_back({row.string(0), {row.string(1), row.string(2)}});
  return links;
}

std::vector<PlacedPage> orphans(Connection& connection) {
  std::vector<PlacedPage> pages;
  auto row = connection.prepare(
      "SELECT scope, slug FROM knowledge_pages AS seen WHERE NOT EXISTS (SELECT 1 FROM " LINKS_WITH_SOURCE
      "WHERE target = seen.slug AND " LEADS_TO ") ORDER BY slug");
  while (row.step()) pages.push_back({row.string(0), row.string(1)});
  return pages;
}

std::vector<PageSources> sources(Connection& connection) {
  std::vector<PageSources> pages;
  auto row = connection.prepare(
      "SELECT path, scope, slug, sources, updated_at FROM knowledge_pages WHERE sources <> '[]' ORDER BY slug");
  while (row.step()) {
    pages.push_back({row.string(0), row.string(1), row.string(2), list_of_text(row.text(3)), row.time(4)});
  }
  return pages;
}

std::vector<PlacedFile> places(Connection& connection) {
  std::vector<PlacedFile> files;
  auto row = connection.prepare("SELECT path, scope, slug FROM knowledge_pages");
  while (row.step()) files.push_back({row.string(0), row.string(1), row.string(2)});
  return files;
}

bool merge_some(Connection& connection, Merge merge) {
  if (connection.is_postgres()) return false;
  return merge_full_text(connection, "knowledge_words", merge == Merge::begin ? -pages_per_merge : pages_per_merge);
}

std::map<std::string, std::int64_t> count_by_scope(Connection& connection) {
  std::map<std::string, std::int64_t> counts;
  auto row = connection.prepare("SELECT scope, count(*) FROM knowledge_pages GROUP BY scope");
  while (row.step()) counts[row.string(0)] = row.integer(1);
  return counts;
}

}  // namespace agw::page_store
