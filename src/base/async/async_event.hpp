#pragma once

#include <cstdint>

#include <boost/asio/steady_timer.hpp>

#include "base/async/assert.hpp"
#include "base/async/task.hpp"

namespace agw {

/// A manual-reset event for coroutines on the loop.
class AsyncEvent {
public:
  explicit AsyncEvent(Loop& loop);
  AsyncEvent(const AsyncEvent&) = delete;
  AsyncEvent& operator=(const AsyncEvent&) = delete;

  /// Sets the event and resumes all waiters. Later waits return at once.
  void notify();
  /// Resumes the current waiters without setting the event.
  void pulse();
  /// Clears the event.
  void reset() { happened_ = false; }
  bool happened() const { return happened_; }

  /// Waits until the event is set or pulsed. Throws operation_aborted if the awaiting coroutine is cancelled. The event
  /// must outlive its waiters.
  Task<> wait();

private:
  ThreadChecker thread_;
  asio::steady_timer timer_;
  bool happened_ = false;
  std::uint64_t pulses_ = 0;
};

}  // namespace agw
