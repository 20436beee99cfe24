#include "base/async/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace agw {

namespace {

thread_local bool blocking_allowed = true;

}  // namespace

void assertion_failed(const char* condition, std::source_location location) {
  std::fprintf(stderr, "%s:%u: assertion failed in %s: %s\n", location.file_name(),
               static_cast<unsigned>(location.line()), location.function_name(), condition);
  std::abort();
}

DisallowBlocking::DisallowBlocking() { blocking_allowed = false; }

DisallowBlocking::~DisallowBlocking() { blocking_allowed = true; }

bool may_block() { return blocking_allowed; }

}  // namespace agw
