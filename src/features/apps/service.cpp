#include "features/apps/service.hpp"

#include <fmt/format.h>

#include "api/error.hpp"
#include "api/refusals.hpp"
#include "base/async/async_event.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "features/apps/app_directory.hpp"
#include "features/apps/health.hpp"
#include "features/apps/store.hpp"
#include "features/events/hub.hpp"
#include "features/permissions/service.hpp"
#include "features/secrets/service.hpp"
#include "io/proxy/proxied_network.hpp"
#include "storage/database.hpp"
#include "storage/start_write.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto patience_at_the_end = 150ms;
constexpr std::int64_t memory_mb = 8192;  // the address space of JavaScript engines is large, but mostly unused

NotFound not_running(const Extension& extension) {
  return NotFound(fmt::format("No running dev server for {}", extension.name));
}

bool is_static(const Extension& extension) { return app_plan(extension).type == AppType::statics; }

std::map<std::string, std::string> environment_of(const Extension& extension, AppType type, int port) {
  auto environment = app_environment(extension);
  environment.try_emplace("HOST", "127.0.0.1");
  if (type == AppType::python) environment.try_emplace("PYTHONUNBUFFERED", "1");
  environment["PORT"] = std::to_string(port);
  return environment;
}

/// The error that the client gets if a start fails; `action` is `start` or `restart`.
ApiError refusal(std::string_view action, const std::exception& error) {
  if (const auto* known = dynamic_cast<const ApiError*>(&error)) return *known;
  return ApiError(500, fmt::format("Failed to {}: {}", action, error.what()));
}

}  // namespace

/// Starting and stopping take time, so they run one after the other for each app.
struct Apps::Place {
  Place(Apps& apps, std::string id)
      : server(apps.loop_, apps.clock_, apps.options_.limits,
               {.changed = [&apps, id] { apps.publish(id); },
                .started = [&apps](pid_t pid) { return apps.note_started(pid); },
                .ended = [&apps](pid_t pid) { return apps.note_ended(pid); }}),
        freed(apps.loop_) {}

  /// Waits for its turn, and holds it while it exists.
  class Turn {
  public:
    explicit Turn(Place& place) : place_(place) { ++place_.users; }
    ~Turn() {
      --place_.users;
      if (!mine_) return;
      place_.taken = false;
      place_.freed.pulse();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    Task<> comes() {
      while (place_.taken) {
        co_await place_.freed.wait();
      }
      mine_ = place_.taken = true;
    }

  private:
    Place& place_;
    bool mine_ = false;
  };

  DevServer server;
  AsyncEvent freed;
  bool taken = false;
  int users = 0;         ///< with a turn or waiting for one
  bool enabled = false;  ///< of its extension, at the last start
};

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
      idle_(loop),
      background_(loop),
      listening_(hub, *this) {
  background_.on_failure([](const std::exception_ptr& failure) {
    log::error("an app could not be ended properly: {}", message_of(failure));
  });
}

Apps::~Apps() = default;

void Apps::load(Connection& connection) {
  const auto marks = app_store::processes(connection);
  for (const auto& mark : marks) {
    if (kill_leftover(mark)) log::warn("ended the process group {} that a killed gateway left behind", mark.pid);
  }
  if (marks.empty()) return;
  write_at_start(connection, "deleting the records of ended app processes", [&] { app_store::clear(connection); });
}

void Apps::hang_up() {
  closing_ = true;
  idle_.close();
  for (auto& [id, place] : places_) place->server.request_stop(patience_at_the_end);
}

Task<> Apps::stop() {
  hang_up();
  co_await background_.join();
  for (auto& [id, place] : places_) {
    Place::Turn turn(*place);
    co_await turn.comes();
    co_await place->server.stop();
  }
}

/// Closes idle connections first: some servers wait for that.
Task<> Apps::stop(Place& place) {
  idle_.forget(place.server.port());
  co_await place.server.stop();
}

ExtensionPointer Apps::require(std::string_view id_or_name) const {
  if (auto found = extensions_.find(ExtensionType::app, id_or_name)) return found;
  throw NotFound("app not found", {{"name", id_or_name}});
}

/// Checked again once it is this call's turn: the app may have been changed or deleted in between.
ExtensionPointer Apps::require_with_server(std::string_view id_or_name) const {
  auto found = require(id_or_name);
  if (is_static(*found)) {
    throw BadRequest(fmt::format("{} apps do not use a dev server", to_text(AppType::statics)));
  }
  return found;
}

const DevServer* Apps::find(const Extension& extension) const {
  const auto place = places_.find(extension.id);
  return place == places_.end() ? nullptr : &place->second->server;
}

Apps::Place& Apps::place_of(const ExtensionPointer& extension) {
  auto& place = places_[extension->id];
  if (!place) place = std::make_unique<Place>(*this, extension->id);
  return *place;
}

App Apps::describe(const Extension& extension) const {
  const auto plan = app_plan(extension);
  App app{.name = extension.name, .type = plan.type, .port = plan.port};
  if (plan.type == AppType::statics) {
    app.port.reset();
    app.status = plan.path.is_absolute() ? AppStatus::running : AppStatus::stopped;
    // If it has become static, its server is about to end.
    return app;
  }
  const auto* server = find(extension);
  if (!server) return app;
  app.status = server->status();
  app.restarts = server->restarts();
  app.pid = server->pid();
  app.started_at = server->started_at();
  if (!server->alive()) return app;
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
  auto& place = place_of(extension);
  Place::Turn turn(place);
  co_await turn.comes();
  extension = require_with_server(extension->id);
  try {
    if (!place.server.alive()) co_await start(extension, place);
  } catch (const std::exception& error) {
    throw refusal("start", error);
  }
  co_return describe(*extension);
}

Task<App> Apps::restart(std::string id_or_name) {
  auto extension = require_with_server(id_or_name);
  require_complete(app_plan(*extension));
  auto& place = place_of(extension);
  Place::Turn turn(place);
  co_await turn.comes();
  extension = require_with_server(extension->id);
  try {
    co_await stop(place);
    co_await start(extension, place);
  } catch (const std::exception& error) {
    throw refusal("restart", error);
  }
  co_return describe(*extension);
}

Task<> Apps::start(const ExtensionPointer& extension, Place& place) {
  require_complete(app_plan(*extension));
  auto wanted = co_await prepare(extension);
  if (closing_) throw ProcessError("the gateway ends");
  place.enabled = extension->enabled;
  co_await place.server.start(std::move(wanted));
  if (closing_) place.server.request_stop(patience_at_the_end);
}

Task<DevServerStart> Apps::prepare(const ExtensionPointer& extension) {
  const auto plan = app_plan(*extension);
  if (plan.port && !is_free_port(*plan.port)) {
    throw ProcessError(fmt::format("port {} is in use by another program", *plan.port));
  }
  DevServerStart wanted{.port = plan.port, .health_path = plan.health_path};
  wanted.process = [this, plan, extension](int port, std::function<void(std::string)> note) {
    return process_of(plan, extension, port, std::move(note));
  };
  co_return wanted;
}

Task<DevServerProcess> Apps::process_of(AppPlan plan, ExtensionPointer extension, int port,
                                        std::function<void(std::string)> note) {
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
  const auto place = places_.find(extension->id);
  if (place == places_.end()) throw not_running(*extension);
  Place::Turn turn(*place->second);
  co_await turn.comes();
  if (!place->second->server.alive()) throw not_running(*extension);
  co_await stop(*place->second);
  co_return describe(*extension);
}

std::vector<AppLogLine> Apps::log(std::string_view id_or_name, std::size_t count) const {
  const auto* server = find(*require(id_or_name));
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
  const auto* server = find(*extension);
  if (!server || !server->has_process()) throw not_running(*extension);
  return server->endpoint();
}

void Apps::deliver(const DomainEvent& event) {
  const auto* extension = event.record.as<Extension>();
  const auto place = extension ? places_.find(extension->id) : places_.end();
  if (place == places_.end() || closing_) return;
  const bool disabled = place->second->enabled && !extension->enabled;
  place->second->enabled = extension->enabled;
  const bool deleted = event.name == "extension.deleted";
  if (disabled || deleted || is_static(*extension)) background_.spawn(end(extension->id, deleted));
}

/// Ends the server of an app that was disabled, deleted or has become static.
Task<> Apps::end(std::string id, bool forget) {
  auto& place = *places_.at(id);
  {
    Place::Turn turn(place);
    co_await turn.comes();
    co_await stop(place);
  }
  if (forget && place.users == 0) places_.erase(id);
}

void Apps::publish(const std::string& id) const {
  const auto extension = extensions_.find(id);
  if (extension) hub_.publish({.type = "app-status", .member = "app", .record = describe(*extension)});
}

Task<> Apps::note_started(pid_t pid) {
  const auto mark = mark_of(pid);
  if (!mark) co_return;
  marks_[pid] = *mark;
  co_await write_mark(*mark, app_store::insert);
}

Task<> Apps::note_ended(pid_t pid) {
  const auto mark = marks_.extract(pid);
  if (mark) co_await write_mark(mark.mapped(), app_store::remove);
}

/// Only needed after a crash, so the app runs even if this fails.
Task<> Apps::write_mark(ProcessMark mark, void (*change)(Connection&, const ProcessMark&)) {
  try {
    co_await database_.write([mark, change](Connection& connection) { change(connection, mark); });
  } catch (const std::exception& error) {
    log::warn("cannot record the process {} of an app: {}", mark.pid, error.what());
  }
}

}  // namespace agw
