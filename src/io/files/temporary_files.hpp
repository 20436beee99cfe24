#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>

namespace agw {

/// Removes temporary files that interrupted writes left in a directory (not beneath it): those that nobody has written
/// to for `age`. Returns how many. Files that cannot be removed stay. Blocks.
std::size_t remove_stale_temporary_files(const std::filesystem::path& directory, std::chrono::seconds age);

}  // namespace agw
