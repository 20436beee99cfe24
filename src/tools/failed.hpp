#pragma once

#include <string>
#include <utility>

#include "tools/tool.hpp"

namespace agw {

/// An error result that says why.
inline ToolOutcome failed(std::string why) { return {.output = std::move(why), .is_error = true}; }

}  // namespace agw
