#include "features/client_api/tool_parameters.hpp"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "api/client_errors.hpp"
#include "base/json/json_values.hpp"
#include "base/text/ascii.hpp"

namespace agw {

namespace {

constexpr std::size_t max_schema_depth = 256;  // length of a chain of references between schemas

/// Finds schemas that apply themselves to the same value through a `$ref`, which could never be evaluated. Follows each
/// schema only once.
class EndlessSchemas {
public:
  explicit EndlessSchemas(const json::value& document) : document_(document) {}

  /// Whether the schema, or one within it, is endless.
  bool are_in(const json::value& schema) {
    if (is_endless(schema, 0)) return true;
    if (const auto* object = schema.if_object())
      return std::ranges::any_of(*object, [&](const auto& member) { return are_in(member.value()); });
    const auto* array = schema.if_array();
    return array && std::ranges::any_of(*array, [&](const auto& element) { return are_in(element); });
  }

private:
  bool is_endless(const json::value& schema, std::size_t depth) {
    const auto* object = schema.if_object();
    if (!object) return false;
    const auto [place, is_new] = is_followed_.try_emplace(object, false);
    if (!is_new) return !place->second;
    if (depth == max_schema_depth) return true;
    if (follows_endless(*object, depth + 1)) return true;
    is_followed_[object] = true;
    return false;
  }

  /// Follows the schemas that are applied to the same value as this one.
  bool follows_endless(const json::object& schema, std::size_t depth) {
    for (const auto* name : {"not", "if", "then", "else"}) {
      const auto* next = schema.if_contains(name);
      if (next && is_endless(*next, depth)) return true;
    }
    for (const auto* name : {"allOf", "anyOf", "oneOf"}) {
      const auto* list = array_member(schema, name);
      if (list && std::ranges::any_of(*list, [&](const auto& next) { return is_endless(next, depth); })) return true;
    }
    const auto reference = string_member(schema, "$ref");
    if (!reference || !reference->starts_with('#')) return false;
    boost::system::error_code failed;
    const auto* next = document_.find_pointer(reference->substr(1), failed);
    return next && is_endless(*next, depth);
  }

  const json::value& document_;
  std::unordered_map<const json::object*, bool> is_followed_;  ///< false: being followed
};

}  // namespace

void check_tool_name(const std::string& name, const std::string& path, std::size_t max_length) {
  const auto is_allowed = [](char c) { return is_alphanumeric(c) || c == '_' || c == '-'; };
  if (!name.empty() && name.size() <= max_length && std::ranges::all_of(name, is_allowed)) return;
  throw bad_parameter(path, fmt::format("must be 1 to {} of the characters A-Z, a-z, 0-9, _ and -", max_length));
}

json::value tool_schema(const json::value* schema, const std::string& path) {
  if (!schema) return json::object{{"type", "object"}, {"properties", json::object()}};
  if (!schema->is_object()) throw bad_parameter(path, "must be a JSON Schema");
  if (EndlessSchemas(*schema).are_in(*schema))
    throw bad_parameter(path, fmt::format("a $ref leads back to itself, or through {} schemas", max_schema_depth));
  return *schema;
}

}  // namespace agw
