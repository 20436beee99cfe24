#pragma once

#include "api/route.hpp"
#include "features/apps/proxy.hpp"
#include "features/apps/service.hpp"
#include "features/apps/static_files.hpp"

namespace agw {

/// The routes of `/apps`, and the proxy to the servers and files of apps.
class AppRoutes {
public:
  AppRoutes(Loop& loop, Apps& apps, BlockingPool& blocking, const Authenticator& authenticator)
      : apps_(apps), files_(blocking), proxy_(loop, authenticator, apps.idle_connections(), {}) {}
  Routes routes();

private:
  Task<> forward(Request& request, ProxyStream& stream);
  Route connection(const Placements& placements);
  Task<> connect(Request& request, ProxyStream& stream);

  Apps& apps_;
  StaticFiles files_;
  AppProxy proxy_;
};

}  // namespace agw
