#pragma once

#include "api/route.hpp"

namespace agw {

class Knowledge;

/// The endpoints `/knowledge` and `/entities`.
Routes knowledge_routes(Knowledge& knowledge);

}  // namespace agw
