#include "features/checkpoints/tree_listing.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <ranges>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "base/async/assert.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/descriptor.hpp"
#include "io/process/worker_thread.hpp"
#include "io/sandbox/private_files.hpp"
#include "tools/search/ignore_rules.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

constexpr int max_depth = 200;

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

/// A directory that is to be listed.
struct Unlisted {
  std::shared_ptr<DIR> parent;  ///< null for the root
  std::string path;
  std::string name;
  std::shared_ptr<const IgnoreRules> above;
  int depth = 0;
};

struct Listed {
  ListedDirectory directory;
  std::vector<Unlisted> inner;
  std::vector<std::string> skipped;
};

/// Lists a tree on the caller's thread and, if it is large, on one more: most of the time goes into calls of the
/// system. The latest directory that was found is listed first, so that few are open.
class Lister {
public:
  Lister(TreeListing& listing, const fs::path& without, std::size_t max_entries, const TreeListing* previous,
         Coverage coverage)
      : listing_(listing),
        without_(without),
        max_entries_(max_entries),
        previous_(by_path(previous)),
        repeated_(coverage == Coverage::as_previous ? previous : nullptr) {}

  void run() {
    unlisted_.push_back({.parent = nullptr,
                         .path = "",
                         .name = listing_.root.filename().string(),
                         .above = std::make_shared<const IgnoreRules>()});
    work();
    helper_.reset();
    if (failure_) std::rethrow_exception(failure_);
    listing_.entries = entries_;
    listing_.is_complete = entries_ <= max_entries_;
    std::ranges::sort(listing_.directories, {}, &ListedDirectory::path);
    std::ranges::sort(listing_.skipped);
  }

private:
  /// Lists directories until none is left.
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return !unlisted_.empty() || busy_ == 0; });
      if (unlisted_.empty()) return;
      const auto next = std::move(unlisted_.back());
      unlisted_.pop_back();
      ++busy_;
      lock.unlock();
      auto listed = list_or_fail(next);
      lock.lock();
      --busy_;
      if (listed) add(*std::move(listed));
      changed_.notify_all();
    }
  }

  void add(Listed listed) {
    listing_.directories.push_back(std::move(listed.directory));
    std::ranges::move(listed.skipped, std::back_inserter(listing_.skipped));
    if (failure_ || entries_ > max_entries_) return unlisted_.clear();
    std::ranges::move(listed.inner, std::back_inserter(unlisted_));
    if (unlisted_.size() >= enough_for_two_) start_helper();
  }

  void start_helper() {
    enough_for_two_ = std::numeric_limits<std::size_t>::max();
    try {
      helper_.emplace("agw-listing", [this] { work(); });
    } catch (const std::system_error&) {
      // One thread does it as well.
    }
  }

  /// No value if it cannot be opened, or failed.
  std::optional<Listed> list_or_fail(const Unlisted& wanted) {
    try {
      return list(wanted);
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      failure_ = std::current_exception();
      unlisted_.clear();
      return std::nullopt;
    }
  }

  std::optional<Listed> list(const Unlisted& wanted) {
    auto stream = opened(wanted);
    Listed listed{.directory = {.path = wanted.path}, .inner = {}, .skipped = {}};
    if (!stream) {
      const std::scoped_lock lock(mutex_);
      if (wanted.parent) listing_.skipped.push_back(wanted.path);
      return std::nullopt;
    }
    const auto rules =
        std::make_shared<const IgnoreRules>(wanted.above->below(wanted.name, gitignore_in(::dirfd(stream.get()))));
    read(stream.get(), listed, *rules, wanted.name);
    // In this order, as the last is listed first.
    for (const auto& entry : listed.directory.entries | std::views::reverse) {
      if (entry.state.kind != EntryKind::directory) continue;
      listed.inner.push_back({.parent = stream,
                              .path = beneath(wanted.path, entry.name),
                              .name = entry.name,
                              .above = rules,
                              .depth = wanted.depth + 1});
    }
    return listed;
  }

  std::shared_ptr<DIR> opened(const Unlisted& wanted) const {
    if (wanted.depth >= max_depth) return nullptr;
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    Descriptor found(wanted.parent ? ::openat(::dirfd(wanted.parent.get()), wanted.name.c_str(), flags)
                                   : ::open(listing_.root.c_str(), flags));
    auto* const stream = found ? ::fdopendir(found.get()) : nullptr;
    if (!stream) return nullptr;
    found.release();
    return {stream, ::closedir};
  }

  void read(DIR* stream, Listed& listed, const IgnoreRules& rules, const std::string& parent) {
    const auto* const previous = find_directory(previous_, listed.directory.path);
    if (previous) listed.directory.entries.reserve(previous->entries.size());
    Earlier earlier(previous);
    while (const auto* found = ::readdir(stream)) {
      const std::string_view name = found->d_name;
      if (name == "." || name == ".." || is_temporary_name(name)) continue;
      if (++entries_ > max_entries_) return;
      add(::dirfd(stream), std::string(name), listed, earlier, rules, parent);
    }
  }

  void add(int directory, std::string name, Listed& listed, Earlier& earlier, const IgnoreRules& rules,
           const std::string& parent) {
    const auto state = state_of(directory, name);
    if (!state) return;
    const bool is_directory = state->kind == EntryKind::directory;
    if (is_directory && is_skipped(name, listed, rules, parent)) return;
    const auto* const before = earlier.find(name);
    ListedEntry entry{.name = std::move(name), .state = *state};
    if (before && is_same_entry(before->state, *state)) {
      entry.kept = before->kept;
      entry.hash = before->hash;
      if (entry.kept == Kept::ignored && !repeated_) entry.kept = judged(entry, rules, parent);
    } else if (!is_directory) {
      entry.kept = judged(entry, rules, parent);
      if (repeated_ && before) keep_coverage(entry, *before);
    }
    listed.directory.entries.push_back(std::move(entry));
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

  bool is_skipped(const std::string& name, Listed& listed, const IgnoreRules& rules, const std::string& parent) const {
    const auto& path = listed.directory.path;
    if (is_private_name(parent, name) || listing_.root / path / name == without_) return true;
    auto whole = beneath(path, name);
    const bool was_skipped = repeated_ && std::ranges::binary_search(repeated_->skipped, whole);
    const bool was_listed = repeated_ && find_directory(previous_, whole);
    if (!was_skipped && (was_listed || (name != ".git" && !rules.ignores(name, true)))) return false;
    listed.skipped.push_back(std::move(whole));
    return true;
  }

  static void keep_coverage(ListedEntry& entry, const ListedEntry& before) {
    if (before.kept == Kept::ignored && entry.kept == Kept::unknown) entry.kept = Kept::ignored;
    if (before.kept != Kept::ignored && entry.kept == Kept::ignored) entry.kept = Kept::unknown;
  }

  static Kept judged(const ListedEntry& entry, const IgnoreRules& rules, const std::string& parent) {
    if (is_private_name(parent, entry.name)) return Kept::is_private;
    if (entry.state.kind == EntryKind::other) return Kept::special;
    return rules.ignores(entry.name, false) ? Kept::ignored : Kept::unknown;
  }

  TreeListing& listing_;
  const fs::path& without_;
  const std::size_t max_entries_;
  const DirectoriesByPath previous_;
  const TreeListing* const repeated_;  ///< the previous listing, if what it covers is to be covered; else null
  std::atomic<std::size_t> entries_ = 0;

  std::mutex mutex_;  // for everything below, and for the listing
  std::condition_variable changed_;
  std::vector<Unlisted> unlisted_;
  int busy_ = 0;  ///< threads that list a directory
  std::size_t enough_for_two_ = 16;
  std::exception_ptr failure_;
  std::optional<WorkerThread> helper_;
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
                      const TreeListing* previous, Coverage coverage) {
  AGW_ASSERT(may_block());

  TreeListing listing{.root = root, .began = file_clock_now()};
  Lister(listing, without, max_entries, previous, coverage).run();
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
