#include "base/async/assert.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace agw {

namespace {

thread_local bool blocking_allowed = true;

void print(const char* what) { std::fprintf(stderr, "assertion failed: %s\n", what); }

/// Called by any thread. Null: failures are only printed.
std::atomic<AssertionReporter> reporter = nullptr;

}  // namespace

InternalError::InternalError(const std::string& cause, std::source_location place)
    : std::logic_error(cause + " (" + place.file_name() + ":" + std::to_string(place.line()) + ")") {}

void assertion_failed(const char* file, int line, const char* condition) noexcept {
  std::array<char, 1024> what{};
  std::snprintf(what.data(), what.size(), "%s:%d%s%s", file, line, condition ? ": " : "", condition ? condition : "");
  // If reporting fails an assertion itself, or if another thread fails one meanwhile, that is only printed.
  const auto report = reporter.exchange(nullptr);
  if (!report || !report(what.data())) print(what.data());
  std::abort();
}

void report_failed_assertions(AssertionReporter report) { reporter = report; }

DisallowBlocking::DisallowBlocking() { blocking_allowed = false; }

DisallowBlocking::~DisallowBlocking() { blocking_allowed = true; }

bool may_block() { return blocking_allowed; }

}  // namespace agw
