#pragma once

#include "api/route.hpp"

namespace agw {

class Briefings;

/// `/briefing`, `/pulse/briefing`, and the activity of agents.
Routes briefing_routes(Briefings& briefings);

}  // namespace agw
