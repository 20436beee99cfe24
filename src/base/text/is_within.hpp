#pragma once

#include <algorithm>
#include <filesystem>

namespace agw {

/// Whether `path` is `directory` or lies beneath it. Compares only the texts, so both must be resolved.
inline bool is_within(const std::filesystem::path& path, const std::filesystem::path& directory) {
  return std::ranges::mismatch(directory, path).in1 == directory.end();
}

}  // namespace agw
