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

/// The lifetime of the process: its uptime, and the events that end it: SIGINT, SIGTERM, the end of its terminal
/// (SIGHUP), a request to stop or restart.
class Daemon {
public:
  using Ending = std::function<void(ExitStatus)>;

  /// `ending` is called once, on the loop, when the process should end.
  Daemon(Loop& loop, Ending ending);
  /// From then on signals have no effect, so that they cannot interrupt the remaining work, such as closing the
  /// database.
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  /// Starts to handle signals.
  void start();
  /// Prints the ready line, which scripts wait for, and logs it.
  static void announce(const std::string& url);
  /// Stops handling signals. The process cannot be ended a second time.
  void stop();

  /// Ends the process with `status` after `delay`, so that the response to the request can be sent. Only the first call
  /// counts, except that a stop replaces a restart.
  void end_after(std::chrono::milliseconds delay, ExitStatus status);

  /// Makes the first SIGTERM call `drain`, which has to end the process later. A second signal ends it immediately.
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

/// Makes those of the routes that begin a run return 503 while the process drains.
void refuse_new_runs(std::vector<Route>& routes, const Daemon& daemon);

/// `/health`, `/daemon/stop` and `/daemon/restart`.
std::vector<Route> daemon_routes(Daemon& daemon);

}  // namespace agw
