#include "io/process/idle_memory.hpp"

#include <malloc.h>

#include <ctime>

#include "base/error.hpp"
#include "base/log.hpp"
#include "io/process/process_setup.hpp"

namespace agw {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

/// The interval between checks of a busy process, and of one that has been idle for a while. Each check brings back
/// some of the released pages.
constexpr milliseconds min_check_interval = 2s;
constexpr milliseconds max_check_interval = 16s;
/// More CPU time than the timers of an idle process use between two checks.
constexpr auto max_idle = 2ms;
/// About the CPU time that the timers of an idle process use in some minutes.
constexpr auto min_work = 20ms;

std::chrono::nanoseconds cpu_time() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

}  // namespace

bool IdlePeriods::begins(std::chrono::nanoseconds used) {
  is_idle_ = used - before_ < max_idle;
  before_ = used;
  if (!is_idle_ || (released_ && used - *released_ < min_work)) return false;
  released_ = used;
  return true;
}

IdleMemory::IdleMemory(Loop& loop, BlockingPool& blocking) : blocking_(blocking), background_(loop) {
  background_.on_failure([](const std::exception_ptr& failure) {
    log::warn("memory is not given back any more while nothing happens: {}", message_of(failure));
  });
}

void IdleMemory::start() { background_.spawn(watch()); }

Task<> IdleMemory::stop() {
  stopping_.request();
  co_await background_.join();
}

Task<> IdleMemory::watch() {
  IdlePeriods periods;
  auto wait = min_check_interval;
  // Most of what a start uses is never used again, however busy the process is afterwards.
  for (bool has_just_started = true; co_await pause(stopping_, wait) == WaitResult::done; has_just_started = false) {
    const bool begins = periods.begins(cpu_time());
    wait = periods.is_idle() ? std::min(2 * wait, max_check_interval) : min_check_interval;
    if (!begins && !has_just_started) continue;
    co_await blocking_.run([] {
      ::malloc_trim(0);
      release_all_code_pages();
    });
  }
}

}  // namespace agw
