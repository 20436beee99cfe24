#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/located.hpp"
#include "tools/stop_flag.hpp"

namespace agw {

/// A pattern of paths, and the directory that it starts at.
struct GlobStart {
  std::filesystem::path directory;  ///< absolute, with the fixed part of the pattern
  std::string pattern;              ///< the rest
};

/// `directory` is absolute; a pattern that is as well, or begins with `~/`, has nothing to do with it.
GlobStart start_of_glob(const std::filesystem::path& directory, std::string_view pattern, const FileRoots& roots);

/// What a pattern matched.
struct GlobFound {
  std::vector<std::filesystem::path> paths;  ///< newest first; directories too
  bool more = false;                         ///< older ones were left out
};

/// What matches beneath `start`, which is open. Blocks, until `stopped`.
GlobFound find_matching(const Located& start, const std::string& pattern, std::size_t most, const FileRoots& roots,
                        const StopFlag& stopped);

}  // namespace agw
