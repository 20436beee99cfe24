#pragma once

#include <filesystem>
#include <string>

#include "features/research/store.hpp"

namespace agw {

/// Larger ones are not improved: models could not answer with the whole text.
inline constexpr std::size_t longest_asset = 1 << 20;

// The file that an iteration improves. Its path is absolute and resolved; no symlink that comes in its way later is
// followed. All of it blocks and throws std::runtime_error with a text for people.

AssetCopy read_asset(const std::filesystem::path& path);
void write_asset(const std::filesystem::path& path, const AssetCopy& copy);
/// Makes it what it was, byte for byte, also where it is gone. Whether it was anything else.
bool restore_asset(const std::filesystem::path& path, const AssetCopy& original);
/// What is there instead of the original goes to `kept` first.
void restore_asset_and_keep(const std::filesystem::path& path, const AssetCopy& original,
                            const std::filesystem::path& kept);

}  // namespace agw
