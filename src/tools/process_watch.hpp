#pragma once

#include <cstdint>

#include "base/cut.hpp"
#include "base/task.hpp"

namespace agw {

/// Keeps a command of root's from starting processes without end: once the host has so many more than when it began, it
/// is to end. Of others than root the kernel counts them itself, and refuses the next.
class ProcessWatch {
public:
  ProcessWatch();

  /// Looks again and again until `stop` is requested, or requests it itself.
  Task<> watch(Stop& stop);

  bool found_too_many() const { return found_too_many_; }

  static constexpr int most = 2000;

private:
  std::uint16_t at_first_;  ///< all that the kernel tells
  bool found_too_many_ = false;
};

}  // namespace agw
