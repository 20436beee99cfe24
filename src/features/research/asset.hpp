#pragma once

#include <filesystem>
#include <string>

#include "features/research/store.hpp"

namespace agw {

/// In bytes. Larger files are rejected: models could not return the whole text.
inline constexpr std::size_t max_asset_length = 1 << 20;

// The file that an iteration improves. Its path is absolute and resolved; symlinks that appear in the path later are
// not followed. All functions block, and throw std::runtime_error with a message for people.

/// The current content of the asset.
AssetCopy read_asset(const std::filesystem::path& path);
/// Replaces the asset by the copy, atomically.
void write_asset(const std::filesystem::path& path, const AssetCopy& copy);

/// The last known state in which the iteration left the asset.
struct AssetTrace {
  std::string left{};       ///< its content after the latest step
  bool is_unclear = false;  ///< someone other than the iteration may have written that content
  bool may_differ = false;  ///< the agent's tools or a script may have changed it since
  /// Where a replaced version is kept if someone else may have written it. Gets a number as suffix if a copy from
  /// another file system already exists at this path.
  std::filesystem::path kept{};
};
/// Restores the asset byte for byte, even if it was deleted. Returns false, and leaves the content, if only someone
/// other than the iteration can have written it.
bool put_asset_back(const std::filesystem::path& path, const AssetCopy& original, const AssetTrace& trace);

}  // namespace agw
