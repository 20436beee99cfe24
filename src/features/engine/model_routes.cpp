#include "features/engine/routes.hpp"

#include "models/catalog.hpp"

namespace agw {

namespace {

Response list_models(const Models& models, const Request& request) { return request.respond(models.list()); }

}  // namespace

Routes model_routes(const Models& models) {
  return {
      get("/models", "List the models that are configured", list_models, models).responds<std::vector<ModelInfo>>()};
}

}  // namespace agw
