#include "features/engine/repeat_guard.hpp"

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/json/json_values.hpp"

namespace agw {

namespace {

constexpr int max_times = 2;

bool same(const ToolUse& one, const ToolUse& other) {
  if (one.name != other.name || one.is_malformed != other.is_malformed) return false;
  return one.is_malformed ? one.arguments == other.arguments : equal_by_value(one.input, other.input);
}

}  // namespace

std::optional<std::string> RepeatGuard::problem(const std::vector<ToolUse>& uses) {
  AGW_ASSERT(last_.has_value() == (times_ > 0));
  for (const auto& use : uses) {
    // It has not answered with a problem before.
    AGW_ASSERT(times_ <= max_times);
    times_ = last_ && same(*last_, use) ? times_ + 1 : 1;
    last_ = use;
    if (times_ > max_times) {
      return fmt::format("the model called {} three times in a row with the same input", use.name);
    }
  }
  return std::nullopt;
}

}  // namespace agw
