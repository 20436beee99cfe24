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
  std::chrono::milliseconds to_answer{120'000};  ///< from its start until it takes connections
  std::chrono::milliseconds to_end{3'000};       ///< between SIGTERM and SIGKILL
  std::chrono::milliseconds first_backoff{250};  ///< after a crash; doubled each time
  std::chrono::milliseconds steady{600'000};     ///< after so long a life, earlier crashes no longer count
  int restarts = 5;
};

/// A process to start.
struct DevServerProcess {
  ProcessOptions options;
  std::shared_ptr<ProxiedNetwork> network{};  ///< of its sandbox; null: it listens on this host
};

/// How to start a development server; asked again for each process.
struct DevServerStart {
  /// Throws if it cannot be started. `note` adds a line to the log.
  std::function<Task<DevServerProcess>(int port, std::function<void(std::string)> note)> process;
  std::optional<int> port;  ///< else a free one, chosen again if it was taken meanwhile
  std::string health_path;
};

/// The development server of one app: keeps its process alive, reads its output, and checks whether it answers.
/// Restarts it after a crash, with growing pauses, until there were too many crashes. A sandbox has a network of its
/// own: connections to the port of this host are handed to the server in there.
class DevServer {
public:
  struct Callbacks {
    std::function<void()> changed;         ///< its status or its process has changed
    std::function<Task<>(pid_t)> started;  ///< before anything else happens with the process
    std::function<Task<>(pid_t)> ended;
  };
  DevServer(Loop& loop, const Clock& clock, DevServerLimits limits, Callbacks callbacks);

  /// Starts the first process, which exists when this returns. Only if it is not alive, and by one caller at a time.
  /// Throws ProcessError, and whatever `process` throws.
  Task<> start(DevServerStart wanted);
  /// Ends it, and returns when the whole process group has ended.
  Task<> stop();
  /// Starts to end it: SIGKILL follows after `grace`. A second call with a shorter `grace` kills it at once.
  void request_stop(std::chrono::milliseconds grace);

  /// Whether it was started, and since then neither stopped nor failed.
  bool alive() const { return alive_; }
  /// Whether there is a process that is not being ended, so it may take requests.
  bool has_process() const { return pid_ && !stopping_->requested(); }
  AppStatus status() const { return status_; }
  int port() const { return port_; }
  AppEndpoint endpoint() const { return {.port = port_, .network = network_}; }
  std::optional<int> pid() const { return pid_; }
  std::optional<Timestamp> started_at() const { return started_at_; }
  int restarts() const { return restarts_; }
  const AppLog& log() const { return log_; }

private:
  enum class Outcome { stopped, crashed, mute };

  Task<std::unique_ptr<Process>> launch();
  std::unique_ptr<ForwardedPort> reserve_port(const std::shared_ptr<ProxiedNetwork>& network) const;
  Task<> close_network();
  bool open_port();
  Task<> supervise(std::unique_ptr<Process> process);
  Task<Outcome> live(Process& process);
  Task<> wait_for_end(Process& process, ProcessExit& end);
  Task<> ask_to_end(Process& process, ProcessExit& end, std::chrono::steady_clock::time_point began);
  Task<> read_lines(Process& process, ProcessStream stream);
  Task<> watch(StopSource& mute);
  Task<bool> is_healthy_before(std::chrono::steady_clock::time_point deadline, std::string path);
  Task<std::unique_ptr<Process>> launch_again();
  void become(AppStatus status);
  void note(std::string line);

  Loop& loop_;
  const Clock& clock_;
  const DevServerLimits limits_;
  Callbacks callbacks_;
  DevServerStart wanted_;
  int port_ = 0;
  std::shared_ptr<ProxiedNetwork> network_;   ///< of its process
  std::unique_ptr<ForwardedPort> forwarded_;  ///< leads there
  AppLog log_;
  AppStatus status_ = AppStatus::stopped;
  std::optional<int> pid_;
  std::optional<Timestamp> started_at_;
  int restarts_ = 0;
  bool alive_ = false;
  std::chrono::milliseconds grace_;
  std::unique_ptr<StopSource> stopping_;
  std::unique_ptr<StopSource> hurry_;
  TaskGroup life_;
};

}  // namespace agw
