#pragma once

#include "api/route.hpp"
#include "features/apps/proxy.hpp"
#include "features/apps/service.hpp"
#include "features/apps/static_files.hpp"

namespace agw {

/// `/apps`.
class AppRoutes {
public:
  AppRoutes(Loop& loop, Apps& apps, BlockingPool& blocking, const Authenticator& authenticator)
      : apps_(apps), files_(blocking), proxy_(loop, authenticator, apps.idle_connections()) {}
  Routes routes();

private:
  Task<Answer> list(Request& request);
  Task<Answer> show(Request& request);
  Task<Answer> start(Request& request);
  Task<Answer> stop(Request& request);
  Task<Answer> restart(Request& request);
  Task<Answer> logs(Request& request);
  Task<> pass_on(Request& request, Exchange& exchange);

  Apps& apps_;
  StaticFiles files_;
  AppProxy proxy_;
};

}  // namespace agw
