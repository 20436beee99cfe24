#pragma once

#include "tools/tool.hpp"

namespace agw {

/// Makes the call, and ends it at the tool's limit or when `run_stop` is requested: its own Stop is requested first,
/// and a tool that is deaf to that is cancelled a moment later. Either is an error result. Throws what the tool throws.
Task<ToolOutcome> bounded_call(Loop& loop, const Tool& tool, const ToolCall& call, Stop& run_stop);

}  // namespace agw
