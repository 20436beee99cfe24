#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

#include "io/files/entry_state.hpp"

namespace agw::testing {

/// Waits until all files changed so far are older than the clock of file_clock_now, and returns its time.
///
/// That clock advances every few milliseconds, later on a busy machine. File times can be ahead of it: the kernel uses
/// its full resolution for a file whose time was read before (multigrain timestamps, Linux 6.13).
inline std::int64_t advance_file_clock() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto latest = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  while (file_clock_now() <= latest) std::this_thread::yield();
  return file_clock_now();
}

}  // namespace agw::testing
