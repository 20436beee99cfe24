#pragma once

#include "base/json/json.hpp"
#include "tools/tool.hpp"

namespace agw {

/// The result of `tools/call` as the model reads it: its texts; what is no text is named, not shown. Bounded.
ToolOutcome tool_outcome(const json::object& result);

}  // namespace agw
