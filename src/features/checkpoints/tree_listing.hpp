#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
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
};

/// Everything in a directory tree that an agent can change, with the times and inodes by which changes are found.
struct TreeListing {
  std::filesystem::path root;
  std::int64_t began = 0;                    ///< when it was begun, by the clock of the file system
  std::vector<ListedDirectory> directories;  ///< each before those in it
  std::vector<std::string> skipped;          ///< directories that were not entered: `.git` and ignored ones
  std::size_t entries = 0;
  std::uint64_t evictions = 0;  ///< of the store, when its contents were last known to be kept
  bool is_unsynced = false;     ///< contents were kept that may not be on disk yet
  bool is_complete = true;      ///< false: there are too many entries, and none are listed
};

/// What a listing covers.
enum class Coverage {
  by_rules,     ///< what no `.gitignore` names
  as_previous,  ///< what the previous listing covers, and what is new and not named: the rules may have changed since
};

/// Lists the tree, without symlinks' targets, private entries, repositories' own data and ignored directories. What is
/// as in `previous`, a listing of the same root, is taken from it. Blocks.
/// Example: src/features/checkpoints/command_changes_test.cpp: CommandChangesTest.FindWhatACommandDid
TreeListing list_tree(const std::filesystem::path& root, const std::filesystem::path& without, std::size_t max_entries,
                      const TreeListing* previous, Coverage coverage = Coverage::by_rules);

/// An entry that differs between two listings of a tree. Null: it did not exist.
struct ListedChange {
  std::string path;  ///< relative to the root
  const ListedEntry* before = nullptr;
  ListedEntry* after = nullptr;
};

/// What differs in kind, stamp or mode. Directories are compared by existence and mode.
std::vector<ListedChange> changes_between(const TreeListing& before, TreeListing& after);

}  // namespace agw
