#pragma once

#include <string>
#include <vector>

#include "cli/description.hpp"

namespace agw::cli {

/// The manual page agw(1) in roff.
std::string manual_page(const std::vector<CommandDescription>& commands);

}  // namespace agw::cli
