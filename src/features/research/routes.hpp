#pragma once

#include "api/route.hpp"
#include "features/research/service.hpp"

namespace agw {

/// `/autoresearch/run`.
class ResearchRoutes {
public:
  explicit ResearchRoutes(Research& research) : research_(research) {}
  Routes routes();

private:
  Task<Answer> run(Request& request);

  Research& research_;
};

}  // namespace agw
