#pragma once

#include <source_location>
#include <stdexcept>
#include <string>
#include <thread>

// Three kinds of checks for programming errors. No request, file, clock or other process may make one fail: invalid
// input is refused with an error.

// A release names only the place of a failed assertion: the conditions would be most of what assertions add to it.
#ifdef NDEBUG
#define AGW_CONDITION_TEXT(condition) nullptr
#else
#define AGW_CONDITION_TEXT(condition) #condition
#endif

/// For conditions without which it is unsafe to continue. Checked in every build: if the check fails, the process logs
/// the place (the presets dev, debug and tsan also the condition), and aborts. No acknowledged write is lost: the next
/// start recovers as after a kill. Checks must be cheap: a few instructions in code that runs often.
/// Example: src/base/async/assert_test.cpp: AssertDeathTest.NamesThePlaceAndTheCondition
#define AGW_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::agw::assertion_failed(__FILE__, __LINE__, AGW_CONDITION_TEXT(condition)))

/// The same, but only in the presets dev, debug and tsan; a release build does not evaluate it. For conditions that
/// cost too much, such as a pass over a container for each request, and for those that only protect the speed:
/// `may_block()`.
#ifdef NDEBUG
#define AGW_DEBUG_ASSERT(condition) static_cast<void>(sizeof((condition) ? 1 : 0))
#else
#define AGW_DEBUG_ASSERT(condition) AGW_ASSERT(condition)
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

/// `condition` is null if it is not known.
[[noreturn, gnu::cold]] void assertion_failed(const char* file, int line, const char* condition) noexcept;

/// `what` is the place, and the condition if it is known. Returns false if it reported nothing; stderr then gets the
/// failure.
using AssertionReporter = bool (*)(const char* what);

/// Makes `report` receive failed assertions instead of stderr, before the process aborts. For the log.
void report_failed_assertions(AssertionReporter report);

/// Remembers the thread that created it. A member of objects that only the loop's thread may use.
///
///     AGW_ASSERT(thread_.is_current());
///
/// Example: src/base/async/assert_test.cpp: ThreadChecker.KnowsTheThreadThatCreatedIt
class ThreadChecker {
public:
  bool is_current() const { return std::this_thread::get_id() == owner_; }

private:
  std::thread::id owner_ = std::this_thread::get_id();
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
