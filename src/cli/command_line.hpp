#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "cli/command.hpp"

namespace agw::cli {

/// The reason why no command runs: help or the version was requested (status 0, for stdout), or the arguments are wrong
/// (status 2, for stderr).
struct Notice {
  int status;
  std::string text;
};

/// Finds the command selected by `arguments` (without the program's name) and fills its declared variables.
std::variant<Action, Notice> parse(std::span<const Command> commands, const std::vector<std::string>& arguments);

/// Runs the command selected by `arguments` and returns the process's exit status. A failure is printed as one line on
/// stderr.
int run(std::span<const Command> commands, const std::vector<std::string>& arguments);

}  // namespace agw::cli
