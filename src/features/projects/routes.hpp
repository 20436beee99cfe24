#pragma once

#include "api/route.hpp"

namespace agw {

class Projects;

/// `/projects`.
Routes project_routes(Projects& projects);

}  // namespace agw
