#pragma once

#include <chrono>
#include <ctime>

namespace agw::testing {

/// The time that this thread has had of the processor. Unlike a clock on the wall, it stands still while a busy machine
/// does something else.
inline std::chrono::nanoseconds cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace agw::testing
