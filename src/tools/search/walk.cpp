#include "tools/search/walk.hpp"

#include <algorithm>
#include <vector>

#include "base/async/assert.hpp"
#include "base/text/is_within.hpp"
#include "io/sandbox/private_files.hpp"
#include "tools/search/ignore_rules.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

std::string gitignore_of(const Directory& directory, const std::string& path) {
  auto text = directory.read(path.empty() ? ".gitignore" : path + "/.gitignore", max_gitignore_size);
  return text ? *std::move(text) : std::string();
}

/// Adds the rules of a directory. Those above a nested repository do not apply to it.
IgnoreRules with_rules_of(const IgnoreRules& rules, std::string_view name, const Directory& top,
                          const std::string& path) {
  const bool is_repository = top.status(path.empty() ? ".git" : path + "/.git").has_value();
  return (is_repository ? IgnoreRules() : rules).below(name, gitignore_of(top, path));
}

/// The rules of the `.gitignore` files between the run's working directory and the start.
IgnoreRules rules_above(const OpenedPath& root, const FileRoots& roots) {
  IgnoreRules rules;
  auto at = roots.working_directory();
  if (root.path == at || !is_within(root.path, at)) return rules;
  std::string name;
  for (const auto& next : root.path.lexically_relative(at)) {
    const auto above = locate(at, roots);
    if (above.problem || above.type != FileType::directory) return rules;
    rules = with_rules_of(rules, name, open_directory(above), "");
    name = next.string();
    at /= next;
  }
  return rules.below(name, "");
}

class Walk {
public:
  Walk(const OpenedPath& root, const FileRoots& roots, const WalkOptions& options, const StopFlag& stopped,
       const std::function<bool(const std::string&, bool)>& visit)
      : root_(root), roots_(roots), options_(options), stopped_(stopped), visit_(visit), top_(open_directory(root)) {}

  void run() {
    const auto rules = options_.gitignored ? IgnoreRules() : rules_above(root_, roots_);
    walk_directory("", rules_in(rules, "", ""), 0);
  }

private:
  IgnoreRules rules_in(const IgnoreRules& rules, std::string_view name, const std::string& path) const {
    return options_.gitignored ? rules : with_rules_of(rules, name, top_, path);
  }

  /// Returns false once the visitor has stopped.
  bool walk_directory(const std::string& path, const IgnoreRules& rules, int depth) {
    AGW_ASSERT(depth < options_.depth);
    const auto real = root_.path / path;
    const auto place = place_of(real, roots_);
    if (!is_readable(place)) return true;
    const auto own_name = real.filename().string();
    std::vector<DirectoryEntry> entries;
    // A directory that cannot be opened or was removed is treated as empty.
    [[maybe_unused]] const auto visited = top_.visit(path.empty() ? "." : path, [&](DirectoryEntry entry) {
      if (is_visited(entry, own_name, place, rules)) entries.push_back(std::move(entry));
      return !stopped_->load();
    });
    std::ranges::sort(entries, {}, &DirectoryEntry::name);
    const auto below = [&](const DirectoryEntry& entry) { return path.empty() ? entry.name : path + "/" + entry.name; };
    for (const auto& entry : entries) {
      if (stopped_->load() || !visit_(below(entry), entry.type == FileType::directory)) return false;
    }
    if (depth + 1 >= options_.depth) return true;
    for (const auto& entry : entries) {
      if (entry.type != FileType::directory) continue;
      const auto next = below(entry);
      if (!walk_directory(next, rules_in(rules, entry.name, next), depth + 1)) return false;
    }
    return true;
  }

  bool is_visited(const DirectoryEntry& entry, std::string_view parent, FilePlace place,
                  const IgnoreRules& rules) const {
    const bool is_directory = entry.type == FileType::directory;
    if (entry.name.starts_with('.') && (!options_.hidden || place == FilePlace::home)) return false;
    if (!options_.git && entry.name == ".git") return false;
    if (is_private_name(parent, entry.name)) return false;
    return options_.gitignored || !rules.ignores(entry.name, is_directory);
  }

  const OpenedPath& root_;
  const FileRoots& roots_;
  const WalkOptions& options_;
  const StopFlag& stopped_;
  const std::function<bool(const std::string&, bool)>& visit_;
  Directory top_;
};

}  // namespace

void walk(const OpenedPath& root, const FileRoots& roots, const WalkOptions& options, const StopFlag& stopped,
          const std::function<bool(const std::string& path, bool is_directory)>& visit) {
  AGW_DEBUG_ASSERT(may_block());

  Walk(root, roots, options, stopped, visit).run();
}

}  // namespace agw
