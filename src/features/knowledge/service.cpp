// Files are authoritative; the database is an index of them. So every request first brings the index up to date
// (`catch_up`), then queries the database. Only an article is read from its file, because a person may be editing it.
// Compiling and ingesting write files, which are indexed like any other change.

#include "features/knowledge/service.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <boost/algorithm/string.hpp>

#include "api/error.hpp"
#include "base/log.hpp"
#include "features/knowledge/condition.hpp"
#include "features/knowledge/entity_store.hpp"
#include "features/knowledge/files.hpp"
#include "features/knowledge/journal.hpp"
#include "features/knowledge/markdown.hpp"
#include "features/knowledge/page_store.hpp"
#include "features/knowledge/raw_source.hpp"
#include "features/knowledge/search_store.hpp"
#include "features/knowledge/word_search_store.hpp"

namespace agw {

namespace {

/// The address of a page in the web page. Letters, digits and hyphens are kept; the other characters of slugs are not
/// ASCII.
std::string address_of_page(std::string_view slug) {
  static constexpr std::string_view hex = "0123456789ABCDEF";
  std::string address = "#/knowledge/";
  for (const char c : slug) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      address += c;
    } else {
      address += {'%', hex[byte >> 4], hex[byte & 15]};
    }
  }
  return address;
}

KnowledgeOverview overview_of(const std::vector<KnowledgePage>& pages) {
  KnowledgeOverview overview{.page_count = static_cast<std::int64_t>(pages.size())};
  std::map<std::string, KnowledgeCategory> categories;
  for (const auto& page : pages) {
    auto& category = categories[page.category];
    category.name = page.category;
    category.pages.push_back({page.slug, page.title, page.summary, page.updated_at});
    if (!overview.updated_at || *overview.updated_at < page.updated_at) overview.updated_at = page.updated_at;
  }
  for (auto& [name, category] : categories) {
    std::ranges::sort(category.pages, {}, [](const KnowledgeLine& page) { return std::tie(page.title, page.slug); });
    overview.categories.push_back(std::move(category));
  }
  return overview;
}

struct PageOnDisk {
  page_store::StoredPage page;
  std::vector<page_store::LinkedPage> links;
  std::vector<std::string> backlinks;
};

/// No value if the file was deleted in the meantime.
std::optional<Article> article_of(const KnowledgeTree& tree, const PageOnDisk& stored) {
  const auto file = tree.directory().read(stored.page.path, max_knowledge_file_size);
  if (!file) return std::nullopt;
  auto text = read_page_text(*file);
  std::map<std::string, std::string> titles;
  for (const auto& link : stored.links) titles.emplace(link.slug, link.title);
  const auto find = [&](std::string_view target) -> std::optional<LinkPlace> {
    const auto found = titles.find(slug_of(target));
    if (found == titles.end()) return std::nullopt;
    return LinkPlace{address_of_page(found->first), found->second};
  };
  Article article{.slug = stored.page.slug,
                  .title = stored.page.title,
                  .summary = stored.page.summary,
                  .html = safe_html(text.body, find),
                  .backlinks = stored.backlinks,
                  .sources = stored.page.sources,
                  .updated_at = stored.page.updated_at};
  article.content = std::move(text.body);
  for (const auto& link : stored.links) article.links.push_back(link.slug);
  return article;
}

}  // namespace

Knowledge::Knowledge(Loop& loop, BlockingPool& blocking, Database& database, const Clock& clock,
                     std::filesystem::path data_directory, BackgroundCompletions& completions, bool others_write)
    : blocking_(blocking),
      database_(database),
      clock_(clock),
      index_(blocking, database, std::move(data_directory), others_write),
      compiler_(blocking, database, clock, index_),
      summaries_(loop, blocking, database, compiler_, index_.tree(), completions,
                 [this](std::vector<std::string> slugs) { return log_summaries(std::move(slugs)); }),
      background_(loop) {}

void Knowledge::start() { background_.spawn(read_at_start()); }

Task<> Knowledge::stop() {
  index_.stop();
  co_await summaries_.stop();
  co_await background_.join();
}

void Knowledge::rebuild_index(Connection& connection) { page_word_store::rebuild_index(connection); }

Task<> Knowledge::read_at_start() {
  try {
    co_await index_.catch_up();
  } catch (const std::exception& error) {
    // The next request tries again and reports the error.
    log::error("cannot read the knowledge pages: {}", error.what());
  }
}

Task<KnowledgeOverview> Knowledge::overview(KnowledgeFilter filter) {
  co_await index_.catch_up();
  co_return co_await database_.read([filter = std::move(filter)](Connection& connection) {
    return overview_of(page_store::list(connection, filter.scope));
  });
}

Task<std::vector<KnowledgePage>> Knowledge::pages(KnowledgeFilter filter) {
  co_await index_.catch_up();
  co_return co_await database_.read(
      [filter = std::move(filter)](Connection& connection) { return page_store::list(connection, filter.scope); });
}

Task<std::vector<KnowledgeLink>> Knowledge::links(KnowledgeFilter filter) {
  co_await index_.catch_up();
  co_return co_await database_.read(
      [filter = std::move(filter)](Connection& connection) { return page_store::links(connection, filter.scope); });
}

Task<std::vector<KnowledgeHit>> Knowledge::search(KnowledgeQuery query) {
  knowledge_search_store::PageSearch search{.limit = static_cast<std::size_t>(query.limit.value)};
  if (query.scope) search.scopes.push_back(*query.scope);
  return find(std::move(query.q), std::move(search));
}

Task<std::vector<KnowledgeHit>> Knowledge::search_for_agent(AgentKnowledgeSearch wanted) {
  return find(std::move(wanted.question), {.wanted = wanted.wanted,
                                           .scopes = {std::string(shared_scope), "agent:" + wanted.agent_name},
                                           .limit = wanted.limit});
}

Task<std::vector<KnowledgeHit>> Knowledge::find(std::string question, knowledge_search_store::PageSearch search) {
  if (question.empty()) throw BadRequest("q is required");
  co_await index_.catch_up();
  search.terms = search_terms(question);
  co_return co_await database_.read([search = std::move(search)](Connection& connection) {
    return knowledge_search_store::search(connection, search);
  });
}

Task<Article> Knowledge::article(std::string slug, KnowledgeFilter filter) {
  co_await index_.catch_up();
  const auto stored = co_await database_.read([slug, filter](Connection& connection) -> std::optional<PageOnDisk> {
    auto page = page_store::find(connection, slug, filter.scope);
    if (!page) return std::nullopt;
    auto links = page_store::links_of(connection, *page);
    auto backlinks = page_store::backlinks_of(connection, *page);
    return PageOnDisk{std::move(*page), std::move(links), std::move(backlinks)};
  });
  std::optional<Article> article;
  if (stored) {
    article = co_await blocking_.run([tree = index_.tree(), page = *stored] { return article_of(*tree, page); });
  }
  if (!article) throw NotFound("article not found");
  co_return std::move(*article);
}

Task<std::vector<FoundKnowledgeFile>> Knowledge::sources() {
  co_return co_await blocking_.run(
      [tree = index_.tree()] { return tree->walk(KnowledgeFiles::sources, [](const std::string&) {}); });
}

Task<KnowledgeStats> Knowledge::stats() {
  co_await index_.catch_up();
  auto found = co_await sources();
  const auto entries =
      co_await blocking_.run([tree = index_.tree()] { return read_journal(tree->directory()).size(); });
  co_return co_await database_.read(
      [found = std::move(found), entries](Connection& connection) { return stats_of(connection, found, entries); });
}

Task<KnowledgeHealth> Knowledge::health() {
  co_await index_.catch_up();
  auto found = co_await sources();
  co_return co_await database_.read(
      [found = std::move(found)](Connection& connection) { return health_of(connection, found); });
}

Task<std::vector<KnowledgeEvent>> Knowledge::journal(KnowledgeLogQuery query) {
  auto events = co_await blocking_.run([tree = index_.tree()] { return read_journal(tree->directory()); });
  const auto limit = static_cast<std::size_t>(query.limit.value);
  if (events.size() > limit) events.resize(limit);
  co_return events;
}

Task<std::string> Knowledge::compile(bool dry, StopSource& stop) {
  const auto report = co_await compiler_.compile(dry, stop);
  if (!dry && report.anything()) {
    co_await log_event(
        {.at = clock_.now(), .op = "compile", .title = report_title(report), .detail = report_text(report)});
  }
  if (!dry) summaries_.begin();
  co_return report_text(report);
}

Task<IngestedSource> Knowledge::ingest(NewSource source) {
  if (source.text.size() > max_knowledge_file_size / 2) throw PayloadTooLarge("source too large");
  const auto title = source.title.empty() ? source.origin : source.title;
  IngestedSource made;
  made.path = co_await blocking_.run(
      [tree = index_.tree(), source = std::move(source)] { return store_source(tree->directory(), source); });
  StopSource never;
  co_await compile(false, never);
  const auto known = co_await database_.read(
      [path = made.path](Connection& connection) { return source_store::find(connection, path); });
  if (known && known->page) made.slug = std::string(stem_of_path(*known->page));
  if (known && known->problem) made.problem = *known->problem;
  co_await log_event({.at = clock_.now(), .op = "ingest", .title = title, .detail = made.path});
  co_return made;
}

Task<> Knowledge::log_summaries(std::vector<std::string> slugs) {
  return log_event({.at = clock_.now(),
                    .op = "summarise",
                    .title = fmt::format("{} summed up by the model", slugs.size()),
                    .detail = boost::join(slugs, ", ")});
}

Task<> Knowledge::log_event(KnowledgeEvent event) {
  co_await mutex_.wait();
  const auto pass = mutex_.enter();
  co_await blocking_.run(
      [tree = index_.tree(), event = std::move(event)] { add_to_journal(tree->directory(), event); });
}

Task<std::vector<Entity>> Knowledge::entities(EntityQuery query) {
  co_await index_.catch_up();
  co_return co_await database_.read(
      [query = std::move(query)](Connection& connection) { return entity_store::list(connection, query); });
}

Task<Entity> Knowledge::entity(std::string id) {
  co_await index_.catch_up();
  auto found = co_await database_.read([id](Connection& connection) { return entity_store::find(connection, id); });
  if (!found) throw NotFound("entity not found");
  co_return std::move(*found);
}

}  // namespace agw
