#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.hpp"

namespace agw {

// Access to members of JSON objects from outside. A member of another type counts as absent. Pointers and views refer
// into `object`.

std::optional<std::string_view> string_member(const json::object& object, std::string_view name);

/// A copy of the member, or an empty string.
inline std::string string_or_empty(const json::object& object, std::string_view member) {
  return std::string(string_member(object, member).value_or(""));
}

/// The member, or nullptr.
inline const json::object* object_member(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value ? value->if_object() : nullptr;
}

/// A copy of the member, or an empty object.
inline json::object object_or_empty(const json::object& object, std::string_view name) {
  const auto* member = object_member(object, name);
  return member ? *member : json::object();
}

/// The member, or nullptr.
inline const json::array* array_member(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value ? value->if_array() : nullptr;
}

/// The member, or 0. A number with a fraction, or one beyond std::int64_t, counts as absent.
inline std::int64_t integer_or_zero(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value && value->is_int64() ? value->get_int64() : 0;
}

/// The member, or 0.
inline double number_or_zero(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value && value->is_number() ? value->to_number<double>() : 0;
}

/// Whether the object has the member and it is not null, whatever its type.
inline bool has_value(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value && !value->is_null();
}

/// Whether the member is the value `true`.
inline bool is_true(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value && value->is_bool() && value->get_bool();
}

/// The strings among the elements.
std::vector<std::string> strings_of(const json::array& list);
/// The strings among the member's elements.
std::vector<std::string> strings_of(const json::object& object, std::string_view name);
/// Whether the member is an array with this string.
bool lists_string(const json::object& object, std::string_view name, std::string_view text);

/// A string unchanged, any other value as JSON.
inline std::string text_or_json(const json::value& value) {
  return value.is_string() ? std::string(value.get_string()) : to_json(value);
}
/// The same for a member of an object; empty if it is absent or null.
inline std::string text_or_json(const json::object& object, std::string_view member) {
  const auto* value = object.if_contains(member);
  return value && !value->is_null() ? text_or_json(*value) : std::string();
}

/// Whether `value` has the JSON Schema type of that name; `integer` is any number without a fraction. False for an
/// unknown name.
bool has_json_type(const json::value& value, std::string_view type);

/// Equality as JSON Schema defines it: numbers compare by value at any depth (1 equals 1.0), members in any order.
bool equal_by_value(const json::value& one, const json::value& other);

}  // namespace agw
