#pragma once

#include <chrono>

#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "io/process/blocking.hpp"

namespace agw {

/// Gives memory back to the system while the process has nothing to do: what the allocator holds free, and the pages of
/// code and constants, which the kernel reads again when they are needed (some 0.1 ms of the next request). On the
/// loop.
class IdleMemory {
public:
  IdleMemory(Loop& loop, BlockingPool& blocking);

  /// Looks every two seconds, less often while nothing happens, until `stop` has returned.
  void start();
  Task<> stop();

private:
  Task<> watch();

  BlockingPool& blocking_;
  StopSource stopping_;
  TaskGroup background_;
};

/// Whether to release memory, by the CPU time that the process has used so far: it used almost none since the call
/// before, but something since the last release.
/// Example: src/io/process/idle_memory_test.cpp: IdlePeriods.FollowWorkOnce
class IdlePeriods {
public:
  bool begins(std::chrono::nanoseconds used);
  /// Whether the process used almost none between the last two calls of `begins`.
  bool is_idle() const { return is_idle_; }

private:
  bool is_idle_ = false;
  std::chrono::nanoseconds before_{};
  std::chrono::nanoseconds released_{};
};

}  // namespace agw
