#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace agw {

/// Identifies a process uniquely, unlike its id, which the system reuses.
struct ProcessMark {
  pid_t pid = 0;
  std::int64_t started = 0;  ///< clock ticks since the boot
  std::string boot;
  bool operator==(const ProcessMark&) const = default;
};

/// The mark of a living process; no value if there is none.
std::optional<ProcessMark> mark_of(pid_t pid);

/// Kills the process group that the marked process leads, if that process still lives. Returns whether it did.
bool kill_leftover(const ProcessMark& mark);

}  // namespace agw
