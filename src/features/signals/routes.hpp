#pragma once

#include "api/route.hpp"

namespace agw {

class Signals;

/// `/signals`.
Routes signal_routes(Signals& signals);

}  // namespace agw
