#pragma once

#include "base/json/json.hpp"
#include "tools/tool.hpp"

namespace agw {

/// The result of `tools/call` for the model: its texts and pictures; other contents are only named. Bounded.
ToolOutcome tool_outcome(const json::object& result);

}  // namespace agw
