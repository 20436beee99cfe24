#include "features/extensions/extension_text.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "base/containers.hpp"
#include "base/json/json_values.hpp"

namespace agw {

namespace {

constexpr std::string_view trash = "trash/";

/// The members of the file that do not belong to the definition.
constexpr std::array<std::string_view, 4> members_of_the_record = {"name", "description", "enabled", "trigger"};

bool is_of_the_record(std::string_view member) { return contains(members_of_the_record, member); }

/// The part of a flat file that is the definition.
json::object definition_of(const json::object& flat) {
  json::object definition;
  for (const auto& member : flat) {
    if (!is_of_the_record(member.key())) definition.insert(member);
  }
  return definition;
}

/// Translates the path that `value` is or begins with.
void put_in_terms_of_file(json::value& value) {
  constexpr std::string_view definition = "definition.";
  constexpr std::string_view trigger = "trigger_def";
  constexpr std::string_view not_an_object = "must be a object";
  std::string text(value.as_string());
  if (text.starts_with(definition))
    text.erase(0, definition.size());
  else if (text.starts_with(trigger))
    text.replace(0, trigger.size(), "trigger");
  if (text.ends_with(not_an_object)) text.replace(text.size() - not_an_object.size(), text.npos, "must be an object");
  value = text;
}

void copy_member(const json::object& from, std::string_view name, json::object& to) {
  if (has_value(from, name)) to[name] = from.at(name);
}

}  // namespace

bool is_file_backed(ExtensionType type) { return contains(file_backed_types, type); }

std::string directories_of(ExtensionType type) { return std::string(to_text(type)) + "s"; }

std::string directory_of(ExtensionType type, std::string_view name) {
  auto path = directories_of(type);
  path += '/';
  path += name;
  return path;
}

ExtensionType type_of_directory(std::string_view directory) {
  return directory.starts_with("agents/") ? ExtensionType::agent : ExtensionType::job;
}

std::string config_path(std::string_view directory) {
  auto path = std::string(directory) + '/';
  path += to_text(type_of_directory(directory));
  return path += ".yaml";
}

std::string prompt_path(std::string_view directory) { return std::string(directory) + "/prompt.md"; }

std::string path_in_trash(std::string_view path, std::string_view tail) {
  std::string name(path);
  std::ranges::replace(name, '/', '-');
  return fmt::format("{}{}-{}", trash, name, tail);
}

bool is_in_trash(std::string_view path) { return path.starts_with(trash); }

json::object flat_members(const Extension& extension) {
  json::object flat{{"name", extension.name}, {"description", extension.description}, {"enabled", extension.enabled}};
  if (extension.trigger_def) flat["trigger"] = extension.trigger_def->members();
  for (const auto& member : definition_of(extension.definition.members())) flat.insert(member);
  return flat;
}

ExtensionText text_of(const Extension& extension) {
  auto flat = flat_members(extension);
  ExtensionText text;
  if (owns_prompt(extension.type, flat)) {
    text.owns_prompt = true;
    if (const auto prompt = string_member(flat, "prompt")) {
      text.prompt = *prompt;
      flat.stable_erase(flat.find("prompt"));
    }
  }
  text.config = json_to_yaml(flat);
  return text;
}

bool owns_prompt(ExtensionType type, const json::object& members) {
  return type == ExtensionType::job && (has_value(members, "prompt") || !has_value(members, "prompt_file"));
}

json::object flat_members(ExtensionType type, std::string_view config, const std::optional<std::string>& prompt,
                          const Extension* record) {
  auto value = yaml_to_json(config);
  if (!value.is_object()) throw YamlError(1, "must be a map of members, such as `description: …`");
  auto& flat = value.get_object();
  const bool may_have_prompt =
      !has_value(flat, "prompt_file") || (record && has_value(record->definition.members(), "prompt"));
  const bool takes_prompt = type == ExtensionType::job && may_have_prompt && !has_value(flat, "prompt");
  if (takes_prompt && prompt) flat["prompt"] = *prompt;
  return std::move(flat);
}

json::object change_body(json::object flat, const Extension& current, MissingTrigger missing) {
  json::object body;
  copy_member(flat, "description", body);
  copy_member(flat, "enabled", body);
  if (flat.contains("trigger") || missing == MissingTrigger::goes) {
    body["trigger"] = has_value(flat, "trigger") ? flat["trigger"] : nullptr;
  }
  auto definition = definition_of(flat);
  for (const auto name : members_of_the_record) {
    if (current.definition.members().contains(name)) definition[name] = current.definition.members().at(name);
  }
  body["definition"] = std::move(definition);
  return body;
}

ApiError in_terms_of_file(const ApiError& error) {
  auto extra = error.extra();
  if (auto* details = extra.if_contains("details"); details && details->is_array()) {
    for (auto& detail : details->get_array()) {
      put_in_terms_of_file(detail.at("path"));
      put_in_terms_of_file(detail.at("message"));
    }
  }
  return {error.status(), error.error(), std::move(extra)};
}

json::object new_body(json::object flat, ExtensionType type, std::string_view name) {
  json::object body{{"type", to_text(type)}, {"name", name}, {"description", ""}};
  copy_member(flat, "description", body);
  copy_member(flat, "enabled", body);
  if (has_value(flat, "trigger")) body["trigger_def"] = flat["trigger"];
  body["definition"] = definition_of(flat);
  return body;
}

}  // namespace agw
