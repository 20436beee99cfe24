#include <algorithm>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/async/task_group.hpp"
#include "base/log.hpp"
#include "features/engine/call_runner.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

/// How long a tool may take to clean up after its stop was requested, for example to end a process.
constexpr auto time_to_end = 2s;
/// The interval at which the time is checked while the call waits for a person.
constexpr std::chrono::milliseconds min_pause = 100ms;

/// Shared by a call and the coroutine that watches it.
struct Watched {
  StopSource woken;  ///< the call has ended or must end
  StopSource over;
  StopSource forced;
  bool late = false;
};

/// Waits until the limit has passed, and returns true, or until `woken` is requested, and returns false.
Task<bool> is_late(StopSource& woken, std::chrono::milliseconds limit, const WaitClock& waits) {
  using std::chrono::steady_clock;
  const auto began = steady_clock::now();
  const auto waited_before = waits.waited();
  for (auto left = limit;;) {
    if (co_await pause(woken, left) != WaitResult::done) co_return false;
    const auto used =
        std::chrono::floor<std::chrono::milliseconds>(steady_clock::now() - began - (waits.waited() - waited_before));
    if (used >= limit && !waits.is_waiting()) co_return true;
    left = std::max(limit - used, min_pause);
  }
}

Task<> watch(Watched& watched, StopSource& stop, std::chrono::milliseconds limit, const WaitClock& waits) {
  if (co_await is_late(watched.woken, limit, waits)) {
    watched.late = true;
    stop.request();
  }
  if (co_await pause(watched.over, time_to_end) == WaitResult::done) watched.forced.request();
}

Task<> answer_into(ToolOutcome& outcome, const Tool& tool, const ToolCall& call) { outcome = co_await tool.call(call); }

}  // namespace

Task<ToolOutcome> bounded_call(Loop& loop, const Tool& tool, const ToolCall& call, StopSource& run_stop,
                               const WaitClock& waits) {
  Watched watched;
  StopSource::Listener when_stopped(run_stop, [&] {
    call.stop.request();
    watched.woken.request();
  });
  TaskGroup watching(loop);
  watching.spawn(watch(watched, call.stop, tool.limit, waits));
  ToolOutcome outcome;
  auto end = WaitResult::done;
  std::exception_ptr failure;
  try {
    end = co_await with_timeout(watched.forced, no_limit, answer_into(outcome, tool, call));
  } catch (...) {
    failure = std::current_exception();
  }
  watched.over.request();
  watched.woken.request();
  co_await watching.join();
  // A stopped tool is not cancelled before its time to clean up has passed.
  AGW_DEBUG_ASSERT(end == WaitResult::done || watched.forced.requested());
  if (end != WaitResult::done)
    log::warn("tool {} did not end when it was stopped; its run continues without it", tool.description.name);
  if (run_stop.requested()) co_return ToolOutcome{"interrupted: the run was stopped", true};
  if (watched.late) {
    const auto seconds = std::chrono::duration<double>(tool.limit).count();
    co_return ToolOutcome{fmt::format("timed out after {} s", seconds), true};
  }
  if (failure) std::rethrow_exception(failure);
  co_return outcome;
}

}  // namespace agw
