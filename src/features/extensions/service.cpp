#include "features/extensions/service.hpp"

#include <algorithm>

#include "api/error.hpp"
#include "base/id.hpp"
#include "features/events/hub.hpp"
#include "features/extensions/built_ins.hpp"
#include "features/extensions/judging.hpp"
#include "features/extensions/registry.hpp"
#include "features/extensions/store.hpp"
#include "storage/database.hpp"

namespace agw {

namespace {

/// What a write of one record left behind.
struct Written {
  extension_store::Row row;
  bool changed = false;
};

extension_store::Row require_row(Connection& connection, std::string_view id) {
  auto row = extension_store::find(connection, id);
  if (!row) throw NotFound("extension not found");
  return std::move(*row);
}

void require_free(Connection& connection, const std::string& name) {
  if (!extension_store::find_named(connection, name)) return;
  throw Conflict("extension name already exists", {{"name", name}});
}

bool changes_content(const ExtensionChange& change) {
  return change.name || change.description || change.definition || change.trigger.given;
}

void check_allowed(const Extension& current, const ExtensionChange& change) {
  if (current.source == Source::built_in && changes_content(change)) {
    throw Forbidden("built-in extensions are not editable");
  }
  if (current.essential && change.enabled == false) throw Forbidden("cannot disable essential extensions");
}

void apply(const ExtensionChange& change, Extension& extension) {
  if (change.name) extension.name = *change.name;
  if (change.description) extension.description = *change.description;
  if (change.definition) extension.definition = *change.definition;
  if (change.trigger.given) extension.trigger_def = change.trigger.value;
  if (change.enabled) extension.enabled = *change.enabled;
}

Written write_change(Connection& connection, extension_store::Row row, const ExtensionChange& change, Timestamp now) {
  auto& extension = row.extension;
  check_allowed(extension, change);
  if (change.if_updated_at && *change.if_updated_at != extension.updated_at) throw Conflict("changed meanwhile");
  if (!changes_content(change) && !change.enabled) return {std::move(row), false};
  if (change.name && *change.name != extension.name) require_free(connection, *change.name);
  apply(change, extension);
  extension.updated_at = version_after(extension.updated_at, now);
  extension_store::update(connection, extension);
  return {std::move(row), true};
}

extension_store::Row write_removal(Connection& connection, std::string_view id) {
  auto row = require_row(connection, id);
  if (row.extension.essential) throw Forbidden("cannot delete essential extensions");
  if (row.extension.source == Source::built_in) {
    extension_store::remember_deleted_built_in(connection, row.extension.name);
  }
  extension_store::remove(connection, id);
  return row;
}

}  // namespace

Extensions::Extensions(Database& database, Hub& hub, const Clock& clock)
    : database_(database), hub_(hub), clock_(clock), registry_(std::make_unique<Registry>()) {}

Extensions::~Extensions() = default;

void Extensions::load(Connection& connection) {
  const auto shipped = built_ins_content_id();
  if (extension_store::written_built_ins(connection) != shipped) {
    // What fails here ends the start, and closing the connection rolls it back.
    connection.execute("BEGIN IMMEDIATE");
    write_built_ins(connection, built_ins(clock_.now()));
    extension_store::set_written_built_ins(connection, shipped);
    connection.execute("COMMIT");
  }
  for (auto& row : extension_store::all(connection)) registry_->put(row.position, std::move(row.extension));
}

ExtensionPointer Extensions::find(std::string_view id) const { return registry_->find(id); }

ExtensionPointer Extensions::find_by_id_or_name(std::string_view id_or_name) const {
  auto found = registry_->find(id_or_name);
  return found ? found : registry_->find_named(id_or_name);
}

ExtensionPointer Extensions::find(ExtensionType type, std::string_view id_or_name) const {
  auto found = find_by_id_or_name(id_or_name);
  return found && found->type == type ? found : nullptr;
}

ExtensionPointer Extensions::require(std::string_view id_or_name) const {
  auto found = find_by_id_or_name(id_or_name);
  if (!found) throw NotFound("extension not found");
  return found;
}

std::vector<ExtensionPointer> Extensions::list(ExtensionFilter filter) const {
  filter.owner_agent_id = agent_id_of(std::move(filter.owner_agent_id));
  return registry_->list(filter);
}

std::string Extensions::list_json(ExtensionFilter filter) const {
  filter.owner_agent_id = agent_id_of(std::move(filter.owner_agent_id));
  return registry_->list_json(filter);
}

Task<ExtensionPointer> Extensions::create(json::object body, Along<Extension> along) {
  auto wanted = read_new_extension(std::move(body));
  Extension made;
  made.id = new_id();
  made.type = wanted.type;
  made.name = std::move(wanted.name);
  made.description = std::move(wanted.description);
  made.definition = std::move(wanted.definition);
  made.trigger_def = std::move(wanted.trigger_def);
  made.source = wanted.source;
  made.enabled = wanted.enabled;
  made.owner_agent_id = agent_id_of(std::move(wanted.owner_agent_id));
  made.created_at = made.updated_at = clock_.now();
  const auto position = co_await database_.write([made, along](Connection& connection) {
    require_free(connection, made.name);
    const auto inserted = extension_store::insert(connection, made);
    if (along) along(connection, made);
    return inserted;
  });
  co_return put(position, std::move(made), ExtensionAction::created);
}

Task<ExtensionPointer> Extensions::change(std::string id_or_name, json::object body) {
  const auto current = require(id_or_name);
  auto wanted = read_extension_change(body, current->type);
  Decide decide = [wanted = std::move(wanted)](const Extension&) { return wanted; };
  co_return co_await update(current->id, std::move(decide), {});
}

Task<ExtensionPointer> Extensions::toggle(std::string id_or_name, Along<Extension> along) {
  const auto id = require(id_or_name)->id;
  Decide decide = [](const Extension& current) {
    ExtensionChange change;
    change.enabled = !current.enabled;
    return change;
  };
  co_return co_await update(id, std::move(decide), std::move(along));
}

Task<> Extensions::remove(std::string id_or_name) {
  const auto id = require(id_or_name)->id;
  const auto removed = co_await database_.write([id](Connection& connection) { return write_removal(connection, id); });
  registry_->erase(id);
  announce(removed.extension, ExtensionAction::deleted);
}

Task<ExtensionPointer> Extensions::update(std::string id, Decide decide, Along<Extension> along) {
  const auto now = clock_.now();
  auto written = co_await database_.write([id, decide, along, now](Connection& connection) {
    auto row = require_row(connection, id);
    const auto change = decide(row.extension);
    auto result = write_change(connection, std::move(row), change, now);
    if (along) along(connection, result.row.extension);
    return result;
  });
  if (!written.changed) co_return std::make_shared<const Extension>(std::move(written.row.extension));
  co_return put(written.row.position, std::move(written.row.extension), ExtensionAction::updated);
}

ExtensionPointer Extensions::put(std::int64_t position, Extension extension, ExtensionAction action) {
  const auto id = extension.id;
  registry_->put(position, std::move(extension));
  auto found = registry_->find(id);
  announce(*found, action);
  return found;
}

void Extensions::announce(const Extension& extension, ExtensionAction action) {
  for (auto* observer : observers_) observer->extension_changed(extension, action);
  if (!hub_.heard()) return;
  const json::object event{{"type", "extension-changed"},
                           {"action", to_text(action)},
                           {"id", extension.id},
                           {"name", extension.name},
                           {"extensionType", to_text(extension.type)},
                           {"enabled", extension.enabled}};
  hub_.publish({"extension-changed", "", to_json(event)});
}

std::optional<std::string> Extensions::agent_id_of(std::optional<std::string> id_or_name) const {
  if (!id_or_name) return std::nullopt;
  const auto agent = find_agent(*id_or_name);
  return agent ? agent->id : id_or_name;
}

}  // namespace agw
