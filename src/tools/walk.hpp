#pragma once

#include <functional>
#include <string>

#include "tools/located.hpp"
#include "tools/stop_flag.hpp"

namespace agw {

/// What of a tree is visited.
struct WalkOptions {
  bool hidden = true;      ///< what begins with a dot is visited too
  bool git = false;        ///< `.git` as well
  bool gitignored = true;  ///< what `.gitignore` files name is visited too
  int depth = 200;         ///< how many directories deep
};

/// Visits what lies beneath a directory, in the order of names, the files of a directory before those below it:
/// `visit(path, is_directory)` with paths relative to it, until it answers false. Symlinks are visited but not
/// followed, and what no agent may read is left out. Blocks, until `stopped`.
void walk(const Located& root, const FileRoots& roots, const WalkOptions& options, const StopFlag& stopped,
          const std::function<bool(const std::string& path, bool is_directory)>& visit);

}  // namespace agw
