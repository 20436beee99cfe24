#pragma once

#include "api/route.hpp"

namespace agw {

class Integrations;

/// The endpoints `/integrations/:name/login`.
Routes integration_routes(Integrations& integrations);

}  // namespace agw
