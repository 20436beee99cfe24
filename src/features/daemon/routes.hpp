#pragma once

#include "api/route.hpp"

namespace agw {

class Daemon;

/// `/health`, `/daemon/stop` and `/daemon/restart`.
Routes daemon_routes(Daemon& daemon);

}  // namespace agw
