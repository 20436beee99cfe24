#include "tools/process_watch.hpp"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <chrono>

namespace agw {

namespace {

/// In which two processors start some hundreds.
constexpr auto interval = std::chrono::milliseconds(50);

std::uint16_t processes_of_host() {
  struct sysinfo info{};
  return ::sysinfo(&info) == 0 ? info.procs : std::uint16_t{0};
}

}  // namespace

ProcessWatch::ProcessWatch() : at_first_(processes_of_host()) {}

Task<> ProcessWatch::watch(Stop& stop) {
  if (::geteuid() != 0) co_return;
  while (co_await pause(stop, interval) == End::done) {
    const auto more = static_cast<std::int16_t>(processes_of_host() - at_first_);
    found_too_many_ = more > most;
    if (found_too_many_) stop.request();
  }
}

}  // namespace agw
