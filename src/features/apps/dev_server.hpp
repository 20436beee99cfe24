#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "base/group.hpp"
#include "base/time.hpp"
#include "features/apps/log.hpp"
#include "io/process.hpp"

namespace agw {

/// How long things may take with a development server, and how often.
struct DevServerLimits {
  std::chrono::milliseconds to_answer{120'000};  ///< from its start until it takes connections
  std::chrono::milliseconds to_end{3'000};       ///< between SIGTERM and SIGKILL
  std::chrono::milliseconds first_backoff{250};  ///< after a crash; doubled each time
  std::chrono::milliseconds steady{600'000};     ///< who has lived so long has not crashed again and again
  int restarts = 5;
};

/// What a development server is started with; asked for anew for each process.
struct DevServerStart {
  std::function<Task<ProcessOptions>(int port)> process;  ///< throws what keeps it from being started
  std::optional<int> port;                                ///< else one that is free, looked for anew where it is taken
  std::string health_path;
};

/// The development server of one app: keeps its process alive, reads what it writes, knows whether it answers. Crashes
/// are followed by new starts with growing pauses, until there were too many.
class DevServer {
public:
  struct Links {
    std::function<void()> changed;         ///< its status, its process
    std::function<Task<>(pid_t)> started;  ///< before anything else happens with the process
    std::function<Task<>(pid_t)> ended;
  };
  DevServer(Loop& loop, const Clock& clock, DevServerLimits limits, Links links);

  /// Starts the first process, which is there when this returns. Only for one that is not alive, by one caller at a
  /// time. Throws ProcessError, and what `process` throws.
  Task<> start(DevServerStart wanted);
  /// Ends it, and returns when the whole process group has ended.
  Task<> stop();
  /// Begins to end it: SIGKILL after `grace`. Who asks again, with less patience, has it killed at once.
  void request_stop(std::chrono::milliseconds grace);

  /// Whether somebody started it who did not stop it since, and it has not failed.
  bool alive() const { return alive_; }
  /// Whether there is a process now that nobody has asked to end, and which may take requests.
  bool has_process() const { return pid_ && !stopping_->requested(); }
  AppStatus status() const { return status_; }
  int port() const { return port_; }
  std::optional<int> pid() const { return pid_; }
  std::optional<Timestamp> started_at() const { return started_at_; }
  int restarts() const { return restarts_; }
  const AppLog& log() const { return log_; }

private:
  enum class Outcome { stopped, crashed, mute };

  Task<std::unique_ptr<Process>> launch();
  Task<> supervise(std::unique_ptr<Process> process);
  Task<Outcome> live(Process& process);
  Task<> wait_for_end(Process& process, ProcessEnd& end);
  Task<> ask_to_end(Process& process, ProcessEnd& end, std::chrono::steady_clock::time_point began);
  Task<> read_lines(Process& process, ProcessStream stream);
  Task<> watch(Stop& mute);
  Task<std::unique_ptr<Process>> launch_again();
  void become(AppStatus status);
  void note(std::string line);

  Loop& loop_;
  const Clock& clock_;
  const DevServerLimits limits_;
  Links links_;
  DevServerStart wanted_;
  int port_ = 0;
  AppLog log_;
  AppStatus status_ = AppStatus::stopped;
  std::optional<int> pid_;
  std::optional<Timestamp> started_at_;
  int restarts_ = 0;
  bool alive_ = false;
  std::chrono::milliseconds grace_;
  std::unique_ptr<Stop> stopping_;
  std::unique_ptr<Stop> hurry_;
  Group life_;
};

}  // namespace agw
