#pragma once

#include "api/route.hpp"
#include "features/skills/service.hpp"

namespace agw {

class Extensions;

/// The endpoint that lists skills.
Routes skill_routes(Skills& skills, const Extensions& extensions);

}  // namespace agw
