#pragma once

#include <source_location>
#include <thread>

/// Checks a contract in builds with assertions (the presets dev, debug and tsan). If it fails, the process prints the
/// condition and aborts. A release build does not evaluate the condition.
#ifdef NDEBUG
#define AGW_ASSERT(condition) static_cast<void>(sizeof((condition) ? 1 : 0))
#else
#define AGW_ASSERT(condition) ((condition) ? static_cast<void>(0) : ::agw::assertion_failed(#condition))
#endif

namespace agw {

[[noreturn]] void assertion_failed(const char* condition,
                                   std::source_location location = std::source_location::current());

/// Remembers the thread that made it: a member of objects that only the loop's thread may use.
///
///     AGW_ASSERT(thread_.is_current());
///
/// Declare it `[[no_unique_address]]`: it is empty in a release build.
/// Example: src/base/async/assert_test.cpp: ThreadChecker.KnowsTheThreadThatMadeIt
class ThreadChecker {
public:
#ifdef NDEBUG
  bool is_current() const { return true; }
#else
  bool is_current() const { return std::this_thread::get_id() == owner_; }

private:
  std::thread::id owner_ = std::this_thread::get_id();
#endif
};

/// Forbids calls that block on the current thread while it lives: for the time that the loop runs.
class DisallowBlocking {
public:
  DisallowBlocking();
  ~DisallowBlocking();
  DisallowBlocking(const DisallowBlocking&) = delete;
  DisallowBlocking& operator=(const DisallowBlocking&) = delete;
};

/// Whether the current thread may block. Functions that read directories, wait or compute for long assert it.
bool may_block();

}  // namespace agw
