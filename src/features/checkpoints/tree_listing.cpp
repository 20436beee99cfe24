// Lists a tree, fast enough to do so before and after each command.
//
// An *entry* is a name with its stamp (inode, size, times); a *directory* of a listing is shared with the previous
// listing as long as nothing in it differs. Its *version* is its inode and change time, read before its names.
//
// The invariant: a listing has every entry that a command could change and that is not private. Ignored directories and
// the data of repositories only appear in `skipped`. With `Coverage::as_previous`, the listing covers everything that
// the previous one covers, so that a changed .gitignore hides nothing.
//
//   1. Directories to list are on a stack, from which the calling thread takes the latest, so that few are open. A
//      second thread helps once sixteen are waiting.
//   2. If a directory's version shows that no names were added or removed, its names are those of the previous listing,
//      and only the stamps are read. Only for file systems known to update the change time of directories, and not for
//      very recent changes, which may have the same timestamp as the listing.
//   3. Unchanged directories are shared with the previous listing; others are copied with their changes.
//   4. At the end, directories are sorted by path, because the next listing searches them.

#include "features/checkpoints/tree_listing.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
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
#include "base/containers.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/descriptor.hpp"
#include "io/process/worker_thread.hpp"
#include "io/sandbox/private_files.hpp"
#include "tools/search/ignore_rules.hpp"

namespace agw {

namespace {

bool is_same_entry(const EntryState& one, const EntryState& other) {
  if (one.kind != other.kind || one.mode != other.mode) return false;
  return one.kind == EntryKind::directory || one.stamp == other.stamp;
}

/// Whether an entry can be reused: nothing that a listing contains differs.
bool is_unchanged(const EntryState& one, const EntryState& other) {
  return one.kind == other.kind && one.mode == other.mode && one.stamp == other.stamp && one.device == other.device &&
         one.links == other.links && one.modified_ns == other.modified_ns && one.accessed_ns == other.accessed_ns;
}

/// Finds the entries of a directory in its earlier listing, in constant time if the order is the same.
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

/// Collects the entries of a directory. Copies nothing as long as they equal those of the previous listing.
class Entries {
public:
  explicit Entries(const SharedDirectory* previous) : previous_(previous) {}

  /// Adds an unchanged entry of the previous listing.
  void add_unchanged(const ListedEntry& entry) {
    // A directory that changes meanwhile may list a name twice.
    if (!made_ && shared_count_ < (*previous_)->entries.size() && &entry == &(*previous_)->entries[shared_count_])
      ++shared_count_;
    else
      add(entry);
  }
  void add(ListedEntry entry) {
    if (!made_) copy();
    made_->push_back(std::move(entry));
  }

  SharedDirectory finish(std::string path, DirectoryVersion version) && {
    AGW_ASSERT(shared_count_ <= (previous_ ? (*previous_)->entries.size() : 0));
    if (!made_ && previous_ && shared_count_ == (*previous_)->entries.size()) return {*previous_, version};
    if (!made_) copy();
    const bool may_lack = std::ranges::any_of(*made_, may_lack_content);
    return {{.path = std::move(path), .entries = *std::move(made_), .may_lack_contents = may_lack}, version};
  }

private:
  void copy() {
    made_.emplace();
    if (!previous_) return;
    const auto& entries = (*previous_)->entries;
    made_->reserve(entries.size() + 1);
    made_->assign(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(shared_count_));
  }

  const SharedDirectory* previous_;
  std::size_t shared_count_ = 0;  ///< how many first entries of the previous listing are also the first here
  std::optional<std::vector<ListedEntry>> made_;
};

using DirectoriesByPath = std::unordered_map<std::string_view, const SharedDirectory*>;

DirectoriesByPath by_path(const TreeListing* listing) {
  DirectoriesByPath found;
  if (!listing) return found;
  for (const auto& directory : listing->directories) found.emplace(directory->path, &directory);
  return found;
}

const SharedDirectory* find_directory(const DirectoriesByPath& directories, std::string_view path) {
  const auto found = directories.find(path);
  return found == directories.end() ? nullptr : found->second;
}

std::string beneath(const std::string& path, std::string_view name) {
  AGW_DEBUG_ASSERT(!name.empty() && name.find('/') == name.npos);
  return path.empty() ? std::string(name) : path + "/" + std::string(name);
}

/// Whether the file system is known to update a directory's change time whenever a name is added or removed. Network
/// file systems may not do so.
bool marks_changes_of_names(int directory) {
  constexpr std::array<std::int64_t, 5> known{EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC, TMPFS_MAGIC,
                                              F2FS_SUPER_MAGIC};
  struct statfs status{};
  return ::fstatfs(directory, &status) == 0 && contains(known, std::int64_t{status.f_type});
}

std::string gitignore_in(int directory) {
  const Descriptor file(::openat(directory, ".gitignore", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  auto text = read_opened(file, max_gitignore_size);
  return text ? *std::move(text) : std::string();
}

/// A directory to list.
struct Unlisted {
  std::shared_ptr<const Descriptor> parent;  ///< null for the root
  std::string path;
  std::string name;
  std::shared_ptr<const IgnoreRules> above;
  int depth = 0;
};

/// A directory that is being listed.
struct UnfinishedListing {
  std::string path;
  std::string name;
  Entries entries;
  int directory = -1;
  std::shared_ptr<const IgnoreRules> rules{};
  std::map<std::string, SkipReason> skipped{};
  std::size_t count = 0;
  bool has_all_names = true;  ///< `entries` has all names so far
};

/// Lists a tree on the caller's thread and, if it is large, on a second one: most time is spent in system calls.
class Lister {
public:
  Lister(TreeListing& listing, const ListingLimits& limits, const TreeListing* previous, Coverage coverage)
      : listing_(listing),
        limits_(limits),
        without_(limits.without.lexically_relative(listing.root).string()),
        previous_(by_path(previous)),
        repeated_(coverage == Coverage::as_previous ? previous : nullptr) {
    AGW_DEBUG_ASSERT(!repeated_ || repeated_->root == listing.root);
  }

  void run() {
    unlisted_.push_back({.parent = nullptr,
                         .path = "",
                         .name = listing_.root.filename().string(),
                         .above = std::make_shared<const IgnoreRules>()});
    work();
    helper_.reset();
    AGW_ASSERT(unlisted_.empty());
    AGW_ASSERT(busy_ == 0);
    if (failure_) std::rethrow_exception(failure_);
    listing_.entries = entries_;
    listing_.is_complete = entries_ <= limits_.entries;
    std::ranges::sort(listing_.directories, {}, [](const auto& each) -> const std::string& { return each->path; });
  }

private:
  /// The result of listing one directory.
  struct Done {
    SharedDirectory directory;
    std::vector<Unlisted> inner;
    std::map<std::string, SkipReason> skipped;
  };

  /// Lists directories until none is left.
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return !unlisted_.empty() || busy_ == 0; });
      if (unlisted_.empty()) return;
      const auto next = std::move(unlisted_.back());
      unlisted_.pop_back();
      ++busy_;
      AGW_ASSERT(busy_ <= 2);
      lock.unlock();
      auto listed = list_or_fail(next);
      lock.lock();
      AGW_ASSERT(busy_ > 0);
      --busy_;
      if (listed) add(*std::move(listed));
      changed_.notify_all();
    }
  }

  void add(Done done) {
    listing_.directories.push_back(std::move(done.directory));
    listing_.skipped.merge(done.skipped);
    if (failure_ || entries_ > limits_.entries) return unlisted_.clear();
    std::ranges::move(done.inner, std::back_inserter(unlisted_));
    if (unlisted_.size() >= enough_for_two_) start_helper();
  }

  void start_helper() {
    AGW_ASSERT(!helper_);
    enough_for_two_ = std::numeric_limits<std::size_t>::max();
    try {
      helper_.emplace("agw-listing", [this] { work(); });
    } catch (const std::system_error&) {
      helper_.reset();  // Continue with one thread.
    }
  }

  /// No value if the directory cannot be opened, or listing it failed.
  std::optional<Done> list_or_fail(const Unlisted& wanted) {
    try {
      return list(wanted);
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      failure_ = std::current_exception();
      unlisted_.clear();
      return std::nullopt;
    }
  }

  std::optional<Done> list(const Unlisted& wanted) {
    AGW_ASSERT(!wanted.parent == wanted.path.empty());
    const auto directory = opened(wanted);
    if (!*directory) return leave_out(wanted);
    const auto* const previous = find_directory(previous_, wanted.path);
    if (!wanted.parent && marks_changes_of_names(directory->get()))
      marking_device_ = stat_opened(directory->get(), listing_.root).device;
    auto version = version_of(directory->get());
    const bool has_names = previous && version.has_names_of(previous->version());
    const auto name_of = [](const auto& entry) { return std::string_view(entry.name); };
    const bool may_have_rules = !has_names || contains((*previous)->entries, ".gitignore", name_of);
    UnfinishedListing now{
        .path = wanted.path, .name = wanted.name, .entries = Entries(previous), .directory = directory->get()};
    now.rules = std::make_shared<const IgnoreRules>(
        wanted.above->below(wanted.name, may_have_rules ? gitignore_in(now.directory) : std::string()));
    if (has_names)
      read_again(**previous, now);
    else if (!read(now, previous))
      return leave_out(wanted);
    entries_ += now.count;
    version.has_all_names = now.has_all_names && (has_names || version.has_all_names);
    Done done{.directory = std::move(now.entries).finish(wanted.path, version),
              .inner = {},
              .skipped = std::move(now.skipped)};
    // In reverse order, because the last of the stack is listed first.
    for (const auto& entry : done.directory->entries | std::views::reverse) {
      if (entry.state.kind != EntryKind::directory) continue;
      done.inner.push_back({.parent = directory,
                            .path = beneath(wanted.path, entry.name),
                            .name = entry.name,
                            .above = now.rules,
                            .depth = wanted.depth + 1});
    }
    return done;
  }

  /// Call it immediately after the failure. Throws for lack of descriptors or memory, which says nothing about the
  /// directory.
  std::nullopt_t leave_out(const Unlisted& wanted) {
    const auto reason = wanted.depth < max_listed_depth ? SkipReason::unreadable : SkipReason::too_deep;
    const bool is_shortage = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
    if (reason == SkipReason::unreadable && is_shortage) throw_errno("cannot list " + listing_.root.string());
    const std::scoped_lock lock(mutex_);
    // A workspace may not exist yet.
    if (wanted.parent || ::access(listing_.root.c_str(), F_OK) == 0) listing_.skipped.emplace(wanted.path, reason);
    return std::nullopt;
  }

  std::shared_ptr<const Descriptor> opened(const Unlisted& wanted) const {
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    if (wanted.depth >= max_listed_depth) return std::make_shared<const Descriptor>();
    return std::make_shared<const Descriptor>(wanted.parent ? ::openat(wanted.parent->get(), wanted.name.c_str(), flags)
                                                            : ::open(listing_.root.c_str(), flags));
  }

  /// Call it before the names are read, so that later changes of names change the version.
  DirectoryVersion version_of(int directory) const {
    const auto now = file_clock_now();
    const auto state = stat_opened(directory, listing_.root);
    return {
        .device = state.device,
        .inode = state.stamp.inode,
        .changed_ns = state.stamp.changed_ns,
        .has_all_names = state.device == marking_device_ && state.stamp.changed_ns < now - limits_.unchanged.count()};
  }

  /// Reads the entries whose names the previous listing has.
  void read_again(const ListedDirectory& previous, UnfinishedListing& now) {
    for (const auto& entry : previous.entries) add(entry.name, &entry, now);
  }

  /// Reads the names and their entries. Returns false if the directory cannot be read.
  bool read(UnfinishedListing& now, const SharedDirectory* previous) {
    Descriptor own(::fcntl(now.directory, F_DUPFD_CLOEXEC, 0));
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(own ? ::fdopendir(own.get()) : nullptr, ::closedir);
    if (!stream) return false;
    own.release();
    Earlier earlier(previous ? &**previous : nullptr);
    while (const auto* found = ::readdir(stream.get())) {
      const std::string name = found->d_name;
      if (name == "." || name == ".." || is_temporary_name(name)) continue;
      if (entries_ + now.count > limits_.entries) break;
      add(name, earlier.find(name), now);
    }
    return true;
  }

  void add(const std::string& name, const ListedEntry* before, UnfinishedListing& now) {
    ++now.count;
    const auto state = state_of(now.directory, name);
    if (!state || (state->kind == EntryKind::directory && is_skipped(name, before, now))) return;
    const bool is_same = before && is_same_entry(before->state, *state);
    const auto kept = is_same ? kept_still(*before, now) : kept_of(name, *state, before, now);
    if (is_same && kept == before->kept && is_unchanged(before->state, *state))
      return now.entries.add_unchanged(*before);
    ListedEntry entry{.name = name, .state = *state, .kept = kept};
    if (is_same) entry.hash = before->hash;
    now.entries.add(std::move(entry));
  }

  std::optional<EntryState> state_of(int directory, const std::string& name) const {
    try {
      auto state = stat_entry(directory, name, listing_.root);
      if (state.kind != EntryKind::absent) return state;
    } catch (const std::system_error&) {
      return std::nullopt;  // What this user cannot read, no command of this user can change.
    }
    return std::nullopt;
  }

  bool is_skipped(const std::string& name, const ListedEntry* before, UnfinishedListing& now) const {
    auto whole = beneath(now.path, name);
    if (is_private_name(now.name, name) || whole == without_) {
      now.has_all_names = false;
      return true;
    }
    // Directories of the previous listing stay listed, and skipped ones skipped.
    const bool was_listed = repeated_ && before && before->state.kind == EntryKind::directory;
    const bool was_skipped = repeated_ && !was_listed && repeated_->skipped.contains(whole);
    if (!was_skipped && (was_listed || (name != ".git" && !now.rules->ignores(name, true)))) return false;
    const auto reason = name == ".git" ? SkipReason::repository : SkipReason::ignored;
    now.skipped.emplace(std::move(whole), was_skipped ? repeated_->skipped.at(whole) : reason);
    now.has_all_names = false;
    return true;
  }

  Kept kept_still(const ListedEntry& before, const UnfinishedListing& now) const {
    if (before.kept != Kept::ignored || repeated_) return before.kept;
    return judged(before.name, before.state, now);
  }

  Kept kept_of(const std::string& name, const EntryState& state, const ListedEntry* before,
               const UnfinishedListing& now) const {
    if (state.kind == EntryKind::directory) return Kept::unknown;
    const auto kept = judged(name, state, now);
    if (!repeated_ || !before) return kept;
    // Coverage::as_previous: what was ignored stays ignored, and what was covered stays covered.
    if (before->kept == Kept::ignored && kept == Kept::unknown) return Kept::ignored;
    return before->kept != Kept::ignored && kept == Kept::ignored ? Kept::unknown : kept;
  }

  static Kept judged(const std::string& name, const EntryState& state, const UnfinishedListing& now) {
    if (is_private_name(now.name, name)) return Kept::is_private;
    if (state.kind == EntryKind::other) return Kept::special;
    return now.rules->ignores(name, false) ? Kept::ignored : Kept::unknown;
  }

  TreeListing& listing_;
  const ListingLimits& limits_;
  const std::string without_;  ///< relative to the root
  const DirectoriesByPath previous_;
  const TreeListing* const repeated_;  ///< the previous listing with Coverage::as_previous; else null
  std::atomic<std::size_t> entries_ = 0;
  std::optional<std::uint64_t> marking_device_;  ///< the root's device, if `marks_changes_of_names`

  std::mutex mutex_;  // protects everything below, and the listing
  std::condition_variable changed_;
  std::vector<Unlisted> unlisted_;
  int busy_ = 0;  ///< threads that list a directory
  std::size_t enough_for_two_ = 16;
  std::exception_ptr failure_;
  std::optional<WorkerThread> helper_;
};

class Comparison {
public:
  Comparison(const TreeListing& before, TreeListing& after)
      : before_(before), after_(after), directories_before_(by_path(&before)) {}

  std::vector<ListedChange> run() {
    const auto directories_after = by_path(&after_);
    for (auto& directory : after_.directories) {
      const auto* const before = find_directory(directories_before_, directory->path);
      if (!before || !directory.is_shared_with(*before)) compare(before, directory);
    }
    for (const auto& directory : before_.directories) {
      const auto* const after = find_directory(directories_after, directory->path);
      if (!after || !after->is_shared_with(directory)) add_missing(*directory, after);
    }
    return std::move(changes_);
  }

private:
  void compare(const SharedDirectory* before, SharedDirectory& after) {
    Earlier earlier(before ? &**before : nullptr);
    auto& directory = after.own();
    for (auto& entry : directory.entries) {
      const auto* const former = earlier.find(entry.name);
      if (former && is_same_entry(former->state, entry.state)) continue;
      changes_.push_back({beneath(directory.path, entry.name), former, &entry});
    }
  }

  void add_missing(const ListedDirectory& before, const SharedDirectory* after) {
    Earlier later(after ? &**after : nullptr);
    for (const auto& entry : before.entries) {
      if (!later.find(entry.name)) changes_.push_back({beneath(before.path, entry.name), &entry, nullptr});
    }
  }

  const TreeListing& before_;
  TreeListing& after_;
  const DirectoriesByPath directories_before_;
  std::vector<ListedChange> changes_;
};

}  // namespace

TreeListing list_tree(const std::filesystem::path& root, const ListingLimits& limits, const TreeListing* previous,
                      Coverage coverage) {
  AGW_DEBUG_ASSERT(may_block());

  TreeListing listing{.root = root, .began = file_clock_now()};
  Lister(listing, limits, previous, coverage).run();
  if (!listing.is_complete) {
    listing.directories.clear();
    listing.skipped.clear();
  }
  return listing;
}

std::vector<ListedChange> changes_between(const TreeListing& before, TreeListing& after) {
  AGW_ASSERT(before.root == after.root);
  AGW_ASSERT(before.is_complete && after.is_complete);
  return Comparison(before, after).run();
}

}  // namespace agw
