#pragma once

#include <source_location>
#include <stdexcept>
#include <string>
#include <thread>

// Two kinds of checks, for what a programmer got wrong and never for input.

/// It would not be safe to continue if the condition did not hold. Checked in builds with assertions (the presets dev,
/// debug and tsan): if it fails, the process prints the condition and aborts. A release build does not evaluate it.
#ifdef NDEBUG
#define AGW_ASSERT(condition) static_cast<void>(sizeof((condition) ? 1 : 0))
#else
#define AGW_ASSERT(condition) ((condition) ? static_cast<void>(0) : ::agw::assertion_failed(#condition))
#endif

/// Without the condition only the current request, run or start fails. Checked in every build: if it fails, an
/// InternalError with `cause` is thrown. `cause` is evaluated only then.
/// Example: src/base/async/assert_test.cpp: Check.ThrowsTheCauseAndThePlace
#define AGW_CHECK(condition, cause) ((condition) ? static_cast<void>(0) : throw ::agw::InternalError(cause))

namespace agw {

/// A bug of ours after which the process is still sound. A client gets 500 without the cause; the log has the cause and
/// the place where it was thrown.
class InternalError : public std::logic_error {
public:
  explicit InternalError(const std::string& cause, std::source_location place = std::source_location::current());
};

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
