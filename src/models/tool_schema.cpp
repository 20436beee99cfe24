#include "models/tool_schema.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/json/json_values.hpp"
#include "base/text/utf8.hpp"

namespace agw {

namespace {

constexpr std::array<std::string_view, 5> refused{"oneOf", "anyOf", "allOf", "not", "enum"};

/// Adds the properties of an alternative that the schema itself does not have, and those required in any case.
void add_alternative(json::object& schema, const json::object& alternative, bool always_applies) {
  if (const auto* properties = object_member(alternative, "properties")) {
    auto& own = schema["properties"];
    if (!own.is_object()) own.emplace_object();
    for (const auto& property : *properties) own.get_object().emplace(property.key(), property.value());
  }
  const auto* required = always_applies ? array_member(alternative, "required") : nullptr;
  if (!required) return;
  auto& own = schema["required"];
  if (!own.is_array()) own.emplace_array();
  for (const auto& name : *required) own.get_array().push_back(name);
}

/// Calls `change` for each tool, or for its member `function`. Returns whether any call returned true.
bool change_tools(json::object& request, const std::function<bool(json::object& tool)>& change) {
  auto* tools = request.if_contains("tools");
  if (!tools || !tools->is_array()) return false;
  bool changed = false;
  for (auto& each : tools->get_array()) {
    auto& tool = each.get_object();
    auto* function = tool.if_contains("function");
    changed |= change(function && function->is_object() ? function->get_object() : tool);
  }
  return changed;
}

}  // namespace

bool simplify_schema(json::object& tool, std::string_view member) {
  auto* found = tool.if_contains(member);
  auto* schema = found ? found->if_object() : nullptr;
  if (!schema) return false;
  json::object lost;
  for (const auto name : refused) {
    if (const auto* value = schema->if_contains(name)) lost[name] = *value;
  }
  const bool is_object = string_member(*schema, "type") == "object";
  if (lost.empty() && is_object) return false;
  for (const auto& [name, alternatives] : lost) {
    schema->erase(name);
    if (!alternatives.is_array() || name == "enum") continue;
    for (const auto& each : alternatives.get_array()) {
      if (each.is_object()) add_alternative(*schema, each.get_object(), name == "allOf");
    }
  }
  (*schema)["type"] = "object";
  if (!schema->contains("properties")) (*schema)["properties"] = json::object();
  if (lost.empty()) return true;
  auto description = string_or_empty(tool, "description");
  if (!description.empty()) description += "\n\n";
  tool["description"] = description + "The input must also match this JSON Schema: " + to_json(lost);
  return true;
}

bool simplify_schemas(json::object& request, std::string_view member) {
  return change_tools(request, [&](json::object& tool) { return simplify_schema(tool, member); });
}

bool shorten_descriptions(json::object& request, std::string_view refusal) {
  constexpr std::string_view mark = "maximum length ";
  const auto place = refusal.find(mark);
  if (place == refusal.npos) return false;
  const auto number = refusal.substr(place + mark.size());
  std::size_t limit = 0;
  std::from_chars(number.data(), number.data() + number.size(), limit);
  constexpr std::string_view ellipsis = "…";
  if (limit <= ellipsis.size()) return false;
  return change_tools(request, [&](json::object& tool) {
    const auto description = string_or_empty(tool, "description");
    if (description.size() <= limit) return false;
    tool["description"] = shortened(description, limit - ellipsis.size());
    return true;
  });
}

}  // namespace agw
