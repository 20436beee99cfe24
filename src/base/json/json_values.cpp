#include "base/json/json_values.hpp"

#include <algorithm>
#include <cmath>

namespace agw {

namespace {

bool is_whole(const json::value& value) {
  if (value.is_double()) return std::trunc(value.get_double()) == value.get_double();
  return value.is_number();
}

}  // namespace

std::optional<std::string_view> string_member(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  if (!value || !value->is_string()) return std::nullopt;
  return std::string_view(value->get_string());
}

std::vector<std::string> strings_of(const json::array& list) {
  std::vector<std::string> texts;
  for (const auto& one : list) {
    if (one.is_string()) texts.emplace_back(one.get_string());
  }
  return texts;
}

std::vector<std::string> strings_of(const json::object& object, std::string_view name) {
  const auto* list = array_member(object, name);
  return list ? strings_of(*list) : std::vector<std::string>();
}

bool lists_string(const json::object& object, std::string_view name, std::string_view text) {
  const auto* list = array_member(object, name);
  return list && std::ranges::any_of(*list, [text](const json::value& one) {
           return one.is_string() && std::string_view(one.get_string()) == text;
         });
}

bool has_json_type(const json::value& value, std::string_view type) {
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_bool();
  if (type == "number") return value.is_number();
  if (type == "integer") return is_whole(value);
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  return type == "null" && value.is_null();
}

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
