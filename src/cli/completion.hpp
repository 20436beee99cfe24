#pragma once

#include <string>
#include <vector>

#include "cli/description.hpp"

namespace agw::cli {

// Scripts that let a shell complete the commands, their options and the values of these.

std::string bash_completion(const std::vector<CommandDescription>& commands);
std::string zsh_completion(const std::vector<CommandDescription>& commands);
std::string fish_completion(const std::vector<CommandDescription>& commands);

}  // namespace agw::cli
