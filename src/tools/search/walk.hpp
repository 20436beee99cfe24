#pragma once

#include <functional>
#include <string>

#include "tools/opened_path.hpp"
#include "tools/stop_flag.hpp"

namespace agw {

/// Which entries of a tree to visit.
struct WalkOptions {
  bool hidden = true;      ///< visit names that begin with a dot
  bool git = false;        ///< visit `.git`
  bool gitignored = true;  ///< visit entries that `.gitignore` files exclude
  int depth = 200;         ///< the maximum number of directory levels
};

/// Visits everything beneath a directory, sorted by name, the files of a directory before its subdirectories: calls
/// `visit(path, is_directory)` with relative paths until it returns false. Symlinks are visited but not followed.
/// Entries that agents may not read are skipped. Blocks, until `stopped`.
void walk(const OpenedPath& root, const FileRoots& roots, const WalkOptions& options, const StopFlag& stopped,
          const std::function<bool(const std::string& path, bool is_directory)>& visit);

}  // namespace agw
