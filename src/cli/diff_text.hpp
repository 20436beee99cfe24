#pragma once

#include <string>
#include <string_view>

#include "cli/terminal.hpp"

namespace agw::cli {

/// A unified diff as a terminal shows it: what comes green, what goes red, where it is blue. Printable, whatever the
/// diff says.
std::string diff_text(std::string_view diff, const Terminal& terminal);

}  // namespace agw::cli
