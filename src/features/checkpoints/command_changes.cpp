// Finds the changes of a shell command, although nothing reports them. See docs/contract/checkpoints.md.
//
// A *listing* is the state of each entry of a tree: kind, mode, size, inode and times. The *store* holds contents by
// their hash (blob_store.hpp).
//
// The invariant: a change is recorded only if the previous content is stored. Everything that cannot be restored is
// reported as uncovered.
//
//   before: list the tree, and store every content that is not in the store yet. An entry with the same state as in the
//           latest listing has the same content, so usually almost nothing is read.
//   after:  list it again. The entries whose state differs are the changes; their new contents are stored for diffs.
//
// Why equal states mean equal contents: a write updates the change time of a file (ctime), which no user can reset. If
// a file changes between its listing and its copy, the states differ, and it counts as unreadable; its content is not
// stored under the wrong state.
//
// An entry that was moved here from a place whose contents are not stored looks new, but may be the only copy of its
// content. origins.hpp distinguishes it from entries that the command made; it is reported as uncovered instead of
// being recorded. The second listing covers everything that the first did, even if the command has changed a
// .gitignore.
//
// Excluded are everything that .gitignore matches, the data of repositories, and private files, which must not be
// copied.

#include "features/checkpoints/command_changes.hpp"

#include <algorithm>
#include <optional>
#include <ranges>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "features/checkpoints/entry_access.hpp"
#include "io/files/disk_full.hpp"
#include "io/sandbox/masked_paths.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

/// How many trees' listings are kept for the next command.
constexpr std::size_t max_trees = 4;
/// How many uncovered directories are listed; further ones are only counted.
constexpr std::size_t max_named = 20;

constexpr std::string_view ignored = "named in .gitignore";

std::string why_uncovered(Kept kept, std::uint64_t file_bytes) {
  switch (kept) {
    case Kept::ignored:
      return std::string(ignored);
    case Kept::large:
      return fmt::format("larger than {} MiB", file_bytes >> 20);
    case Kept::no_room:
      return "there was no room for a copy: see checkpoints.total_mib";
    case Kept::special:
      return "not a regular file";
    case Kept::moved_in:
      return std::string(moved_here);
    default:
      return "it could not be read, or changed all the time";
  }
}

/// The name of the stored content.
std::string hash_of(const ListedEntry& entry) {
  AGW_ASSERT(entry.kept == Kept::yes);
  AGW_ASSERT(entry.hash.front() != '\0');
  return {entry.hash.data(), entry.hash.size()};
}

StoredState stored_state(const ListedEntry* entry) {
  if (!entry) return {};
  StoredState stored{.kind = entry->state.kind,
                     .mode = entry->state.mode,
                     .modified_ns = entry->state.modified_ns,
                     .accessed_ns = entry->state.accessed_ns};
  if (entry->kept == Kept::yes) stored.hash = hash_of(*entry);
  return stored;
}

bool needs_content(const ListedEntry& entry) {
  return entry.state.kind == EntryKind::file || entry.state.kind == EntryKind::symlink;
}

/// Whether nobody has tried to store the content yet.
[[maybe_unused]] bool is_undecided(const ListedEntry& entry) {
  return needs_content(entry) && entry.kept == Kept::unknown;
}

/// Records a change. Its previous content is stored, so that it can be undone.
void record_change(CommandChanges& found, CommandChange row) {
  AGW_ASSERT(!row.path.empty());
  AGW_ASSERT(!row.before.has_content() || row.before.hash);
  AGW_ASSERT(row.before.kind != EntryKind::other);
  AGW_ASSERT(row.number == 0);
  found.changes.push_back(std::move(row));
}

std::string_view to_text(SkipReason reason) {
  switch (reason) {
    case SkipReason::repository:
      return "the data of a repository";
    case SkipReason::ignored:
      return ignored;
    case SkipReason::too_deep:
      return "too many directories deep";
    default:
      return "it could not be read";
  }
}

std::string place_of(const TreeListing& listing, const std::string& path) {
  return (path.empty() ? listing.root : listing.root / path).string();
}

/// Reports the directories that were not listed, up to a limit.
void add_skipped(CommandChanges& found, const TreeListing& before) {
  for (const auto& [path, reason] : before.skipped | std::views::take(max_named)) {
    found.uncovered.push_back({place_of(before, path), std::string(to_text(reason))});
  }
  if (before.skipped.size() <= max_named) return;
  const auto further = before.skipped.size() - max_named;
  found.uncovered.push_back({before.root.string(), fmt::format("{} further directories in it", further)});
}

/// Whether the entry is in a directory that is not in the listing.
bool is_in_skipped(std::string path, const TreeListing& listing) {
  while (!path.empty()) {
    const auto slash = path.rfind('/');
    path.resize(slash == path.npos ? 0 : slash);
    if (listing.skipped.contains(path)) return true;
  }
  return false;
}

/// Reports the directories that could be listed only before the command.
void add_closed(CommandChanges& found, const TreeListing& before, const TreeListing& after) {
  for (const auto& [path, reason] : after.skipped) {
    const auto path_of = [](const SharedDirectory& directory) -> const std::string& { return directory->path; };
    if (std::ranges::binary_search(before.directories, path, {}, path_of))
      found.uncovered.push_back({place_of(before, path), std::string(to_text(reason))});
  }
}

/// The entry whose content cannot be restored (before) or compared (after); null if both are possible.
const ListedEntry* lacking_entry(const ListedChange& change, const StoredState& former, const StoredState& now) {
  if (former.has_content() && !former.hash) return change.before;
  if ((now.has_content() && !now.hash) || now.kind == EntryKind::other) return change.after;
  return former.kind == EntryKind::other ? change.before : nullptr;
}

/// Adds a change of the tree to the recorded or the uncovered ones. Ignores changes of private files.
void add_change(CommandChanges& found, CommandChange row, const ListedChange& change, std::uint64_t file_bytes) {
  AGW_ASSERT(change.before || change.after);
  const bool is_private = (change.before && change.before->kept == Kept::is_private) ||
                          (change.after && change.after->kept == Kept::is_private);
  if (is_private) return;
  const auto& former = row.before;
  const auto& now = row.after;
  if (former.is_same(now) && former.mode == now.mode) return;
  if (former.kind == EntryKind::directory && now.kind == EntryKind::directory) {
    found.uncovered.push_back({row.path, "the permission bits of a directory"});
  } else if (const auto* const lacking = lacking_entry(change, former, now)) {
    found.uncovered.push_back({row.path, why_uncovered(lacking->kept, file_bytes)});
  } else {
    record_change(found, std::move(row));
  }
}

CommandChange row_of(const std::string& path, const ListedChange& change) {
  AGW_ASSERT(change.before || change.after);
  CommandChange row;
  row.path = path;
  row.before = stored_state(change.before);
  row.after = stored_state(change.after);
  if (change.after) row.changed_ns = change.after->state.stamp.changed_ns;
  return row;
}

/// Whether the change happened between the listing and the start of the command, so that the command did not make it.
bool precedes_command(const ListedChange& change, std::int64_t listed, std::int64_t began) {
  if (!change.before || !change.after) return false;
  const auto& now = change.after->state.stamp;
  return now.inode == change.before->state.stamp.inode && listed <= now.changed_ns && now.changed_ns < began;
}

bool is_other_entry(const ListedChange& change) {
  return change.after && (!change.before || change.before->state.stamp.inode != change.after->state.stamp.inode);
}

}  // namespace

/// Copies contents of one tree into the store.
class CommandObserver::ContentStore {
public:
  ContentStore(BlobStore& blobs, std::uint64_t file_bytes, const FileRoots& roots)
      : blobs_(blobs), file_bytes_(file_bytes), roots_(roots) {}

  void put(const EntryAccess& access, ListedEntry& entry) {
    if (entry.kept != Kept::unknown || !needs_content(entry)) return;
    entry.kept = kept(access, entry);
    AGW_ASSERT(entry.kept != Kept::unknown);
  }
  bool has_written() const { return has_written_; }

private:
  Kept kept(const EntryAccess& access, ListedEntry& entry) {
    AGW_ASSERT(needs_content(entry));
    if (entry.state.kind == EntryKind::file && entry.state.stamp.size > file_bytes_) return Kept::large;
    if (entry.state.links > 1 && is_private(entry.state)) return Kept::is_private;
    if (!blobs_.has_room_for(entry.state.stamp.size)) return Kept::no_room;
    auto state = access.read_named(entry.name, file_bytes_);
    // Reject a file that has changed since it was listed: the stored content must match the listing.
    if (!state.has_content || state.stamp != entry.state.stamp) return Kept::unreadable;
    const auto name = blobs_.put(state.content, Durability::later);
    AGW_ASSERT(name.size() == entry.hash.size());
    std::ranges::copy(name, entry.hash.begin());
    has_written_ = true;
    return Kept::yes;
  }

  bool is_private(const EntryState& state) {
    if (!linked_) linked_ = hard_linked_private_files(roots_.home, roots_.data_directory);
    return linked_->contains({state.device, state.stamp.inode});
  }

  BlobStore& blobs_;
  const std::uint64_t file_bytes_;
  const FileRoots& roots_;
  std::optional<FileIdentities> linked_;
  bool has_written_ = false;
};

/// Collects a command's changes in one tree.
class CommandObserver::Findings {
public:
  Findings(const TreeListing& before, ContentStore& store, Origins& origins, std::uint64_t file_bytes)
      : before_(before), store_(store), origins_(origins), file_bytes_(file_bytes) {}

  void add(const ListedChange& change, CommandChanges& found) {
    const auto path = (before_.root / change.path).string();
    const bool is_private = change.before && change.before->kept == Kept::is_private;
    if (!is_private && precedes_command(change, before_.began, origins_.began()))
      found.uncovered.push_back({path, std::string(earlier_change)});
    Origin origin;
    if (change.after) {
      const auto access = EntryAccess::open(path);
      const bool is_ignored = change.after->kept == Kept::ignored;
      if (is_other_entry(change) && !is_ignored) origin = origins_.of(access, *change.after);
      if (origin.kind == Origin::Kind::moved_in) return add_moved_in(path, change, origin, found);
      keep_result(access, *change.after);
    }
    auto row = row_of(path, change);
    if (!change.before && origin.former && needs_content(*origin.former)) {
      row.moved_from = origin.path;
      row.moved_hash = stored_state(origin.former).hash;
    }
    add_change(found, std::move(row), change, file_bytes_);
  }

private:
  void add_moved_in(const std::string& path, const ListedChange& change, const Origin& origin, CommandChanges& found) {
    AGW_ASSERT(change.after);
    AGW_ASSERT(origin.kind == Origin::Kind::moved_in);
    auto& entry = *change.after;
    const bool is_private =
        entry.kept == Kept::is_private || (change.before && change.before->kept == Kept::is_private);
    if (entry.state.kind == EntryKind::directory) moved_in_.insert(path);
    entry.kept = origin.former && origin.former->kept == Kept::is_private ? Kept::is_private : Kept::moved_in;
    if (is_private) return;
    // Reports only the topmost directory of those moved in.
    if (!moved_in_.contains(std::filesystem::path(path).parent_path().string()))
      found.uncovered.push_back({path, std::string(moved_here)});
    // Records the replaced content, so that an undo with force can restore it.
    if (auto row = row_of(path, change); row.before.has_content() && row.before.hash)
      record_change(found, std::move(row));
  }

  void keep_result(const EntryAccess& access, ListedEntry& entry) {
    try {
      store_.put(access, entry);
    } catch (const std::system_error& error) {
      // Too late to refuse the command. The new contents are only needed for diffs, and to recognise them in an undo.
      if (!is_disk_full(error.code())) throw;
      entry.kept = Kept::no_room;
    }
  }

  const TreeListing& before_;
  ContentStore& store_;
  Origins& origins_;
  const std::uint64_t file_bytes_;
  std::set<std::string> moved_in_;  ///< directories
};

std::shared_ptr<const TreeListing> CommandObserver::latest(const fs::path& root) {
  const std::scoped_lock lock(mutex_);
  const auto found = latest_.find(root);
  return found == latest_.end() ? nullptr : found->second;
}

void CommandObserver::remember(std::shared_ptr<const TreeListing> listing) {
  AGW_ASSERT(listing->is_complete || listing->directories.empty());
  const std::scoped_lock lock(mutex_);
  if (!latest_.contains(listing->root) && latest_.size() >= max_trees) latest_.erase(latest_.begin());
  auto root = listing->root;
  latest_[std::move(root)] = std::move(listing);
  AGW_ASSERT(latest_.size() <= max_trees);
}

void CommandObserver::store_contents(TreeListing& listing, const FileRoots& roots) {
  ContentStore store(*blobs_, limits_.file_bytes, roots);
  // Looking up a content protects it from eviction while the command runs. The first pass skips the lookups if nothing
  // was evicted since the listing and the store is less than half full. If the copies of the first pass evict anything,
  // a second pass looks up everything.
  for (int pass = 0; pass < 2; ++pass) {
    const auto evictions = blobs_->evictions();
    store_contents(listing, store, evictions != listing.evictions || blobs_->is_half_full());
    listing.evictions = evictions;
    if (blobs_->evictions() == evictions) break;
  }
  if (store.has_written() || listing.is_unsynced) blobs_->sync();
  listing.is_unsynced = false;
}

void CommandObserver::store_contents(TreeListing& listing, ContentStore& store, bool may_be_gone) {
  for (auto& shared : listing.directories) {
    if (!shared->may_lack_contents && !may_be_gone) continue;
    std::optional<EntryAccess> access;
    for (std::size_t i = 0; i < shared->entries.size(); ++i) {
      const auto& listed = shared->entries[i];
      const bool is_gone = listed.kept == Kept::yes && may_be_gone && !blobs_->has(hash_of(listed));
      if (!is_gone && !may_lack_content(listed)) continue;
      if (!access) access = EntryAccess::open((listing.root / shared->path / listed.name).string());
      AGW_ASSERT(i < shared.own().entries.size());
      auto& entry = shared.own().entries[i];
      entry.kept = Kept::unknown;
      store.put(*access, entry);
    }
    if (access) shared.own().may_lack_contents = std::ranges::any_of(shared->entries, may_lack_content);
    AGW_DEBUG_ASSERT(std::ranges::none_of(shared->entries, is_undecided));
  }
}

ListingLimits CommandObserver::limits_of(const FileRoots& roots) const {
  return {.without = roots.data_directory, .entries = limits_.entries, .unchanged = limits_.unchanged};
}

std::shared_ptr<const TreeListing> CommandObserver::before(const fs::path& root, const FileRoots& roots) {
  AGW_DEBUG_ASSERT(may_block());

  const auto previous = latest(root);
  auto listing = std::make_shared<TreeListing>(list_tree(root, limits_of(roots), previous.get()));
  if (previous) listing->evictions = previous->evictions;
  listing->is_unsynced = previous && previous->is_unsynced;
  store_contents(*listing, roots);
  remember(listing);
  return listing;
}

CommandChanges CommandObserver::after(const TreeListing& before, const FileRoots& roots, Origins& origins) {
  AGW_DEBUG_ASSERT(may_block());

  CommandChanges found;
  const UncoveredChange too_many{before.root.string(), fmt::format("more than {} files", limits_.entries)};
  if (!before.is_complete) {
    found.uncovered.push_back(too_many);
    return found;
  }
  auto listing =
      std::make_shared<TreeListing>(list_tree(before.root, limits_of(roots), &before, Coverage::as_previous));

  AGW_ASSERT(listing->root == before.root);
  AGW_ASSERT(!before.is_unsynced);
  listing->evictions = before.evictions;
  add_skipped(found, before);
  if (!listing->is_complete) {
    found.uncovered.push_back(too_many);
    return found;
  }
  ContentStore store(*blobs_, limits_.file_bytes, roots);
  Findings findings(before, store, origins, limits_.file_bytes);
  for (const auto& change : changes_between(before, *listing)) {
    // What cannot be seen any more was not deleted.
    if (change.after || !is_in_skipped(change.path, *listing)) findings.add(change, found);
  }
  add_closed(found, before, *listing);
  listing->is_unsynced = store.has_written();
  remember(listing);
  return found;
}

}  // namespace agw
