#pragma once

#include <map>
#include <string>

#include "base/json/json.hpp"

namespace agw {

/// A shell command and its variables.
struct ShellActionCommand {
  std::string command;
  std::map<std::string, std::string> environment;
};

/// The command of a `shell` action's call. Each `{{name}}` becomes a shell variable that holds the member, never part
/// of the command: input is always data.
ShellActionCommand shell_action_command(std::string_view form, const json::object& input);

}  // namespace agw
