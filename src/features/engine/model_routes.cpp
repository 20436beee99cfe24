#include "features/engine/model_routes.hpp"

namespace agw {

Routes ModelRoutes::routes() {
  return {get("/models", "List the models that are configured", this, &ModelRoutes::list)
              .answers<std::vector<ModelInfo>>()};
}

Answer ModelRoutes::list(const Request&) { return Answer::of(models_.list()); }

}  // namespace agw
