#pragma once

#include <chrono>
#include <ctime>

namespace agw::testing {

/// The processor time used by this thread. Unlike a wall clock, it does not advance while a busy machine runs other
/// threads.
inline std::chrono::nanoseconds cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace agw::testing
