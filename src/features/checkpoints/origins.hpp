#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "features/checkpoints/entry_access.hpp"
#include "features/checkpoints/tree_listing.hpp"

namespace agw {

/// Where an entry comes from that a listing before the command did not have.
struct Origin {
  enum class Kind {
    made,      ///< by the command
    moved,     ///< from `path`, whose content is kept
    moved_in,  ///< from where nothing is kept
  };
  Kind kind = Kind::made;
  std::string path{};                   ///< absolute
  const ListedEntry* former = nullptr;  ///< as it was listed; null if it was not
};

/// Tells what a command made from what it only moved: a rename keeps the inode and the time of its birth. All functions
/// block.
/// Example: src/features/checkpoints/command_changes_test.cpp: CommandChangesTest.NameWhatWasMovedIn
class Origins {
public:
  /// `before` are the listings of all trees that the command can write; `began` is the time of the file system's clock
  /// when it started.
  Origins(std::vector<std::shared_ptr<const TreeListing>> before, std::int64_t began)
      : before_(std::move(before)), began_(began) {}

  std::int64_t began() const { return began_; }
  /// `access` is that of the entry.
  Origin of(const EntryAccess& access, const ListedEntry& entry);

private:
  struct Place {
    std::string path;
    const ListedEntry* entry = nullptr;
  };

  void index();
  /// Whether a file may have been moved from a directory that was not listed.
  bool may_have_left_skipped();

  const std::vector<std::shared_ptr<const TreeListing>> before_;
  const std::int64_t began_;
  bool is_indexed_ = false;
  std::unordered_map<std::uint64_t, Place> by_inode_;
  using SizeAndTime = std::pair<std::uint64_t, std::int64_t>;
  std::set<SizeAndTime> kept_;      ///< of each file with a copy
  std::set<SizeAndTime> not_kept_;  ///< of each file without
  std::optional<bool> has_skipped_changed_;
};

}  // namespace agw
