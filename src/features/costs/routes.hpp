#pragma once

#include "api/route.hpp"

namespace agw {

class Costs;

/// `/costs`.
Routes cost_routes(Costs& costs);

}  // namespace agw
