#include "features/client_api/tool_parameters.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "api/client_errors.hpp"
#include "base/json/json_values.hpp"
#include "base/text/ascii.hpp"

namespace agw {

namespace {

/// The schema that a `$ref` within this document refers to; null without one.
const json::value* referenced(const json::value& schema, const json::value& document) {
  const auto* object = schema.if_object();
  const auto reference = object ? string_member(*object, "$ref") : std::nullopt;
  if (!reference || !reference->starts_with('#')) return nullptr;
  boost::system::error_code failed;
  return document.find_pointer(reference->substr(1), failed);
}

/// Whether the chain of references from here is endless.
bool is_cyclic(const json::value& schema, const json::value& document) {
  std::set<const json::value*> seen;
  for (const auto* next = &schema; next; next = referenced(*next, document)) {
    if (!seen.insert(next).second) return true;
  }
  return false;
}

bool has_cycle(const json::value& schema, const json::value& document) {
  if (is_cyclic(schema, document)) return true;
  if (const auto* object = schema.if_object()) {
    return std::ranges::any_of(*object, [&](const auto& member) { return has_cycle(member.value(), document); });
  }
  if (const auto* array = schema.if_array()) {
    return std::ranges::any_of(*array, [&](const auto& element) { return has_cycle(element, document); });
  }
  return false;
}

}  // namespace

void check_tool_name(const std::string& name, const std::string& path, std::size_t max_length) {
  const auto is_allowed = [](char c) { return is_alphanumeric(c) || c == '_' || c == '-'; };
  if (!name.empty() && name.size() <= max_length && std::ranges::all_of(name, is_allowed)) return;
  throw bad_parameter(path, fmt::format("must be 1 to {} of the characters A-Z, a-z, 0-9, _ and -", max_length));
}

json::value tool_schema(const json::value* schema, const std::string& path) {
  if (!schema) return json::object{{"type", "object"}, {"properties", json::object()}};
  if (!schema->is_object()) throw bad_parameter(path, "must be a JSON Schema");
  if (has_cycle(*schema, *schema)) throw bad_parameter(path, "a $ref leads back to itself");
  return *schema;
}

}  // namespace agw
