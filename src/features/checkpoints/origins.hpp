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

/// The origin of an entry that the listing before the command does not contain.
struct Origin {
  enum class Kind {
    made,      ///< created by the command
    moved,     ///< moved from `path`, whose content is stored
    moved_in,  ///< moved from a place whose contents are not stored
  };
  Kind kind = Kind::made;
  std::string path{};                   ///< absolute
  const ListedEntry* former = nullptr;  ///< its entry in the listing before; null if there is none
};

/// Distinguishes entries that a command made from those that it only moved: a rename preserves the inode and its birth
/// time. All functions block.
/// Example: src/features/checkpoints/command_changes_test.cpp: CommandChangesTest.NameWhatWasMovedIn
class Origins {
public:
  /// `before` are the listings of all trees that the command can write; `began` is its start, by the clock of the file
  /// system.
  Origins(std::vector<std::shared_ptr<const TreeListing>> before, std::int64_t began)
      : before_(std::move(before)), began_(began) {}

  std::int64_t began() const { return began_; }
  /// The origin of `entry`, whose path `access` has opened.
  Origin of(const EntryAccess& access, const ListedEntry& entry);

private:
  struct Place {
    std::string path;
    const ListedEntry* entry = nullptr;
  };

  void index();
  /// Whether a file may have been moved out of a directory that was not listed.
  bool may_have_left_skipped();

  const std::vector<std::shared_ptr<const TreeListing>> before_;
  const std::int64_t began_;
  bool is_indexed_ = false;
  std::unordered_map<std::uint64_t, Place> by_inode_;
  using SizeAndTime = std::pair<std::uint64_t, std::int64_t>;
  std::set<SizeAndTime> kept_;      ///< of files whose content is stored
  std::set<SizeAndTime> not_kept_;  ///< of other files
  std::optional<bool> has_skipped_changed_;
};

}  // namespace agw
