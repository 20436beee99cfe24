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

/// Bytes beyond which a file is not searched.
inline constexpr std::size_t max_grep_file_size = std::size_t{50} * 1024 * 1024;

/// A search in files.
struct GrepQuery {
  std::string pattern;  ///< a regular expression that can be matched in linear time
  std::string glob;     ///< for the files, as ripgrep understands it; empty for all
  bool ignore_case = false;
  std::size_t max_lines = 500;  ///< lines
};

/// The matches in a file. Only a hint, because it was found by its path.
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

/// Whether ripgrep finds the same as `search_by_walking`: globs that select by more than a name make it ignore
/// `.gitignore`.
bool ripgrep_can(const GrepQuery& query);

/// Searches beneath a directory with ripgrep, started as `rules_for_ripgrep` says, except files that are hidden,
/// private, binary, or ignored by
/// `.gitignore`. Throws BadRequest with ripgrep's complaint.
Task<GrepFound> search_with_ripgrep(Loop& loop, std::string program, const OpenedPath& directory, GrepQuery query,
                                    RulesAbove rules, StopSource& stop);

/// The same without ripgrep, also for a single file. Blocks, until `stopped`.
GrepFound search_by_walking(const OpenedPath& start, const GrepQuery& query, const FileRoots& roots,
                            const StopFlag& stopped);

/// Matching lines of a file.
struct GrepExcerpt {
  ToolTarget target;
  std::string text;  ///< a line for each: `path:number:text`, for context lines `path-number-text`
};

/// Reads the matching lines. Each file is opened again and its target returned, so that the agent can be authorized for
/// the file that was really read. Blocks.
std::vector<GrepExcerpt> read_matches(const OpenedPath& start, const std::vector<GrepHits>& hits, std::int64_t context,
                                      const FileRoots& roots);

}  // namespace agw
