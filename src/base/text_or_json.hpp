#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"

namespace agw {

/// A text as it is, anything else as JSON.
inline std::string text_or_json(const json::value& value) {
  return value.is_string() ? std::string(value.get_string()) : to_json(value);
}

/// The member; empty where it is absent or null.
inline std::string text_or_json(const json::object& object, std::string_view member) {
  const auto* value = object.if_contains(member);
  return value && !value->is_null() ? text_or_json(*value) : std::string();
}

}  // namespace agw
