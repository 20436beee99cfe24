#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "features/checkpoints/blob_store.hpp"
#include "features/checkpoints/origins.hpp"
#include "features/checkpoints/store.hpp"
#include "features/checkpoints/tree_listing.hpp"
#include "tools/place.hpp"

namespace agw {

/// A command's change of one path. Of StoredChange, only `path`, `before` and `after` are set at first.
struct CommandChange : StoredChange {
  std::string moved_from;                 ///< former path of an entry that was moved here; empty: it was not moved
  std::optional<std::string> moved_hash;  ///< of its content at that path
  std::int64_t changed_ns = 0;            ///< when the entry was last changed; 0 if it was deleted
  bool is_shared = false;                 ///< a command of another run may have made it
};

/// A command's changes in one directory tree.
struct CommandChanges {
  std::vector<CommandChange> changes;
  std::vector<UncoveredChange> uncovered;
};

/// Reasons in `uncovered` that an undo checks, because it must not change these paths.
inline constexpr std::string_view moved_here = "moved here from where nothing is kept: this may be the only copy";
inline constexpr std::string_view earlier_change = "changed by somebody else just before the command";
inline constexpr std::string_view shared_change =
    "a command of another run ran at the same time: which of the two changed it is not known";

/// Finds the changes that commands make in directory trees: lists a tree before and after a command, and stores the
/// contents that the command could overwrite. The next command reuses the listing and reads only what has changed since
/// then. All functions block and may be called from any thread.
/// Example: src/features/checkpoints/command_changes_test.cpp: CommandChangesTest.FindTheChangesOfACommand
class CommandObserver {
public:
  struct Limits {
    std::uint64_t file_bytes = 0;
    std::size_t entries = 100'000;                                 ///< of a tree; larger trees are not covered at all
    std::chrono::nanoseconds unchanged = std::chrono::seconds(2);  ///< ListingLimits::unchanged
  };
  CommandObserver(std::shared_ptr<BlobStore> blobs, Limits limits) : blobs_(std::move(blobs)), limits_(limits) {}

  /// Lists the tree and stores its contents. Throws std::system_error if they cannot be written.
  std::shared_ptr<const TreeListing> before(const std::filesystem::path& root, const FileRoots& roots);
  /// Lists the tree again, and returns the changes. `origins` covers all trees that the command could write.
  CommandChanges after(const TreeListing& before, const FileRoots& roots, Origins& origins);

private:
  class ContentStore;
  class Findings;

  ListingLimits limits_of(const FileRoots& roots) const;
  std::shared_ptr<const TreeListing> latest(const std::filesystem::path& root);
  void remember(std::shared_ptr<const TreeListing> listing);
  void store_contents(TreeListing& listing, const FileRoots& roots);
  void store_contents(TreeListing& listing, ContentStore& store, bool may_be_gone);

  std::shared_ptr<BlobStore> blobs_;
  const Limits limits_;
  std::mutex mutex_;
  std::map<std::filesystem::path, std::shared_ptr<const TreeListing>> latest_;
};

}  // namespace agw
