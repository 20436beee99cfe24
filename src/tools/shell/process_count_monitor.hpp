#pragma once

#include <cstdint>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"

namespace agw {

/// Limits the processes of a root user's command: stops it when the host has `max` more than at the start.
/// For other users the kernel enforces a limit.
class ProcessCountMonitor {
public:
  explicit ProcessCountMonitor(int max = max_processes);

  /// Checks periodically until `stop` is requested. Requests it if there are too many processes.
  Task<> watch(StopSource& stop);

  bool has_too_many() const { return too_many_; }

  static constexpr int max_processes = 2000;

private:
  const int max_;
  std::uint16_t initial_processes_;  ///< the kernel's count
  bool too_many_ = false;
};

}  // namespace agw
