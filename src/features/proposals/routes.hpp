#pragma once

#include "api/route.hpp"

namespace agw {

class Proposals;

/// `/proposals` and `/propose`.
Routes proposal_routes(Proposals& proposals);

}  // namespace agw
