#include "features/knowledge/files.hpp"

#include <algorithm>

#include <boost/algorithm/string.hpp>

#include "base/async/assert.hpp"
#include "base/json/json.hpp"
#include "base/log.hpp"
#include "features/knowledge/types.hpp"

namespace agw {

namespace {

constexpr int max_depth = 32;
constexpr std::size_t max_files = 200'000;
constexpr std::size_t max_entries = 100'000;
constexpr std::string_view shared_directory = "knowledge/";
constexpr std::string_view agents_directory = "agents/";
constexpr std::string_view knowledge_directory = "knowledge/";

bool is_markdown(std::string_view path) { return path.ends_with(".md") || path.ends_with(".markdown"); }

/// The parts of a path; `rest` is relative to the scope's directory.
struct Place {
  std::string scope;
  std::string_view rest;
};

std::optional<Place> place_of_file(std::string_view path) {
  if (path.starts_with(shared_directory)) {
    return Place{std::string(shared_scope), path.substr(shared_directory.size())};
  }
  if (!path.starts_with(agents_directory)) return std::nullopt;
  const auto slash = path.find('/', agents_directory.size());
  if (slash == path.npos || !path.substr(slash + 1).starts_with(knowledge_directory)) return std::nullopt;
  const auto name = path.substr(agents_directory.size(), slash - agents_directory.size());
  return Place{"agent:" + std::string(name), path.substr(slash + 1 + knowledge_directory.size())};
}

/// True for hidden files and names that are not UTF-8.
bool is_left_out(std::string_view path, const Place& place) {
  return place.rest.starts_with('.') || place.rest.find("/.") != place.rest.npos || !is_utf8(path);
}

}  // namespace

std::string scope_of_path(std::string_view path) {
  const auto place = place_of_file(path);
  return place ? place->scope : std::string();
}

std::string directory_of_scope(std::string_view scope) {
  if (scope == shared_scope) return "knowledge";
  AGW_DEBUG_ASSERT(scope.starts_with("agent:"));
  return "agents/" + std::string(scope.substr(std::string_view("agent:").size())) + "/knowledge";
}

bool is_page_path(std::string_view path) {
  const auto place = place_of_file(path);
  if (!place || !is_markdown(path) || is_left_out(path, *place)) return false;
  if (place->scope == shared_scope) return place->rest.starts_with("wiki/");
  return !place->rest.starts_with("raw/") && place->rest != "log.md";
}

bool is_source_path(std::string_view path) {
  const auto place = place_of_file(path);
  if (!place || is_left_out(path, *place)) return false;
  if (place->rest.starts_with("raw/")) return true;
  return place->scope != shared_scope && !place->rest.starts_with("wiki/") && !is_markdown(path);
}

std::string compiled_page_path(std::string_view scope, std::string_view slug) {
  AGW_ASSERT(!slug.empty());
  AGW_ASSERT(slug.find('/') == slug.npos);
  return directory_of_scope(scope) + "/wiki/" + std::string(slug) + ".md";
}

std::string_view stem_of_path(std::string_view path) {
  path.remove_prefix(path.rfind('/') == path.npos ? 0 : path.rfind('/') + 1);
  const auto dot = path.rfind('.');
  return dot == path.npos || dot == 0 ? path : path.substr(0, dot);
}

struct KnowledgeTree::Walk {
  KnowledgeFiles kind;
  const std::function<void(const std::string&)>& enter;
  std::vector<FoundKnowledgeFile> found{};

  bool includes(const std::string& path) const {
    return kind == KnowledgeFiles::pages ? is_page_path(path) : is_source_path(path);
  }
  /// Raw directories contain no pages, and wikis no sources.
  bool visits_directory(const std::string& path) const {
    return path != directory_of_scope(scope_of_path(path)) + (kind == KnowledgeFiles::pages ? "/raw" : "/wiki");
  }
};

KnowledgeTree::KnowledgeTree(const std::filesystem::path& data_directory)
    : directory_(Directory::open(data_directory, Symlinks::refuse).value()) {
  for (const auto* path : {"knowledge/raw", "knowledge/wiki", "agents"}) {
    if (const auto made = directory_.make_directories(path); !made) {
      log::warn("cannot create {}: {}; its knowledge is unavailable", path, to_string(made.error()));
    }
  }
}

std::vector<FoundKnowledgeFile> KnowledgeTree::walk(KnowledgeFiles kind,
                                                    const std::function<void(const std::string&)>& enter) const {
  AGW_DEBUG_ASSERT(may_block());

  Walk walk{kind, enter};
  const auto add = [&](const std::string& path) {
    if (const auto opened = directory_.directory(path)) walk_beneath(*opened, path, 1, walk);
  };
  enter("knowledge");
  add(kind == KnowledgeFiles::pages ? "knowledge/wiki" : "knowledge/raw");
  enter("agents");
  if (const auto agents = directory_.list("agents", max_entries)) {
    for (const auto& agent : *agents) {
      if (agent.type != FileType::directory || agent.name.starts_with('.')) continue;
      enter("agents/" + agent.name);
      add("agents/" + agent.name + "/knowledge");
    }
  }
  std::ranges::sort(walk.found, {}, &FoundKnowledgeFile::path);
  return std::move(walk.found);
}

void KnowledgeTree::walk_beneath(const Directory& directory, const std::string& path, int depth, Walk& walk) const {
  walk.enter(path);
  const auto entries = directory.list(".", max_entries);
  if (!entries || depth > max_depth) {
    log::warn("{} is left out: {}", path, entries ? "too deep" : to_string(entries.error()));
    return;
  }
  for (const auto& entry : *entries) {
    const auto below = path + "/" + entry.name;
    if (entry.name.starts_with('.')) continue;
    if (entry.type == FileType::directory && walk.visits_directory(below)) {
      if (const auto opened = directory.directory(entry.name)) walk_beneath(*opened, below, depth + 1, walk);
    } else if (entry.type == FileType::regular && walk.includes(below) && walk.found.size() < max_files) {
      if (const auto stamp = directory.stamp(entry.name)) walk.found.push_back({below, *stamp});
    }
  }
}

}  // namespace agw
