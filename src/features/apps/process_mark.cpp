#include "features/apps/process_mark.hpp"

#include <csignal>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

namespace agw {

namespace {

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

/// The 22nd field of /proc/<pid>/stat. The second field is a name in parentheses, which may contain any character.
std::optional<std::int64_t> start_time(pid_t pid) {
  constexpr int fields_between = 19;
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  std::istringstream rest(line.substr(std::min(line.rfind(')') + 1, line.size())));
  std::string skipped;
  for (int i = 0; i < fields_between; ++i) rest >> skipped;
  std::int64_t started = 0;
  return rest >> started ? std::optional(started) : std::nullopt;
}

}  // namespace

std::optional<ProcessMark> mark_of(pid_t pid) {
  const auto started = start_time(pid);
  if (!started) return std::nullopt;
  return ProcessMark{.pid = pid, .started = *started, .boot = boot_id()};
}

bool kill_leftover(const ProcessMark& mark) {
  if (mark.pid <= 1 || mark_of(mark.pid) != mark) return false;
  return ::kill(-mark.pid, SIGKILL) == 0;
}

}  // namespace agw
