#pragma once

#include "api/route.hpp"

namespace agw {

class Checkpoints;

/// `/runs/:id/changes` and `/runs/:id/undo`.
Routes checkpoint_routes(Checkpoints& checkpoints);

}  // namespace agw
