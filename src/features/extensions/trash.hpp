#pragma once

#include <filesystem>

#include "base/time/time.hpp"

namespace agw {

/// Permanently deletes everything that was moved to `{data_dir}/trash/` before `oldest`. Logs entries that cannot be
/// deleted and leaves them. Blocks.
void empty_trash(const std::filesystem::path& data_directory, Timestamp oldest);

}  // namespace agw
