#pragma once

#include <string>
#include <vector>

#include "cli/description.hpp"

namespace agw::cli {

// Shell scripts that complete the commands, their options and the options' values.

std::string bash_completion(const std::vector<CommandDescription>& commands);
std::string zsh_completion(const std::vector<CommandDescription>& commands);
std::string fish_completion(const std::vector<CommandDescription>& commands);

}  // namespace agw::cli
