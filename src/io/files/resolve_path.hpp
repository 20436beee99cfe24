#pragma once

#include <filesystem>
#include <functional>

#include "base/text/is_within.hpp"

namespace agw {

/// Resolves an absolute path: follows symlinks, including those to missing files, removes `.`, `..` and double slashes,
/// and keeps missing parts as written. Used to decide whether a location is allowed, whether or not it exists. Files
/// are then opened beneath a Directory, which is safe even if files are moved in between. Blocks, so do not call it on
/// the loop.
/// Example: src/io/files/resolve_path_test.cpp: ResolvePathTest.LinksAreFollowedWhereverTheyLead
std::filesystem::path resolve_path(const std::filesystem::path& path);

/// The same, and calls `passed` with the resolved path of each symlink on the way.
std::filesystem::path resolve_path(const std::filesystem::path& path,
                                   const std::function<void(const std::filesystem::path&)>& passed);

}  // namespace agw
