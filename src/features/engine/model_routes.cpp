#include "features/engine/model_routes.hpp"

namespace agw {

Routes ModelRoutes::routes() {
  return {get("/models", "List the models that are configured", this, &ModelRoutes::list)
              .answers<std::vector<ModelInfo>>()};
}

Task<Answer> ModelRoutes::list(Request&) { co_return Answer::of(models_.list()); }

}  // namespace agw
