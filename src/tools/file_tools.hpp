#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/blocking.hpp"
#include "tools/shell.hpp"
#include "tools/tool.hpp"

namespace agw {

/// What the tools over files and commands need. All of it outlives them.
struct FileToolsNeeds {
  Loop& loop;
  BlockingPool& blocking;
  Shell& shell;
  std::optional<std::string> ripgrep;  ///< see `find_ripgrep`
};

/// Read, Glob, Grep, Write, Edit and Bash.
std::vector<Tool> file_tools(const FileToolsNeeds& needs);

}  // namespace agw
