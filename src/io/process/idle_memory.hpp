#pragma once

#include <chrono>
#include <optional>

#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "io/process/blocking.hpp"

namespace agw {

/// Returns memory to the system while the process is idle: the allocator's free memory, and the pages of code and
/// constants, which the kernel reads again on demand (about 0.1 ms of the next request). Two seconds after the start it
/// does so even if the process is busy. Use it on the loop only.
class IdleMemory {
public:
  IdleMemory(Loop& loop, BlockingPool& blocking);

  /// Checks every two seconds, less often while the process is idle, until `stop` has returned.
  void start();
  Task<> stop();

private:
  Task<> watch();

  BlockingPool& blocking_;
  StopSource stopping_;
  TaskGroup background_;
};

/// Decides when to release memory, by the CPU time used by the process so far: it must have used almost none since the
/// previous call, but some since the last release, if there was one: a start uses much memory, but little time.
/// Example: src/io/process/idle_memory_test.cpp: IdlePeriods.FollowWorkOnce
class IdlePeriods {
public:
  bool begins(std::chrono::nanoseconds used);
  /// Whether the process used almost no CPU time between the last two calls of `begins`.
  bool is_idle() const { return is_idle_; }

private:
  bool is_idle_ = false;
  std::chrono::nanoseconds before_{};
  std::optional<std::chrono::nanoseconds> released_;
};

}  // namespace agw
