#pragma once

#include <optional>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/cut.hpp"
#include "base/task.hpp"
#include "base/time.hpp"

namespace agw {

/// Wakes one coroutine when the host's wall clock shows a time, also when somebody sets the clock, and after a suspend.
/// It costs nothing while it waits.
class WallClockAlarm {
public:
  explicit WallClockAlarm(Loop& loop);

  /// The time to wake at, instead of the one before; nothing: never. May be called while somebody waits.
  void set(std::optional<Timestamp> time);

  /// Waits until the time has come or the clock was set, or until `stop`.
  Task<End> wait(Stop& stop);

private:
  asio::posix::stream_descriptor timer_;
  std::optional<Timestamp> time_;
};

}  // namespace agw
