#include "base/json_equal.hpp"

#include <algorithm>

namespace agw {

bool equal_by_value(const json::value& one, const json::value& other) {
  if (one.is_number() && other.is_number()) {
    const bool is_inexact = one.is_double() || other.is_double();
    return is_inexact ? one.to_number<double>() == other.to_number<double>() : one == other;
  }
  if (one.is_array() && other.is_array()) return std::ranges::equal(one.get_array(), other.get_array(), equal_by_value);
  if (!one.is_object() || !other.is_object()) return one == other;
  const auto& members = other.get_object();
  return one.get_object().size() == members.size() && std::ranges::all_of(one.get_object(), [&](const auto& member) {
           const auto* counterpart = members.if_contains(member.key());
           return counterpart && equal_by_value(member.value(), *counterpart);
         });
}

}  // namespace agw
