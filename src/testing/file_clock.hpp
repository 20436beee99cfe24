#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

#include "io/files/entry_state.hpp"

namespace agw::testing {

/// Waits until whatever files were changed so far is older than the clock of file_clock_now, and returns its time.
///
/// That clock advances every few milliseconds, and later on a busy machine. The times of files can be ahead of it: the
/// kernel gives them all their digits where somebody has looked (multigrain timestamps, Linux 6.13).
inline std::int64_t advance_file_clock() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto latest = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  while (file_clock_now() <= latest) std::this_thread::yield();
  return file_clock_now();
}

}  // namespace agw::testing
