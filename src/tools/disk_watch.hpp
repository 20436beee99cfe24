#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/cut.hpp"
#include "base/task.hpp"
#include "io/blocking.hpp"

namespace agw {

/// Keeps a command from filling a disk: once less than half of what was free when it began is left, it is to end.
class DiskWatch {
public:
  /// Looks at the disks that these places are on. Blocks.
  explicit DiskWatch(std::vector<std::filesystem::path> places);

  /// Looks again and again, in the pool, until `stop` is requested, or requests it itself.
  Task<> watch(BlockingPool& blocking, Stop& stop);

  bool found_too_little() const { return found_too_little_; }

private:
  static std::uint64_t free_bytes(const std::filesystem::path& place);

  struct Disk {
    std::filesystem::path place;
    std::uint64_t least;  ///< bytes
  };
  std::vector<Disk> disks_;
  bool found_too_little_ = false;
};

}  // namespace agw
