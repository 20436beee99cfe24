#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/opened_path.hpp"
#include "tools/stop_flag.hpp"

namespace agw {

/// A path pattern and the directory that it starts from.
struct GlobStart {
  std::filesystem::path directory;  ///< absolute, with the fixed part of the pattern
  std::string pattern;              ///< the rest
};

/// `directory` must be absolute; it has no effect on an absolute pattern and one that begins with `~/`.
GlobStart start_of_glob(const std::filesystem::path& directory, std::string_view pattern, const FileRoots& roots);

/// The matches of a pattern.
struct GlobFound {
  std::vector<std::filesystem::path> paths;  ///< newest first, including directories
  bool more = false;                         ///< older ones were left out
};

/// Matches beneath the open directory `start`. Blocks, until `stopped`.
GlobFound find_matching(const OpenedPath& start, const std::string& pattern, std::size_t limit, const FileRoots& roots,
                        const StopFlag& stopped);

}  // namespace agw
