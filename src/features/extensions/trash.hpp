#pragma once

#include <filesystem>

#include "base/time/time.hpp"

namespace agw {

/// Takes away for good what was moved to `{data_dir}/trash/` before `oldest`. What cannot be taken away stays, with a
/// line in the log. Blocks.
void empty_trash(const std::filesystem::path& data_directory, Timestamp oldest);

}  // namespace agw
