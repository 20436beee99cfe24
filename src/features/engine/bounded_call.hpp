#pragma once

#include "base/async/wait_clock.hpp"
#include "tools/tool.hpp"

namespace agw {

/// Makes the call, and ends it at the tool's time limit or when `run_stop` is requested: the call's own stop is
/// requested first, and a tool that ignores that is cancelled two seconds later. Both are error results. Throws what
/// the tool throws. The time that `waits` counts meanwhile is not the tool's.
Task<ToolOutcome> bounded_call(Loop& loop, const Tool& tool, const ToolCall& call, StopSource& run_stop,
                               const WaitClock& waits);

}  // namespace agw
