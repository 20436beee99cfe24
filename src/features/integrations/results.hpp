#pragma once

#include "base/json/json.hpp"
#include "tools/tool.hpp"

namespace agw {

/// Whether a result of `tools/call` asks for input before the call can continue (`input_required`, revision
/// 2026-07-28).
bool needs_input(const json::object& result);

/// The result of `tools/call` for the model: its texts and pictures, of limited size. Other contents are only
/// mentioned.
ToolOutcome tool_outcome(const json::object& result);

}  // namespace agw
