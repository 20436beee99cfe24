#pragma once

#include "api/route.hpp"
#include "features/access/service.hpp"

namespace agw {

/// `/pair` and `/pair/refresh`.
class AccessRoutes {
public:
  explicit AccessRoutes(Access& access) : access_(access) {}
  Routes routes();

private:
  Task<Answer> refresh(Request& request);
  Task<Answer> pair(Request& request);

  Access& access_;
};

}  // namespace agw
