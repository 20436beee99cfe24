#include "features/proposals/proposed_extension.hpp"

#include <algorithm>
#include <array>

#include "base/containers.hpp"
#include "base/json/json_values.hpp"
#include "base/json/yaml.hpp"

namespace agw {

namespace {

/// The members of a flat text that do not belong to the definition.
constexpr std::array<std::string_view, 5> members_of_the_record{"name", "description", "enabled", "trigger", "source"};

bool is_of_the_record(std::string_view member) { return contains(members_of_the_record, member); }

json::object members_of(const std::string& text) {
  json::value value;
  try {
    value = yaml_to_json(text);
  } catch (const YamlError& error) {
    fail_validation({{"content", error.what()}});
  }
  if (!value.is_object()) fail_validation({{"content", "must be a map of members, such as `description: …`"}});
  return std::move(value.get_object());
}

/// The type that the target's path, the text or the record specifies.
ExtensionType type_of(const json::object& flat, const TargetExtension& target, const Extension* current) {
  if (target.type) return *target.type;
  const auto type = from_text<ExtensionType>(string_member(flat, "type").value_or(""));
  // The definition of an app has a member `type` too.
  if (current && (!type || flat.contains("definition"))) return current->type;
  if (!type) fail_validation({{"type", "type must be one of command, agent, job, app, theme and so on"}});
  if (current && current->type != *type) fail_validation({{"type", "the type of an extension cannot change"}});
  return *type;
}

/// The members of the definition, either flat or nested in `definition`.
json::object definition_of(const json::object& flat, const TargetExtension& target) {
  if (const auto* nested = flat.if_contains("definition"); nested && nested->is_object()) return nested->get_object();
  json::object definition;
  for (const auto& member : flat) {
    const bool is_type = !target.type && member.key() == "type";
    if (!is_of_the_record(member.key()) && !is_type) definition.insert(member);
  }
  return definition;
}

void copy_member(const json::object& from, std::string_view name, json::object& to, std::string_view name_there) {
  const auto* value = from.if_contains(name);
  if (value && !value->is_null()) to[name_there] = *value;
}

json::object new_body(const json::object& flat, const TargetExtension& target, const std::string& agent) {
  json::object body{{"type", to_text(type_of(flat, target, nullptr))},
                    {"name", target.name},
                    {"description", ""},
                    {"source", "agent"},
                    {"owner_agent_id", agent}};
  copy_member(flat, "description", body, "description");
  copy_member(flat, "enabled", body, "enabled");
  copy_member(flat, "trigger", body, "trigger_def");
  body["definition"] = definition_of(flat, target);
  return body;
}

json::object change_body(const json::object& flat, const TargetExtension& target) {
  json::object body{{"trigger", nullptr}};
  copy_member(flat, "description", body, "description");
  copy_member(flat, "enabled", body, "enabled");
  copy_member(flat, "trigger", body, "trigger");
  body["definition"] = definition_of(flat, target);
  return body;
}

/// Keeps only the members that differ, so that `enabled` of a built-in can be changed.
json::object without_same_members(json::object body, const Extension& current) {
  const auto drop = [&](std::string_view name, const json::value& now) {
    if (const auto* wanted = body.if_contains(name); wanted && *wanted == now) body.erase(name);
  };
  drop("description", json::value(current.description));
  drop("enabled", json::value(current.enabled));
  drop("definition", json::value(current.definition.members()));
  drop("trigger", current.trigger_def ? json::value(current.trigger_def->members()) : json::value());
  return body;
}

}  // namespace

ExtensionPointer record_of_target(const Extensions& extensions, const TargetExtension& target) {
  auto record = extensions.find_by_id_or_name(target.name);
  // Only by name: a directory whose name looks like an id would belong to another extension.
  const bool is_named = record && record->name == target.name;
  return is_named && record->type == target.type.value_or(record->type) ? record : nullptr;
}

std::string text_of_extension(const Extension& record) {
  json::object flat{{"type", to_text(record.type)},
                    {"name", record.name},
                    {"description", record.description},
                    {"enabled", record.enabled}};
  if (record.trigger_def) flat["trigger"] = record.trigger_def->members();
  const auto& definition = record.definition.members();
  const bool is_ambiguous = std::ranges::any_of(definition, [&](const auto& member) {
    return flat.contains(member.key()) || member.key() == "definition" || member.key() == "source";
  });
  if (is_ambiguous) {
    flat["definition"] = definition;
  } else {
    for (const auto& member : definition) flat.insert(member);
  }
  return json_to_yaml(flat);
}

void check_extension_text(const std::string& text) { members_of(text); }

Task<ExtensionPointer> apply_to_extension(Extensions& extensions, TargetExtension target, std::string text,
                                          std::string agent) {
  const auto current = record_of_target(extensions, target);
  if (!current) {
    const auto read_new = [&] { return read_new_extension(new_body(members_of(text), target, agent)); };
    co_return co_await extensions.add(co_await extensions.disk().run(read_new));
  }
  const auto read_change = [&] {
    const auto flat = members_of(text);
    const auto type = type_of(flat, target, current.get());
    return read_extension_change(without_same_members(change_body(flat, target), *current), type,
                                 RequiredMembers::checked);
  };
  co_return co_await extensions.apply(current->id, co_await extensions.disk().run(read_change));
}

}  // namespace agw
