#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "base/async/assert.hpp"
#include "base/async/cancellation.hpp"

namespace agw {

/// Lets one through at a time, on the loop.
///
///     co_await turnstile.wait();
///     const auto pass = turnstile.enter();
class AsyncMutex {
public:
  /// Requests what others wait for when it goes.
  class Lock {
  public:
    explicit Lock(std::shared_ptr<StopSource>& place) : place_(place) { place_ = std::make_shared<StopSource>(); }
    ~Lock() { std::exchange(place_, nullptr)->request(); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

  private:
    std::shared_ptr<StopSource>& place_;
  };

  /// Until nobody is within. Whoever waits enters before it waits for anything else.
  Task<> wait() {
    while (within_) {
      const auto current = within_;
      co_await pause(*current, std::chrono::hours(1));
    }
  }
  Lock enter() {
    AGW_ASSERT(!within_);
    return Lock(within_);
  }

private:
  std::shared_ptr<StopSource> within_;
};

}  // namespace agw
