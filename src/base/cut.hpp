#pragma once

#include <chrono>
#include <functional>
#include <list>

#include "base/task.hpp"

namespace agw {

/// How a wait ended. A value, because the caller goes on in each case.
enum class End { done, stopped, timed_out };

/// A request to stop, made once and seen by every wait that it was given to, now and later.
class Stop {
public:
  Stop() = default;
  Stop(const Stop&) = delete;
  Stop& operator=(const Stop&) = delete;

  void request();
  bool requested() const { return requested_; }

  /// Calls `listener` when stop is requested (at once if it was); forget it by destroying the handle.
  class Listener {
  public:
    Listener(Stop& stop, std::function<void()> action);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

  private:
    friend class Stop;
    Stop& stop_;
    std::function<void()> action_;
    std::list<Listener*>::iterator place_;
    bool listed_ = false;
  };

private:
  bool requested_ = false;
  std::list<Listener*> listeners_;
};

inline constexpr std::chrono::milliseconds no_limit = std::chrono::milliseconds::max();

/// Runs `leaf` to its end, or until `stop` is requested or `limit` has passed; then the leaf is cancelled and, once it
/// has really ended, the reason is returned. Only the leaf is ever cancelled, so the caller can still save what it has:
/// after a cancellation of its own, every later co_await of a coroutine throws. An exception of the leaf that is not
/// the cancellation's own leaves `cut`.
Task<End> cut(Stop& stop, std::chrono::milliseconds limit, Task<> leaf);

/// Waits for `duration`; `stopped` when stop came first.
Task<End> pause(Stop& stop, std::chrono::milliseconds duration);

}  // namespace agw
