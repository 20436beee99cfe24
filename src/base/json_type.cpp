#include "base/json_type.hpp"

#include <cmath>

namespace agw {

namespace {

bool is_whole(const json::value& value) {
  if (value.is_double()) return std::trunc(value.get_double()) == value.get_double();
  return value.is_number();
}

}  // namespace

bool has_json_type(const json::value& value, std::string_view type) {
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_bool();
  if (type == "number") return value.is_number();
  if (type == "integer") return is_whole(value);
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  return type == "null" && value.is_null();
}

}  // namespace agw
