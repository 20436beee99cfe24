#pragma once

#include <string>

#include "base/json/json.hpp"
#include "base/time/time.hpp"
#include "tools/tool.hpp"

namespace agw {

/// The result of the `builtin` action of that name.
ToolOutcome call_built_in_action(const std::string& name, const json::object& input, Timestamp now);

}  // namespace agw
