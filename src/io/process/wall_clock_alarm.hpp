#pragma once

#include <optional>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/async/assert.hpp"
#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "base/time/time.hpp"

namespace agw {

/// Wakes one coroutine at a wall clock time, even if the clock is set or the machine was suspended. Uses no CPU while
/// it waits.
class WallClockAlarm {
public:
  explicit WallClockAlarm(Loop& loop);

  /// Replaces the time; nullopt means never. May be called while a coroutine waits.
  void set(std::optional<Timestamp> time);

  /// Waits until the time is reached, the clock is set, or `stop` is requested.
  Task<WaitResult> wait(StopSource& stop);

private:
  ThreadChecker thread_;
  asio::posix::stream_descriptor timer_;
  std::optional<Timestamp> time_;
};

}  // namespace agw
