#include "features/knowledge/condition.hpp"

#include <map>
#include <set>
#include <unordered_map>

#include "features/knowledge/page_store.hpp"
#include "features/knowledge/source_store.hpp"

namespace agw {

namespace {

/// The path of the raw file that a page of `scope` names as a source (`raw/a.md`, or the whole path); empty if the
/// source is not a raw file, for example an address.
std::string path_of_source(const std::string& scope, const std::string& name) {
  if (is_source_path(name)) return name;
  const auto path = directory_of_scope(scope) + "/" + name;
  return is_source_path(path) ? path : std::string();
}

/// The path of a raw file as shown to people: relative for the shared directory, otherwise complete.
std::string shown_path(const std::string& path) {
  const auto prefix = directory_of_scope(shared_scope) + "/";
  return path.starts_with(prefix) ? path.substr(prefix.size()) : path;
}

class Examination {
public:
  Examination(Connection& connection, const std::vector<FoundKnowledgeFile>& sources)
      : known_(source_store::all(connection)),
        pages_(page_store::sources(connection)),
        counts_(page_store::count_by_scope(connection)),
        orphans_(page_store::orphans(connection)),
        broken_links_(page_store::broken_links(connection)) {
    for (const auto& source : sources) found_.emplace(source.path, &source);
  }

  KnowledgeHealth result() {
    health_.raw.pages = 0;
    for (const auto& [scope, count] : counts_) condition(scope).pages = count;
    for (auto& page : orphans_) condition(page.scope).orphans.push_back(std::move(page.slug));
    for (auto& placed : broken_links_) condition(placed.scope).broken_links.push_back(std::move(placed.link));
    for (const auto& page : pages_) examine(page);
    for (const auto& [path, source] : found_) examine(*source);
    return std::move(health_);
  }

private:
  KnowledgeCondition& condition(const std::string& scope) {
    if (scope == shared_scope) return health_.shared;
    return health_.agents[scope.substr(scope.find(':') + 1)];
  }

  void examine(const page_store::PageSources& page) {
    bool is_stale = false;
    for (const auto& name : page.sources) {
      const auto path = path_of_source(scope_of_path(page.path), name);
      if (path.empty()) continue;
      covered_.insert(path);
      const auto found = found_.find(path);
      is_stale = is_stale || found == found_.end() || has_changed(*found->second, page);
    }
    if (is_stale) condition(page.scope).stale.push_back(page.slug);
  }

  /// Whether the source has changed since the page was compiled; for a page that was not compiled, whether the source
  /// is newer than the page.
  bool has_changed(const FoundKnowledgeFile& source, const page_store::PageSources& page) const {
    const auto known = known_.find(source.path);
    if (known != known_.end() && known->second.page == page.path) {
      return known->second.stamp != source.stamp || known->second.compiled != known->second.content;
    }
    return modified_at(source.stamp) > page.updated_at;
  }

  void examine(const FoundKnowledgeFile& source) {
    const auto known = known_.find(source.path);
    const bool is_known = known != known_.end() && known->second.stamp == source.stamp;
    if (is_known && known->second.problem) return health_.raw.orphans.push_back(shown_path(source.path));
    ++health_.raw.pages;
    if (!covered_.contains(source.path)) {
      health_.raw.uncompiled.push_back(shown_path(source.path));
      condition(scope_of_path(source.path)).uncompiled.push_back(shown_path(source.path));
    } else if (known != known_.end() && known->second.stamp != source.stamp) {
      health_.raw.stale.push_back(shown_path(source.path));
    }
  }

  std::unordered_map<std::string, source_store::KnownSource> known_;
  std::vector<page_store::PageSources> pages_;
  std::map<std::string, std::int64_t> counts_;
  std::vector<page_store::PlacedPage> orphans_;
  std::vector<page_store::PlacedLink> broken_links_;
  std::map<std::string, const FoundKnowledgeFile*> found_;
  std::set<std::string> covered_;
  KnowledgeHealth health_;
};

}  // namespace

KnowledgeHealth health_of(Connection& connection, const std::vector<FoundKnowledgeFile>& sources) {
  return Examination(connection, sources).result();
}

KnowledgeStats stats_of(Connection& connection, const std::vector<FoundKnowledgeFile>& sources, std::size_t journal) {
  const auto totals = page_store::totals(connection);
  return {.pages = totals.pages,
          .sources = health_of(connection, sources).raw.pages,
          .words = totals.words,
          .links = totals.links,
          .broken_links = static_cast<std::int64_t>(page_store::broken_links(connection).size()),
          .orphans = static_cast<std::int64_t>(page_store::orphans(connection).size()),
          .log_entries = static_cast<std::int64_t>(journal)};
}

}  // namespace agw
