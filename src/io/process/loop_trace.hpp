#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/async/task.hpp"

namespace agw {

/// A callback that held the loop for longer than allowed.
struct LongCallback {
  std::chrono::microseconds duration;
  std::chrono::microseconds computed;  ///< of that, the time on a processor: the rest it waited, maybe for one

  /// The calls it was in when it passed the limit, innermost first: `agw+0x3f21c0 agw+0x3f1d02 …`, offsets in the file
  /// that each name stands for. `llvm-symbolizer --obj=agw.debug` turns those of the program into functions and lines.
  /// Empty if it ended before it could be looked at.
  std::string calls;
};

/// Runs `loop` until it is stopped or out of work, like `loop.run()`, and reports each callback that holds it for
/// longer than `limit`. Other callbacks wait during that time.
///
/// It is for diagnosis: each callback costs four readings of clocks, and a thread wakes twice per `limit`. A callback
/// that the loop had to wait for is measured by its processor time, all others by the clock. `report` is called on the
/// loop's thread. Uses SIGPROF. Only one loop of a process can be traced at a time. Example:
/// src/io/process/loop_trace_test.cpp: LoopTrace.ReportsACallbackThatHoldsTheLoop
void run_traced(Loop& loop, std::chrono::microseconds limit, const std::function<void(const LongCallback&)>& report);

/// A report function for `run_traced` that writes a line to the log.
void log_long_callback(const LongCallback& callback);

}  // namespace agw
