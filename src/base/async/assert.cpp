#include "base/async/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace agw {

namespace {

thread_local bool blocking_allowed = true;

}  // namespace

InternalError::InternalError(const std::string& cause, std::source_location place)
    : std::logic_error(cause + " (" + place.file_name() + ":" + std::to_string(place.line()) + ")") {}

void assertion_failed(const char* condition, std::source_location location) {
  std::fprintf(stderr, "%s:%u: assertion failed in %s: %s\n", location.file_name(),
               static_cast<unsigned>(location.line()), location.function_name(), condition);
  std::abort();
}

DisallowBlocking::DisallowBlocking() { blocking_allowed = false; }

DisallowBlocking::~DisallowBlocking() { blocking_allowed = true; }

bool may_block() { return blocking_allowed; }

}  // namespace agw
