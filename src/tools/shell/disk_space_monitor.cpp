#include "tools/shell/disk_space_monitor.hpp"

#include <sys/statvfs.h>

#include <algorithm>
#include <limits>

namespace agw {

namespace {

/// A fast disk writes less than a gigabyte per interval.
constexpr auto disk_check_interval = std::chrono::milliseconds(200);

}  // namespace

std::uint64_t DiskSpaceMonitor::free_bytes(const std::filesystem::path& place) {
  struct statvfs status{};
  if (::statvfs(place.c_str(), &status) != 0) return std::numeric_limits<std::uint64_t>::max();
  return std::uint64_t{status.f_bavail} * status.f_frsize;
}

DiskSpaceMonitor::DiskSpaceMonitor(std::vector<std::filesystem::path> places) {
  for (auto& place : places) {
    const auto free = free_bytes(place);
    if (free != std::numeric_limits<std::uint64_t>::max()) disks_.push_back({std::move(place), free / 2});
  }
}

Task<> DiskSpaceMonitor::watch(BlockingPool& blocking, StopSource& stop) {
  while (co_await pause(stop, disk_check_interval) == WaitResult::done) {
    is_low_ = co_await blocking.run([disks = disks_] {
      return std::ranges::any_of(disks, [](const Disk& disk) { return free_bytes(disk.place) < disk.min_free; });
    });
    if (is_low_) stop.request();
  }
}

}  // namespace agw
