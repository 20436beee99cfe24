#include "api/error.hpp"
#include "api/route.hpp"
#include "features/daemon/service.hpp"
#include "features/daemon/types.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

// The specification requires 200 ms and 500 ms after the response. The shutdown takes the rest.
constexpr auto stop_delay = 100ms;
constexpr auto restart_delay = 400ms;

constexpr int draining = 503;

Response show_health(Daemon& daemon, const Request& request) {
  return request.respond(Health{.uptime = static_cast<double>(daemon.uptime().count()) / 1000});
}

Task<Response> stop_daemon(Daemon& daemon, Request& request) {
  daemon.end_after(stop_delay, ExitStatus::success);
  co_return request.respond(Status{"stopping"});
}

Task<Response> restart_daemon(Daemon& daemon, Request& request) {
  daemon.end_after(restart_delay, ExitStatus::restart);
  co_return request.respond(Status{"restarting"});
}

}  // namespace

void refuse_new_runs(Routes& routes, const Daemon& daemon) {
  for (auto& route : routes) {
    if (!route.begins_run) continue;
    route.refusal = [&daemon]() -> std::optional<ApiError> {
      if (!daemon.is_draining()) return std::nullopt;
      return ApiError(draining, "the gateway is about to stop, try again");
    };
  }
}

Routes daemon_routes(Daemon& daemon) {
  return {
      get("/health", "Whether the gateway answers", show_health, daemon).responds<Health>().needs_no_token(),
      post("/daemon/stop", "Stop the gateway", stop_daemon, daemon).responds<Status>().executes(),
      post("/daemon/restart", "Restart the gateway: it starts itself again, or a service manager starts it again",
           restart_daemon, daemon)
          .responds<Status>()
          .executes(),
  };
}

}  // namespace agw
