#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/async/task.hpp"
#include "base/error.hpp"

namespace agw {

struct Route;

/// The life of the process: how long it has run, and who may end it: SIGINT, SIGTERM, the end of its
/// terminal (SIGHUP), a request to stop or restart.
class Daemon {
public:
  using Ending = std::function<void(ExitStatus)>;

  /// `ending` is called once, on the loop, when the process is to end.
  Daemon(Loop& loop, Ending ending);
  /// From then on the signals do nothing: what is left to do, such as closing the database, is not to be cut short.
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  /// Begins to listen to signals.
  void start();
  /// Prints the ready line, which scripts wait for, and logs it.
  static void announce(const std::string& url);
  /// Stops listening; nothing ends the process twice.
  void stop();

  /// Ends the process with `status` after `delay`, so that the answer to the request gets out. The first call counts,
  /// but a stop takes the place of a restart.
  void end_after(std::chrono::milliseconds delay, ExitStatus status);

  /// The first SIGTERM calls `drain` instead of ending the process, and it is up to that to end it; a further signal
  /// ends it at once.
  void on_termination(std::function<void()> drain) { drain_ = std::move(drain); }
  bool is_draining() const { return is_draining_; }

  std::chrono::milliseconds uptime() const;

private:
  void end(ExitStatus status);

  Ending ending_;
  std::function<void()> drain_;
  bool is_draining_ = false;
  asio::signal_set signals_;
  asio::steady_timer delay_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::optional<ExitStatus> asked_;
};

/// Has these of the routes that begin a run answer 503 while the process drains.
void refuse_new_runs(std::vector<Route>& routes, const Daemon& daemon);

/// `/health`, `/daemon/stop` and `/daemon/restart`.
std::vector<Route> daemon_routes(Daemon& daemon);

}  // namespace agw
