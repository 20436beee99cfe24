#pragma once

#include "api/route.hpp"
#include "features/experiments/service.hpp"

namespace agw {

/// `/autoresearch/experiments` and `/autoresearch/confidence`.
class ExperimentRoutes {
public:
  explicit ExperimentRoutes(Experiments& experiments) : experiments_(experiments) {}
  Routes routes();

private:
  Task<Answer> list(Request& request);
  Task<Answer> read(Request& request);
  Task<Answer> confidence(Request& request);

  Experiments& experiments_;
};

}  // namespace agw
