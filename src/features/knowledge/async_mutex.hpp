#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "base/async/assert.hpp"
#include "base/async/cancellation.hpp"

namespace agw {

/// A mutex for coroutines on the loop.
///
///     co_await mutex.wait();
///     const auto lock = mutex.enter();
class AsyncMutex {
public:
  /// Holds the mutex; wakes the waiters when destroyed.
  class Lock {
  public:
    explicit Lock(std::shared_ptr<StopSource>& place) : place_(place) { place_ = std::make_shared<StopSource>(); }
    ~Lock() {
      AGW_ASSERT(place_);
      std::exchange(place_, nullptr)->request();
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

  private:
    std::shared_ptr<StopSource>& place_;
  };

  /// Waits until the mutex is free. The caller must call `enter` before the next co_await.
  Task<> wait() {
    while (held_) {
      const auto current = held_;
      co_await pause(*current, std::chrono::hours(1));
    }
  }
  Lock enter() {
    AGW_ASSERT(!held_);
    return Lock(held_);
  }

private:
  std::shared_ptr<StopSource> held_;
};

}  // namespace agw
