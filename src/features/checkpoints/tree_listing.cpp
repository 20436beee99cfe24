#include "features/checkpoints/tree_listing.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "base/async/assert.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/descriptor.hpp"
#include "io/sandbox/private_files.hpp"
#include "tools/search/ignore_rules.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

constexpr int max_depth = 200;
constexpr std::size_t max_gitignore_size = std::size_t{1024} * 1024;

bool is_same_entry(const EntryState& one, const EntryState& other) {
  if (one.kind != other.kind || one.mode != other.mode) return false;
  return one.kind == EntryKind::directory || one.stamp == other.stamp;
}

/// Finds the entries of a directory in its earlier listing. Constant time if they come in the same order.
class Earlier {
public:
  explicit Earlier(const ListedDirectory* directory) : directory_(directory) {}

  const ListedEntry* find(const std::string& name) {
    if (!directory_) return nullptr;
    const auto& entries = directory_->entries;
    if (next_ < entries.size() && entries[next_].name == name) return &entries[next_++];
    if (by_name_.empty()) {
      for (std::size_t i = 0; i < entries.size(); ++i) by_name_.emplace(entries[i].name, i);
    }
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return nullptr;
    next_ = found->second + 1;
    return &entries[found->second];
  }

private:
  const ListedDirectory* directory_;
  std::size_t next_ = 0;
  std::unordered_map<std::string_view, std::size_t> by_name_;
};

using DirectoriesByPath = std::unordered_map<std::string_view, const ListedDirectory*>;

DirectoriesByPath by_path(const TreeListing* listing) {
  DirectoriesByPath found;
  if (!listing) return found;
  for (const auto& directory : listing->directories) found.emplace(directory.path, &directory);
  return found;
}

const ListedDirectory* find_directory(const DirectoriesByPath& directories, std::string_view path) {
  const auto found = directories.find(path);
  return found == directories.end() ? nullptr : found->second;
}

std::string beneath(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : path + "/" + std::string(name);
}

std::string gitignore_in(int directory) {
  const Descriptor file(::openat(directory, ".gitignore", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  auto text = read_opened(file, max_gitignore_size);
  return text ? *std::move(text) : std::string();
}

class Lister {
public:
  Lister(TreeListing& listing, const fs::path& without, std::size_t max_entries, const TreeListing* previous)
      : listing_(listing), without_(without), max_entries_(max_entries), previous_(by_path(previous)) {}

  void run() {
    Descriptor top(::open(listing_.root.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (top) enter(std::move(top), "", listing_.root.filename().string(), IgnoreRules(), 0);
  }

private:
  void enter(Descriptor opened, const std::string& path, const std::string& name, const IgnoreRules& above, int depth) {
    const auto rules = above.below(name, gitignore_in(opened.get()));
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(opened.get()), ::closedir);
    if (!stream) return;
    const int directory = opened.release();
    const auto index = listing_.directories.size();
    listing_.directories.push_back({.path = path});
    read(stream.get(), directory, listing_.directories[index], rules, name);
    if (!listing_.is_complete) return;
    // By index: the vector grows while subdirectories are listed.
    for (std::size_t i = 0; i < listing_.directories[index].entries.size(); ++i) {
      const auto& entry = listing_.directories[index].entries[i];
      if (entry.state.kind != EntryKind::directory) continue;
      const auto inner = entry.name;
      Descriptor next(::openat(directory, inner.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!next || depth + 1 >= max_depth) {
        listing_.skipped.push_back(beneath(path, inner));
        continue;
      }
      enter(std::move(next), beneath(path, inner), inner, rules, depth + 1);
      if (!listing_.is_complete) return;
    }
  }

  void read(DIR* stream, int directory, ListedDirectory& listed, const IgnoreRules& rules, const std::string& parent) {
    const auto* const previous = find_directory(previous_, listed.path);
    if (previous) listed.entries.reserve(previous->entries.size());
    Earlier earlier(previous);
    while (const auto* found = ::readdir(stream)) {
      const std::string_view name = found->d_name;
      if (name == "." || name == ".." || is_temporary_name(name)) continue;
      if (++listing_.entries > max_entries_) {
        listing_.is_complete = false;
        return;
      }
      add(directory, std::string(name), listed, earlier, rules, parent);
    }
  }

  void add(int directory, std::string name, ListedDirectory& listed, Earlier& earlier, const IgnoreRules& rules,
           const std::string& parent) {
    const auto state = state_of(directory, name);
    if (!state) return;
    const bool is_directory = state->kind == EntryKind::directory;
    if (is_directory && is_skipped(name, listed.path, rules, parent)) return;
    const auto* const before = earlier.find(name);
    ListedEntry entry{.name = std::move(name), .state = *state};
    if (before && is_same_entry(before->state, *state)) {
      entry.kept = before->kept;
      entry.hash = before->hash;
    } else if (!is_directory) {
      entry.kept = judged(entry, rules, parent);
    }
    listed.entries.push_back(std::move(entry));
  }

  std::optional<EntryState> state_of(int directory, const std::string& name) const {
    try {
      auto state = stat_entry(directory, name, listing_.root);
      if (state.kind != EntryKind::absent) return state;
    } catch (const std::system_error&) {
      // This user cannot read the directory, so no command of this user can change it.
    }
    return std::nullopt;
  }

  bool is_skipped(const std::string& name, const std::string& path, const IgnoreRules& rules,
                  const std::string& parent) {
    if (is_private_name(parent, name) || listing_.root / path / name == without_) return true;
    if (name != ".git" && !rules.ignores(name, true)) return false;
    listing_.skipped.push_back(beneath(path, name));
    return true;
  }

  static Kept judged(const ListedEntry& entry, const IgnoreRules& rules, const std::string& parent) {
    if (is_private_name(parent, entry.name)) return Kept::is_private;
    if (entry.state.kind == EntryKind::other) return Kept::special;
    return rules.ignores(entry.name, false) ? Kept::ignored : Kept::unknown;
  }

  TreeListing& listing_;
  const fs::path& without_;
  const std::size_t max_entries_;
  DirectoriesByPath previous_;
};

class Comparison {
public:
  Comparison(const TreeListing& before, TreeListing& after) : after_(after), directories_before_(by_path(&before)) {
    for (const auto& directory : before.directories) before_.push_back(&directory);
  }

  std::vector<ListedChange> run() {
    std::unordered_map<std::string_view, ListedDirectory*> left;
    for (auto& directory : after_.directories) {
      compare(directory);
      left.emplace(directory.path, &directory);
    }
    for (const auto* const directory : before_) {
      const auto still = left.find(directory->path);
      add_missing(*directory, still == left.end() ? nullptr : still->second);
    }
    return std::move(changes_);
  }

private:
  void compare(ListedDirectory& directory) {
    Earlier earlier(find_directory(directories_before_, directory.path));
    for (auto& entry : directory.entries) {
      const auto* const before = earlier.find(entry.name);
      if (before && is_same_entry(before->state, entry.state)) continue;
      changes_.push_back({beneath(directory.path, entry.name), before, &entry});
    }
  }

  void add_missing(const ListedDirectory& before, const ListedDirectory* after) {
    Earlier later(after);
    for (const auto& entry : before.entries) {
      if (!later.find(entry.name)) changes_.push_back({beneath(before.path, entry.name), &entry, nullptr});
    }
  }

  TreeListing& after_;
  DirectoriesByPath directories_before_;
  std::vector<const ListedDirectory*> before_;
  std::vector<ListedChange> changes_;
};

}  // namespace

TreeListing list_tree(const fs::path& root, const fs::path& without, std::size_t max_entries,
                      const TreeListing* previous) {
  AGW_ASSERT(may_block());

  TreeListing listing{.root = root};
  Lister(listing, without, max_entries, previous).run();
  if (!listing.is_complete) {
    listing.directories.clear();
    listing.skipped.clear();
  }
  return listing;
}

std::vector<ListedChange> changes_between(const TreeListing& before, TreeListing& after) {
  return Comparison(before, after).run();
}

}  // namespace agw
