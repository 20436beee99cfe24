#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace agw {

// Members of what came from outside: one that is absent is like one of another type.

/// The member as an object, or null. It belongs to `object`.
inline const json::object* object_member(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value ? value->if_object() : nullptr;
}

/// A copy of the member as an object, or an empty one.
inline json::object object_of(const json::object& object, std::string_view name) {
  const auto* member = object_member(object, name);
  return member ? *member : json::object();
}

/// The member as an array, or null. It belongs to `object`.
inline const json::array* array_member(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value ? value->if_array() : nullptr;
}

/// Whether the member is the value `true`.
inline bool is_true(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value && value->is_bool() && value->get_bool();
}

/// The strings in a list; whatever else is in it is left out.
std::vector<std::string> texts_of(const json::array& list);
/// The strings in the member; none where it is no array.
std::vector<std::string> texts_of(const json::object& object, std::string_view name);

}  // namespace agw
