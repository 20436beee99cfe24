// Look-ups, then changes. Every change is decided inside its write, from the current record (`update`, `apply`). It
// takes effect in `publish`, in the order of the commits: the registry, the subscribers of the hub, then the
// directories.
//
// If a person has edited the file, the record is updated from it first (`take_over_edit`), unless the change replaces
// the file anyway.

#include "features/extensions/service.hpp"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "api/error.hpp"
#include "api/refusals.hpp"
#include "base/async/assert.hpp"
#include "base/id.hpp"
#include "base/json/array_text.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "base/text/utf8.hpp"
#include "features/events/hub.hpp"
#include "features/extensions/built_ins.hpp"
#include "features/extensions/registry.hpp"
#include "features/extensions/store.hpp"
#include "features/extensions/validation.hpp"
#include "features/extensions/writing.hpp"
#include "io/files/disk_full.hpp"
#include "models/service_definition.hpp"
#include "storage/database.hpp"
#include "storage/start_write.hpp"

namespace agw {

namespace {

constexpr std::size_t max_shown_name = 100;
/// A list of so many extensions with so many bytes takes less than a millisecond.
constexpr std::size_t max_count_on_loop = 100;
constexpr std::size_t max_bytes_on_loop = 64 * 1024;
/// In bytes. The JSON of extensions is kept for later lists, unless it would take much memory: 10,000 ordinary
/// extensions stay below.
constexpr std::size_t max_kept_list = 16 << 20;
/// The JSON of an extension without its definition, roughly.
constexpr std::size_t record_size = 400;

/// The result of a write: the stored record, and the changes.
struct Written {
  Extension record;
  ExtensionWrites writes;
};

using Listed = std::vector<const RegisteredExtension*>;

Listed listed(const std::vector<RegisteredPointer>& all, const ExtensionFilter& filter,
              const std::optional<std::string>& owner_id) {
  Listed list;
  for (const auto& one : all) {
    if (shows(filter, owner_id, one->extension)) list.push_back(one.get());
  }
  return list;
}

std::size_t json_size(const Listed& list) {
  std::size_t size = 0;
  for (const auto* one : list) size += one->extension.definition.text().size() + record_size;
  return size;
}

std::string json_of(const Listed& list) {
  const auto size = json_size(list);
  ArrayText<Extension> array;
  array.text.reserve(size);
  for (const auto* one : list) {
    if (size <= max_kept_list)
      array.add(one->json());
    else
      array(one->extension);
  }
  return array.close();
}

ApiError update_failed() { return {500, "update failed"}; }

/// The ids of registered records that have names of written ones, because another node has just renamed or deleted
/// them.
std::vector<std::string> outdated_holders(const Registry& registry, const ExtensionWrites& writes) {
  std::vector<std::string> outdated;
  for (const auto& write : writes.records) {
    const auto holder = registry.find_named(write.row.extension.name);
    if (!holder || write.action == ExtensionAction::deleted) continue;
    const auto is_holder = [&](const auto& other) { return other.row.extension.id == holder->id; };
    if (std::ranges::none_of(writes.records, is_holder)) outdated.push_back(holder->id);
  }
  return outdated;
}

}  // namespace

Extensions::Extensions(Database& database, Hub& hub, const Clock& clock, ExtensionOutbox* outbox)
    : database_(database), hub_(hub), clock_(clock), registry_(std::make_unique<Registry>()), outbox_(outbox) {}

Extensions::~Extensions() = default;

void Extensions::load(Connection& connection) {
  AGW_ASSERT(registry_->size() == 0);
  const auto shipped = built_ins_content_id();
  if (extension_store::written_built_ins(connection) != shipped) {
    // Other failures end the start, and closing the connection rolls the write back.
    write_at_start(connection, "writing the built-in extensions of this version", [&] {
      write_built_ins(connection, built_ins(clock_.now()));
      extension_store::set_written_built_ins(connection, shipped);
    });
  }
  auto rows = extension_store::all(connection);
  registry_->reserve(rows.size());
  for (auto& row : rows) registry_->put(row.position, std::move(row.extension));
  AGW_ASSERT(registry_->size() == rows.size());
  if (outbox_ && !shares_files()) take_over_directories(connection);
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
  if (!found) throw extension_not_found();
  return found;
}

ExtensionPointer Extensions::require_agent(std::string_view id_or_name) const {
  auto agent = find_agent(id_or_name);
  if (!agent) throw agent_not_found();
  return agent;
}

ExtensionPointer Extensions::require_enabled_agent(const std::string& id_or_name) const {
  auto agent = find_agent(id_or_name);
  if (!agent) throw BadRequest(agent_not_found().error(), {{"agent_id", id_or_name}});
  if (!agent->enabled) throw BadRequest("agent is disabled", {{"agent_id", id_or_name}});
  return agent;
}

std::vector<ExtensionPointer> Extensions::list(const ExtensionFilter& filter) const {
  return registry_->list(filter, agent_id_of(filter.owner_agent_id));
}

Task<std::string> Extensions::list_json(BlockingPool& blocking, ExtensionFilter filter) {
  auto all = registry_->all();
  const auto owner_id = agent_id_of(filter.owner_agent_id);
  if (all->size() <= max_count_on_loop) {
    const auto list = listed(*all, filter, owner_id);
    if (json_size(list) <= max_bytes_on_loop) co_return json_of(list);
  }
  co_return co_await blocking.run([&] {
    auto json = json_of(listed(*all, filter, owner_id));
    all.reset();  // may hold former versions, and freeing large ones would hold the loop
    return json;
  });
}

void Extensions::require_agent_of_job(ExtensionType type, const json::object& definition,
                                      const Extension* current) const {
  const auto named = type == ExtensionType::job ? string_member(definition, "agent_id") : std::nullopt;
  if (!named || find_agent(*named)) return;
  // A record whose agent was deleted can still be edited.
  if (current && string_member(current->definition.members(), "agent_id") == named) return;
  fail_validation({{"definition.agent_id", fmt::format("there is no agent {}", shortened(*named, max_shown_name))}});
}

Task<ExtensionPointer> Extensions::create(json::object body, InTransaction<Extension> in_transaction,
                                          std::string run_id) {
  co_return co_await add(read_new_extension(std::move(body)), std::move(in_transaction), std::move(run_id));
}

Task<ExtensionPointer> Extensions::add(NewExtension wanted, InTransaction<Extension> in_transaction,
                                       std::string run_id) {
  auto made = new_extension(new_id(), std::move(wanted), clock_.now());
  require_agent_of_job(made.type, made.definition.members(), nullptr);
  made.owner_agent_id = agent_id_of(std::move(made.owner_agent_id));
  auto writes = co_await database_.write([made, in_transaction](Connection& connection) {
    auto written = write_new(connection, made);
    if (in_transaction) in_transaction(connection, made);
    return written;
  });
  co_return co_await publish(std::move(writes), ExtensionOutbox::Rewrite::when_changed, std::move(run_id));
}

Task<ExtensionPointer> Extensions::change(std::string id_or_name, json::object body, std::string run_id,
                                          RequiredMembers required) {
  auto wanted = read_extension_change(body, require(id_or_name)->type, required);
  co_return co_await apply(std::move(id_or_name), std::move(wanted), std::move(run_id));
}

Task<ExtensionPointer> Extensions::apply(std::string id_or_name, ExtensionChange wanted, std::string run_id) {
  const auto current = require(id_or_name);
  if (wanted.definition) require_agent_of_job(current->type, wanted.definition->members(), current.get());
  check_service_name(*current, wanted);
  // A new definition replaces the edited one, and the edited file is moved to the trash. With `if_updated_at`, the edit
  // is read first, so that the caller gets the conflict.
  if (!wanted.definition || wanted.if_updated_at) co_await take_over_edit(current->id);
  Decide decide = [wanted = std::move(wanted)](const Extension&) { return wanted; };
  co_return co_await update(current->id, std::move(decide), {}, ExtensionOutbox::Rewrite::when_changed,
                            std::move(run_id));
}

Task<ExtensionPointer> Extensions::overwrite(std::string id_or_name, json::object flat) {
  const auto current = require(id_or_name);
  ExtensionChange wanted;
  try {
    wanted = read_extension_change(change_body(std::move(flat), *current, MissingTrigger::stays), current->type);
    if (wanted.definition) require_agent_of_job(current->type, wanted.definition->members(), current.get());
    check_service_name(*current, wanted);
  } catch (const ApiError& error) {
    throw in_terms_of_file(error);
  }
  co_await require_replaceable(std::make_shared<const Extension>(changed(*current, wanted)));
  Decide decide = [wanted = std::move(wanted)](const Extension&) { return wanted; };
  co_return co_await update(current->id, std::move(decide), {}, ExtensionOutbox::Rewrite::always);
}

Task<ExtensionPointer> Extensions::toggle(std::string id_or_name, InTransaction<Extension> in_transaction) {
  const auto id = require(id_or_name)->id;
  co_await take_over_edit(id);
  Decide decide = [](const Extension& current) {
    ExtensionChange change;
    change.enabled = !current.enabled;
    return change;
  };
  co_return co_await update(id, std::move(decide), std::move(in_transaction));
}

Task<> Extensions::remove(std::string id_or_name, bool force) {
  const auto extension = require(id_or_name);
  const auto id = extension->id;
  if (!force && extension->type == ExtensionType::integration && is_model_service(extension->definition.members())) {
    const auto users = users_of_model_service(extension->name);
    if (!users.empty()) {
      throw Conflict("model service is in use", {{"named_by", json::array(users.begin(), users.end())}});
    }
  }
  co_await publish(co_await database_.write([id](Connection& connection) { return write_removal(connection, id); }));
}

Task<ExtensionPointer> Extensions::update(std::string id, Decide decide, InTransaction<Extension> in_transaction,
                                          ExtensionOutbox::Rewrite rewrite, std::string run_id) {
  AGW_ASSERT(decide);
  const auto now = clock_.now();
  auto written = co_await database_.write([id, decide, in_transaction, now, rewrite](Connection& connection) {
    const auto row = require_row(connection, id);
    auto writes = write_change(connection, row, decide(row.extension), now, rewrite);
    AGW_ASSERT(writes.records.size() <= 1);
    const auto& record = writes.records.empty() ? row.extension : writes.records.front().row.extension;
    if (in_transaction) in_transaction(connection, record);
    return Written{record, std::move(writes)};
  });
  if (written.writes.records.empty()) co_return std::make_shared<const Extension>(std::move(written.record));
  co_return co_await publish(std::move(written.writes), rewrite, std::move(run_id));
}

std::vector<std::string> Extensions::users_of_model_service(std::string_view name) const {
  const auto is_of_service = [prefix = std::string(name) + "/"](std::string_view model) {
    return model.starts_with(prefix);
  };
  std::vector<std::string> users;
  for (const auto type :
       {ExtensionType::agent, ExtensionType::job, ExtensionType::command, ExtensionType::integration}) {
    for (const auto& extension : list({.type = type})) {
      if (type == ExtensionType::integration && extension->name == name) continue;
      const auto& definition = extension->definition.members();
      auto models = strings_of(definition, "fallback_models");
      models.push_back(string_or_empty(definition, "model"));
      if (std::ranges::any_of(models, is_of_service)) users.push_back(extension->name);
    }
  }
  return users;
}

Task<> Extensions::require_replaceable(ExtensionPointer wanted) {
  AGW_ASSERT(wanted);
  if (!outbox_) co_return;
  try {
    co_await outbox_->check_replaceable(wanted);
  } catch (const std::system_error& error) {
    if (is_disk_full(error.code())) throw;
    log::error("{}: the file cannot be replaced: {}", wanted->name, error.what());
    throw update_failed();
  }
}

/// In commit order: updates the registry, then the subscribers of the hub, then the disk. Returns the first of the
/// records.
Task<ExtensionPointer> Extensions::publish(ExtensionWrites writes, ExtensionOutbox::Rewrite rewrite,
                                           std::string run_id) {
  auto outdated = outdated_holders(*registry_, writes);
  const bool has_waited = !outdated.empty();
  if (has_waited) co_await refresh(std::move(outdated));

  ExtensionPointer first;
  for (const auto& write : writes.records) {
    const auto& extension = write.row.extension;
    const auto before = registry_->find(extension.id);
    if (has_waited && before && before->updated_at > extension.updated_at) {
      if (!first) first = before;  // A newer write has replaced it.
      continue;
    }
    if (write.action == ExtensionAction::deleted)
      registry_->erase(extension.id);
    else
      registry_->put(write.row.position, extension);
    if (!first) first = registry_->find(extension.id);
    announce(extension, before, write.action, run_id);
  }
  const bool executed = !outbox_ || co_await outbox_->execute(std::move(writes.steps));
  if (rewrite == ExtensionOutbox::Rewrite::always && !executed) throw update_failed();
  co_return first;
}

void Extensions::announce(const Extension& extension, const ExtensionPointer& before, ExtensionAction action,
                          const std::string& run_id, Origin origin) const {
  const bool is_renamed = before && before->name != extension.name;
  const json::object message{{"type", "extension-changed"},
                             {"action", to_text(action)},
                             {"id", extension.id},
                             {"name", extension.name},
                             {"extensionType", to_text(extension.type)},
                             {"enabled", extension.enabled}};
  hub_.publish({.name = fmt::format("extension.{}", to_text(action)),
                .type = "extension-changed",
                .record = extension,
                .cause = {.run_id = run_id},
                .former_name = is_renamed ? std::string_view(before->name) : std::string_view(),
                .is_from_another_node = origin == Origin::another_node,
                .text = to_json(message)});
}

std::optional<std::string> Extensions::agent_id_of(std::optional<std::string> id_or_name) const {
  if (!id_or_name) return std::nullopt;
  const auto agent = find_agent(*id_or_name);
  return agent ? agent->id : id_or_name;
}

}  // namespace agw
