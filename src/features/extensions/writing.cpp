#include "features/extensions/writing.hpp"

#include <iterator>
#include <utility>

#include "api/error.hpp"
#include "api/refusals.hpp"
#include "base/async/assert.hpp"
#include "base/containers.hpp"

namespace agw {

namespace {

void require_free(Connection& connection, const std::string& name) {
  if (extension_store::find_named(connection, name)) throw extension_name_taken(name);
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

}  // namespace

void ExtensionWrites::add(ExtensionWrites more) {
  append(records, std::move(more.records));
  append(steps, std::move(more.steps));
}

extension_store::Row require_row(Connection& connection, std::string_view id) {
  auto row = extension_store::find(connection, id);
  if (!row) throw extension_not_found();
  return std::move(*row);
}

Extension new_extension(std::string id, NewExtension wanted, Timestamp now) {
  Extension made;
  made.id = std::move(id);
  made.type = wanted.type;
  made.name = std::move(wanted.name);
  made.description = std::move(wanted.description);
  made.definition = std::move(wanted.definition);
  made.trigger_def = std::move(wanted.trigger_def);
  made.source = wanted.source;
  made.enabled = wanted.enabled;
  made.owner_agent_id = std::move(wanted.owner_agent_id);
  made.created_at = made.updated_at = now;
  AGW_ASSERT(!made.id.empty());
  AGW_ASSERT(!made.essential);
  return made;
}

Extension changed(Extension extension, const ExtensionChange& change) {
  if (change.name) extension.name = *change.name;
  if (change.description) extension.description = *change.description;
  if (change.definition) extension.definition = *change.definition;
  if (change.trigger.given) extension.trigger_def = change.trigger.value;
  if (change.enabled) extension.enabled = *change.enabled;
  return extension;
}

/// Whether two versions differ in nothing but their time.
bool has_same_content(const Extension& one, const Extension& other) {
  const bool has_same_trigger = one.trigger_def.has_value() == other.trigger_def.has_value() &&
                                (!one.trigger_def || one.trigger_def->members() == other.trigger_def->members());
  return has_same_trigger && one.name == other.name && one.description == other.description &&
         one.enabled == other.enabled && one.definition.members() == other.definition.members();
}

void require_version(const Extension& extension, const ExtensionChange& change) {
  if (change.if_updated_at && *change.if_updated_at != extension.updated_at) throw Conflict("changed meanwhile");
}

ExtensionWrites write_new(Connection& connection, const Extension& made) {
  require_free(connection, made.name);
  // First, because it refuses a record whose file would be too long, and a reseed goes on after a refusal.
  auto steps = ExtensionOutbox::record_steps(connection, nullptr, &made);
  const auto position = extension_store::insert(connection, made);
  return {{{{position, made}, ExtensionAction::created}}, std::move(steps)};
}

ExtensionWrites write_change(Connection& connection, const extension_store::Row& row, const ExtensionChange& change,
                             Timestamp now, ExtensionOutbox::Rewrite rewrite) {
  const auto& before = row.extension;
  check_allowed(before, change);
  require_version(before, change);
  if (!changes_content(change) && !change.enabled) return {};
  if (change.name && *change.name != before.name) require_free(connection, *change.name);
  auto after = changed(before, change);
  if (rewrite == ExtensionOutbox::Rewrite::when_changed && has_same_content(before, after)) return {};
  after.updated_at = version_after(before.updated_at, now);
  // The time is the version: a client that holds the old one must get a conflict, even after the clock was set back.
  AGW_ASSERT(after.updated_at > before.updated_at);
  AGW_ASSERT(after.id == before.id);
  AGW_ASSERT(after.source == before.source);
  auto steps = ExtensionOutbox::record_steps(connection, &before, &after, rewrite);  // may refuse, as in `write_new`
  extension_store::update(connection, after);
  return {{{{row.position, std::move(after)}, ExtensionAction::updated}}, std::move(steps)};
}

ExtensionWrites write_removal(Connection& connection, std::string_view id) {
  auto row = require_row(connection, id);

  if (row.extension.essential) throw Forbidden("cannot delete essential extensions");
  if (row.extension.source == Source::built_in) {
    extension_store::remember_deleted_built_in(connection, row.extension.name);
  }
  extension_store::remove(connection, id);
  auto steps = ExtensionOutbox::record_steps(connection, &row.extension, nullptr);
  return {{{std::move(row), ExtensionAction::deleted}}, std::move(steps)};
}

}  // namespace agw
