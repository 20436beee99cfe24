#pragma once

#include <cstdint>

#include <boost/asio/steady_timer.hpp>

#include "base/task.hpp"

namespace agw {

/// Something that happens, and those who wait for it. On the loop.
class Wakeup {
public:
  explicit Wakeup(Loop& loop);
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  /// It has happened: everybody who waits goes on, and nobody waits any more.
  void notify();
  /// Those who wait now go on; it has not happened for those who come later.
  void pulse();
  /// It is to happen again.
  void reset() { happened_ = false; }
  bool happened() const { return happened_; }

  /// Returns once it has happened. Throws operation_aborted where the awaiting coroutine is cancelled. Dies after those
  /// who wait.
  Task<> wait();

private:
  asio::steady_timer timer_;
  bool happened_ = false;
  std::uint64_t pulses_ = 0;
};

}  // namespace agw
