#pragma once

#include "base/json.hpp"

namespace agw {

/// Equality as JSON Schema has it: numbers are compared by value, so that 1 and 1.0 are the same at any depth, and
/// members may stand in any order.
bool equal_by_value(const json::value& one, const json::value& other);

}  // namespace agw
