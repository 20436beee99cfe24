#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/cut.hpp"
#include "base/task.hpp"
#include "tools/located.hpp"
#include "tools/stop_flag.hpp"

namespace agw {

/// What to look for in files.
struct GrepQuery {
  std::string pattern;  ///< a regular expression of those that take linear time
  std::string glob;     ///< of the files, as ripgrep understands it; empty for all
  bool ignore_case = false;
  std::size_t most = 500;  ///< lines
};

/// Where a file matches. Only a hint where to look: it was found by path.
struct GrepHits {
  std::string path;  ///< relative to where the search began; empty for that itself, where it is a file
  std::vector<std::int64_t> lines;
};

/// The files that have it, and whether there would have been more lines.
struct GrepFound {
  std::vector<GrepHits> files;  ///< by path
  bool more = false;
};

/// The path of ripgrep; nothing where it is not installed.
std::optional<std::string> find_ripgrep();

/// Whether ripgrep finds the same as `search_by_walking`: its globs that choose by more than a name let `.gitignore`
/// count for nothing.
bool ripgrep_can(const GrepQuery& query);

/// Searches beneath a directory with ripgrep: not what is hidden, private, binary, or ignored by `.gitignore`. Throws
/// BadRequest with what it says is wrong.
Task<GrepFound> search_with_ripgrep(Loop& loop, std::string program, const Located& directory, GrepQuery query,
                                    Stop& stop);

/// The same without it, and in a single file. Blocks, until `stopped`.
GrepFound search_by_walking(const Located& start, const GrepQuery& query, const FileRoots& roots,
                            const StopFlag& stopped);

/// What is shown of a file.
struct GrepShown {
  ToolTarget target;
  std::string text;  ///< a line for each: `path:number:text`, those around it `path-number-text`
};

/// Reads the lines that were found. Each file is opened anew, so that it is one that the agent may read whatever was
/// searched. Blocks.
std::vector<GrepShown> show_lines(const Located& start, const std::vector<GrepHits>& hits, std::int64_t context,
                                  const FileRoots& roots);

}  // namespace agw
