#pragma once

#include "api/route.hpp"

namespace agw {

class Push;

/// `/push`.
Routes push_routes(Push& push);

}  // namespace agw
