#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"

namespace agw {

/// The member as a text of its own; empty where it is absent or another type.
inline std::string text_of(const json::object& object, std::string_view member) {
  return std::string(string_member(object, member).value_or(""));
}

}  // namespace agw
