#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "io/process/blocking.hpp"

namespace agw {

/// Keeps a command from filling a disk: stops it when less than half of the initially free space is left.
class DiskSpaceMonitor {
public:
  /// Records the free space on the disks of these paths. Blocks.
  explicit DiskSpaceMonitor(std::vector<std::filesystem::path> places);

  /// Checks periodically, in the pool, until `stop` is requested. Requests it if space is low.
  Task<> watch(BlockingPool& blocking, StopSource& stop);

  bool is_disk_low() const { return is_low_; }

private:
  static std::uint64_t free_bytes(const std::filesystem::path& place);

  struct Disk {
    std::filesystem::path place;
    std::uint64_t min_free;  ///< bytes
  };
  std::vector<Disk> disks_;
  bool is_low_ = false;
};

}  // namespace agw
