#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/async/task.hpp"

namespace agw {

/// A callback that blocked the loop for longer than allowed.
struct LongCallback {
  std::chrono::microseconds duration;
  std::chrono::microseconds computed;  ///< CPU time; the rest was spent waiting, perhaps for a processor

  /// The call stack when the callback exceeded the limit, innermost first: `agw+0x3f21c0 agw+0x3f1d02 …`, with offsets
  /// in the file named before each. `llvm-symbolizer --obj=agw.debug` converts those of the program to functions and
  /// lines. Empty if the callback ended before it was sampled.
  std::string calls;
};

/// Runs `loop` until it is stopped or out of work, like `loop.run()`, and reports each callback that blocks it for
/// longer than `limit`.
///
/// For diagnosis only: each callback costs four clock readings, and a thread wakes twice per `limit`. A callback for
/// which the loop had to wait is measured by its CPU time, all others by elapsed time. `report` is called on the loop's
/// thread. Uses SIGPROF. Only one loop per process can be traced at a time. Example:
/// src/io/process/loop_trace_test.cpp: LoopTrace.ReportsACallbackThatHoldsTheLoop
void run_traced(Loop& loop, std::chrono::microseconds limit, const std::function<void(const LongCallback&)>& report);

/// A report function for `run_traced` that writes a line to the log.
void log_long_callback(const LongCallback& callback);

}  // namespace agw
