#include "features/integrations/types.hpp"

#include <algorithm>

#include "base/digest.hpp"
#include "base/json/json_values.hpp"
#include "base/text/ascii.hpp"
#include "features/permissions/service.hpp"

namespace agw {

namespace {

constexpr std::size_t max_name_length = 64;
constexpr std::size_t hash_digits = 8;
constexpr std::size_t max_unhashed = max_name_length - hash_digits - 1;
constexpr std::size_t max_compared = 256 * 1024;  // bytes of a definition's text

IntegrationKind kind_of(std::string_view text) {
  if (text == "mcp-stdio") return IntegrationKind::mcp_stdio;
  if (text == "openapi") return IntegrationKind::openapi;
  if (text == "browser") return IntegrationKind::browser;
  return text == "http" ? IntegrationKind::http : IntegrationKind::mcp_http;
}

std::map<std::string, std::string> map_in(const json::object& members, std::string_view name) {
  std::map<std::string, std::string> texts;
  const auto* given = object_member(members, name);
  if (!given) return texts;
  for (const auto& one : *given) {
    if (one.value().is_string()) texts.emplace(one.key(), one.value().get_string());
  }
  return texts;
}

bool is_name_character(char c) { return is_alphanumeric(c) || c == '_' || c == '-'; }

std::string whole_name(const std::string& integration, const std::string& tool) { return integration + "__" + tool; }

std::string fitting(std::string name) {
  std::ranges::replace_if(name, [](char c) { return !is_name_character(c); }, '_');
  return name;
}

}  // namespace

std::map<std::string, std::string> ServerVariables::read() const { return map_in(definition_.members(), "env"); }

bool ServerVariables::operator==(const ServerVariables& other) const {
  if (definition_.text() == other.definition_.text()) return true;
  // Comparing many variables would block the loop. If they are treated as different, the server is only restarted.
  if (std::max(definition_.text().size(), other.definition_.text().size()) > max_compared) return false;
  const auto& members = definition_.members();
  const auto& others = other.definition_.members();
  const auto* variables = object_member(members, "env");
  const auto* other_variables = object_member(others, "env");
  return variables && other_variables ? *variables == *other_variables : variables == other_variables;
}

IntegrationSettings integration_settings(const Extension& extension) {
  const auto& members = extension.definition.members();
  IntegrationSettings settings{.id = extension.id,
                               .name = extension.name,
                               .kind = kind_of(string_member(members, "kind").value_or("")),
                               .command = string_or_empty(members, "command"),
                               .arguments = strings_of(members, "args"),
                               .variables = ServerVariables(extension.definition),
                               .url = string_or_empty(members, "url"),
                               .is_persons = extension.source == Source::user,
                               .program = program_hosts(extension),
                               .secrets = declared_secrets(members)};
  for (auto& [name, value] : map_in(members, "headers")) settings.headers.push_back({name, value});
  if (const auto* allowed = array_member(members, "allowed_tools")) {
    const auto names = strings_of(*allowed);
    settings.allowed_tools.emplace(names.begin(), names.end());
  }
  return settings;
}

std::string tool_name_of(const std::string& integration, const std::string& tool) {
  auto name = fitting(whole_name(integration, tool));
  return name.size() <= max_name_length ? name : hashed_tool_name_of(integration, tool);
}

std::string hashed_tool_name_of(const std::string& integration, const std::string& tool) {
  const auto whole = whole_name(integration, tool);
  return fitting(whole).substr(0, max_unhashed) + "_" + content_id(whole).substr(36 - hash_digits);
}

bool can_be_tool_of(const std::string& integration, std::string_view tool_name) {
  return tool_name.starts_with(whole_name(integration, "").substr(0, max_unhashed));
}

}  // namespace agw
