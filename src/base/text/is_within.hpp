#pragma once

#include <algorithm>
#include <filesystem>

namespace agw {

/// Whether `path` is `directory` or lies beneath it. Compares only the texts, so both must be resolved.
inline bool is_within(const std::filesystem::path& path, const std::filesystem::path& directory) {
  return std::ranges::mismatch(directory, path).in1 == directory.end();
}

/// Whether the path, relative to a directory that is shown, has a part that begins with a dot.
inline bool has_hidden_part(const std::filesystem::path& relative) {
  return std::ranges::any_of(relative, [](const auto& part) { return part.native().starts_with('.'); });
}

}  // namespace agw
