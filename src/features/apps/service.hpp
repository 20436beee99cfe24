#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/async_event.hpp"
#include "base/async/task_group.hpp"
#include "features/apps/dev_server.hpp"
#include "features/apps/idle_connections.hpp"
#include "features/apps/plan.hpp"
#include "features/apps/process_mark.hpp"
#include "features/events/hub.hpp"
#include "features/extensions/service.hpp"
#include "io/process/blocking.hpp"
#include "io/sandbox/sandbox.hpp"

namespace agw {

class Connection;
class Database;
class Placements;
class Secrets;
struct Placement;

/// The apps: projects that are served, each by its own development server or by the gateway. A server runs in the
/// sandbox from an explicit start until it is stopped, its app is deleted, disabled or made static, or the gateway
/// ends. Servers never start automatically, except when another node of a cluster takes one over.
class Apps : private Subscriber {
public:
  struct Options {
    std::filesystem::path home;
    std::filesystem::path data_directory;
    DevServerLimits limits{};
    Placements* placements = nullptr;  ///< null: this gateway is not a node of a cluster
  };
  Apps(Loop& loop, Database& database, Hub& hub, const Clock& clock, Extensions& extensions, BlockingPool& blocking,
       const Secrets& secrets, const Sandbox& sandbox, Options options);
  ~Apps() override;

  /// Ends the servers that a killed gateway left. Call it before the loop runs.
  void load(Connection& connection);
  /// Requests the end of all servers, with a short grace time.
  void begin_stop();
  /// Stops all servers, and returns once they have ended.
  Task<> stop();

  /// All apps, newest first.
  std::vector<App> list() const;

  // All of the following take an id or a name, and throw NotFound `app not found` (with `name`).

  App show(std::string_view id_or_name) const;
  /// Starts the server unless it is running. Throws ApiError 500 `invalid app definition`, `Failed to start: <cause>`;
  /// BadRequest `<type> apps do not use a dev server`.
  Task<App> start(std::string id_or_name);
  /// Like `start`, but stops a running server first. The error is `Failed to restart: <cause>`.
  Task<App> restart(std::string id_or_name);
  /// Stops the server, and returns once it has ended. Throws BadRequest as `start`, NotFound `No running dev server for
  /// <name>`.
  Task<App> stop(std::string id_or_name);
  /// The last `count` lines of the log, oldest first.
  std::vector<AppLogLine> log(std::string_view id_or_name, std::size_t count) const;

  /// The resolved directory of a static app; no value for an app with a server. Throws ApiError 500 `invalid app
  /// definition`, NotFound `file not found` if the directory does not exist.
  Task<std::optional<std::filesystem::path>> static_root(std::string id_or_name);
  /// The address of the development server. Throws NotFound `No running dev server for <name>`.
  AppEndpoint running_endpoint(std::string_view id_or_name) const;
  /// Like `running_endpoint`, for a server on this node only.
  AppEndpoint endpoint_here(std::string_view id_or_name) const;
  /// Null if this gateway is not a node of a cluster.
  const Placements* placements() const { return placements_; }
  /// Idle connections to the servers. Closed before the servers end.
  IdleConnections& idle_connections() { return idle_; }

private:
  /// A server, and a lock for the callers that start or stop it.
  struct ServerSlot;

  void deliver(const DomainEvent& event) override;
  ExtensionPointer require(std::string_view id_or_name) const;
  ExtensionPointer require_with_server(std::string_view id_or_name) const;
  App describe(const Extension& extension) const;
  const DevServer* find(const Extension& extension) const;
  ServerSlot& slot_of(const ExtensionPointer& extension);
  Task<> start(const ExtensionPointer& extension, ServerSlot& slot);
  Task<DevServerStart> prepare(const ExtensionPointer& extension);
  Task<DevServerProcess> process_of(AppPlan plan, ExtensionPointer extension, int port,
                                    std::function<void(std::string)> note);
  void follow_placements();
  const Placement* placement_elsewhere(const Extension& extension) const;
  void require_here(const Extension& extension) const;
  static App as_reported(App app, const Placement& placement);
  AppEndpoint endpoint_elsewhere(const Extension& extension, const Placement& placement) const;
  Task<bool> has_directory(ExtensionPointer extension);
  Task<> take(std::string id);
  Task<> try_to_take(std::string id);
  Task<> start_claimed(ExtensionPointer extension, ServerSlot& slot);
  Task<App> start_somewhere(ExtensionPointer extension, ServerSlot& slot);
  Task<App> have_started(ExtensionPointer extension);
  Task<bool> give_up(ExtensionPointer extension);
  Task<> end(std::string id, bool erase);
  Task<> stop(ServerSlot& slot);
  void publish(const std::string& id) const;
  Task<> note_started(pid_t pid);
  Task<> note_ended(pid_t pid);
  Task<> write_mark(ProcessMark mark, void (*change)(Connection&, const ProcessMark&));

  Loop& loop_;
  Database& database_;
  Hub& hub_;
  const Clock& clock_;
  Extensions& extensions_;
  BlockingPool& blocking_;
  const Secrets& secrets_;
  const Sandbox& sandbox_;
  Options options_;
  Placements* placements_;                                          ///< null: this gateway is not a node of a cluster
  mutable std::map<std::string, int, std::less<>> keys_elsewhere_;  ///< by extension, see AppEndpoint
  std::map<std::string, std::unique_ptr<ServerSlot>, std::less<>> slots_;
  std::map<pid_t, ProcessMark> marks_;
  IdleConnections idle_;
  AsyncEvent placement_changed_;
  bool closing_ = false;
  TaskGroup background_;
  Hub::Listening listening_;
};

}  // namespace agw
