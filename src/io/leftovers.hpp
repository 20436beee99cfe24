#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>

namespace agw {

/// Removes what writes that were cut short left in a directory (not beneath it): files with a name of
/// `is_temporary_name` that nobody has written to for `age`. Answers how many. What cannot be removed stays. Blocks.
std::size_t remove_leftovers(const std::filesystem::path& directory, std::chrono::seconds age);

}  // namespace agw
