#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/opened_path.hpp"
#include "tools/stop_flag.hpp"

namespace agw {

/// A path pattern and its start directory.
struct GlobStart {
  std::filesystem::path directory;  ///< absolute, with the fixed part of the pattern
  std::string pattern;              ///< the rest
};

/// Splits a pattern. `directory` must be absolute; it is ignored for absolute patterns and those that begin with `~/`.
GlobStart start_of_glob(const std::filesystem::path& directory, std::string_view pattern, const FileRoots& roots);

/// The matches of a pattern.
struct GlobFound {
  std::vector<std::filesystem::path> paths;  ///< newest first, including directories
  bool more = false;                         ///< older ones were left out
};

/// Returns the matches beneath the open directory `start`. Blocks, until `stopped`.
GlobFound find_matching(const OpenedPath& start, const std::string& pattern, std::size_t limit, const FileRoots& roots,
                        const StopFlag& stopped);

}  // namespace agw
