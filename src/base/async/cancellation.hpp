#pragma once

#include <chrono>
#include <functional>
#include <list>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/async/assert.hpp"
#include "base/async/task.hpp"

namespace agw {

/// How a wait ended. A value instead of an exception, because callers continue in every case.
enum class WaitResult { done, stopped, timed_out };

/// A request to stop, made at most once. Waits that start later see it too. Use it on the loop only.
/// Example: src/base/async/task_group_test.cpp: WithTimeout.ReturnsStoppedWhenStopIsRequestedDuringOrBefore
class StopSource {
public:
  StopSource() = default;
  StopSource(const StopSource&) = delete;
  StopSource& operator=(const StopSource&) = delete;

  void request();
  bool requested() const { return requested_; }

  /// Calls `action` when stop is requested, or at once if it already was. Its destructor unregisters the action.
  class Listener {
  public:
    Listener(StopSource& stop, std::function<void()> action);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

  private:
    friend class StopSource;
    StopSource& stop_;
    std::function<void()> action_;
    std::list<Listener*>::iterator place_;
    bool listed_ = false;
  };

private:
  ThreadChecker thread_;
  bool requested_ = false;
  std::list<Listener*> listeners_;
};

inline constexpr std::chrono::milliseconds no_limit = std::chrono::milliseconds::max();

/// Runs `leaf` until it ends, `stop` is requested or `limit` has passed. In the last two cases the leaf is cancelled,
/// and the call returns the reason once the leaf has ended. The caller is not cancelled and can still save its work:
/// once a coroutine is cancelled, each of its later co_awaits throws. Rethrows the leaf's exceptions, except those
/// caused by this cancellation.
/// Example: src/base/async/task_group_test.cpp: WithTimeout.ReturnsTimedOutAndTheTrunkGoesOn
Task<WaitResult> with_timeout(StopSource& stop, std::chrono::milliseconds limit, Task<> leaf);

/// Await it before work that must be done even if the coroutine is cancelled, such as joining what it has started: its
/// later waits do not throw.
inline auto ignore_cancellation() { return asio::this_coro::reset_cancellation_state(asio::disable_cancellation()); }

/// Waits until `stop` is requested. The caller keeps `stop` alive.
Task<> until_requested(StopSource& stop);

/// Waits for `duration`; returns `stopped` if stop was requested first.
Task<WaitResult> pause(StopSource& stop, std::chrono::milliseconds duration);

}  // namespace agw
