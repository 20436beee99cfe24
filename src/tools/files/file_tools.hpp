#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/process/blocking.hpp"
#include "tools/file_recorder.hpp"
#include "tools/shell/shell.hpp"
#include "tools/tool.hpp"

namespace agw {

/// The dependencies of the file and command tools, which must outlive them.
struct FileToolsDependencies {
  Loop& loop;
  BlockingPool& blocking;
  Shell& shell;
  std::optional<std::string> ripgrep;  ///< see `find_ripgrep`
  FileRecorder* recorder = nullptr;    ///< for changes by Write and Edit; null: they are not recorded
};

/// Read, Glob, Grep, Write, Edit and Bash.
std::vector<Tool> file_tools(const FileToolsDependencies& needs);

}  // namespace agw
