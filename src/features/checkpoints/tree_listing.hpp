#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/files/entry_state.hpp"

namespace agw {

/// Whether the content of a listed entry is kept, or why not.
enum class Kept : std::uint8_t {
  unknown,     ///< not looked at yet
  yes,         ///< under its hash
  is_private,  ///< agents cannot see it
  ignored,     ///< by `.gitignore`
  large,
  unreadable,  ///< or it changes all the time
  no_room,
  special,   ///< a pipe, a socket, a device
  moved_in,  ///< the command moved it here from where nothing is kept
};

struct ListedEntry {
  std::string name;
  EntryState state{};  ///< without content
  Kept kept = Kept::unknown;
  std::array<char, 64> hash{};  ///< if it is kept
};

struct ListedDirectory {
  std::string path;  ///< relative to the root; empty for the root
  std::vector<ListedEntry> entries;
  bool may_lack_contents = false;  ///< else every content in it is kept, or never will be
};

/// By which it is seen that no name has come to a directory or gone from it.
struct DirectoryVersion {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t changed_ns = 0;
  bool has_all_names = false;  ///< the listing has all its names, and this changes with them

  bool has_names_of(const DirectoryVersion& other) const {
    return other.has_all_names && device == other.device && inode == other.inode && changed_ns == other.changed_ns;
  }
};

/// A directory of a listing. As long as nothing in it differs, listings share it.
class SharedDirectory {
public:
  SharedDirectory(ListedDirectory made, DirectoryVersion version)
      : directory_(std::make_shared<ListedDirectory>(std::move(made))), version_(version), is_own_(true) {}
  /// Shares what `other` has.
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
  /// To change it: a copy if it is shared.
  ListedDirectory& own() {
    if (!std::exchange(is_own_, true)) directory_ = std::make_shared<ListedDirectory>(*directory_);
    return *directory_;
  }

private:
  std::shared_ptr<ListedDirectory> directory_;
  DirectoryVersion version_;
  bool is_own_ = false;
};

/// Everything in a directory tree that an agent can change, with the times and inodes by which changes are found.
struct TreeListing {
  std::filesystem::path root;
  std::int64_t began = 0;                    ///< when it was begun, by the clock of the file system
  std::vector<SharedDirectory> directories;  ///< each before those in it
  std::vector<std::string> skipped;          ///< directories that were not entered: `.git` and ignored ones
  std::size_t entries = 0;
  std::uint64_t evictions = 0;  ///< of the store, when its contents were last known to be kept
  bool is_unsynced = false;     ///< contents were kept that may not be on disk yet
  bool is_complete = true;      ///< false: there are too many entries, and none are listed
};

/// The scope of a listing.
enum class Coverage {
  by_rules,     ///< what no `.gitignore` names
  as_previous,  ///< what the previous listing covers, and what is new and not named: the rules may have changed since
};

/// The paths that a listing leaves out, and the assumptions it makes.
struct ListingLimits {
  std::filesystem::path without;  ///< a directory
  std::size_t entries = 0;        ///< if there are more, none are listed
  /// The names of a directory that did not change for so long before its listing are not read again until it does. More
  /// than the time in which a file system may give two changes the same time.
  std::chrono::nanoseconds unchanged = std::chrono::seconds(2);
};

/// Whether its content could still be kept.
bool may_lack_content(const ListedEntry& entry);

/// Lists the tree, without symlinks' targets, private entries, repositories' own data and ignored directories. What is
/// as in `previous`, a listing of the same root, is taken from it. Blocks.
/// Example: src/features/checkpoints/command_changes_test.cpp: CommandChangesTest.FindWhatACommandDid
TreeListing list_tree(const std::filesystem::path& root, const ListingLimits& limits, const TreeListing* previous,
                      Coverage coverage = Coverage::by_rules);

/// An entry that differs between two listings of a tree. Null: it did not exist.
struct ListedChange {
  std::string path;  ///< relative to the root
  const ListedEntry* before = nullptr;
  ListedEntry* after = nullptr;
};

/// The paths that differ in kind, stamp or mode. Directories are compared by existence and mode.
std::vector<ListedChange> changes_between(const TreeListing& before, TreeListing& after);

}  // namespace agw
