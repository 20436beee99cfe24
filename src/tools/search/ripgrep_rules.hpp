#pragma once

#include <optional>

#include "tools/opened_path.hpp"
#include "tools/stop_flag.hpp"

namespace agw {

/// Whether ripgrep should use the `.gitignore` files above the directory in which it starts.
enum class RulesAbove { left_out, followed };

/// Returns how to start ripgrep beneath a directory so that it skips the same files as `walk`; nullopt if that is
/// impossible. Reasons: a `.rgignore`, which it always uses; a `.gitignore` that is not a regular file (it would wait
/// for a pipe), has patterns that it interprets differently from Git, or is above the working directory. Blocks, until
/// `stopped`.
/// Example: src/tools/search/search_test.cpp: GrepTool.LeavesOutTheSameFilesWithAndWithoutRipgrep
std::optional<RulesAbove> rules_for_ripgrep(const OpenedPath& start, const FileRoots& roots, const StopFlag& stopped);

}  // namespace agw
