#pragma once

#include "api/route.hpp"
#include "features/signals/service.hpp"

namespace agw {

/// `/signals`.
class SignalRoutes {
public:
  explicit SignalRoutes(Signals& signals) : signals_(signals) {}
  Routes routes();

private:
  Task<Answer> list(Request& request);
  Task<Answer> raise(Request& request);

  Signals& signals_;
};

}  // namespace agw
