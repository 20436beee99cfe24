// How sources become pages without ever overwriting text of a person. docs/design/search.md, "Compiling".
//
// A *source* is a raw file, a *page* the Markdown file made from it. A *row* (KnownSource) contains the state after the
// last compilation: the source's stamp and content, the path of its page, the source's content when the page was made
// (`compiled`), and the content written to the page (`page_content`). Contents are compared by their content ids.
//
// The invariant: a page is replaced only if its content is still what the compiler wrote last. Otherwise a person has
// changed it, and it stays; the report lists it as `kept` if its source has changed since.
//
//   1. Bring the page index up to date and list the sources. A source is done if its stamp is that of its row, its page
//      exists and was made from its content, or it could not become a page. If an agent was renamed, the rows of its
//      sources move with their pages.
//   2. For each source that is not done, in pieces of 500: read it, make the page in memory, choose its path. If the
//      name is taken, it is prefixed with the source's directories, then suffixed with a number, finally with the
//      content id of the path.
//   3. If the file at that path differs from the new page only in `updated_at`, leave it; if it is a person's, keep it;
//      otherwise write it.
//   4. After each piece: sync the pages to disk, then write the rows.
//   5. Remove the rows, but not the pages, of sources that no longer exist, and bring the index up to date.
//
// A kill between a page and its row: the next compilation makes the same page again, finds that it exists and writes
// only the row. If the source has changed in between, the page counts as a person's and stays, which is the safe
// choice.

#include "features/knowledge/compile.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "base/digest.hpp"
#include "base/log.hpp"
#include "features/knowledge/files.hpp"
#include "features/knowledge/page_store.hpp"
#include "features/knowledge/raw_source.hpp"
#include "io/files/update_file.hpp"

namespace agw {

using source_store::KnownSource;

namespace {

/// Sources per batch. A batch's pages are on disk before its rows are written.
constexpr std::size_t sources_per_batch = 500;
constexpr std::size_t rows_per_write = 200;
/// Up to this many pages are synced one by one; for more, a single sync at the end is faster.
constexpr std::size_t max_durable_changes = 8;
constexpr int max_numbered = 50;

/// The path of the source relative to the directory of its scope, as it appears in the heads of pages.
std::string path_in_scope(const std::string& path) {
  return path.substr(directory_of_scope(scope_of_path(path)).size() + 1);
}

/// Another name if the page's is taken: first with its directories, then with a number, finally with a unique id.
std::string other_slug(const std::string& path, const std::string& name, int number) {
  if (number > max_numbered) return fmt::format("{}-{}", name, content_id(path));
  if (number > 1) return fmt::format("{}-{}", name, number);
  const auto in_scope = path_in_scope(path);
  const auto slash = in_scope.find('/');
  const auto directories = slash == in_scope.rfind('/') ? "" : in_scope.substr(slash + 1, in_scope.rfind('/') - slash);
  return slug_of(directories + std::string(stem_of_path(path)));
}

std::string_view known_summary(const KnownSource& source) {
  return source.summary && source.summary_of == source.content ? std::string_view(*source.summary) : std::string_view();
}

/// Whether two pages differ only in the time of their last change.
bool is_same_page(PageText a, PageText b) {
  a.head.updated_at = b.head.updated_at = Timestamp();
  return write_page_text(a) == write_page_text(b);
}

}  // namespace

/// What to compile, and the owners of pages. Used by one thread at a time.
struct KnowledgeCompiler::Plan {
  std::vector<FoundKnowledgeFile> changed;  ///< sources to read
  std::vector<std::string> gone;
  std::vector<std::pair<std::string, KnownSource>> moved;  ///< former paths, and the rows with the new paths
  std::unordered_map<std::string, KnownSource> known;
  std::unordered_map<std::string, std::string> pages;        ///< paths of pages, by `scope/slug`
  std::unordered_map<std::string, std::string> page_owners;  ///< paths of sources, by path of the page
  std::size_t sources = 0;

  void follow(const std::vector<FoundKnowledgeFile>& found, const std::unordered_set<std::string>& existing_pages,
              std::set<std::string>& missing_sources);
  std::string page_of(const KnowledgeTree& tree, const FoundKnowledgeFile& source);
  bool is_free(const KnowledgeTree& tree, const std::string& source, const std::string& scope, const std::string& slug);
};

struct KnowledgeCompiler::Outcome {
  CompileReport report;
  std::vector<KnownSource> rows;
};

/// Moves the rows of sources whose agent was renamed, and of their pages. Otherwise the page would count as written by
/// a person.
void KnowledgeCompiler::Plan::follow(const std::vector<FoundKnowledgeFile>& found,
                                     const std::unordered_set<std::string>& existing_pages,
                                     std::set<std::string>& missing_sources) {
  std::multimap<std::string, std::string> missing_by_place;
  for (const auto& path : missing_sources) missing_by_place.emplace(path_in_scope(path), path);
  for (const auto& source : found) {
    if (known.contains(source.path)) continue;
    const auto [first, last] = missing_by_place.equal_range(path_in_scope(source.path));
    const auto same = std::find_if(
        first, last, [&](const auto& entry) { return known.at(entry.second).stamp.inode == source.stamp.inode; });
    const auto before = same == last ? first : same;
    if (before == last || !known.at(before->second).page) continue;
    auto row = known.at(before->second);
    const auto page = directory_of_scope(scope_of_path(source.path)) + "/" + path_in_scope(*row.page);
    if (existing_pages.contains(*row.page) || !existing_pages.contains(page)) continue;
    row.path = source.path;
    row.page = page;
    known.emplace(row.path, row);
    page_owners.emplace(page, row.path);
    moved.emplace_back(before->second, std::move(row));
    const auto removed = missing_sources.erase(before->second);
    AGW_ASSERT(removed == 1);
    missing_by_place.erase(before);
  }
}

/// Whether the source's page can have that slug: it is free, or the page with that slug names the source.
bool KnowledgeCompiler::Plan::is_free(const KnowledgeTree& tree, const std::string& source, const std::string& scope,
                                      const std::string& slug) {
  const auto path = compiled_page_path(scope, slug);
  const auto owner = page_owners.find(path);
  if (owner != page_owners.end()) return owner->second == source;
  const auto page = pages.find(scope + "/" + slug);
  if (page != pages.end() && page->second != path) return false;
  const auto file = tree.directory().read(path, max_knowledge_file_size);
  if (!file) return file.error() == FileError::not_found;
  const auto named = read_page_text(*file).head.sources;
  return contains(named, path_in_scope(source));
}

/// The path of the source's page: the current one, or a new one from its name, its directories or a number.
std::string KnowledgeCompiler::Plan::page_of(const KnowledgeTree& tree, const FoundKnowledgeFile& source) {
  const auto before = known.find(source.path);
  if (before != known.end() && before->second.page) return *before->second.page;
  const auto scope = scope_of_path(source.path);
  const auto name = slug_of(stem_of_path(source.path));
  std::string slug = name;
  // The loop ends even if no name is free; then the page is not written.
  for (int number = 1; number <= max_numbered + 1 && !is_free(tree, source.path, scope, slug); ++number) {
    slug = other_slug(source.path, name, number);
  }
  return compiled_page_path(scope, slug);
}

namespace {

/// The compilation of one source.
struct Step {
  const KnowledgeTree& tree;
  CompileReport& report;
  bool dry;
  Durability durability;
  bool has_changed = true;  ///< the source's content has changed since it was last read
  Timestamp now;
};

/// Keeps a page that a person wrote or changed. The page counts as up to date if it was written after its source.
void leave_page(const Step& step, KnownSource& row, const std::string& slug) {
  AGW_ASSERT(row.page);
  const auto page = step.tree.directory().stamp(*row.page);
  const bool is_newer = page && modified_at(*page) > modified_at(row.stamp);
  if (is_newer) row.compiled = row.content;
  if (!is_newer && step.has_changed) step.report.kept.push_back(slug);
  row.problem.reset();
  row.page_content.reset();
}

void set_problem(const Step& step, KnownSource& row, std::string why) {
  AGW_ASSERT(!why.empty());
  if (row.problem != why) step.report.unusable.push_back(fmt::format("{} ({})", path_in_scope(row.path), why));
  row.problem = std::move(why);
}

/// For a problem that may end although the source does not change: the source is tried again next time.
void set_passing_problem(const Step& step, KnownSource& row, std::string_view what, FileError why) {
  set_problem(step, row, fmt::format("its page cannot be {}: {}", what, to_string(why)));
  row.stamp = {};
  if (!row.compiled) row.page.reset();
}

/// What was found at the path of a page, and what to do about it.
struct PageWrite {
  enum class Found { unreadable, same, edited, outdated } found = Found::unreadable;
  bool exists = false;
  std::string text{};  ///< of the file, or the new one
};

/// The change of the page's file. It may be called again, if a person saves the file meanwhile.
std::optional<std::string> change_page(const KnownSource& row, const PageText& page, const std::string* present,
                                       PageWrite& write) {
  using Found = PageWrite::Found;
  write.exists = present != nullptr;
  write.found = Found::outdated;
  if (present && is_same_page(read_page_text(*present), page))
    write.found = Found::same;
  else if (present && row.page_content != content_id(*present))
    write.found = Found::edited;
  write.text = write.found == Found::outdated ? write_page_text(page) : *present;
  // A larger page could not be read back.
  if (write.found != Found::outdated || write.text.size() > max_knowledge_file_size) return std::nullopt;
  return write.text;
}

FileResult<void> put_page(const Step& step, const KnownSource& row, const PageText& page, PageWrite& write) {
  const auto& directory = step.tree.directory();
  const auto change = [&](const std::string* present) { return change_page(row, page, present, write); };
  if (step.dry) {
    const auto present = directory.read(*row.page, max_knowledge_file_size);
    if (!present && present.error() != FileError::not_found) return present.error();
    change(present ? &*present : nullptr);
    return {};
  }
  const auto made = directory.make_directories(row.page->substr(0, row.page->rfind('/')));
  return made ? update_file(directory, *row.page, max_knowledge_file_size, change, 0600, step.durability) : made;
}

void make_page(const Step& step, KnownSource& row, PageText page) {
  using Found = PageWrite::Found;
  AGW_ASSERT(row.page);
  const auto slug = std::string(stem_of_path(*row.page));
  page.head.updated_at = step.now;
  PageWrite write;
  const auto put = put_page(step, row, page, write);
  // An unreadable page is one that a person made too large, or replaced by a symlink.
  const bool is_kept = write.found == Found::edited || (write.found == Found::unreadable && row.compiled);
  if (is_kept) return leave_page(step, row, slug);
  if (!put) return set_passing_problem(step, row, write.found == Found::unreadable ? "read" : "written", put.error());
  if (write.text.size() > max_knowledge_file_size) return set_problem(step, row, "its page would be larger than 4 MiB");
  row.problem.reset();
  row.compiled = row.content;
  row.page_content = content_id(write.text);
  if (write.found == Found::same) return;
  (write.exists ? step.report.changed : step.report.made).push_back(slug);
}

}  // namespace

KnowledgeCompiler::Outcome KnowledgeCompiler::compile_some(const KnowledgeTree& tree, Plan& plan, std::size_t begin,
                                                           bool dry, Timestamp now) {
  AGW_DEBUG_ASSERT(may_block());
  AGW_ASSERT(begin < plan.changed.size());
  Outcome outcome;
  const auto durability = plan.changed.size() <= max_durable_changes ? Durability::now : Durability::later;
  for (std::size_t i = begin; i < std::min(begin + sources_per_batch, plan.changed.size()); ++i) {
    const auto& source = plan.changed[i];
    const auto content = tree.directory().read(source.path, max_knowledge_file_size);
    if (!content && content.error() == FileError::not_found) continue;
    const auto before = plan.known.find(source.path);
    KnownSource row = before == plan.known.end() ? KnownSource{.path = source.path} : before->second;
    row.stamp = source.stamp;
    const auto former_content = std::exchange(row.content, content ? content_id(*content) : "");
    const Step step{tree, outcome.report, dry, durability, former_content != row.content, now};
    auto made = content ? page_of_source(path_in_scope(source.path), *content, known_summary(row))
                        : SourcePage{.problem = std::string(to_string(content.error()))};
    if (made.problem.empty()) {
      row.page = plan.page_of(tree, source);
      plan.page_owners[*row.page] = source.path;
      if (made.page.head.scope.empty()) made.page.head.scope = scope_of_path(source.path);
      make_page(step, row, std::move(made.page));
    } else {
      set_problem(step, row, std::move(made.problem));
    }
    AGW_ASSERT(row.problem || row.compiled == row.content || !row.page_content);
    outcome.rows.push_back(std::move(row));
  }
  AGW_ASSERT(outcome.rows.size() <= sources_per_batch);
  if (!dry && durability == Durability::later) tree.directory().sync();
  return outcome;
}

KnowledgeCompiler::KnowledgeCompiler(BlockingPool& blocking, Database& database, const Clock& clock, PageIndex& index)
    : blocking_(blocking), database_(database), clock_(clock), index_(index) {}

Task<CompileReport> KnowledgeCompiler::compile(bool dry, StopSource& stop) {
  co_await mutex_.wait();
  const auto pass = mutex_.enter();
  co_return co_await compile_all(dry, stop);
}

Task<std::shared_ptr<KnowledgeCompiler::Plan>> KnowledgeCompiler::plan() {
  co_await index_.catch_up();
  auto found = co_await blocking_.run(
      [tree = index_.tree()] { return tree->walk(KnowledgeFiles::sources, [](const std::string&) {}); });
  co_return co_await database_.read([found = std::move(found)](Connection& connection) {
    auto plan = std::make_shared<Plan>();
    plan->sources = found.size();
    plan->known = source_store::all(connection);
    std::unordered_set<std::string> paths;
    for (auto& page : page_store::places(connection)) {
      paths.insert(page.path);
      plan->pages.emplace(page.scope + "/" + page.slug, std::move(page.path));
    }
    std::unordered_set<std::string_view> found_paths;
    for (const auto& source : found) found_paths.insert(source.path);
    std::set<std::string> gone;
    for (const auto& [path, source] : plan->known) {
      if (!found_paths.contains(path)) gone.insert(path);
      if (source.page) plan->page_owners.emplace(*source.page, path);
    }
    plan->follow(found, paths, gone);
    for (const auto& source : found) {
      const auto known = plan->known.find(source.path);
      const bool is_done = known != plan->known.end() && known->second.stamp == source.stamp &&
                           (known->second.problem || known->second.content == known->second.compiled) &&
                           (known->second.problem || paths.contains(*known->second.page));
      if (!is_done) plan->changed.push_back(source);
    }
    plan->gone.assign(gone.begin(), gone.end());
    return plan;
  });
}

Task<CompileReport> KnowledgeCompiler::compile_all(bool dry, StopSource& stop) {
  auto work = co_await plan();
  CompileReport report{.sources = work->sources, .dry = dry};
  if (!dry && !work->moved.empty()) {
    co_await database_.write([moved = work->moved](Connection& connection) {
      for (const auto& [from, row] : moved) source_store::move(connection, from, row);
    });
  }
  for (std::size_t begin = 0; begin < work->changed.size(); begin += sources_per_batch) {
    report.stopped = stop.requested();
    if (report.stopped) break;
    auto outcome = co_await blocking_.run([tree = index_.tree(), work, begin, dry, now = clock_.now()] {
      return compile_some(*tree, *work, begin, dry, now);
    });
    for (const auto member :
         {&CompileReport::made, &CompileReport::changed, &CompileReport::kept, &CompileReport::unusable}) {
      std::ranges::move(outcome.report.*member, std::back_inserter(report.*member));
    }
    if (!dry) co_await put(std::move(outcome.rows));
  }
  if (!dry) {
    co_await database_.write([gone = work->gone](Connection& connection) {
      for (const auto& path : gone) source_store::remove(connection, path);
    });
    co_await index_.catch_up();
  }
  // Freeing ten thousand rows would hold the loop for milliseconds.
  co_await blocking_.run([plan = std::move(work)]() mutable { plan.reset(); });
  co_return report;
}

Task<> KnowledgeCompiler::take_summary(std::string path, std::string content, std::optional<std::string> summary) {
  co_await mutex_.wait();
  const auto pass = mutex_.enter();
  const auto known = co_await database_.write([path, content, summary](Connection& connection) {
    source_store::put_summary(connection, path, content, summary);
    return source_store::find(connection, path);
  });
  if (!summary || !known || known->compiled) co_return;
  const auto work = std::make_shared<Plan>();
  work->changed.push_back({path, known->stamp});
  work->known.emplace(path, *known);
  auto outcome = co_await blocking_.run(
      [tree = index_.tree(), work, now = clock_.now()] { return compile_some(*tree, *work, 0, false, now); });
  co_await put(std::move(outcome.rows));
  co_await index_.catch_up();
}

Task<> KnowledgeCompiler::put(std::vector<KnownSource> rows) {
  for (std::size_t begin = 0; begin < rows.size(); begin += rows_per_write) {
    const auto first = rows.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto count = static_cast<std::ptrdiff_t>(std::min(rows_per_write, rows.size() - begin));
    co_await database_.write([piece = std::vector<KnownSource>(first, first + count)](Connection& connection) {
      for (const auto& row : piece) source_store::put(connection, row);
    });
  }
}

}  // namespace agw
