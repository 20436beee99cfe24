#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace agw::cli {

/// A command as people read of it: for completion and the manual page.
struct CommandDescription {
  std::string name;  ///< `ext list`
  std::string about;
  bool is_group = false;  ///< does nothing itself
  std::vector<Argument> arguments;
};

/// The table of commands, with what each declares.
std::vector<CommandDescription> described(std::span<const Command> commands);

/// The last words of those that stand directly below `group`, the empty one for the program itself.
std::vector<const CommandDescription*> below(const std::vector<CommandDescription>& commands, std::string_view group);
std::string_view last_word(std::string_view name);

}  // namespace agw::cli
