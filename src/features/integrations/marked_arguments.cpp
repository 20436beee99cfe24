#include "features/integrations/marked_arguments.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "base/containers.hpp"
#include "base/json/json_values.hpp"
#include "base/text/ascii.hpp"

namespace agw {

namespace {

constexpr std::string_view mark = "x-mcp-header";

/// The keywords of JSON Schema that contain other schemas, except `properties`: only chains of those reach an argument.
constexpr std::array<std::string_view, 18> other_schemas{"$defs",
                                                         "additionalProperties",
                                                         "allOf",
                                                         "anyOf",
                                                         "contains",
                                                         "definitions",
                                                         "dependentSchemas",
                                                         "else",
                                                         "if",
                                                         "items",
                                                         "not",
                                                         "oneOf",
                                                         "patternProperties",
                                                         "prefixItems",
                                                         "propertyNames",
                                                         "then",
                                                         "unevaluatedItems",
                                                         "unevaluatedProperties"};

/// A token of RFC 9110, section 5.6.2.
bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return is_alphanumeric(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

/// The specification excludes `number`, but its own conformance suite marks such arguments.
bool is_primitive(std::string_view type) {
  return type == "string" || type == "integer" || type == "boolean" || type == "number";
}

bool holds_mark(const json::value& value) {
  if (const auto* list = value.if_array()) return std::ranges::any_of(*list, holds_mark);
  const auto* members = value.if_object();
  return members && (members->contains(mark) ||
                     std::ranges::any_of(*members, [](const auto& member) { return holds_mark(member.value()); }));
}

/// Checks a schema and those of its properties, at any depth.
class MarkCheck {
public:
  std::string problem_of(const json::object& schema) {
    for (const auto& [name, value] : schema) {
      if (contains(other_schemas, std::string_view(name)) && holds_mark(value))
        return fmt::format("is within {}", std::string_view(name));
    }
    const auto* properties = object_member(schema, "properties");
    for (const auto& [name, value] : properties ? *properties : json::object()) {
      const auto* property = value.if_object();
      if (!property) continue;
      auto problem = problem_of_property(*property);
      if (problem.empty()) problem = problem_of(*property);
      if (!problem.empty()) return problem;
    }
    return {};
  }

private:
  std::string problem_of_property(const json::object& property) {
    if (!property.contains(mark)) return {};
    const auto header = string_member(property, mark);
    if (!header || !is_token(*header)) return "is not the name of a header";
    if (!headers_.insert(ascii_lower_case(*header)).second) return fmt::format("has {} twice", *header);
    if (!is_primitive(string_or_empty(property, "type"))) return "is at neither a text, an integer nor a boolean";
    return {};
  }

  std::set<std::string> headers_;
};

std::optional<std::string> header_text(const json::value& value) {
  if (value.is_string()) return std::string(value.get_string());
  // Models also write integers as `42.0`.
  if (value.is_double()) return fmt::format("{}", value.get_double());
  if (value.is_int64() || value.is_uint64() || value.is_bool()) return to_json(value);
  return std::nullopt;
}

void add_headers(const json::object& schema, const json::object& arguments,
                 std::vector<std::pair<std::string, std::string>>& headers) {
  const auto* properties = object_member(schema, "properties");
  if (!properties) return;
  for (const auto& [name, value] : *properties) {
    const auto* property = value.if_object();
    const auto* argument = arguments.if_contains(name);
    if (!property || !argument) continue;
    if (const auto* members = argument->if_object()) add_headers(*property, *members, headers);
    const auto header = string_member(*property, mark);
    auto text = header && is_token(*header) ? header_text(*argument) : std::nullopt;
    if (text) headers.emplace_back(fmt::format("Mcp-Param-{}", *header), *std::move(text));
  }
}

}  // namespace

std::string problem_of_marks(const json::object& schema) {
  if (schema.contains(mark)) return "is at no argument";
  return MarkCheck().problem_of(schema);
}

std::vector<std::pair<std::string, std::string>> headers_of_marked(const json::object& schema,
                                                                   const json::object& arguments) {
  std::vector<std::pair<std::string, std::string>> headers;
  add_headers(schema, arguments, headers);
  return headers;
}

}  // namespace agw
