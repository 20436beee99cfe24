#include "features/extensions/built_ins.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/digest.hpp"
#include "base/embedded.hpp"
#include "base/id.hpp"
#include "base/json/yaml.hpp"
#include "base/log.hpp"
#include "features/extensions/store.hpp"

namespace agw {

namespace {

constexpr std::string_view built_in_folder = "share/extensions/";
constexpr std::string_view ending = ".yaml";

/// The type and name in a file's path; no value for a file that is not a shipped extension.
std::optional<std::pair<ExtensionType, std::string>> place_of(std::string_view path) {
  if (!path.starts_with(built_in_folder) || !path.ends_with(ending)) return std::nullopt;
  const auto place = path.substr(built_in_folder.size(), path.size() - built_in_folder.size() - ending.size());
  const auto slash = place.find('/');
  if (slash == place.npos) return std::nullopt;
  const auto type = from_text<ExtensionType>(place.substr(0, slash));
  if (!type) return std::nullopt;
  return std::pair(*type, std::string(place.substr(slash + 1)));
}

std::optional<json::value> take(json::object& members, std::string_view name) {
  const auto member = members.find(name);
  if (member == members.end()) return std::nullopt;
  auto value = std::move(member->value());
  // Keeps the order of the other members; `erase` does not.
  members.stable_erase(member);
  return value;
}

Extension read_built_in(ExtensionType type, std::string name, std::string_view yaml, Timestamp now) {
  auto members = yaml_to_json(yaml).as_object();
  Extension made;
  made.id = new_id();
  made.type = type;
  made.name = std::move(name);
  made.source = Source::built_in;
  made.description = std::string_view(take(members, "description").value().as_string());
  made.enabled = take(members, "enabled").value_or(true).as_bool();
  made.essential = take(members, "essential").value_or(false).as_bool();
  if (auto trigger = take(members, "trigger")) made.trigger_def = std::move(trigger->as_object());
  made.definition = std::move(members);
  made.created_at = made.updated_at = now;
  return made;
}

bool same_content(const Extension& a, const Extension& b) {
  const auto text = [](const std::optional<Definition>& definition) {
    return definition ? definition->text() : std::string();
  };
  return a.type == b.type && a.description == b.description && a.definition.text() == b.definition.text() &&
         text(a.trigger_def) == text(b.trigger_def) && a.essential == b.essential;
}

void write_built_in(Connection& connection, const Extension& shipped, ExtensionWrites& writes) {
  if (extension_store::is_deleted_built_in(connection, shipped.name)) return;
  const auto row = extension_store::find_named(connection, shipped.name);
  if (!row) {
    writes.records.push_back({{extension_store::insert(connection, shipped), shipped}, ExtensionAction::created});
  } else if (row->extension.source != Source::built_in) {
    log::warn("the built-in extension {} is left out: another extension has its name", shipped.name);
  } else if (!same_content(row->extension, shipped)) {
    auto changed = shipped;
    changed.id = row->extension.id;
    changed.enabled = row->extension.enabled;
    changed.updated_at = version_after(row->extension.updated_at, shipped.updated_at);
    extension_store::update(connection, changed);
    writes.records.push_back({{row->position, changed}, ExtensionAction::updated});
  }
}

void remove_unshipped(Connection& connection, const std::vector<Extension>& shipped, ExtensionWrites& writes) {
  for (auto& row : extension_store::all(connection)) {
    const auto same_name = [&](const Extension& extension) { return extension.name == row.extension.name; };
    if (row.extension.source != Source::built_in || std::any_of(shipped.begin(), shipped.end(), same_name)) continue;
    extension_store::remove(connection, row.extension.id);
    writes.add({{}, ExtensionOutbox::record_steps(connection, &row.extension, nullptr)});
    writes.records.push_back({std::move(row), ExtensionAction::deleted});
  }
}

}  // namespace

std::vector<Extension> built_ins(Timestamp now) {
  std::vector<Extension> shipped;
  for (const auto& file : embedded_files()) {
    const auto place = place_of(file.path);
    if (!place) continue;
    try {
      shipped.push_back(read_built_in(place->first, place->second, file.content, now));
    } catch (const std::exception& error) {
      throw std::runtime_error(std::string(file.path) + ": " + error.what());
    }
  }
  return shipped;
}

std::string built_ins_content_id() {
  std::string content;
  for (const auto& file : embedded_files()) {
    if (!place_of(file.path)) continue;
    content.append(file.path).append("\n").append(file.content);
  }
  return content_id(content);
}

ExtensionWrites write_built_ins(Connection& connection, const std::vector<Extension>& shipped) {
  ExtensionWrites writes;
  for (const auto& extension : shipped) write_built_in(connection, extension, writes);
  remove_unshipped(connection, shipped, writes);
  return writes;
}

}  // namespace agw
