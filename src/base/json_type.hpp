#pragma once

#include <string_view>

#include "base/json.hpp"

namespace agw {

/// Whether `value` is of the type that JSON Schema calls so: `integer` is any number without a fraction. False for a
/// name that is no type's.
bool has_json_type(const json::value& value, std::string_view type);

}  // namespace agw
