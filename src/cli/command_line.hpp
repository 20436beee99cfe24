#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "cli/command.hpp"

namespace agw::cli {

/// Nothing is to be run: help or the version was asked for (status 0, for stdout), or the arguments are wrong (status
/// 2, for stderr).
struct Notice {
  int status;
  std::string text;
};

/// Finds the command that `arguments` (without the program's name) name, and fills what it declared.
std::variant<Action, Notice> parse(std::span<const Command> commands, const std::vector<std::string>& arguments);

/// Runs what `arguments` ask for and answers the process's exit status. Failures become one line on stderr.
int run(std::span<const Command> commands, const std::vector<std::string>& arguments);

}  // namespace agw::cli
