#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "base/async/task_group.hpp"
#include "base/time/time.hpp"
#include "features/apps/endpoint.hpp"
#include "features/apps/log.hpp"
#include "io/process/process.hpp"
#include "io/proxy/forwarded_port.hpp"

namespace agw {

/// Time limits of a development server.
struct DevServerLimits {
  std::chrono::milliseconds start_timeout{120'000};  ///< until it accepts connections and is healthy
  std::chrono::milliseconds stop_grace{3'000};       ///< between SIGTERM and SIGKILL
  std::chrono::milliseconds first_backoff{250};      ///< after the first crash; doubled after each further one
  std::chrono::milliseconds stable_after{600'000};   ///< after running this long, earlier crashes no longer count
  int max_restarts = 5;
};

/// A process to start.
struct DevServerProcess {
  ProcessOptions options;
  std::shared_ptr<ProxiedNetwork> network{};  ///< of its sandbox; null: it listens on this host
};

/// How to start a development server. `process` is called for each process.
struct DevServerStart {
  /// Throws if it cannot be started. `note` adds a line to the log.
  std::function<Task<DevServerProcess>(int port, std::function<void(std::string)> note)> process;
  std::optional<int> port;  ///< no value: a free port, chosen again if another program takes it
  std::string health_path;
};

/// The development server of one app: runs its process, reads its output, and checks its health. Restarts it after a
/// crash, with increasing pauses, up to a maximum number of crashes. A sandbox has its own network; connections to the
/// port on this host are forwarded to the server in it.
class DevServer {
public:
  struct Callbacks {
    std::function<void()> changed;         ///< its status or its process has changed
    std::function<Task<>(pid_t)> started;  ///< called first after a process was started
    std::function<Task<>(pid_t)> ended;
  };
  DevServer(Loop& loop, const Clock& clock, DevServerLimits limits, Callbacks callbacks);

  /// Starts the first process, which exists on return. The server must not be alive, and calls must not overlap. Throws
  /// ProcessError, and whatever `process` throws.
  Task<> start(DevServerStart spec);
  /// Stops the server, and returns once the whole process group has ended.
  Task<> stop();
  /// Sends SIGTERM, and SIGKILL after `grace`. A second call with a shorter `grace` kills the process at once.
  void request_stop(std::chrono::milliseconds grace);

  /// Whether the server was started, and has neither been stopped nor failed since.
  bool alive() const { return alive_; }
  /// Whether there is a process that is not being stopped, so that it can handle requests.
  bool has_process() const { return pid_ && !stopping_->requested(); }
  AppStatus status() const { return status_; }
  int port() const { return port_; }
  AppEndpoint endpoint() const { return {.port = port_, .network = network_}; }
  std::optional<int> pid() const { return pid_; }
  std::optional<Timestamp> started_at() const { return started_at_; }
  int restarts() const { return restarts_; }
  const AppLog& log() const { return log_; }

private:
  enum class Outcome { stopped, crashed, unresponsive };

  Task<std::unique_ptr<Process>> launch();
  std::unique_ptr<ForwardedPort> reserve_port(const std::shared_ptr<ProxiedNetwork>& network) const;
  Task<> close_network();
  bool open_port();
  Task<> supervise(std::unique_ptr<Process> process);
  Task<Outcome> follow(Process& process);
  Task<> wait_for_end(Process& process, ProcessExit& end);
  Task<> terminate(Process& process, ProcessExit& end, std::chrono::steady_clock::time_point began);
  Task<> read_lines(Process& process, ProcessStream stream);
  Task<> watch(StopSource& unresponsive);
  Task<bool> is_healthy_before(std::chrono::steady_clock::time_point deadline, std::string path);
  Task<std::unique_ptr<Process>> relaunch();
  void set_status(AppStatus status);
  void note(std::string line);
  void assert_invariants() const;

  Loop& loop_;
  const Clock& clock_;
  const DevServerLimits limits_;
  Callbacks callbacks_;
  DevServerStart start_;
  int port_ = 0;
  std::shared_ptr<ProxiedNetwork> network_;   ///< of the process's sandbox
  std::unique_ptr<ForwardedPort> forwarded_;  ///< from this host to that network
  AppLog log_;
  AppStatus status_ = AppStatus::stopped;
  std::optional<int> pid_;
  std::optional<Timestamp> started_at_;
  int restarts_ = 0;
  bool alive_ = false;
  std::chrono::milliseconds grace_;
  std::unique_ptr<StopSource> stopping_;
  std::unique_ptr<StopSource> kill_now_;
  TaskGroup life_;
};

}  // namespace agw
