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

/// Between two looks at a busy process, and at one that has been idle for a while: each look costs some of the pages
/// that were given back.
constexpr milliseconds min_pause = 2s;
constexpr milliseconds max_pause = 16s;
/// The timers of an idle process use less between two looks.
constexpr auto max_idle = 2ms;
/// What the timers of an idle process use in some minutes.
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
  if (!is_idle_ || used - released_ < min_work) return false;
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
  auto wait = min_pause;
  while (co_await pause(stopping_, wait) == WaitResult::done) {
    const bool begins = periods.begins(cpu_time());
    wait = periods.is_idle() ? std::min(2 * wait, max_pause) : min_pause;
    if (!begins) continue;
    co_await blocking_.run([] {
      ::malloc_trim(0);
      release_all_code_pages();
    });
  }
}

}  // namespace agw
