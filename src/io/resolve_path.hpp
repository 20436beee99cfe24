#pragma once

#include <filesystem>

namespace agw {

/// Where an absolute path leads: symlinks are followed, also those to what does not exist; `.`, `..` and doubled
/// slashes are gone, and what does not exist stands as it is written. For deciding whether a place is allowed at all,
/// whether or not anything is there. What is opened afterwards is opened beneath a Directory, which holds even if
/// somebody moves things about in between. Blocks: not for the loop.
std::filesystem::path resolve_path(const std::filesystem::path& path);

/// Whether `path` is `directory` or lies beneath it, by their texts: both are resolved.
bool is_within(const std::filesystem::path& path, const std::filesystem::path& directory);

}  // namespace agw
