#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace agw {

/// Names one process for ever, as its number alone does not.
struct ProcessMark {
  pid_t pid = 0;
  std::int64_t started = 0;  ///< clock ticks since the boot
  std::string boot;
  bool operator==(const ProcessMark&) const = default;
};

/// Of a process that lives; nothing where none does.
std::optional<ProcessMark> mark_of(pid_t pid);

/// Kills the process group that the marked process leads, if that still lives. Whether there was one.
bool kill_leftover(const ProcessMark& mark);

}  // namespace agw
