// Starts and stops the servers of apps on request, and ends them with their app and with the gateway.
//
// A *slot* contains the server of one app (`DevServer`) and a lock, because starting and stopping take seconds and must
// not overlap. A *mark* is a server's process id, with data that distinguishes it from a later process with the same
// id. The database contains it while the process exists.
//
// The invariants: only the holder of the lock starts or stops a server; after each wait for the lock, the app is looked
// up again, because it may have been changed or deleted. A slot is erased only with its app, and only while no caller
// holds its lock or waits for it. Once `closing_` is set, no server is left running.
//
// A start (`start`): check that the definition is complete and the port free, prepare the secrets and a network with a
// proxy, wrap the command in a sandbox that may write to the app's directory, and start the process. Each start of the
// process, including one after a crash, repeats this preparation (`process_of`).
//
// If an app is disabled, deleted or becomes static, its server is ended in the background (`deliver`, `end`).
//
// After a kill of the gateway, the kernel ends the servers, too (`die_with_parent`, and the sandbox). A process that
// survives is ended by the next start, with its group, if its mark still matches (`load`). If its mark could not be
// written, such a process is missed.

#include "features/apps/service.hpp"

#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "api/error.hpp"
#include "api/refusals.hpp"
#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "features/apps/app_directory.hpp"
#include "features/apps/health.hpp"
#include "features/apps/server_slot.hpp"
#include "features/apps/store.hpp"
#include "features/events/hub.hpp"
#include "features/permissions/service.hpp"
#include "features/placements/service.hpp"
#include "features/secrets/service.hpp"
#include "io/proxy/proxied_network.hpp"
#include "storage/database.hpp"
#include "storage/start_write.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto shutdown_grace = 150ms;
constexpr std::int64_t memory_mb = 8192;  // the address space of JavaScript engines is large, but mostly unused

bool is_static(const Extension& extension) { return app_plan(extension).type == AppType::statics; }

std::map<std::string, std::string> environment_of(const Extension& extension, AppType type, int port) {
  auto environment = app_environment(extension);
  environment.try_emplace("HOST", "127.0.0.1");
  if (type == AppType::python) environment.try_emplace("PYTHONUNBUFFERED", "1");
  environment["PORT"] = std::to_string(port);
  return environment;
}

/// The error for the client if an action fails. `action` is `start` or `restart`.
ApiError failed_to(std::string_view action, const std::exception& error) {
  return ApiError(500, fmt::format("Failed to {}: {}", action, error.what()));
}

}  // namespace

Apps::Apps(Loop& loop, Database& database, Hub& hub, const Clock& clock, Extensions& extensions, BlockingPool& blocking,
           const Secrets& secrets, const Sandbox& sandbox, Options options)
    : loop_(loop),
      database_(database),
      hub_(hub),
      clock_(clock),
      extensions_(extensions),
      blocking_(blocking),
      secrets_(secrets),
      sandbox_(sandbox),
      options_(std::move(options)),
      placements_(options_.placements),
      idle_(loop),
      placement_changed_(loop),
      background_(loop),
      listening_(hub, *this) {
  if (placements_) follow_placements();
  background_.on_failure([](const std::exception_ptr& failure) {
    log::error("an app could not be ended properly: {}", message_of(failure));
  });
}

Apps::~Apps() = default;

void Apps::load(Connection& connection) {
  AGW_ASSERT(slots_.empty());
  AGW_ASSERT(marks_.empty());
  const auto marks = app_store::processes(connection);
  for (const auto& mark : marks) {
    if (kill_leftover(mark)) log::warn("ended the process group {} that a killed gateway left behind", mark.pid);
  }
  if (marks.empty()) return;
  write_at_start(connection, "deleting the records of ended app processes", [&] { app_store::clear(connection); });
}

void Apps::begin_stop() {
  closing_ = true;
  placement_changed_.pulse();
  idle_.close();
  for (auto& [id, slot] : slots_) slot->server.request_stop(shutdown_grace);
}

Task<> Apps::stop() {
  begin_stop();
  co_await background_.join();
  for (auto& [id, slot] : slots_) {
    ServerSlot::Lock lock(*slot);
    co_await lock.acquire();
    co_await slot->server.stop();
    AGW_ASSERT(!slot->server.alive());
  }
}

/// Stops the server. Closes its idle connections first, because some servers wait for that.
Task<> Apps::stop(ServerSlot& slot) {
  AGW_ASSERT(slot.is_locked);
  idle_.close_port(slot.server.port());
  co_await slot.server.stop();
  AGW_ASSERT(!slot.server.alive());
}

ExtensionPointer Apps::require(std::string_view id_or_name) const {
  if (auto found = extensions_.find(ExtensionType::app, id_or_name)) return found;
  throw NotFound("app not found", {{"name", id_or_name}});
}

/// Call it again after `Lock::acquire`, because the app may have been changed or deleted during the wait.
ExtensionPointer Apps::require_with_server(std::string_view id_or_name) const {
  auto found = require(id_or_name);
  if (is_static(*found)) {
    throw BadRequest(fmt::format("{} apps do not use a dev server", to_text(AppType::statics)));
  }
  return found;
}

const DevServer* Apps::find(const Extension& extension) const {
  const auto slot = slots_.find(extension.id);
  return slot == slots_.end() ? nullptr : &slot->second->server;
}

Apps::ServerSlot& Apps::slot_of(const ExtensionPointer& extension) {
  auto& slot = slots_[extension->id];
  if (!slot) slot = std::make_unique<ServerSlot>(*this, extension->id);
  return *slot;
}

App Apps::describe(const Extension& extension) const {
  const auto plan = app_plan(extension);
  App app{.name = extension.name, .type = plan.type, .port = plan.port};
  if (plan.type == AppType::statics) {
    app.port.reset();
    app.status = plan.path.is_absolute() ? AppStatus::running : AppStatus::stopped;
    // An app that has become static may still have a server, which is about to end.
    return app;
  }
  if (const auto* placement = placement_elsewhere(extension)) return as_reported(std::move(app), *placement);
  const auto* server = find(extension);
  if (!server) return app;
  app.status = server->status();
  app.restarts = server->restarts();
  app.pid = server->pid();
  app.started_at = server->started_at();
  if (!server->alive()) return app;
  AGW_ASSERT(server->port() > 0);
  app.port = server->port();
  app.url = fmt::format("http://127.0.0.1:{}", server->port());
  return app;
}

std::vector<App> Apps::list() const {
  std::vector<App> apps;
  for (const auto& extension : extensions_.list({.type = ExtensionType::app})) apps.push_back(describe(*extension));
  return apps;
}

App Apps::show(std::string_view id_or_name) const { return describe(*require(id_or_name)); }

Task<App> Apps::start(std::string id_or_name) {
  auto extension = require_with_server(id_or_name);
  auto& slot = slot_of(extension);
  ServerSlot::Lock lock(slot);
  co_await lock.acquire();
  extension = require_with_server(extension->id);
  try {
    if (placements_ && !slot.server.alive()) co_return co_await start_somewhere(extension, slot);
    if (!slot.server.alive()) co_await start(extension, slot);
  } catch (const ApiError&) {
    throw;
  } catch (const std::exception& error) {
    throw failed_to("start", error);
  }
  co_return describe(*extension);
}

Task<App> Apps::restart(std::string id_or_name) {
  auto extension = require_with_server(id_or_name);
  require_complete(app_plan(*extension));
  auto& slot = slot_of(extension);
  ServerSlot::Lock lock(slot);
  co_await lock.acquire();
  extension = require_with_server(extension->id);
  try {
    co_await stop(slot);
    if (placements_) co_return co_await start_somewhere(extension, slot);
    co_await start(extension, slot);
  } catch (const ApiError&) {
    throw;
  } catch (const std::exception& error) {
    throw failed_to("restart", error);
  }
  co_return describe(*extension);
}

Task<> Apps::start(const ExtensionPointer& extension, ServerSlot& slot) {
  AGW_ASSERT(slot.is_locked);
  AGW_ASSERT(!slot.server.alive());
  require_complete(app_plan(*extension));
  auto server_start = co_await prepare(extension);
  if (closing_) throw ProcessError("the gateway ends");
  slot.enabled = extension->enabled;
  co_await slot.server.start(std::move(server_start));
  if (closing_) slot.server.request_stop(shutdown_grace);
}

Task<DevServerStart> Apps::prepare(const ExtensionPointer& extension) {
  const auto plan = app_plan(*extension);
  if (plan.port && !is_free_port(*plan.port)) {
    throw ProcessError(fmt::format("port {} is in use by another program", *plan.port));
  }
  DevServerStart server_start{.port = plan.port, .health_path = plan.health_path};
  server_start.process = [this, plan, extension](int port, std::function<void(std::string)> note) {
    return process_of(plan, extension, port, std::move(note));
  };
  co_return server_start;
}

Task<DevServerProcess> Apps::process_of(AppPlan plan, ExtensionPointer extension, int port,
                                        std::function<void(std::string)> note) {
  AGW_ASSERT(port > 0);
  AGW_ASSERT(port <= std::numeric_limits<std::uint16_t>::max());
  AGW_ASSERT(plan.type != AppType::statics);
  auto declared = declared_secrets(extension->definition.members());
  if (!declared.empty() && !sandbox_.is_enabled()) throw ProcessError(no_secrets_without_sandbox);
  auto used = co_await blocking_.run(
      [&secrets = secrets_, declared = std::move(declared)] { return secrets.for_program(declared); });
  std::shared_ptr<ProxiedNetwork> network;
  if (sandbox_.is_enabled()) {
    network = std::make_shared<ProxiedNetwork>(
        loop_, blocking_, program_policy(program_hosts(*extension), extensions_, std::move(note)), std::move(used));
  }
  auto wrapped = co_await blocking_.run(
      [plan, extension, port, network, &sandbox = sandbox_, &secrets = secrets_, options = options_] {
        const auto directory = app_directory(plan.path, options.home, options.data_directory);
        auto environment = environment_of(*extension, plan.type, port);
        for (auto& [name, value] : environment) value = secrets.expand(value);
        auto process = sandbox.wrap({"/bin/sh", "-c", plan.command}, {.directory = directory,
                                                                      .writable = {directory},
                                                                      .network = network.get(),
                                                                      .environment = std::move(environment),
                                                                      .memory_mb = memory_mb});
        process.separate_stderr = true;
        return process;
      });
  co_return DevServerProcess{.options = std::move(wrapped), .network = std::move(network)};
}

Task<App> Apps::stop(std::string id_or_name) {
  const auto extension = require_with_server(id_or_name);
  auto& slot = slot_of(extension);
  ServerSlot::Lock lock(slot);
  co_await lock.acquire();
  if (placements_ && co_await give_up(extension)) co_return describe(*extension);
  if (!slot.server.alive()) throw not_running(*extension);
  co_await stop(slot);
  if (placements_) co_await placements_->remove(extension->id);
  co_return describe(*extension);
}

std::vector<AppLogLine> Apps::log(std::string_view id_or_name, std::size_t count) const {
  const auto extension = require(id_or_name);
  require_here(*extension);
  const auto* server = find(*extension);
  return server ? server->log().last(count) : std::vector<AppLogLine>{};
}

Task<std::optional<std::filesystem::path>> Apps::static_root(std::string id_or_name) {
  const auto plan = app_plan(*require(id_or_name));
  if (plan.type != AppType::statics) co_return std::nullopt;
  require_complete(plan);
  co_return co_await blocking_.run([path = plan.path, options = options_]() -> std::optional<std::filesystem::path> {
    try {
      return app_directory(path, options.home, options.data_directory);
    } catch (const ProcessError&) {
      throw file_not_found();
    }
  });
}

AppEndpoint Apps::running_endpoint(std::string_view id_or_name) const {
  const auto extension = require(id_or_name);
  if (const auto* placement = placement_elsewhere(*extension)) return endpoint_elsewhere(*extension, *placement);
  return endpoint_here(extension->id);
}

AppEndpoint Apps::endpoint_here(std::string_view id_or_name) const {
  const auto extension = require(id_or_name);
  const auto* server = find(*extension);
  if (!server || !server->has_process()) throw not_running(*extension);
  return server->endpoint();
}

void Apps::deliver(const DomainEvent& event) {
  const auto* extension = event.record.as<Extension>();
  const auto slot = extension ? slots_.find(extension->id) : slots_.end();
  if (slot == slots_.end() || closing_) return;
  const bool disabled = slot->second->enabled && !extension->enabled;
  slot->second->enabled = extension->enabled;
  const bool deleted = event.name == "extension.deleted";
  if (disabled || deleted || is_static(*extension)) background_.spawn(end(extension->id, deleted));
}

/// Ends the server of an app that was disabled, deleted or has become static.
Task<> Apps::end(std::string id, bool erase) {
  auto& slot = *slots_.at(id);
  {
    ServerSlot::Lock lock(slot);
    co_await lock.acquire();
    co_await stop(slot);
    if (placements_) co_await placements_->remove(id);
  }
  AGW_ASSERT(slot.users > 0 || !slot.is_locked);
  if (erase && slot.users == 0) slots_.erase(id);
}

void Apps::publish(const std::string& id) const {
  const auto extension = extensions_.find(id);
  if (!extension) return;
  const auto app = describe(*extension);
  hub_.publish({.type = "app-status", .member = "app", .record = app});
  // Does not report the end of servers while the gateway stops, because another node takes them over.
  if (placements_ && !closing_) placements_->report_state(id, to_json(app));
}

Task<> Apps::note_started(pid_t pid) {
  const auto mark = mark_of(pid);
  if (!mark) co_return;
  AGW_DEBUG_ASSERT(!marks_.contains(pid));
  marks_[pid] = *mark;
  co_await write_mark(*mark, app_store::insert);
}

Task<> Apps::note_ended(pid_t pid) {
  const auto mark = marks_.extract(pid);
  if (mark) co_await write_mark(mark.mapped(), app_store::remove);
}

/// Only logs failures, because marks are needed only after a kill.
Task<> Apps::write_mark(ProcessMark mark, void (*change)(Connection&, const ProcessMark&)) {
  AGW_ASSERT(change);
  // `kill_leftover` would signal the group of this number.
  AGW_ASSERT(mark.pid > 1);
  try {
    co_await database_.write([mark, change](Connection& connection) { change(connection, mark); });
  } catch (const std::exception& error) {
    log::warn("cannot record the process {} of an app: {}", mark.pid, error.what());
  }
}

}  // namespace agw
