#pragma once

#include <map>
#include <string>

#include "base/json/json.hpp"

namespace agw {

/// A command of the shell and what it is given.
struct ShellActionCommand {
  std::string command;
  std::map<std::string, std::string> environment;
};

/// A call of a `shell` action. Each `{{name}}` becomes a variable of the shell that holds the member, and never a piece
/// of the command: whatever the input is, it is data.
ShellActionCommand shell_action_command(std::string_view form, const json::object& input);

}  // namespace agw
