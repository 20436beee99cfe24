#pragma once

#include <filesystem>
#include <string>

#include "features/research/store.hpp"

namespace agw {

/// Larger files are rejected: models could not answer with the whole text.
inline constexpr std::size_t max_asset_length = 1 << 20;

// The file that an iteration improves. Its path is absolute and resolved; symlinks that appear in it later are not
// followed. All functions block, and throw std::runtime_error with a text for people.

/// The current content of the asset.
AssetCopy read_asset(const std::filesystem::path& path);
/// Replaces the asset by the copy, atomically.
void write_asset(const std::filesystem::path& path, const AssetCopy& copy);

/// The asset as the steps of an iteration left it, as far as is known.
struct AssetTrace {
  std::string left{};       ///< its content after the latest step
  bool is_unclear = false;  ///< somebody else may have written that content
  bool may_differ = false;  ///< the agent's tools or a script may have written something else since
  /// Where a replaced version goes that may be somebody else's. Gets a number as suffix if a version that was copied
  /// from another file system is already there.
  std::filesystem::path kept{};
};
/// Restores the asset byte for byte, even if it was deleted. Returns false if only somebody else can have written its
/// content, which then stays.
bool put_asset_back(const std::filesystem::path& path, const AssetCopy& original, const AssetTrace& trace);

}  // namespace agw
