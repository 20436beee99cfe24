#pragma once

#include "api/route.hpp"
#include "features/briefings/service.hpp"

namespace agw {

/// `/briefing`, `/pulse/briefing`, and what an agent did.
class BriefingRoutes {
public:
  explicit BriefingRoutes(Briefings& briefings) : briefings_(briefings) {}
  Routes routes();

private:
  Task<Answer> briefing(Request& request);
  Task<Answer> pulse(Request& request);
  Task<Answer> activity(Request& request);

  Briefings& briefings_;
};

}  // namespace agw
