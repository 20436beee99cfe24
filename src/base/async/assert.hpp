#pragma once

#include <source_location>
#include <stdexcept>
#include <string>
#include <thread>

// Two kinds of checks for programming errors, never for invalid input.

/// For conditions without which it is unsafe to continue. Checked in builds with assertions (the presets dev, debug and
/// tsan): if the check fails, the process prints the condition and aborts. A release build does not evaluate it.
#ifdef NDEBUG
#define AGW_ASSERT(condition) static_cast<void>(sizeof((condition) ? 1 : 0))
#else
#define AGW_ASSERT(condition) ((condition) ? static_cast<void>(0) : ::agw::assertion_failed(#condition))
#endif

/// For conditions whose failure affects only the current request, run or start. Checked in every build: if the check
/// fails, it throws an InternalError with `cause`, which is evaluated only then.
/// Example: src/base/async/assert_test.cpp: Check.ThrowsTheCauseAndThePlace
#define AGW_CHECK(condition, cause) ((condition) ? static_cast<void>(0) : throw ::agw::InternalError(cause))

namespace agw {

/// A programming error after which the process can continue safely. The client gets 500 without the cause; the log
/// contains the cause and the place of the throw.
class InternalError : public std::logic_error {
public:
  explicit InternalError(const std::string& cause, std::source_location place = std::source_location::current());
};

[[noreturn]] void assertion_failed(const char* condition,
                                   std::source_location location = std::source_location::current());

/// Remembers the thread that created it. A member of objects that only the loop's thread may use.
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

/// Forbids blocking calls on the current thread during its lifetime, which is that of the running loop.
class DisallowBlocking {
public:
  DisallowBlocking();
  ~DisallowBlocking();
  DisallowBlocking(const DisallowBlocking&) = delete;
  DisallowBlocking& operator=(const DisallowBlocking&) = delete;
};

/// Whether the current thread may block. Asserted by functions that read directories, wait or compute for a long time.
bool may_block();

}  // namespace agw
