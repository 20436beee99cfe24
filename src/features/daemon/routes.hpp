#pragma once

#include "api/route.hpp"
#include "features/daemon/service.hpp"

namespace agw {

/// `/health`, `/daemon/stop` and `/daemon/restart`.
class DaemonRoutes {
public:
  explicit DaemonRoutes(Daemon& daemon) : daemon_(daemon) {}
  Routes routes();

private:
  Answer health(const Request& request);
  Task<Answer> stop(Request& request);
  Task<Answer> restart(Request& request);

  Daemon& daemon_;
};

}  // namespace agw
