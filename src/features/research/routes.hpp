#pragma once

#include "api/route.hpp"

namespace agw {

class Research;

/// `/autoresearch/run`.
Routes research_routes(Research& research);

}  // namespace agw
