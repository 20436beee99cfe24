#include "tools/search/glob.hpp"

#include <algorithm>

#include "base/async/assert.hpp"
#include "tools/search/glob_pattern.hpp"
#include "tools/search/walk.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

/// Bounds the memory of a search through very many files.
constexpr std::size_t max_considered = 500'000;

bool is_fixed(std::string_view name) { return name.find_first_of("*?[{\\") == name.npos; }

/// The depth that a pattern without `**` can reach.
int depth_of(std::string_view pattern) {
  if (pattern.find("**") != pattern.npos || pattern.find('{') != pattern.npos) return WalkOptions{}.depth;
  return static_cast<int>(std::ranges::count(pattern, '/')) + 1;
}

struct Match {
  std::string path;
  std::int64_t modified_ns;
};

}  // namespace

GlobStart start_of_glob(const fs::path& directory, std::string_view pattern, const FileRoots& roots) {
  GlobStart start{.directory = directory, .pattern = std::string(pattern)};
  if (start.pattern.starts_with('/')) start.directory = "/";
  if (start.pattern.starts_with("~/")) {
    start.directory = roots.home;
    start.pattern.erase(0, 2);
  }
  for (;;) {
    const auto slash = start.pattern.find('/');
    if (slash == start.pattern.npos || !is_fixed(std::string_view(start.pattern).substr(0, slash))) return start;
    start.directory /= start.pattern.substr(0, slash);
    start.pattern.erase(0, slash + 1);
  }
}

GlobFound find_matching(const OpenedPath& start, const std::string& pattern, std::size_t limit, const FileRoots& roots,
                        const StopFlag& stopped) {
  AGW_DEBUG_ASSERT(may_block());

  const GlobPattern wanted(pattern);
  const auto directory = open_directory(start);
  const bool names_git = pattern.find(".git") != pattern.npos;
  std::vector<Match> matches;
  walk(start, roots, {.git = names_git, .depth = depth_of(pattern)}, stopped, [&](const std::string& path, bool) {
    if (!wanted.matches(path)) return true;
    const auto stamp = directory.stamp(path);
    matches.push_back({path, stamp ? stamp->modified_ns : 0});
    return matches.size() < max_considered;
  });
  std::ranges::sort(matches, [](const Match& left, const Match& right) {
    return left.modified_ns != right.modified_ns ? left.modified_ns > right.modified_ns : left.path < right.path;
  });
  GlobFound found{.more = matches.size() > limit};
  if (found.more) matches.resize(limit);
  for (const auto& match : matches) found.paths.push_back(start.path / match.path);
  return found;
}

}  // namespace agw
