#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace agw::cli {

/// A command's documentation, for completion and the manual page.
struct CommandDescription {
  std::string name;  ///< `ext list`
  std::string about;
  bool is_group = false;  ///< has no action
  std::vector<Argument> arguments;
};

/// The documentation of all commands, with their arguments.
std::vector<CommandDescription> described(std::span<const Command> commands);

/// The commands directly below `group`; the empty group is the program itself.
std::vector<const CommandDescription*> below(const std::vector<CommandDescription>& commands, std::string_view group);
std::string_view last_word(std::string_view name);

// Shell scripts that complete the commands, their options and the options' values.

std::string bash_completion(const std::vector<CommandDescription>& commands);
std::string zsh_completion(const std::vector<CommandDescription>& commands);
std::string fish_completion(const std::vector<CommandDescription>& commands);

/// The manual page agw(1) in roff.
std::string manual_page(const std::vector<CommandDescription>& commands);

}  // namespace agw::cli
