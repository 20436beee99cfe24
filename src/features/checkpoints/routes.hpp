#pragma once

#include "api/route.hpp"

namespace agw {

class Checkpoints;

/// `/runs/:id/changes`, `/runs/:id/undo` and `/threads/:id/rewind`.
Routes checkpoint_routes(Checkpoints& checkpoints);

}  // namespace agw
