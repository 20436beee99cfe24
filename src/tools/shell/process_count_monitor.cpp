#include "tools/shell/process_count_monitor.hpp"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <chrono>

namespace agw {

namespace {

/// Two processors can start some hundreds of processes per interval.
constexpr auto process_check_interval = std::chrono::milliseconds(50);

std::uint16_t processes_of_host() {
  struct sysinfo info{};
  return ::sysinfo(&info) == 0 ? info.procs : std::uint16_t{0};
}

}  // namespace

ProcessCountMonitor::ProcessCountMonitor(int max) : max_(max), initial_processes_(processes_of_host()) {}

Task<> ProcessCountMonitor::watch(StopSource& stop) {
  if (::geteuid() != 0) co_return;
  while (co_await pause(stop, process_check_interval) == WaitResult::done) {
    const auto more = static_cast<std::int16_t>(processes_of_host() - initial_processes_);
    too_many_ = more > max_;
    if (too_many_) stop.request();
  }
}

}  // namespace agw
