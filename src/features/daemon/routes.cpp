#include "features/daemon/routes.hpp"

#include "features/daemon/types.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

// The specification has the process gone about 200 ms and 500 ms after the answer; ending it takes the rest.
constexpr auto stop_delay = 100ms;
constexpr auto restart_delay = 400ms;

}  // namespace

Routes DaemonRoutes::routes() {
  return {
      get("/health", "Whether the gateway answers", this, &DaemonRoutes::health).answers<Health>().needs_no_token(),
      post("/daemon/stop", "Stop the gateway", this, &DaemonRoutes::stop).answers<Status>().executes(),
      post("/daemon/restart", "Restart the gateway, where a service manager starts it again", this,
           &DaemonRoutes::restart)
          .answers<Status>()
          .executes(),
  };
}

Answer DaemonRoutes::health(const Request&) {
  return Answer::of(Health{.uptime = static_cast<double>(daemon_.uptime().count()) / 1000});
}

Task<Answer> DaemonRoutes::stop(Request&) {
  daemon_.end_after(stop_delay, ExitStatus::success);
  co_return Answer::of(Status{"stopping"});
}

Task<Answer> DaemonRoutes::restart(Request&) {
  daemon_.end_after(restart_delay, ExitStatus::restart);
  co_return Answer::of(Status{"restarting"});
}

}  // namespace agw
