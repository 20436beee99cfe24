#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/async/assert.hpp"
#include "io/files/entry_state.hpp"

namespace agw {

/// Whether the content of a listed entry is stored, or why not.
enum class Kept : std::uint8_t {
  unknown,     ///< not decided yet
  yes,         ///< stored under its hash
  is_private,  ///< agents cannot see the entry
  ignored,     ///< matched by `.gitignore`
  large,
  unreadable,  ///< or changing while it is read
  no_room,
  special,   ///< a pipe, a socket, a device
  moved_in,  ///< the command moved it here from a place whose contents are not stored
};

struct ListedEntry {
  std::string name;
  EntryState state{};  ///< without content
  Kept kept = Kept::unknown;
  std::array<char, 64> hash{};  ///< of the content, if it is stored
};

struct ListedDirectory {
  std::string path;  ///< relative to the root; empty for the root
  std::vector<ListedEntry> entries;
  bool may_lack_contents = false;  ///< false: the content of each entry is stored, or never will be
};

/// Detects whether names have been added to or removed from a directory.
struct DirectoryVersion {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t changed_ns = 0;
  bool has_all_names = false;  ///< the listing has all names of the directory, and the version changes with them

  bool has_names_of(const DirectoryVersion& other) const {
    return other.has_all_names && device == other.device && inode == other.inode && changed_ns == other.changed_ns;
  }
};

/// A directory of a listing. Listings share it as long as nothing in it differs.
class SharedDirectory {
public:
  SharedDirectory(ListedDirectory made, DirectoryVersion version)
      : directory_(std::make_shared<ListedDirectory>(std::move(made))), version_(version), is_own_(true) {}
  /// Shares the directory of `other`.
  SharedDirectory(const SharedDirectory& other, DirectoryVersion version)
      : directory_(other.directory_), version_(version) {}

  SharedDirectory(SharedDirectory&&) = default;
  SharedDirectory& operator=(SharedDirectory&&) = default;
  SharedDirectory(const SharedDirectory&) = delete;
  SharedDirectory& operator=(const SharedDirectory&) = delete;
  ~SharedDirectory() = default;

  const ListedDirectory& operator*() const { return *directory_; }
  const ListedDirectory* operator->() const { return directory_.get(); }
  const DirectoryVersion& version() const { return version_; }
  bool is_shared_with(const SharedDirectory& other) const { return directory_ == other.directory_; }
  /// The directory, for modification. Copies it first if it is shared.
  ListedDirectory& own() {
    if (!std::exchange(is_own_, true)) directory_ = std::make_shared<ListedDirectory>(*directory_);
    AGW_DEBUG_ASSERT(directory_.use_count() == 1);
    return *directory_;
  }

private:
  std::shared_ptr<ListedDirectory> directory_;
  DirectoryVersion version_;
  bool is_own_ = false;
};

/// Directories at this depth below the root are not entered.
inline constexpr int max_listed_depth = 200;

/// Why a directory was not entered.
enum class SkipReason { repository, ignored, too_deep, unreadable };

/// All entries of a directory tree that an agent can change, with the times and inodes that reveal changes.
struct TreeListing {
  std::filesystem::path root;
  std::int64_t began = 0;                     ///< start of the listing, by the clock of the file system
  std::vector<SharedDirectory> directories;   ///< each before those below it
  std::map<std::string, SkipReason> skipped;  ///< directories that were not entered, by path; empty for the root
  std::size_t entries = 0;
  std::uint64_t evictions = 0;  ///< BlobStore::evictions when all its contents were last known to be stored
  bool is_unsynced = false;     ///< some of its contents may not be on disk yet
  bool is_complete = true;      ///< false: there were too many entries, and none are listed
};

/// The scope of a listing.
enum class Coverage {
  by_rules,     ///< everything that no `.gitignore` matches
  as_previous,  ///< as the previous listing, even if the rules have changed, and new entries that no rule matches
};

/// The paths that a listing excludes, and the assumptions that it makes.
struct ListingLimits {
  std::filesystem::path without;  ///< an excluded directory
  std::size_t entries = 0;        ///< if there are more, none are listed
  /// If a directory had not changed for this long when it was listed, its names are not read again until it changes.
  /// Must exceed the resolution of the file system's timestamps.
  std::chrono::nanoseconds unchanged = std::chrono::seconds(2);
};

/// Whether the content of the entry is not stored, but could be.
inline bool may_lack_content(const ListedEntry& entry) {
  const bool has_content = entry.state.kind == EntryKind::file || entry.state.kind == EntryKind::symlink;
  return has_content && (entry.kept == Kept::unknown || entry.kept == Kept::unreadable || entry.kept == Kept::no_room ||
                         entry.kept == Kept::moved_in);
}

/// Lists the tree, without the targets of symlinks, private entries, the data of repositories and ignored directories.
/// Reuses everything that is unchanged since `previous`, a listing of the same root. Throws std::system_error for lack
/// of descriptors or memory. Blocks.
/// Example: src/features/checkpoints/command_changes_test.cpp: CommandChangesTest.FindTheChangesOfACommand
TreeListing list_tree(const std::filesystem::path& root, const ListingLimits& limits, const TreeListing* previous,
                      Coverage coverage = Coverage::by_rules);

/// An entry that differs between two listings of a tree. Null: the entry did not exist.
struct ListedChange {
  std::string path;  ///< relative to the root
  const ListedEntry* before = nullptr;
  ListedEntry* after = nullptr;
};

/// The paths that differ in kind, stamp or mode. Directories are compared by existence and mode.
std::vector<ListedChange> changes_between(const TreeListing& before, TreeListing& after);

}  // namespace agw
