#pragma once

#include <filesystem>
#include <functional>

#include "base/is_within.hpp"

namespace agw {

/// Where an absolute path leads: symlinks are followed, also those to what does not exist; `.`, `..` and doubled
/// slashes are gone, and what does not exist stands as it is written. For deciding whether a place is allowed at all,
/// whether or not anything is there. What is opened afterwards is opened beneath a Directory, which holds even if
/// somebody moves things about in between. Blocks: not for the loop.
std::filesystem::path resolve_path(const std::filesystem::path& path);

/// Tells of each symlink on the way, by a path that leads through none.
std::filesystem::path resolve_path(const std::filesystem::path& path,
                                   const std::function<void(const std::filesystem::path&)>& passed);

}  // namespace agw
