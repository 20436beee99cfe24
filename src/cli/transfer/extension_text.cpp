#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "base/json/yaml.hpp"
#include "base/printable.hpp"
#include "cli/transfer/extension_package.hpp"

namespace agw::cli {

namespace {

json::object with_members(const json::object& record, std::initializer_list<std::string_view> members) {
  json::object chosen;
  for (const auto member : members) {
    const auto* value = record.if_contains(member);
    if (value && !value->is_null()) chosen[member] = *value;
  }
  return chosen;
}

/// Formats a comment on one line, so that no value can end it.
std::string comment(const json::object& record, std::string_view member) {
  const auto* value = record.if_contains(member);
  if (!value || value->is_null()) return "";
  return fmt::format("# {}: {}\n", member, one_line(text_or_json(*value)));
}

}  // namespace

std::string extension_text(const json::object& record) {
  std::string text;
  for (const auto* member : {"id", "source", "owner_agent_id", "essential", "created_at", "updated_at"}) {
    text += comment(record, member);
  }
  return text +
         json_to_yaml(with_members(record, {"type", "name", "description", "enabled", "trigger_def", "definition"}));
}

std::string editable_text(const json::object& record, const std::string& head) {
  auto members = with_members(record, {"name", "description", "enabled"});
  const auto* trigger = record.if_contains("trigger_def");
  if (trigger && !trigger->is_null()) members["trigger"] = *trigger;
  members["definition"] = record.at("definition");
  return head + json_to_yaml(members);
}

}  // namespace agw::cli
