#pragma once

#include "api/route.hpp"
#include "features/mcp/service.hpp"

namespace agw {

/// `/integrations/:name/login`.
class IntegrationRoutes {
public:
  explicit IntegrationRoutes(Integrations& integrations) : integrations_(integrations) {}
  Routes routes();

private:
  Task<Answer> begin_login(Request& request);
  Task<Answer> finish_login(Request& request);
  Task<Answer> forget_login(Request& request);

  Integrations& integrations_;
};

}  // namespace agw
