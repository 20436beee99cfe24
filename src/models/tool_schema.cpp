#include "models/tool_schema.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/containers.hpp"
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

/// Calls `change` for each tool, or for its member `function`, and its number. Returns whether any call returned true.
bool change_tools(json::object& request, const std::function<bool(json::object& tool, std::size_t number)>& change) {
  auto* tools = request.if_contains("tools");
  if (!tools || !tools->is_array()) return false;
  bool changed = false;
  for (std::size_t number = 0; auto& each : tools->get_array()) {
    auto& tool = each.get_object();
    auto* function = tool.if_contains("function");
    changed |= change(function && function->is_object() ? function->get_object() : tool, number++);
  }
  return changed;
}

void add_to_description(json::object& tool, std::string_view heading, const json::value& schema) {
  auto description = string_or_empty(tool, "description");
  if (!description.empty()) description += "\n\n";
  tool["description"] = description.append(heading).append(": ") + to_json(schema);
}

bool is_array_type(const json::value& type) {
  const auto* types = type.if_array();
  return type == "array" || (types && contains(*types, json::value("array")));
}

/// Adds `items` to the arrays in a schema that have none.
bool complete_arrays(json::value& schema) {
  bool changed = false;
  if (auto* list = schema.if_array()) {
    for (auto& each : *list) changed |= complete_arrays(each);
  }
  auto* object = schema.if_object();
  if (!object) return changed;
  for (auto& member : *object) changed |= complete_arrays(member.value());
  const auto* type = object->if_contains("type");
  const bool is_complete = object->contains("items") || object->contains("prefixItems");
  if (!type || is_complete || !is_array_type(*type)) return changed;
  (*object)["items"] = json::object();
  return true;
}

/// Whether a refusal names the tool: OpenAI its name, Anthropic and Gemini its number.
bool is_named(std::string_view refusal, const json::object& tool, std::size_t number) {
  const auto name = string_or_empty(tool, "name");
  if (!name.empty() && refusal.find(fmt::format("'{}'", name)) != refusal.npos) return true;
  const bool counts_functions = refusal.find("function_declarations[") != refusal.npos;
  const auto place =
      counts_functions ? fmt::format("function_declarations[{}]", number) : fmt::format("tools[{}]", number);
  return refusal.find(place) != refusal.npos || refusal.find(fmt::format("tools.{}.", number)) != refusal.npos;
}

/// Moves the schema of the tool that a refusal names to the description of the tool.
bool describe_schema(json::object& request, std::string_view member, std::string_view refusal) {
  return change_tools(request, [&](json::object& tool, std::size_t number) {
    auto* schema = tool.if_contains(member);
    const json::value any{{"type", "object"}, {"properties", json::object()}};
    if (!schema || *schema == any || is_true(tool, "strict") || !is_named(refusal, tool, number)) return false;
    add_to_description(tool, "The input must match this JSON Schema", *schema);
    tool[member] = any;
    return true;
  });
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
  if (!lost.empty()) add_to_description(tool, "The input must also match this JSON Schema", lost);
  return true;
}

bool mend_schemas(json::object& request, std::string_view member, std::string_view refusal) {
  const bool is_about_items = refusal.find("items") != refusal.npos;
  const bool changed = change_tools(request, [&](json::object& tool, std::size_t /*number*/) {
    bool is_other = simplify_schema(tool, member);
    auto* schema = tool.if_contains(member);
    if (schema && is_about_items) is_other |= complete_arrays(*schema);
    return is_other;
  });
  return changed || describe_schema(request, member, refusal);
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
  return change_tools(request, [&](json::object& tool, std::size_t /*number*/) {
    const auto description = string_or_empty(tool, "description");
    if (description.size() <= limit) return false;
    tool["description"] = shortened(description, limit - ellipsis.size());
    return true;
  });
}

}  // namespace agw
