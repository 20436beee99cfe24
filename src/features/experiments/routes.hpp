#pragma once

#include "api/route.hpp"

namespace agw {

class Experiments;

/// `/autoresearch/experiments` and `/autoresearch/confidence`.
Routes experiment_routes(Experiments& experiments);

}  // namespace agw
