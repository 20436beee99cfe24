#pragma once

#include "api/route.hpp"

namespace agw {

class ModelServices;

/// `/models`, `/model-services` and `/settings`.
Routes model_service_routes(ModelServices& services);

}  // namespace agw
