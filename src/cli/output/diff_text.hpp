#pragma once

#include <string>
#include <string_view>

#include "cli/output/terminal.hpp"

namespace agw::cli {

/// A unified diff with colours for a terminal: additions green, deletions red, positions blue. Printable.
std::string diff_text(std::string_view diff, const Terminal& terminal);

}  // namespace agw::cli
