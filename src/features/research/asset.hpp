#pragma once

#include <filesystem>
#include <string>

#include "features/research/store.hpp"

namespace agw {

/// Larger ones are not improved: models could not answer with the whole text.
inline constexpr std::size_t longest_asset = 1 << 20;

// The file that an iteration improves. Its path is absolute and resolved; no symlink that comes in its way later is
// followed. All of it blocks and throws std::runtime_error with a text for people.

/// The asset as it is now.
AssetCopy read_asset(const std::filesystem::path& path);
/// Puts the copy in its place, in one step.
void write_asset(const std::filesystem::path& path, const AssetCopy& copy);

/// The asset as the steps of an iteration left it, as far as they can tell.
struct AssetTrace {
  std::string left{};       ///< what was there after the latest step
  bool is_unclear = false;  ///< somebody else may have written that
  bool may_differ = false;  ///< the agent's tools or a script may have written something else since
  /// Where a version goes that is replaced and may be somebody else's; with a number behind it where something that was
  /// copied there from another file system would be overwritten.
  std::filesystem::path kept{};
};
/// Makes it what it was, byte for byte, also where it is gone. False where it is what only somebody else can have
/// written: then that stays.
bool put_asset_back(const std::filesystem::path& path, const AssetCopy& original, const AssetTrace& trace);

}  // namespace agw
