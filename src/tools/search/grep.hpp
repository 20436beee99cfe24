#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "tools/opened_path.hpp"
#include "tools/search/ripgrep_rules.hpp"
#include "tools/stop_flag.hpp"

namespace agw {

/// Larger files are not searched; in bytes.
inline constexpr std::size_t max_grep_file_size = std::size_t{50} * 1024 * 1024;

/// A search in files.
struct GrepQuery {
  std::string pattern;  ///< a regular expression that can be matched in linear time
  std::string glob;     ///< selects files, in ripgrep's syntax; empty for all
  bool ignore_case = false;
  std::size_t max_lines = 500;  ///< lines
};

/// The matches in a file. Only a hint, because the file was opened by its path.
struct GrepHits {
  std::string path;  ///< relative to the start; empty if the start is the file itself
  std::vector<std::int64_t> lines;
};

/// All files with matches, and whether there are more.
struct GrepFound {
  std::vector<GrepHits> files;  ///< by path
  bool more = false;
};

/// The path of ripgrep; nullopt if it is not installed.
std::optional<std::string> find_ripgrep();

/// Whether ripgrep has the same results as `search_by_walking`. It ignores `.gitignore` if a glob selects by more than
/// a name.
bool ripgrep_can(const GrepQuery& query);

/// Searches beneath a directory with ripgrep, started with the result of `rules_for_ripgrep`. Skips files that are
/// hidden, private, binary, or ignored by `.gitignore`. Throws BadRequest with ripgrep's error message.
Task<GrepFound> search_with_ripgrep(Loop& loop, std::string program, const OpenedPath& directory, GrepQuery query,
                                    RulesAbove rules, StopSource& stop);

/// Does the same without ripgrep, also for a single file. Blocks, until `stopped`.
GrepFound search_by_walking(const OpenedPath& start, const GrepQuery& query, const FileRoots& roots,
                            const StopFlag& stopped);

/// Matching lines of a file.
struct GrepExcerpt {
  ToolTarget target;
  std::string text;  ///< one line per match: `path:number:text`, for context lines `path-number-text`
};

/// Reads the matching lines. Opens each file again and returns its target, so that the agent is authorized for the file
/// that was actually read. Blocks.
std::vector<GrepExcerpt> read_matches(const OpenedPath& start, const std::vector<GrepHits>& hits, std::int64_t context,
                                      const FileRoots& roots);

}  // namespace agw
