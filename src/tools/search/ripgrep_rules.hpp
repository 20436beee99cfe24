#pragma once

#include <optional>

#include "tools/opened_path.hpp"
#include "tools/stop_flag.hpp"

namespace agw {

/// Whether ripgrep is to follow the `.gitignore` files above the directory in which it starts.
enum class RulesAbove { left_out, followed };

/// How ripgrep has to be started beneath a directory to leave out the same files as `walk`. No value if it cannot:
/// because of a `.rgignore`, which it always follows, of a `.gitignore` that is no regular file (it would wait for a
/// pipe) or has patterns that it reads unlike Git, or of one above the working directory. Blocks, until `stopped`.
/// Example: src/tools/search/search_test.cpp: GrepTool.LeavesOutTheSameFilesWithAndWithoutRipgrep
std::optional<RulesAbove> rules_for_ripgrep(const OpenedPath& start, const FileRoots& roots, const StopFlag& stopped);

}  // namespace agw
