#pragma once

#include "api/route.hpp"
#include "features/costs/service.hpp"

namespace agw {

/// `/costs`.
class CostRoutes {
public:
  explicit CostRoutes(Costs& costs) : costs_(costs) {}
  Routes routes();

private:
  Task<Answer> report(Request& request);

  Costs& costs_;
};

}  // namespace agw
