#include "io/process/loop_trace.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <time.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <mutex>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/log.hpp"
#include "io/process/worker_thread.hpp"

// The loop's thread records the start of each callback. A watching thread checks twice per limit: if the same callback
// is still running after the limit, it interrupts the loop's thread with a signal, whose handler records the call
// stack. The loop's thread reports it after the end of the callback.
//
// Asio waits for events and runs the first callback in one call, `run_one`. The waiting time cannot be measured from
// outside, so such a callback is measured by the CPU time of the thread, which does not advance while it waits.

namespace agw {

namespace {

constexpr int max_calls = 40;
constexpr int calls_of_the_handler = 2;  // the handler itself and the frame that the kernel creates for it
static_assert(calls_of_the_handler < max_calls);

/// The stack of the traced thread, as last recorded by its signal handler.
struct Stack {
  std::array<std::uintptr_t, max_calls> addresses;
  int count = 0;
};

Stack noted_stack;                        // written by the signal handler, on the traced thread
std::atomic<std::uint64_t> noted_for{0};  // the callback that it was recorded for
std::atomic<std::uint64_t> current{0};    // the number of the running callback

_Unwind_Reason_Code note_call(_Unwind_Context* context, void*) {
  if (noted_stack.count == max_calls) return _URC_END_OF_STACK;
  noted_stack.addresses[static_cast<std::size_t>(noted_stack.count++)] = _Unwind_GetIP(context);
  return _URC_NO_REASON;
}

void note_stack(int) {
  noted_stack.count = 0;
  _Unwind_Backtrace(note_call, nullptr);
  noted_for.store(current.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

std::string name_of(std::uintptr_t address) {
  Dl_info info;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): unwinding gives numbers
  if (::dladdr(reinterpret_cast<void*>(address), &info) == 0) return fmt::format("{:#x}", address);
  const auto offset = address - reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  return fmt::format("{}+{:#x}", std::filesystem::path(info.dli_fname).filename().string(), offset);
}

std::string calls_of_stack() {
  AGW_ASSERT(noted_stack.count >= 0);
  AGW_ASSERT(noted_stack.count <= max_calls);
  std::string calls;
  for (int index = calls_of_the_handler; index < noted_stack.count; ++index) {
    if (!calls.empty()) calls += ' ';
    // A return address may belong to the next source line.
    calls += name_of(noted_stack.addresses[static_cast<std::size_t>(index)] - 1);
  }
  return calls;
}

std::int64_t nanoseconds(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

std::chrono::microseconds microseconds(std::int64_t count) {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::nanoseconds(count));
}

class LoopTracer {
public:
  LoopTracer(Loop& loop, std::chrono::microseconds limit, const std::function<void(const LongCallback&)>& report)
      : loop_(loop), limit_(limit), report_(report) {
    ::pthread_getcpuclockid(thread_, &processor_clock_);
    struct sigaction action{};
    action.sa_handler = note_stack;
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGPROF, &action, nullptr);
  }

  void run() {
    AGW_ASSERT(::pthread_equal(thread_, ::pthread_self()));
    AGW_ASSERT(!ended_);
    const WorkerThread watcher("agw-trace", [this] { watch(); });
    while (!loop_.stopped()) {
      if (run_timed(CLOCK_MONOTONIC, [this] { return loop_.poll_one(); }) > 0) continue;
      if (!loop_.stopped()) run_timed(processor_clock_, [this] { return loop_.run_one(); });
    }
    const std::lock_guard lock(mutex_);
    ended_ = true;
    end_.notify_one();
  }

private:
  template <class Run>
  std::size_t run_timed(clockid_t clock, Run run) {
    const auto number = current.load(std::memory_order_relaxed) + 1;
    const auto computed_before = nanoseconds(processor_clock_);
    const auto began = nanoseconds(clock);
    clock_.store(clock, std::memory_order_relaxed);
    began_.store(began, std::memory_order_relaxed);
    current.store(number, std::memory_order_release);
    const auto count = run();
    const auto duration = microseconds(nanoseconds(clock) - began);
    if (duration > limit_) {
      const auto computed = std::min(microseconds(nanoseconds(processor_clock_) - computed_before), duration);
      const bool is_noted = noted_for.load(std::memory_order_relaxed) == number;
      report_({duration, computed, is_noted ? calls_of_stack() : std::string()});
    }
    return count;
  }

  void watch() {
    std::uint64_t interrupted = 0;
    std::unique_lock lock(mutex_);
    while (!end_.wait_for(lock, limit_ / 2, [this] { return ended_; })) {
      const auto number = current.load(std::memory_order_acquire);
      const auto began = began_.load(std::memory_order_relaxed);
      const auto held = std::chrono::nanoseconds(nanoseconds(clock_.load(std::memory_order_relaxed)) - began);
      // If the next callback has started by now, the values read may belong to both.
      if (number == interrupted || held < limit_ || current.load(std::memory_order_acquire) != number) continue;
      interrupted = number;
      ::pthread_kill(thread_, SIGPROF);
    }
  }

  Loop& loop_;
  std::chrono::microseconds limit_;
  const std::function<void(const LongCallback&)>& report_;
  pthread_t thread_ = ::pthread_self();
  clockid_t processor_clock_ = CLOCK_MONOTONIC;
  std::atomic<clockid_t> clock_{CLOCK_MONOTONIC};
  std::atomic<std::int64_t> began_{0};
  std::mutex mutex_;
  std::condition_variable end_;
  bool ended_ = false;
};

}  // namespace

void run_traced(Loop& loop, std::chrono::microseconds limit, const std::function<void(const LongCallback&)>& report) {
  LoopTracer(loop, limit, report).run();
}

void log_long_callback(const LongCallback& callback) {
  const auto milliseconds = [](std::chrono::microseconds time) { return static_cast<double>(time.count()) / 1000; };
  log::warn("a callback held the loop for {:.1f} ms, computing for {:.1f}: {}", milliseconds(callback.duration),
            milliseconds(callback.computed),
            callback.calls.empty() ? "it ended before it could be looked at" : callback.calls);
}

}  // namespace agw
